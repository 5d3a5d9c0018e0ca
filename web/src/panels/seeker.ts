/** Sends `seek` requests one at a time: while one is under way only the newest wish is kept. Pure but for `send`. */

export class Seeker {
  private busy = false;
  private next: number | null = null;

  /** `send` answers `null` when the server refused. */
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
    const done = await this.send(stop);
    this.busy = false;
    const next = this.next;
    this.next = null;
    if (next !== null && next !== stop) await this.seek(next);
    else if (done === null) this.wanted = null;
  }

  /** The server has said anew what it shows: after the last answer, that is what was wanted. */
  told(): void {
    if (!this.busy) this.wanted = null;
  }
}
