/** Plane geometry the view needs, in metres and radians. Nothing here knows about the page. */

import type { Point, Shape } from '../protocol';

/** Lower left and upper right corner. */
export interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

export interface Pose {
  x: number;
  y: number;
  heading: number;
}

export const EMPTY: Box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };

export function isEmpty(box: Box): boolean {
  return !(box.minX <= box.maxX && box.minY <= box.maxY);
}

export function boxOf(points: Iterable<Point>, margin = 0): Box {
  const box = { ...EMPTY };
  for (const [x, y] of points) {
    box.minX = Math.min(box.minX, x - margin);
    box.minY = Math.min(box.minY, y - margin);
    box.maxX = Math.max(box.maxX, x + margin);
    box.maxY = Math.max(box.maxY, y + margin);
  }
  return box;
}

export function union(a: Box, b: Box): Box {
  return {
    minX: Math.min(a.minX, b.minX),
    minY: Math.min(a.minY, b.minY),
    maxX: Math.max(a.maxX, b.maxX),
    maxY: Math.max(a.maxY, b.maxY),
  };
}

export function overlaps(a: Box, b: Box): boolean {
  return a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;
}

export function isInside(inner: Box, outer: Box): boolean {
  return (
    !isEmpty(inner) &&
    inner.minX >= outer.minX &&
    inner.maxX <= outer.maxX &&
    inner.minY >= outer.minY &&
    inner.maxY <= outer.maxY
  );
}

/** A point of a body's frame in the world. */
export function placed(pose: Pose, [x, y]: Point): Point {
  const [c, s] = [Math.cos(pose.heading), Math.sin(pose.heading)];
  return [pose.x + c * x - s * y, pose.y + s * x + c * y];
}

/** A point of the world in a body's frame. */
export function unplaced(pose: Pose, [x, y]: Point): Point {
  const [c, s] = [Math.cos(pose.heading), Math.sin(pose.heading)];
  const [dx, dy] = [x - pose.x, y - pose.y];
  return [c * dx + s * dy, c * dy - s * dx];
}

export function distanceToSegment([x, y]: Point, a: Point, b: Point): number {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = dx * dx + dy * dy;
  const along = length > 0 ? Math.min(1, Math.max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / length)) : 0;
  return Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
}

export function distanceToLine(p: Point, points: readonly Point[], closed = false): number {
  let best =
    points.length === 1 && points[0] ? Math.hypot(p[0] - points[0][0], p[1] - points[0][1]) : Infinity;
  for (let k = 1; k < points.length; k++)
    best = Math.min(best, distanceToSegment(p, points[k - 1] as Point, points[k] as Point));
  const [first, last] = [points[0], points[points.length - 1]];
  return closed && first && last ? Math.min(best, distanceToSegment(p, last, first)) : best;
}

/** Whether a point is inside a polygon (even-odd, so that concave ones work). */
export function isWithin([x, y]: Point, polygon: readonly Point[]): boolean {
  let inside = false;
  for (let k = 0, last = polygon.length - 1; k < polygon.length; last = k++) {
    const [ax, ay] = polygon[k] as Point;
    const [bx, by] = polygon[last] as Point;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** How far a point of the body's frame is outside a hull that is grown by a radius; 0 inside. */
export function distanceToShape(p: Point, { corners, round }: Shape): number {
  if (corners.length >= 3 && isWithin(p, corners)) return 0;
  return Math.max(0, distanceToLine(p, corners, true) - round);
}

/** The farthest point of a shape from its middle. */
export function reachOf({ corners, round }: Shape): number {
  return Math.max(0, ...corners.map(([x, y]) => Math.hypot(x, y))) + round;
}

/** The corners of a hull grown by its radius, round corners as short straight pieces, counter-clockwise. */
export function outlineOf({ corners, round }: Shape, pieces = 24): Point[] {
  if (round <= 0) return corners.slice();
  const points: Point[] = [];
  const n = corners.length;
  corners.forEach((corner, k) => {
    const [before, after] = [corners[(k + n - 1) % n] as Point, corners[(k + 1) % n] as Point];
    const normal = (a: Point, b: Point): number => Math.atan2(b[1] - a[1], b[0] - a[0]) - Math.PI / 2;
    const from = n === 1 ? 0 : normal(before, corner);
    let turn = n === 1 ? 2 * Math.PI : normal(corner, after) - from;
    while (turn < 0) turn += 2 * Math.PI;
    const steps = Math.max(1, Math.ceil((turn / (2 * Math.PI)) * pieces));
    // A whole circle ends where it began: once is enough.
    for (let i = 0; i <= (n === 1 ? steps - 1 : steps); i++) {
      const angle = from + (turn * i) / steps;
      points.push([corner[0] + round * Math.cos(angle), corner[1] + round * Math.sin(angle)]);
    }
  });
  return points;
}

/** Whether an angle is on the way from `from` counter-clockwise to `to`. */
export function isBetween(angle: number, from: number, to: number): boolean {
  const turn = 2 * Math.PI;
  const past = (((angle - from) % turn) + turn) % turn;
  return past <= to - from + 1e-9;
}

/** How far a point is from a piece of a circle. */
export function distanceToArc(
  [x, y]: Point,
  arc: { x: number; y: number; radius: number; from: number; to: number },
): number {
  const [dx, dy] = [x - arc.x, y - arc.y];
  if (isBetween(Math.atan2(dy, dx), arc.from, arc.to)) return Math.abs(Math.hypot(dx, dy) - arc.radius);
  const end = (angle: number): number =>
    Math.hypot(dx - arc.radius * Math.cos(angle), dy - arc.radius * Math.sin(angle));
  return Math.min(end(arc.from), end(arc.to));
}
