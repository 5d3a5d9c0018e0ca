/** What happened when, thinned so that a line of so many pixels can show it. Pure. */

import type { EventLine } from '../protocol';

export type MarkKind = 'assert' | 'fault' | 'halt' | 'code' | 'edit' | 'limit';

/** The gravest first: where several fall together, it gives the shape. */
export const MARK_KINDS: readonly MarkKind[] = ['assert', 'fault', 'halt', 'limit', 'code', 'edit'];

/** Several events close together: shown as one mark. */
export interface Mark {
  kind: MarkKind;
  /** Stop of the first of them. */
  stop: number;
  /** Middle of the mark, in pixels. */
  x: number;
  lines: EventLine[];
}

/** Where a stop stands on a line of `width` pixels. */
export function placeOfStop(stop: number, newest: number, width: number): number {
  return newest <= 0 ? 0 : (Math.min(stop, newest) / newest) * width;
}

/** The stop under a pixel. */
export function stopAt(x: number, newest: number, width: number): number {
  if (width <= 0) return 0;
  return Math.round((Math.min(Math.max(x, 0), width) / width) * newest);
}

export function isMarked(line: EventLine): boolean {
  return (MARK_KINDS as readonly string[]).includes(line.kind);
}

/** Marks at least `room` pixels apart, in order; `lines` are in order of time. */
export function thin(lines: readonly EventLine[], newest: number, width: number, room: number): Mark[] {
  const marks: Mark[] = [];
  for (const line of lines) {
    if (line.stop > newest) continue;
    const x = placeOfStop(line.stop, newest, width);
    const last = marks.at(-1);
    if (last && x - last.x < room) {
      last.lines.push(line);
      if (MARK_KINDS.indexOf(line.kind as MarkKind) < MARK_KINDS.indexOf(last.kind))
        last.kind = line.kind as MarkKind;
    } else {
      marks.push({ kind: line.kind as MarkKind, stop: line.stop, x, lines: [line] });
    }
  }
  return marks;
}

/** Pixels where at least one of `stops` falls, each once. */
export function pixels(stops: readonly number[], newest: number, width: number): number[] {
  const seen = new Set<number>();
  for (const stop of stops) if (stop <= newest) seen.add(Math.round(placeOfStop(stop, newest, width)));
  return [...seen].sort((a, b) => a - b);
}
