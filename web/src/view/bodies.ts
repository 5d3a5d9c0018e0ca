/** Draws robots and movable obstacles: outline, heading, state, name and whether they are selected. */

import { CARRIED, FAILED, HALTED, TOUCHING, WAITED_FOR } from '../frames';
import { shortName } from '../names';
import type { World } from '../store';
import { overlaps } from './geometry';
import { colourOf, ink } from './ink';
import { pathsOf } from './paths';
import type { View } from './view';

type Context = CanvasRenderingContext2D;

/** More names than this on the screen would only hide what they name. */
const MAX_NAMES = 150;

/** Bodies that are seen now: number and place on the canvas. */
export interface Seen {
  body: number;
  type: number;
  x: number;
  y: number;
  heading: number;
}

export function seenBodies(view: View): Seen[] {
  const { world, frame, hidden } = view.store;
  if (!world || !frame) return [];
  const paths = pathsOf(world);
  const box = view.seen;
  const list: Seen[] = [];
  const count = Math.min(world.bodies.length, frame.count);
  for (let body = 0; body < count; body++) {
    const type = world.bodies[body]?.type ?? 0;
    if (hidden.size > 0 && hidden.has(world.bodies[body]?.path ?? '')) continue;
    const [x, y] = [frame.rows[3 * body] ?? 0, frame.rows[3 * body + 1] ?? 0];
    const reach = paths[type]?.reach ?? 0;
    if (!overlaps({ minX: x - reach, minY: y - reach, maxX: x + reach, maxY: y + reach }, box)) continue;
    const p = view.toCanvas(x, y);
    list.push({ body, type, x: p.x, y: p.y, heading: frame.rows[3 * body + 2] ?? 0 });
  }
  return list;
}

/** The context's unit is the CSS pixel; `ratio` is device pixels per CSS pixel. */
export function drawBodies(context: Context, view: View, list: Seen[], ratio: number): void {
  const { world, frame, layers, camera } = view.store;
  if (!world || !frame) return;
  const paths = pathsOf(world);
  const { scale } = camera;
  const colours = ink();
  context.lineJoin = context.lineCap = 'round';
  let lastType = -1;
  // Obstacles below robots, so that a carried one does not hide its carrier.
  for (const wanted of ['obstacle', 'robot'])
    for (const { body, type, x, y, heading } of list) {
      const path = paths[type];
      const kind = world.drawing.types[type]?.kind;
      if (!path || kind !== wanted) continue;
      if (type !== lastType) context.fillStyle = colourOf(world, type);
      lastType = type;
      const size = path.reach * scale;
      if (size < 2) {
        context.fillRect(x - 1.5, y - 1.5, 3, 3);
        continue;
      }
      const flags = frame.flags[body] ?? 0;
      const [c, s] = [Math.cos(heading) * scale * ratio, Math.sin(heading) * scale * ratio];
      context.setTransform(c, -s, -s, -c, x * ratio, y * ratio);
      const isTouching = layers.contacts && (flags & TOUCHING) !== 0;
      context.lineWidth = (isTouching ? 2.5 : 1) / scale;
      context.strokeStyle = isTouching ? colours.contact : colours.halo;
      context.fill(path.body);
      if (flags & CARRIED) context.setLineDash([3 / scale, 3 / scale]);
      if (kind === 'obstacle' && !isTouching) context.strokeStyle = colours['obstacle-edge'];
      context.stroke(path.body);
      if (flags & CARRIED) context.setLineDash([]);
      if (kind === 'robot' && size > 4) {
        context.lineWidth = Math.min(3, Math.max(1, size / 7)) / scale;
        context.strokeStyle = colours.halo;
        context.stroke(path.tick);
      }
    }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (layers.shapes) drawShapes(context, view, world, list, ratio);
  for (const one of list)
    drawBadges(context, one, frame.flags[one.body] ?? 0, (paths[one.type]?.reach ?? 0) * scale);
  if (layers.ids) drawNames(context, view, world, list);
}

/** What collides, exactly: outlines and the circles within which the engine looks for neighbours. */
function drawShapes(context: Context, view: View, world: World, list: Seen[], ratio: number): void {
  const { scale } = view.store.camera;
  const paths = pathsOf(world);
  context.strokeStyle = ink().shape;
  for (const { type, x, y, heading } of list) {
    const path = paths[type];
    if (!path || path.reach * scale < 3) continue;
    context.lineWidth = 1.5 / scale;
    const [c, s] = [Math.cos(heading) * scale * ratio, Math.sin(heading) * scale * ratio];
    context.setTransform(c, -s, -s, -c, x * ratio, y * ratio);
    context.stroke(path.body);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.arc(x, y, path.reach * scale, 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
  }
}

/** A square for halted, a triangle for failed, an hourglass for waited for: told by shape and by colour. */
const BADGES: { flag: number; colour: 'halted' | 'failed' | 'waited'; path: Path2D; sign: Path2D }[] = [
  {
    flag: HALTED,
    colour: 'halted',
    path: new Path2D('M-6 -6 H6 V6 H-6 Z'),
    sign: new Path2D('M-2.5 -3 V3 M2.5 -3 V3'),
  },
  {
    flag: FAILED,
    colour: 'failed',
    path: new Path2D('M0 -8 L8 6 H-8 Z'),
    sign: new Path2D('M0 -3 V1.5 M0 3.8 V4'),
  },
  {
    flag: WAITED_FOR,
    colour: 'waited',
    path: new Path2D('M-6 0 A6 6 0 1 1 6 0 A6 6 0 1 1 -6 0 Z'),
    sign: new Path2D('M0 -3.5 V0 L2.5 1.5'),
  },
];

function drawBadges(context: Context, { x, y }: Seen, flags: number, size: number): void {
  if (!(flags & (HALTED | FAILED | WAITED_FOR))) return;
  const colours = ink();
  let right = x + 0.7 * size + 6;
  for (const { flag, colour, path, sign } of BADGES) {
    if (!(flags & flag)) continue;
    context.save();
    context.translate(right, y - 0.7 * size - 6);
    context.lineWidth = 3;
    context.strokeStyle = colours.halo;
    context.stroke(path);
    context.fillStyle = colours[colour];
    context.fill(path);
    context.lineWidth = 1.8;
    context.stroke(sign);
    context.restore();
    right += 18;
  }
}

function drawNames(context: Context, view: View, world: World, list: Seen[]): void {
  const { scale } = view.store.camera;
  const paths = pathsOf(world);
  const colours = ink();
  const named = list.filter(({ type }) => {
    const isRobot = world.drawing.types[type]?.kind === 'robot';
    return isRobot && (paths[type]?.reach ?? 0) * scale > 5;
  });
  if (named.length > MAX_NAMES) return;
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'top';
  context.lineWidth = 3;
  context.strokeStyle = colours.halo;
  context.fillStyle = colours.label;
  for (const { body, type, x, y } of named) {
    const name = shortName(world.bodies[body]?.path ?? '');
    const below = y + (paths[type]?.reach ?? 0) * scale + 7;
    context.strokeText(name, x, below);
    context.fillText(name, x, below);
  }
  context.textAlign = 'left';
}
