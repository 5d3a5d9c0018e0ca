/**
 * Draws trails and accumulated arcs on the ground. While the camera rests only what is new is added; while
 * it moves a part is enough, and the rest follows when it rests again.
 */

import type { World } from '../store';
import { colourOf, ink } from './ink';
import { pathsOf } from './paths';
import { ARC, PLACE, type Traces } from './traces';
import type { View } from './view';

type Context = CanvasRenderingContext2D;

/** Rows drawn in one go while the camera moves. */
const QUICK = 6_000;
const REST_MS = 120;

export class TraceLayer {
  private places = 0;
  private arcs = 0;
  private timer = 0;
  private wantsAll = false;

  constructor(
    private readonly view: View,
    private readonly traces: Traces,
  ) {}

  /** Whether what was drawn is no longer so, or only a part of it was drawn. */
  get mustBeginAnew(): boolean {
    return this.wantsAll || this.traces.places.end < this.places || this.traces.arcs.end < this.arcs;
  }

  /** Draws on ground without any traces; `isMoving` says that another such picture may follow at once. */
  drawAll(context: Context, ratio: number, isMoving: boolean): void {
    const { places, arcs } = this.traces;
    this.places = this.arcs = 0;
    this.wantsAll = false;
    const isPart = isMoving && places.length + arcs.length > QUICK;
    const stride = (length: number): number => (isPart ? Math.max(1, Math.ceil(length / (QUICK / 2))) : 1);
    this.draw(context, ratio, stride(places.length), stride(arcs.length));
    clearTimeout(this.timer);
    if (isPart)
      this.timer = window.setTimeout(() => {
        this.wantsAll = true;
        this.view.requestDraw();
      }, REST_MS);
  }

  /** Adds what has come since. */
  drawNew(context: Context, ratio: number): void {
    this.draw(context, ratio, 1, 1);
  }

  private draw(context: Context, ratio: number, placeStride: number, arcStride: number): void {
    const { layers, world } = this.view.store;
    if (!world) return;
    if (layers.arcs) this.drawArcs(context, arcStride);
    if (layers.trails !== 'none') this.drawPlaces(context, world, ratio, placeStride);
    this.places = this.traces.places.end;
    this.arcs = this.traces.arcs.end;
  }

  private drawPlaces(context: Context, world: World, ratio: number, stride: number): void {
    const { places } = this.traces;
    const { scale } = this.view.store.camera;
    const { width, height } = this.view.size;
    const isOutline = this.view.store.layers.trails === 'outline';
    const paths = pathsOf(world);
    const colours = world.drawing.types.map((_, type) => colourOf(world, type));
    let last = -1;
    context.globalAlpha = isOutline ? 0.55 : 0.7;
    for (let row = Math.max(places.first, this.places); row < places.end; row += stride) {
      if (isOutline && places.at(row, PLACE.outline) === 0) continue;
      const p = this.view.toCanvas(places.at(row, PLACE.x), places.at(row, PLACE.y));
      if (p.x < -50 || p.y < -50 || p.x > width + 50 || p.y > height + 50) continue;
      const type = world.bodies[places.at(row, PLACE.body)]?.type ?? 0;
      if (type !== last) context.fillStyle = context.strokeStyle = colours[type] ?? '#7f7f7f';
      last = type;
      const path = paths[type];
      if (!isOutline || !path) {
        context.fillRect(p.x - 1, p.y - 1, 2, 2);
        continue;
      }
      const heading = places.at(row, PLACE.heading);
      const [c, s] = [Math.cos(heading) * scale * ratio, Math.sin(heading) * scale * ratio];
      context.setTransform(c, -s, -s, -c, p.x * ratio, p.y * ratio);
      context.lineWidth = 1 / scale;
      context.stroke(path.body);
    }
    context.globalAlpha = 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** One stroke each, faint: where several arcs cross it becomes dark, and there an object is likely. */
  private drawArcs(context: Context, stride: number): void {
    const { arcs } = this.traces;
    const { scale } = this.view.store.camera;
    context.strokeStyle = ink().sensor;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.22;
    for (let row = Math.max(arcs.first, this.arcs); row < arcs.end; row += stride) {
      const p = this.view.toCanvas(arcs.at(row, ARC.x), arcs.at(row, ARC.y));
      context.beginPath();
      context.arc(
        p.x,
        p.y,
        arcs.at(row, ARC.radius) * scale,
        -arcs.at(row, ARC.from),
        -arcs.at(row, ARC.to),
        true,
      );
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}
