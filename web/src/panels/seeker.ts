/** Sends `seek` requests one at a time: while one is under way only the newest wish is kept. Pure but for `send`. */

export class Seeker {
  private busy = false;
  private next: number | null = null;

  constructor(private readonly send: (stop: number) => Promise<unknown>) {}

  /** The stop that was asked for last and is not shown yet, or `null`. */
  wanted: number | null = null;

  async seek(stop: number): Promise<void> {
    this.wanted = stop;
    if (this.busy) {
      this.next = stop;
      return;
    }
    this.busy = true;
    try {
      await this.send(stop);
    } finally {
      this.busy = false;
      const next = this.next;
      this.next = null;
      if (next !== null && next !== stop) await this.seek(next);
      else this.wanted = null;
    }
  }
}
