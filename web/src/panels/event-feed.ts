/**
 * Hands on the events of the store as they come. The store keeps one list that grows at the end, is cut at its
 * beginning, and is filled anew after a reconnection; a listener wants only what is new.
 */

import type { EventLine } from '../protocol';

/** What is new since the last look; `anew` when the list was started over. */
export interface News {
  lines: EventLine[];
  anew: boolean;
}

export class EventFeed {
  private last: EventLine | null = null;

  take(events: readonly EventLine[]): News {
    const at = this.last === null ? -1 : events.lastIndexOf(this.last);
    const anew = this.last !== null && at < 0;
    this.last = events.at(-1) ?? null;
    return { lines: events.slice(at + 1), anew };
  }
}
