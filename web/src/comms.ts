/**
 * What robots told each other, as the page knows it: the server's lines put together to messages from one
 * robot to another. Pure; `comms-feed.ts` fills it.
 */

import type { CommLine, Comms } from './protocol';

/** Messages that are kept; the oldest go first. */
const MOST = 40_000;

/** One copy of a message: from one robot to another. */
export interface Arrow {
  serial: number;
  from: string;
  to: string;
  protocol: string;
  label: string;
  content: string;
  bytes: number;
  /** When it was sent, s; `null` when that was too long ago to be known. */
  sent: number | null;
  /** When it came, or when it was known to be lost; when it will come, if that is decided; else `null`. */
  at: number | null;
  fate: 'under way' | 'received' | 'lost';
  why: string;
}

/** A robot stops or goes on. */
export interface Turn {
  t: number;
  robot: string;
  what: 'crashed' | 'recovered';
}

export class CommStore {
  run = -1;
  arrows: Arrow[] = [];
  turns: Turn[] = [];
  /** Everything between these moments is here; `null` before anything is known. */
  covered: { from: number; to: number } | null = null;
  /** The server has forgotten what was before. */
  since = 0;
  /** Protocols in the order in which they came up. */
  readonly protocols: string[] = [];
  /** The longest time a message was under way, s. */
  longest = 0;
  /** Number of the first line that is not here. */
  private next = 0;
  /** Copies by message and receiver, those under way or the last one. */
  private readonly byCopy = new Map<string, Arrow>();

  clear(run: number): void {
    Object.assign(this, { run, arrows: [], turns: [], covered: null, since: 0, next: 0, longest: 0 });
    this.protocols.length = 0;
    this.byCopy.clear();
  }

  /** Takes the newest lines, instead of whatever was here. */
  begin(answer: Comms): void {
    this.clear(answer.run);
    this.since = answer.since ?? 0;
    this.take(answer.lines);
    const first = answer.lines[0]?.t ?? 0;
    this.covered = { from: answer.left_out > 0 ? first : this.since, to: Infinity };
    this.next = answer.next;
    this.expect(answer.under_way);
  }

  /** Takes what is new; answers whether that belongs to the run that is here. */
  add(news: Comms): boolean {
    if (news.run !== this.run || !this.covered) return false;
    const first = news.next - news.lines.length;
    const fresh = news.lines.slice(Math.max(0, this.next - first));
    if (first > this.next) {
      // Some were left out: what is here and what comes now do not hang together.
      const start = fresh[0]?.t ?? 0;
      this.clear(news.run);
      this.covered = { from: start, to: Infinity };
    }
    this.take(fresh);
    this.next = news.next;
    this.expect(news.under_way);
    this.forget();
    return true;
  }

  /** Takes older lines that end where `covered` begins. */
  prepend(answer: Comms): void {
    if (answer.run !== this.run || !this.covered) return;
    const { arrows, turns, longest } = this;
    const lines = answer.lines.filter((line) => line.t < (this.covered?.from ?? 0));
    const from = answer.left_out > 0 ? (lines[0]?.t ?? this.covered.from) : answer.from;
    this.since = answer.since ?? this.since;
    this.arrows = [];
    this.turns = [];
    const known = new Set(arrows.map(keyOf));
    this.take(lines);
    // What was still under way at the seam has come since.
    this.arrows = [...this.arrows.filter((a) => a.fate !== 'under way' || !known.has(keyOf(a))), ...arrows];
    this.arrows.sort((a, b) => startOf(a) - startOf(b));
    this.turns = [...this.turns, ...turns];
    this.longest = Math.max(longest, this.longest);
    this.byCopy.clear();
    for (const arrow of this.arrows) this.byCopy.set(keyOf(arrow), arrow);
    this.covered = { ...this.covered, from: Math.max(this.since, Math.min(from ?? 0, this.covered.from)) };
  }

