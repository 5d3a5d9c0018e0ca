/**
 * The moment that moving messages are drawn at. Frames come in steps; between two of them the clock goes from
 * the one to the other, as long as the step before took, so that what is under way moves evenly. Pure.
 */

/** Steps are never shown faster or slower than in this time, ms. */
const SHORTEST = 16;
const LONGEST = 1500;

export class DisplayClock {
  private from = 0;
  private to = 0;
  private since = 0;
  private takes = 0;
  private last: number | null = null;

  /** A frame of simulated time `time` came at `wall` ms; `isGoing` while the run goes on by itself. */
  frame(time: number, wall: number, isGoing: boolean): void {
    if (time === this.to && this.last !== null) return;
    const pause = this.last === null ? 0 : wall - this.last;
    this.last = wall;
    const isNext = isGoing && time > this.to && pause < LONGEST * 2;
    this.from = isNext ? this.at(wall) : time;
    this.to = time;
    this.since = wall;
    this.takes = isNext ? Math.min(LONGEST, Math.max(SHORTEST, pause)) : 0;
  }

  /** The moment to draw at `wall` ms. */
  at(wall: number): number {
    if (this.takes <= 0) return this.to;
    const share = Math.min(1, Math.max(0, (wall - this.since) / this.takes));
    return this.from + (this.to - this.from) * share;
  }

  /** Simulated seconds per second of the person's; 0 at rest. */
  get rate(): number {
    return this.takes <= 0 ? 0 : ((this.to - this.from) * 1000) / this.takes;
  }

  /** Shows the newest moment at once. */
  arrive(): void {
    this.takes = 0;
  }

  isMoving(wall: number): boolean {
    return this.takes > 0 && wall - this.since < this.takes;
  }
}
