/** Outlines of types and objects, from the world's drawing or, for types nobody uses yet, from the document. */

import type { Point, Shape } from '../protocol';
import type { Store } from '../store';
import { outlineOf, placed, type Pose } from '../view/geometry';
import { fixedOf } from '../view/pick';
import { fieldOf, poseOf } from './subject';
import { lengthOf, parseValue, pointsOf } from './toml';

const UNKNOWN: Shape = { corners: [[0, 0]], round: 0.12 };

/** The outline of a robot's type. */
export function shapeOfType(store: Store, name: string): Shape {
  const drawn = store.world?.drawing.types.find((t) => t.name === name && t.kind === 'robot');
  if (drawn) return drawn.outline;
  const entry = store.world?.entryOf.get(`type.${name}`);
  const text = (key: string): string => (entry && fieldOf(entry, key)) ?? '';
  const radius = lengthOf(parseValue(text('radius')));
  if (radius !== null) return { corners: [[0, 0]], round: radius };
  const polygon = pointsOf(text('polygon'));
  if (polygon) return { corners: polygon, round: 0 };
  const size = parseValue(text('size'));
  const [l, w] = Array.isArray(size) ? [lengthOf(size[0]), lengthOf(size[1])] : [null, null];
  if (l === null || w === null) return UNKNOWN;
  const [x, y] = [l / 2, w / 2];
  return {
    corners: [
      [x, y],
      [-x, y],
      [-x, -y],
      [x, -y],
    ],
    round: 0,
  };
}

/** One line of an object in the world. */
export interface Line {
  points: Point[];
  closed: boolean;
}

/** The lines of an object where it is now, or, if it is a body, as if it were elsewhere. */
export function linesOf(store: Store, id: string, elsewhere?: Pose): Line[] {
  const { world } = store;
  if (!world) return [];
  const body = world.bodyOf.get(id);
  const pose = elsewhere ?? poseOf(store, id);
  if (body !== undefined && pose) {
    const shape = world.drawing.types[world.bodies[body]?.type ?? -1]?.outline;
    return shape ? [{ points: outlineOf(shape).map((p) => placed(pose, p)), closed: true }] : [];
  }
  const fixed = fixedOf(world).filter((f) => f.id === id);
  if (fixed.length > 0)
    return fixed.flatMap((f) => f.lines.map((points) => ({ points, closed: f.kind === 'obstacle' })));
  const track = world.drawing.tracks.find((t) => t.path === id);
  if (track) return [{ points: track.points, closed: track.width === null }];
  const beacon = world.drawing.beacons?.find((b) => b.path === id);
  if (!beacon) return [];
  const [x, y] = beacon.pose;
  const around = outlineOf({ corners: [[0, 0]], round: 0.08 });
  return [{ points: around.map(([px, py]): Point => [x + px, y + py]), closed: true }];
}
