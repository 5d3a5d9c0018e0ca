/**
 * The connection to the server: requests and their answers, and coming back after a loss.
 *
 * In: requests of the page. Out: messages and frames, handed to the listener. Nothing is kept of the
 * world here; after a reconnection the server says everything anew.
 */

import { FrameReader, type Frame } from './frames';
import { VERSION, type Failure, type ServerMessage, type Wishes } from './protocol';

export type LinkState = 'connecting' | 'open' | 'lost' | 'refused';

export interface LinkListener {
  message(message: ServerMessage): void;
  frame(frame: Frame): void;
  state(state: LinkState, why: string): void;
}

/** A request the server refused; nothing has changed. */
export class Refused extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

const RETRY_MS = 500;
/** Why a socket was closed: the server ends. */
const GOING_AWAY = 1001;

export class Link {
  private socket: WebSocket | null = null;
  private reader = new FrameReader();
  private next = 1;
  private open = new Map<
    number,
    { resolve(ok: Record<string, unknown>): void; reject(why: unknown): void }
  >();
  private wishes: Wishes | null = null;
  private closing = false;
  /** Why the server ends the connection, if it said so. */
  private goodbye = '';

  constructor(
    private readonly listener: LinkListener,
    private readonly token: string | null,
  ) {}

  connect(): void {
    this.listener.state('connecting', '');
    const url = new URL('v1/link', location.href.split('#')[0]);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = '';
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.hello(socket);
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = (event) => this.lost(event.code);
    this.socket = socket;
  }

  /** Asks the server for something. Rejects with [`Refused`] when it says no, or when the connection is lost. */
  ask(what: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        reject(new Refused({ code: 'no-connection', message: 'there is no connection to the server' }));
        return;
      }
      this.open.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, do: what, ...more }));
    });
  }

  /** Says what this display wants to be sent; said again after a reconnection. */
  watch(wishes: Wishes): void {
    this.wishes = wishes;
    if (this.socket?.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ do: 'watch', ...wishes }));
  }

  close(): void {
    this.closing = true;
    this.socket?.close();
  }

  private hello(socket: WebSocket): void {
    this.reader = new FrameReader();
    const hello = { do: 'hello', version: VERSION, name: browserName(), console: true };
    socket.send(JSON.stringify(this.token ? { ...hello, token: this.token } : hello));
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      const frame = this.reader.read(data);
      if (frame) this.listener.frame(frame);
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.is === 'welcome') {
      this.listener.state('open', '');
      if (this.wishes) this.watch(this.wishes);
    }
    if (message.is === 'goodbye') this.goodbye = message.why;
    if (message.is === 'reply') {
      const waiting = this.open.get(message.id);
      this.open.delete(message.id);
      if (message.error) waiting?.reject(new Refused(message.error));
      else waiting?.resolve(message.ok ?? {});
      return;
    }
    this.listener.message(message);
  }

  private lost(code: number): void {
    for (const { reject } of this.open.values())
      reject(new Refused({ code: 'no-connection', message: 'the connection was lost' }));
    this.open.clear();
    if (this.closing) return;
    // A server that goes away may come back; one that refuses this page will refuse it again.
    if (this.goodbye !== '' && code !== GOING_AWAY) return this.listener.state('refused', this.goodbye);
    this.goodbye = '';
    this.listener.state('lost', '');
    setTimeout(() => this.connect(), RETRY_MS);
  }
}

function browserName(): string {
  const agent = navigator.userAgent;
  const found = /(Firefox|Edg|Chrome|Safari)\/(\d+)/.exec(agent);
  return found ? `${found[1]} ${found[2]}` : 'browser';
}
