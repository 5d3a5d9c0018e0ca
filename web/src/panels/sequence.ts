/**
 * Where everything stands in the message-sequence chart: one upright line per robot, time downwards. Pure
 * arithmetic; `sequence-chart.ts` draws it.
 */

import { startOf, type Arrow, type CommStore } from '../comms';

/** Robots that have a line when none are selected. */
export const MOST_ROBOTS = 12;
/** Arrows drawn at once; more of them nobody could tell apart. */
export const MOST_ARROWS = 600;
/** Where the moment that is shown stands in the window while it follows, as a share of its height. */
const CURSOR = 0.85;
/** Pixels between two moments on the axis, at least. */
export const TICKS = 24;
/** Seconds from the upper edge to the lower one. */
export const SHORTEST = 0.001;
export const LONGEST = 10_000;

/** The stretch of time that the chart shows. */
export interface TimeWindow {
  from: number;
  span: number;
}

/** The window of a span that has a moment where it belongs while following. */
export function following(now: number, span: number): TimeWindow {
  return { from: now - CURSOR * span, span };
}

/** Another span; the moment at `share` of the height stays where it is. */
export function zoomed(window: TimeWindow, factor: number, share = CURSOR): TimeWindow {
  const span = Math.min(LONGEST, Math.max(SHORTEST, window.span / factor));
  return { from: window.from + share * (window.span - span), span };
}

/** Whose lines are drawn: those selected, the one selected with those it spoke with, or the first. */
export function robotsOf(
  all: readonly string[],
  selected: readonly string[],
  arrows: readonly Arrow[],
): string[] {
  const chosen = selected.filter((robot) => all.includes(robot));
  if (chosen.length > 1) return all.filter((robot) => chosen.includes(robot)).slice(0, 4 * MOST_ROBOTS);
  const [one] = chosen;
  if (one === undefined) return all.slice(0, MOST_ROBOTS);
  const partners = new Set([one]);
  for (const { from, to } of arrows) {
    if (partners.size >= MOST_ROBOTS) break;
    if (from === one) partners.add(to);
    if (to === one) partners.add(from);
  }
  return partners.size > 1 ? all.filter((robot) => partners.has(robot)) : all.slice(0, MOST_ROBOTS);
}

/** One arrow as it is drawn, in pixels. */
export interface DrawnArrow {
  arrow: Arrow;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** A stretch of a robot's line, and whether the robot is out of service there. */
export interface Stretch {
  y1: number;
  y2: number;
  isCrashed: boolean;
}

export interface Lifeline {
  robot: string;
  x: number;
  stretches: Stretch[];
  /** Where it crashed or recovered. */
  turns: { y: number; what: 'crashed' | 'recovered' }[];
}

export interface Sequence {
  lines: Lifeline[];
  arrows: DrawnArrow[];
  /** Messages of the window that are not drawn: with robots that have no line, or too many. */
  left: { others: number; more: number };
}

export interface Frame {
  width: number;
  height: number;
  window: TimeWindow;
}

/** Lays out what happened in the window. */
export function layOut(
  comms: CommStore,
  robots: readonly string[],
  protocol: string | null,
  frame: Frame,
): Sequence {
  const { width, height, window } = frame;
  const column = width / Math.max(1, robots.length);
  const x = new Map(robots.map((robot, k) => [robot, (k + 0.5) * column]));
  const y = (t: number): number => ((t - window.from) / window.span) * height;
  const end = window.from + window.span;
  const wanted = comms
    .between(window.from, end)
    .filter((arrow) => protocol === null || arrow.protocol === protocol);
  const between = wanted.filter((arrow) => x.has(arrow.from) && x.has(arrow.to));
  const drawn = between.slice(-MOST_ARROWS).map((arrow): DrawnArrow => {
    const sent = startOf(arrow);
    return {
      arrow,
      x1: x.get(arrow.from) ?? 0,
      y1: y(sent),
      x2: x.get(arrow.to) ?? 0,
      y2: y(arrow.at ?? Math.max(sent, end)),
    };
  });
  const lines = robots.map((robot) => lifeline(comms, robot, x.get(robot) ?? 0, y, frame));
  const left = { others: wanted.length - between.length, more: between.length - drawn.length };
  return { lines, arrows: drawn, left };
}

function lifeline(
  comms: CommStore,
  robot: string,
  x: number,
  y: (t: number) => number,
  { height, window }: Frame,
): Lifeline {
  const end = window.from + window.span;
  const turns = comms.turns.filter((turn) => turn.robot === robot && turn.t >= window.from && turn.t <= end);
  const stretches: Stretch[] = [];
  let isCrashed = comms.isCrashed(robot, window.from);
  let from = 0;
  for (const turn of turns) {
    stretches.push({ y1: from, y2: y(turn.t), isCrashed });
    from = y(turn.t);
    isCrashed = turn.what === 'crashed';
  }
  stretches.push({ y1: from, y2: height, isCrashed });
  return { robot, x, stretches, turns: turns.map(({ t, what }) => ({ y: y(t), what })) };
}

/** The next or previous message after the chosen one, in order of sending; the first or last when none is chosen. */
export function neighbour(arrows: readonly DrawnArrow[], chosen: Arrow | null, by: 1 | -1): Arrow | null {
  const at = arrows.findIndex(({ arrow }) => arrow === chosen);
  const next = at < 0 ? (by > 0 ? 0 : arrows.length - 1) : at + by;
  return arrows[Math.min(arrows.length - 1, Math.max(0, next))]?.arrow ?? null;
}

/** Round moments for the axis, about `pixels` apart. */
export function ticks({ height, window }: Frame, pixels: number): { t: number; y: number }[] {
  const want = (window.span * pixels) / Math.max(1, height);
  const ten = Math.pow(10, Math.floor(Math.log10(want)));
  const step = ([1, 2, 5, 10].find((n) => n * ten >= want * 0.999) ?? 10) * ten;
  const found: { t: number; y: number }[] = [];
  for (let k = Math.ceil(Math.max(0, window.from) / step); k * step <= window.from + window.span; k++)
    found.push({
      t: Number((k * step).toPrecision(12)),
      y: ((k * step - window.from) / window.span) * height,
    });
  return found;
}
