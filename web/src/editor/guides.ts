/** Alignment: which edges and middles coincide, and how things are moved so that they do. Pure. */

import type { Point } from '../protocol';
import type { Box } from '../view/geometry';

export interface Guide {
  /** Where the line is: x of a vertical one, y of a horizontal one. */
  at: number;
  axis: 'x' | 'y';
  from: number;
  to: number;
}

const marks = (box: Box, axis: 'x' | 'y'): number[] =>
  axis === 'x'
    ? [box.minX, (box.minX + box.maxX) / 2, box.maxX]
    : [box.minY, (box.minY + box.maxY) / 2, box.maxY];

/** The lines on which a box that is moved meets others, within `near`; and how far it is from them. */
export function guidesFor(moving: Box, others: readonly Box[], near: number): { guides: Guide[]; by: Point } {
  const by: Point = [0, 0];
  const guides: Guide[] = [];
  (['x', 'y'] as const).forEach((axis, k) => {
    let best: { gap: number; at: number; other: Box } | null = null;
    for (const other of others)
      for (const there of marks(other, axis))
        for (const here of marks(moving, axis)) {
          const gap = there - here;
          if (Math.abs(gap) <= near && Math.abs(gap) < Math.abs(best?.gap ?? Infinity))
            best = { gap, at: there, other };
        }
    if (!best) return;
    by[k] = best.gap;
    const [low, high] = axis === 'x' ? (['minY', 'maxY'] as const) : (['minX', 'maxX'] as const);
    guides.push({
      at: best.at,
      axis,
      from: Math.min(moving[low], best.other[low]),
      to: Math.max(moving[high], best.other[high]),
    });
  });
  return { guides, by };
}

export type Alignment = 'left' | 'right' | 'top' | 'bottom' | 'middle-x' | 'middle-y';

/** How far each box has to go so that all are aligned to the outermost (or to the common middle). */
export function alignBy(boxes: readonly Box[], how: Alignment): Point[] {
  const left = Math.min(...boxes.map((b) => b.minX));
  const right = Math.max(...boxes.map((b) => b.maxX));
  const bottom = Math.min(...boxes.map((b) => b.minY));
  const top = Math.max(...boxes.map((b) => b.maxY));
  return boxes.map((b): Point => {
    switch (how) {
      case 'left':
        return [left - b.minX, 0];
      case 'right':
        return [right - b.maxX, 0];
      case 'top':
        return [0, top - b.maxY];
      case 'bottom':
        return [0, bottom - b.minY];
      case 'middle-x':
        return [(left + right - b.minX - b.maxX) / 2, 0];
      case 'middle-y':
        return [0, (bottom + top - b.minY - b.maxY) / 2];
    }
  });
}

/** How far each box has to go so that their middles are evenly apart; the outermost stay. */
export function distributeBy(boxes: readonly Box[], axis: 'x' | 'y'): Point[] {
  const middle = (b: Box): number => (axis === 'x' ? b.minX + b.maxX : b.minY + b.maxY) / 2;
  const order = boxes.map((b, k) => ({ k, at: middle(b) })).sort((a, b) => a.at - b.at);
  const first = order[0]?.at ?? 0;
  const gap = ((order[order.length - 1]?.at ?? 0) - first) / Math.max(1, order.length - 1);
  const out: Point[] = boxes.map(() => [0, 0]);
  order.forEach(({ k, at }, n) => {
    const by = first + n * gap - at;
    out[k] = axis === 'x' ? [by, 0] : [0, by];
  });
  return out;
}

/** The places of N things in rows around a middle. */
export function gridPlaces(n: number, columns: number, spacing: number, [x, y]: Point): Point[] {
  const rows = Math.ceil(n / columns);
  return Array.from({ length: n }, (_, k): Point => {
    const [c, r] = [k % columns, Math.floor(k / columns)];
    return [x + (c - (Math.min(columns, n) - 1) / 2) * spacing, y + (r - (rows - 1) / 2) * spacing];
  });
}

/** The places of N things evenly on a circle, and the heading outward of each. */
export function circlePlaces(n: number, radius: number, [x, y]: Point): { at: Point; heading: number }[] {
  return Array.from({ length: n }, (_, k) => {
    const heading = (2 * Math.PI * k) / n;
    return { at: [x + radius * Math.cos(heading), y + radius * Math.sin(heading)] as Point, heading };
  });
}
