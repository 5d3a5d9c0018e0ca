/** Outlines as paths of the canvas, in metres of the body's frame, made once per world. */

import type { Shape } from '../protocol';
import type { World } from '../store';
import { reachOf } from './geometry';

export interface TypePath {
  /** The outline. */
  body: Path2D;
  /** A line from the middle to the front. */
  tick: Path2D;
  /** The farthest point from the middle, m. */
  reach: number;
}

const cache = new WeakMap<World, TypePath[]>();

/** Paths of every type of a world, by the type's number. */
export function pathsOf(world: World): TypePath[] {
  const found = cache.get(world) ?? world.drawing.types.map(({ outline }) => pathOf(outline));
  cache.set(world, found);
  return found;
}

function pathOf(shape: Shape): TypePath {
  const front = Math.max(...shape.corners.map(([x]) => x)) + shape.round;
  const tick = new Path2D();
  tick.moveTo(0, 0);
  tick.lineTo(front, 0);
  return { body: outlinePath(shape), tick, reach: reachOf(shape) };
}

/** The hull of the corners, grown by a radius: straight sides joined by arcs. */
export function outlinePath({ corners, round }: Shape): Path2D {
  const path = new Path2D();
  const n = corners.length;
  corners.forEach(([x, y], k) => {
    if (round <= 0) {
      path.lineTo(x, y);
      return;
    }
    if (n === 1) {
      path.arc(x, y, round, 0, 2 * Math.PI);
      return;
    }
    const [bx, by] = corners[(k + n - 1) % n] ?? [x, y];
    const [ax, ay] = corners[(k + 1) % n] ?? [x, y];
    const from = Math.atan2(y - by, x - bx) - Math.PI / 2;
    const to = Math.atan2(ay - y, ax - x) - Math.PI / 2;
    path.arc(x, y, round, from, to);
  });
  path.closePath();
  return path;
}
