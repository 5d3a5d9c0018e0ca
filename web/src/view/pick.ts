/**
 * Which object or mark is at a place. Everything is in metres of the world; `slack` is how far beside an
 * object still counts, so that thin walls can be hit.
 *
 * On top is what is drawn on top: robots, movable obstacles, beacons, walls, fixed obstacles, tracks.
 */

import type { Mark } from '../frames';
import type { Point, TrackMark } from '../protocol';
import type { Store, World } from '../store';
import {
  boxOf,
  distanceToArc,
  distanceToLine,
  distanceToShape,
  EMPTY,
  isBetween,
  isInside,
  isWithin,
  outlineOf,
  overlaps,
  placed,
  reachOf,
  union,
  unplaced,
  type Box,
  type Pose,
} from './geometry';

export type ObjectKind = 'robot' | 'movable' | 'beacon' | 'wall' | 'obstacle' | 'track';

/** Something that can be pointed at; `id` is its path, as in the selection. */
export interface Picked {
  id: string;
  kind: ObjectKind;
  /** Number of the body in frames, for robots and movable obstacles. */
  body: number | null;
}

/** The lines of one wall or fixed obstacle, each from corner to corner. */
export interface Fixed {
  id: string;
  kind: 'wall' | 'obstacle';
  /** Lines that go on from one another; an obstacle's is closed. */
  lines: Point[][];
  box: Box;
}

/** Fixed things by owner, made once per world. */
export function fixedOf(world: World): Fixed[] {
  const found = fixedCache.get(world);
  if (found) return found;
  const byOwner = new Map<number, Fixed>();
  for (const { owner, kind, a, b } of world.drawing.edges) {
    const fixed = byOwner.get(owner) ?? { id: world.owners[owner] ?? '', kind, lines: [], box: EMPTY };
    const last = fixed.lines[fixed.lines.length - 1];
    const end = last?.[last.length - 1];
    if (last && end && end[0] === a[0] && end[1] === a[1]) last.push(b);
    else fixed.lines.push([a, b]);
    byOwner.set(owner, fixed);
  }
  const list = [...byOwner.values()].map((f) => ({ ...f, box: boxOf(f.lines.flat()) }));
  fixedCache.set(world, list);
  return list;
}

const fixedCache = new WeakMap<World, Fixed[]>();

/** What is at a point, the top one first. `accept` can leave some out, such as locked ones. */
export function objectsAt(
  store: Store,
  x: number,
  y: number,
  slack: number,
  accept: (id: string) => boolean = () => true,
): Picked[] {
  const { world } = store;
  if (!world) return [];
  const p: Point = [x, y];
  const found = [...bodiesAt(store, world, p, slack), ...beaconsAt(world, p, slack)];
  for (const kind of ['wall', 'obstacle'] as const)
    for (const fixed of fixedOf(world)) {
      if (fixed.kind !== kind) continue;
      const isHit = fixed.lines.some(
        (line) => distanceToLine(p, line) <= slack || (kind === 'obstacle' && isWithin(p, line)),
      );
      if (isHit) found.push({ id: fixed.id, kind, body: null });
    }
  for (const track of world.drawing.tracks)
    if (distanceToTrack(p, track) <= slack) found.push({ id: track.path, kind: 'track', body: null });
  return found.filter((f) => f.id !== '' && !store.hidden.has(f.id) && accept(f.id));
}

/** What lies wholly inside a box: what a rubber band catches. */
export function objectsIn(store: Store, box: Box, accept: (id: string) => boolean = () => true): Picked[] {
  return objects(store).filter(
    (o) => !store.hidden.has(o.id) && accept(o.id) && isInside(boundsOf(store, o.id) ?? EMPTY, box),
  );
}

/** Every object of the world. */
export function objects(store: Store): Picked[] {
  const { world } = store;
  if (!world) return [];
  const bodies = world.bodies.map(({ path, type }, body): Picked => ({
    id: path,
    kind: kindOf(world, type),
    body,
  }));
  const fixed = fixedOf(world).map(({ id, kind }): Picked => ({ id, kind, body: null }));
  const tracks = world.drawing.tracks.map(({ path }): Picked => ({ id: path, kind: 'track', body: null }));
  const beacons = (world.drawing.beacons ?? []).map(({ path }): Picked => ({
    id: path,
    kind: 'beacon',
    body: null,
  }));
  return [...bodies, ...beacons, ...fixed, ...tracks].filter((o) => o.id !== '');
}

/** The box around one object, where it is now; `null` when there is none of that name. */
export function boundsOf(store: Store, id: string): Box | null {
  const { world } = store;
  if (!world) return null;
  const body = world.bodyOf.get(id);
  const pose = body === undefined ? null : store.poseOf(id);
  const type = body === undefined ? undefined : world.drawing.types[world.bodies[body]?.type ?? -1];
  if (pose && type) return boxOf(outlineOf(type.outline).map((c) => placed(pose, c)));
  const fixed = fixedOf(world).filter((f) => f.id === id);
  if (fixed.length > 0) return fixed.map((f) => f.box).reduce(union);
  const track = world.drawing.tracks.find((t) => t.path === id);
  if (track) return boxOf(track.points, (track.width ?? 0) / 2);
  const beacon = world.drawing.beacons?.find((b) => b.path === id);
  return beacon ? boxOf([[beacon.pose[0], beacon.pose[1]]], BEACON_SIZE) : null;
}

