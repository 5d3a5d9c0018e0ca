/** Keeps `store.comms` up to date: asks for what happened before, takes what is new, and begins anew with a new run. */

import type { App } from './app';
import type { Comms } from './protocol';

export class CommsFeed {
  private isOn = false;
  private asked = -1;
  private isReaching = false;

  constructor(private readonly app: App) {
    const { store } = app;
    store.on(['layers', 'wishes', 'status', 'link'], () => this.look());
    // What is under way at the moment shown was sent at most the longest time before it, whoever looks.
    store.on(['frame', 'comms'], () => this.reach((store.frame?.time ?? 0) - store.comms.longest));
  }

  /** The server told something new. */
  take(news: Comms): void {
    if (this.app.store.comms.add(news)) this.app.store.changed('comms');
  }

  /** Asks for older lines, when they are needed and not here. */
  reach(from: number): void {
    const { comms } = this.app.store;
    const { covered } = comms;
    if (this.isReaching || !covered || from >= covered.from || covered.from <= comms.since) return;
    this.isReaching = true;
    const window = { from_s: Math.max(0, from), to_s: covered.from };
    void this.ask(window).then((answer) => {
      this.isReaching = false;
      if (!answer) return;
      comms.prepend({ ...answer, from: window.from_s });
      this.app.store.changed('comms');
    });
  }

  private look(): void {
    const { store } = this.app;
    const run = store.status?.run ?? -1;
    const isOn = store.wantsComms && store.link === 'open';
    const isNew = isOn && (!this.isOn || run !== this.asked);
    this.isOn = isOn;
    if (!isNew || run < 0) return;
    this.asked = run;
    store.comms.clear(run);
    void this.ask({}).then((answer) => {
      if (!answer || this.asked !== run) return;
      store.comms.begin(answer);
      store.changed('comms');
    });
  }

  private async ask(window: Record<string, number>): Promise<Comms | null> {
    try {
      return (await this.app.link.ask('comms', window)) as unknown as Comms;
    } catch {
      // The connection is gone: everything is asked for again when it is back.
      this.isOn = false;
      return null;
    }
  }
}