  /** Messages that were under way at some time between two moments, in order of sending; the last `most`. */
  between(from: number, to: number, most = MOST): Arrow[] {
    const found: Arrow[] = [];
    // Sending times ascend: nothing older than the longest flight can reach into the window.
    for (let k = upper(this.arrows, to) - 1; k >= 0 && found.length < most; k--) {
      const arrow = this.arrows[k];
      if (!arrow || startOf(arrow) < from - this.longest) break;
      if ((arrow.at ?? Infinity) >= from) found.push(arrow);
    }
    return found.reverse();
  }

  /** Whether a robot is out of service at a moment, as far as is known. */
  isCrashed(robot: string, t: number): boolean {
    const last = this.turns.findLast((turn) => turn.robot === robot && turn.t <= t);
    return last?.what === 'crashed';
  }

  private take(lines: readonly CommLine[]): void {
    for (const line of lines) {
      if (line.what === 'crashed' || line.what === 'recovered')
        this.turns.push({ t: line.t, robot: line.from, what: line.what });
      else if (line.what === 'sent') for (const to of line.to ?? []) this.push(arrowOf(line, to, line.t));
      else this.arrive(line);
    }
  }

  private push(arrow: Arrow): void {
    if (!this.protocols.includes(arrow.protocol)) this.protocols.push(arrow.protocol);
    const last = this.arrows.at(-1);
    if (!last || startOf(last) <= startOf(arrow)) this.arrows.push(arrow);
    else this.arrows.splice(upper(this.arrows, startOf(arrow)), 0, arrow);
    this.byCopy.set(keyOf(arrow), arrow);
  }

  private arrive(line: CommLine): void {
    const to = line.to?.[0] ?? '';
    const fate = line.what === 'lost' ? 'lost' : 'received';
    let arrow = this.byCopy.get(`${line.serial ?? -1}>${to}`);
    if (!arrow || arrow.fate !== 'under way') {
      // Its sending is not here, or it came twice.
      arrow = arrowOf(line, to, line.sent ?? null);
      Object.assign(arrow, { at: line.t });
      this.push(arrow);
    }
    Object.assign(arrow, { at: line.t, fate, why: line.why ?? '' });
    this.longest = Math.max(this.longest, line.t - (arrow.sent ?? line.t));
  }

  private expect(underWay: readonly [number, string, number][]): void {
    for (const [serial, to, at] of underWay) {
      const arrow = this.byCopy.get(`${serial}>${to}`);
      if (arrow?.fate !== 'under way') continue;
      arrow.at = at;
      this.longest = Math.max(this.longest, at - (arrow.sent ?? at));
    }
  }

  private forget(): void {
    if (this.arrows.length <= MOST || !this.covered) return;
    const gone = this.arrows.splice(0, this.arrows.length - MOST / 2);
    for (const arrow of gone) this.byCopy.delete(keyOf(arrow));
    this.covered.from = Math.max(this.covered.from, startOf(this.arrows[0]));
  }
}

function arrowOf(line: CommLine, to: string, sent: number | null): Arrow {
  const { from, serial = -1, protocol = '', label = '', content = '', bytes = 0 } = line;
  return { serial, from, to, protocol, label, content, bytes, sent, at: null, fate: 'under way', why: '' };
}

const keyOf = (arrow: Arrow): string => `${arrow.serial}>${arrow.to}`;

/** Where an arrow begins in time. */
export function startOf(arrow: Arrow | undefined): number {
  return arrow?.sent ?? arrow?.at ?? 0;
}

/** How many of the arrows begin at or before a moment. */
function upper(arrows: readonly Arrow[], t: number): number {
  let [low, high] = [0, arrows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startOf(arrows[middle]) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Protocols that have a colour of their own. */
const COLOURS = 8;

/** The number of a protocol's colour, `--view-comm-N`: the same on the canvas and in the chart. */
export function colourNumber(store: CommStore, protocol: string): number {
  return Math.max(0, store.protocols.indexOf(protocol)) % COLOURS;
}