/** The box around everything, the world's border included. */
export function boundsOfAll(store: Store): Box {
  const { world, frame } = store;
  if (!world) return EMPTY;
  const { drawing } = world;
  let box = drawing.bounds ? boxOf(drawing.bounds) : EMPTY;
  for (const fixed of fixedOf(world)) box = union(box, fixed.box);
  for (const track of drawing.tracks) box = union(box, boxOf(track.points, (track.width ?? 0) / 2));
  for (const { pose } of drawing.beacons ?? []) box = union(box, boxOf([[pose[0], pose[1]]], BEACON_SIZE));
  const reach = drawing.types.map((t) => reachOf(t.outline));
  world.bodies.forEach(({ type }, k) => {
    if (!frame || k >= frame.count) return;
    const at: Point = [frame.rows[3 * k] ?? 0, frame.rows[3 * k + 1] ?? 0];
    box = union(box, boxOf([at], reach[type] ?? 0));
  });
  return box;
}

/** Whether any part of the world is in a box. Asked with every picture, so the common answers come first. */
export function isAnythingIn(store: Store, box: Box): boolean {
  const { world, frame } = store;
  if (!world || !frame) return false;
  const { bounds, tracks, beacons } = world.drawing;
  if (bounds && overlaps(boxOf(bounds), box)) return true;
  for (let k = 0; k < frame.count; k++) {
    const [x, y] = [frame.rows[3 * k] ?? 0, frame.rows[3 * k + 1] ?? 0];
    if (x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY) return true;
  }
  return (
    fixedOf(world).some((f) => overlaps(f.box, box)) ||
    tracks.some((t) => overlaps(boxOf(t.points), box)) ||
    (beacons ?? []).some((b) => overlaps(boxOf([[b.pose[0], b.pose[1]]]), box))
  );
}

/** A mark that was pointed at. */
export interface PickedMark {
  body: number;
  mark: Mark;
  distance: number;
}

/** The mark nearest to a point, within `slack`; inside a sector counts as a little beside its lines. */
export function markAt(
  store: Store,
  x: number,
  y: number,
  slack: number,
  accept: (body: number, mark: Mark) => boolean = () => true,
): PickedMark | null {
  const { world, marks, frame } = store;
  if (!world || !marks || !frame) return null;
  let best: PickedMark | null = null;
  for (const robot of marks.robots) {
    if (robot.body >= frame.count || store.hidden.has(world.bodies[robot.body]?.path ?? '')) continue;
    const p = unplaced(poseAt(frame.rows, robot.body), [x, y]);
    for (const mark of robot.marks) {
      if (!accept(robot.body, mark)) continue;
      const distance = distanceToMark(p, mark, slack);
      if (distance <= slack && distance < (best?.distance ?? Infinity))
        best = { body: robot.body, mark, distance };
    }
  }
  return best;
}

function distanceToMark(p: Point, mark: Mark, slack: number): number {
  switch (mark.shape) {
    case 'line':
      return distanceToLine(p, mark.points);
    case 'circle':
      return Math.max(0, Math.hypot(p[0] - mark.x, p[1] - mark.y) - mark.radius);
    case 'text':
      return Math.hypot(p[0] - mark.x, p[1] - mark.y);
    case 'arc': {
      const [dx, dy] = [p[0] - mark.x, p[1] - mark.y];
      const isInSector =
        Math.hypot(dx, dy) < mark.radius && isBetween(Math.atan2(dy, dx), mark.from, mark.to);
      const onArc = distanceToArc(p, mark);
      return isInSector ? Math.min(onArc, 0.9 * slack) : onArc;
    }
  }
}

/** Where a body is in the rows of a frame. */
export function poseAt(rows: Float64Array, body: number): Pose {
  return { x: rows[3 * body] ?? 0, y: rows[3 * body + 1] ?? 0, heading: rows[3 * body + 2] ?? 0 };
}

/** A beacon is a sign, not a body: this many metres around it count as it. */
const BEACON_SIZE = 0.08;

function kindOf(world: World, type: number): ObjectKind {
  return world.drawing.types[type]?.kind === 'robot' ? 'robot' : 'movable';
}

function bodiesAt(store: Store, world: World, p: Point, slack: number): Picked[] {
  const { frame } = store;
  if (!frame) return [];
  const { types } = world.drawing;
  const reach = types.map((t) => reachOf(t.outline) + slack);
  const found: (Picked & { distance: number })[] = [];
  world.bodies.forEach(({ path, type }, body) => {
    const outline = types[type]?.outline;
    if (!outline || body >= frame.count) return;
    const pose = poseAt(frame.rows, body);
    const far = reach[type] ?? 0;
    if (Math.abs(pose.x - p[0]) > far || Math.abs(pose.y - p[1]) > far) return;
    const distance = distanceToShape(unplaced(pose, p), outline);
    if (distance <= slack) found.push({ id: path, kind: kindOf(world, type), body, distance });
  });
  // Robots before what they carry or push; the one that is hit before one that is merely near.
  const rank = (f: Picked & { distance: number }): number =>
    (f.distance > 0 ? 2 : 0) + (f.kind === 'robot' ? 0 : 1);
  found.sort((a, b) => rank(a) - rank(b) || a.distance - b.distance || (b.body ?? 0) - (a.body ?? 0));
  return found.map(({ id, kind, body }) => ({ id, kind, body }));
}

function beaconsAt(world: World, p: Point, slack: number): Picked[] {
  return (world.drawing.beacons ?? [])
    .map((b) => ({ path: b.path, distance: Math.hypot(b.pose[0] - p[0], b.pose[1] - p[1]) }))
    .filter((b) => b.distance <= Math.max(BEACON_SIZE, 2 * slack))
    .sort((a, b) => a.distance - b.distance)
    .map((b) => ({ id: b.path, kind: 'beacon', body: null }));
}

function distanceToTrack(p: Point, track: TrackMark): number {
  if (track.width === null) return isWithin(p, track.points) ? 0 : distanceToLine(p, track.points, true);
  return Math.max(0, distanceToLine(p, track.points) - track.width / 2);
}
