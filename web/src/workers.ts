/** What the workers of a spread run do, made readable: shares of time and rates between two messages. Pure. */

import type { LinkFigures, WorkerFigures, WorkersMessage } from './protocol';

/** One worker as a row of the table. */
export interface WorkerRow {
  worker: number;
  /** The host, or null for the server's own machine. */
  host: string | null;
  pid: number | null;
  bodies: number;
  ghosts: number;
  /** Shares of the last stretch of time, from 0 to 1; null when there was none. */
  working: number | null;
  waiting: number | null;
  /** Bytes per second to neighbours in that stretch. */
  rate: number | null;
  widened: number;
  askedAgain: number;
  state: 'at work' | 'idle' | 'lost';
}

/** Rows by worker; `before` is the message that rates are reckoned from. */
export function workerRows(now: WorkersMessage, before: WorkersMessage | null): WorkerRow[] {
  const spread = now.spread;
  if (!spread) return [];
  const seconds = before?.run === now.run && before.spread ? now.wall_s - before.wall_s : 0;
  const earlier = new Map(before?.spread?.workers.map((w) => [w.worker, w]));
  return spread.workers.map((w) => {
    const old = earlier.get(w.worker);
    const gained = (of: (figures: WorkerFigures) => number): number | null =>
      old && seconds > 0 ? Math.max(0, of(w) - of(old)) / seconds : null;
    const share = (of: (figures: WorkerFigures) => number): number | null => {
      const found = gained(of);
      return found === null ? null : Math.min(1, found);
    };
    return {
      worker: w.worker,
      host: w.host,
      pid: w.pid,
      bodies: w.bodies,
      ghosts: w.ghosts,
      working: share((f) => f.work_s),
      waiting: share((f) => f.wait_s),
      rate: gained((f) => f.sent),
      widened: w.widened,
      askedAgain: w.asked_again,
      state: spread.lost.includes(w.worker) ? 'lost' : w.at_work ? 'at work' : 'idle',
    };
  });
}

/** What robots have on one other host, as a row of the table. */
export interface PriceRow {
  place: string;
  answers: number;
  /** Mean time from a question to its answer, in microseconds; null before the first. */
  answerUs: number | null;
  sent: number;
  received: number;
}

/** Rows by host: where most time goes first. */
export function priceRows(message: WorkersMessage): PriceRow[] {
  return [...(message.elsewhere ?? [])]
    .sort((a, b) => b.waited_s - a.waited_s)
    .map(({ place, answers, waited_s, sent, received }) => ({
      place,
      answers,
      answerUs: answers > 0 ? (waited_s * 1e6) / answers : null,
      sent,
      received,
    }));
}

/** The links that carried most. */
export function busiest(links: readonly LinkFigures[], most: number): LinkFigures[] {
  return [...links].sort((a, b) => b.bytes - a.bytes).slice(0, most);
}

/** A number of bytes, as people write it. */
export function formatBytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let k = 0;
  while (n >= 1000 && k < units.length - 1) {
    n /= 1000;
    k += 1;
  }
  return `${k === 0 ? Math.round(n) : n.toPrecision(3)} ${units[k]}`;
}

/** Microseconds, to three digits. */
export function formatMicros(us: number): string {
  return us === 0 || us >= 100 ? String(Math.round(us)) : us.toPrecision(3);
}

/** A region of the plane on a canvas: its borders, in metres, cut off at what is seen. */
export interface Region {
  worker: number;
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** The regions of those at work, unbounded ones up to the borders of `seen`. One for the whole plane is none. */
export function regionsOf(
  message: WorkersMessage | null,
  seen: { left: number; bottom: number; right: number; top: number },
): Region[] {
  const at = (message?.spread?.workers ?? []).filter((w) => w.at_work && w.region);
  return at.flatMap((w) => {
    const [left = null, bottom = null, right = null, top = null] = w.region ?? [];
    if (left === null && bottom === null && right === null && top === null) return [];
    return [
      {
        worker: w.worker,
        left: left ?? seen.left,
        bottom: bottom ?? seen.bottom,
        right: right ?? seen.right,
        top: top ?? seen.top,
      },
    ];
  });
}
