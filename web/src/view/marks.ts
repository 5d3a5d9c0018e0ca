/**
 * Draws what parts show of themselves: rays, sectors, arcs, circles, words, links.
 *
 * A part is never known by name here. What toggle a mark belongs to follows from its shape, and for links
 * between robots from the class of its part.
 */

import type { Mark } from '../frames';
import type { Layers, Store, World } from '../store';
import { ink } from './ink';
import { poseAt } from './pick';
import type { View } from './view';

type Context = CanvasRenderingContext2D;

/** The toggle that shows or hides a mark. */
export type MarkLayer = 'sensors' | 'rays' | 'links';

/** With more marks than this, areas are not filled and lines are as thin as can be. */
const MANY = 3000;

export function layerOf(mark: Mark, partClass: string): MarkLayer {
  if (/radio|comm|link|mail|message/.test(partClass)) return 'links';
  return mark.shape === 'line' && mark.points.length === 2 ? 'rays' : 'sensors';
}

/** Class of the part that drew a mark of a body. */
export function classOfMark(world: World, body: number, mark: Mark): string {
  const type = world.bodies[body]?.type ?? -1;
  return world.types[type]?.parts[mark.part]?.class ?? '';
}

export function isShown(store: Store, body: number, mark: Mark): boolean {
  return store.world !== null && store.layers[layerOf(mark, classOfMark(store.world, body, mark))];
}

/** Everything of one look, gathered so that it is drawn at once; overlapping areas then do not add up. */
interface Batches {
  rays: Path2D;
  sides: Path2D;
  sectors: Path2D;
  arcs: Path2D;
  links: Path2D;
  words: { x: number; y: number; text: string }[];
  count: number;
}

export function drawMarks(context: Context, view: View): void {
  const { world, marks, frame, layers } = view.store;
  if (!world || !marks || !frame) return;
  const batches: Batches = {
    rays: new Path2D(),
    sides: new Path2D(),
    sectors: new Path2D(),
    arcs: new Path2D(),
    links: new Path2D(),
    words: [],
    count: 0,
  };
  for (const { body, marks: list } of marks.robots) {
    if (body >= frame.count || view.store.hidden.has(world.bodies[body]?.path ?? '')) continue;
    gather(batches, view, world, layers, body, list);
  }
  if (batches.count > 0) strokeAll(context, batches);
}

function gather(
  to: Batches,
  view: View,
  world: World,
  layers: Layers,
  body: number,
  list: readonly Mark[],
): void {
  const { frame, camera } = view.store;
  if (!frame) return;
  const pose = poseAt(frame.rows, body);
  const at = view.toCanvas(pose.x, pose.y);
  const { scale } = camera;
  const [c, s] = [Math.cos(pose.heading) * scale, Math.sin(pose.heading) * scale];
  const px = (x: number, y: number): number => at.x + c * x - s * y;
  const py = (x: number, y: number): number => at.y - s * x - c * y;
  const parts = world.types[world.bodies[body]?.type ?? -1]?.parts;
  for (const mark of list) {
    const layer = layerOf(mark, parts?.[mark.part]?.class ?? '');
    if (!layers[layer]) continue;
    to.count += 1;
    switch (mark.shape) {
      case 'line': {
        const path = layer === 'links' ? to.links : layer === 'rays' ? to.rays : to.sides;
        for (let k = 0; k < mark.points.length; k++) {
          const [x, y] = mark.points[k] ?? [0, 0];
          if (k === 0) path.moveTo(px(x, y), py(x, y));
          else path.lineTo(px(x, y), py(x, y));
        }
        break;
      }
      case 'circle': {
        const [x, y, radius] = [px(mark.x, mark.y), py(mark.x, mark.y), Math.max(1, mark.radius * scale)];
        to.arcs.moveTo(x + radius, y);
        to.arcs.arc(x, y, radius, 0, 2 * Math.PI);
        break;
      }
      case 'arc': {
        const [x, y, radius] = [px(mark.x, mark.y), py(mark.x, mark.y), Math.max(0, mark.radius * scale)];
        // The canvas' y goes down: the way from `from` to `to` is the other way round there.
        const [from, end] = [-pose.heading - mark.from, -pose.heading - mark.to];
        to.sectors.moveTo(x, y);
        to.sectors.arc(x, y, radius, from, end, true);
        to.sectors.closePath();
        to.arcs.moveTo(x + radius * Math.cos(from), y + radius * Math.sin(from));
        to.arcs.arc(x, y, radius, from, end, true);
        break;
      }
      case 'text':
        to.words.push({ x: px(mark.x, mark.y), y: py(mark.x, mark.y), text: mark.text });
    }
  }
}

function strokeAll(context: Context, batches: Batches): void {
  const colours = ink();
  const isMany = batches.count > MANY;
  context.lineJoin = 'round';
  context.lineCap = 'butt';
  if (!isMany) {
    context.globalAlpha = 0.1;
    context.fillStyle = colours.sensor;
    context.fill(batches.sectors);
  }
  context.lineWidth = 1;
  // The more there are, the fainter each.
  context.globalAlpha = isMany ? 0.3 : batches.count > 300 ? 0.4 : 0.6;
  context.strokeStyle = colours.ray;
  context.stroke(batches.rays);
  context.globalAlpha = 0.4;
  context.strokeStyle = colours.sensor;
  context.stroke(batches.sides);
  context.globalAlpha = 1;
  context.lineWidth = isMany ? 1 : 2;
  context.stroke(batches.arcs);
  context.lineWidth = 1.5;
  context.strokeStyle = colours.link;
  context.setLineDash([4, 3]);
  context.stroke(batches.links);
  context.setLineDash([]);
  if (batches.words.length === 0 || isMany) return;
  context.font = '600 11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.strokeStyle = colours.halo;
  context.fillStyle = colours.sensor;
  for (const { x, y, text } of batches.words) {
    context.strokeText(text, x + 2, y);
    context.fillText(text, x + 2, y);
  }
}
