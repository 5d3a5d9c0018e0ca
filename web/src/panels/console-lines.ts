/** The lines of the console and which of them are shown. Pure. */

import { shortName } from '../names';
import type { EventLine } from '../protocol';
import { formatTime } from './numbers';

export interface Line {
  time: number | null;
  robot: string | null;
  level: EventLine['level'];
  kind: string;
  text: string;
}

export interface Filter {
  robot: string;
  level: '' | 'warning' | 'error';
  text: string;
}

/** Lines that are kept; the oldest go first, a piece at a time. */
export const MAX_LINES = 100_000;
const PIECE = 10_000;

export class Lines {
  all: Line[] = [];
  /** Numbers of the lines in `all` that are shown. */
  shown: number[] = [];
  filter: Filter = { robot: '', level: '', text: '' };

  add(lines: Line[]): void {
    for (const line of lines) {
      this.all.push(line);
      if (passes(line, this.filter)) this.shown.push(this.all.length - 1);
    }
    if (this.all.length > MAX_LINES + PIECE) {
      this.all.splice(0, this.all.length - MAX_LINES);
      this.refilter();
    }
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    this.refilter();
  }

  private refilter(): void {
    this.shown = [];
    this.all.forEach((line, k) => passes(line, this.filter) && this.shown.push(k));
  }
}

export function passes(line: Line, filter: Filter): boolean {
  if (filter.robot && line.robot !== filter.robot) return false;
  if (filter.level === 'error' && line.level !== 'error') return false;
  if (filter.level === 'warning' && line.level === 'info') return false;
  return !filter.text || line.text.toLowerCase().includes(filter.text.toLowerCase());
}

/** An event as lines: what a program printed last stands on lines of its own. */
export function linesOf(event: EventLine): Line[] {
  const { time, robot, level, kind } = event;
  return event.text.split('\n').map((text) => ({ time, robot, level, kind, text }));
}

/** A line as text, for the clipboard. */
export function asText(line: Line): string {
  const time = line.time === null ? '' : formatTime(line.time);
  return [time, line.robot ? shortName(line.robot) : '', line.level, line.text].join('\t');
}

/** How many lines at the beginning of `anew` are known already: after a reconnection a server tells everything again. */
export function knownPrefix(known: readonly EventLine[], anew: readonly EventLine[]): number {
  const same = (a: EventLine | undefined, b: EventLine | undefined): boolean =>
    a !== undefined && b !== undefined && a.stop === b.stop && a.kind === b.kind && a.text === b.text;
  // The server may have dropped its oldest lines: its first one stands somewhere in ours.
  const start = known.findIndex((line) => same(line, anew[0]));
  if (start < 0) return 0;
  let k = 0;
  while (same(known[start + k], anew[k])) k++;
  return start + k === known.length ? k : 0;
}
