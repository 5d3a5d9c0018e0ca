/**
 * The connection to a server of a chain: scenes and events come, lines go.
 *
 * Nothing is kept here; after a reconnection the server says everything anew.
 */

import type { ModuleMessage } from './scenery';

const RETRY_MS = 500;

export class ModulesLink {
  private socket: WebSocket | null = null;
  private next = 1;
  private open = new Map<number, (why: string | null) => void>();

  constructor(
    private readonly take: (message: ModuleMessage) => void,
    private readonly state: (isOpen: boolean) => void,
  ) {}

  connect(): void {
    const url = new URL('v1/modules', location.href.split('#')[0]);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const token = new URLSearchParams(location.search).get('token');
    url.search = token ? `token=${encodeURIComponent(token)}` : '';
    const socket = new WebSocket(url);
    socket.onopen = () => this.state(true);
    socket.onmessage = (event: MessageEvent<string>) => this.receive(JSON.parse(event.data) as ModuleMessage);
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  /** Sends a line to the head of the chain; answers why it was refused, or null. */
  send(line: string, noConnection: string): Promise<string | null> {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.resolve(noConnection);
    const id = this.next++;
    return new Promise((resolve) => {
      this.open.set(id, resolve);
      this.socket?.send(JSON.stringify({ id, line }));
    });
  }

  private receive(message: ModuleMessage): void {
    if (message.is !== 'answer') return this.take(message);
    this.open.get(message.id)?.(message.ok ? null : (message.why ?? '?'));
    this.open.delete(message.id);
  }

  private lost(): void {
    this.state(false);
    for (const resolve of this.open.values()) resolve('the connection was lost');
    this.open.clear();
    setTimeout(() => this.connect(), RETRY_MS);
  }
}
