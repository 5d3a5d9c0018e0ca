/** Flashes where bodies touched: a ring that fades within a second. */

import type { Point } from '../protocol';
import { ink } from './ink';
import { isCalm } from './settings';
import type { View } from './view';

const LIFE_MS = 700;
const MAX_FLASHES = 400;

export class Flashes {
  private list: { at: Point; since: number }[] = [];

  constructor(private readonly view: View) {}

  get count(): number {
    return this.list.length;
  }

  add(points: readonly Point[]): void {
    const since = performance.now();
    for (const at of points) this.list.push({ at, since });
    if (this.list.length > MAX_FLASHES) this.list.splice(0, this.list.length - MAX_FLASHES);
  }

  draw(context: CanvasRenderingContext2D): void {
    const now = performance.now();
    this.list = this.list.filter((f) => now - f.since < LIFE_MS);
    if (this.list.length === 0) return;
    const calm = isCalm();
    context.strokeStyle = ink().contact;
    context.lineWidth = 2;
    for (const { at, since } of this.list) {
      const share = (now - since) / LIFE_MS;
      const p = this.view.toCanvas(...at);
      context.globalAlpha = calm ? 1 : 1 - share;
      context.beginPath();
      context.arc(p.x, p.y, calm ? 7 : 3 + 9 * share, 0, 2 * Math.PI);
      // A cross inside, so that it is not told by colour alone.
      context.moveTo(p.x - 3, p.y - 3);
      context.lineTo(p.x + 3, p.y + 3);
      context.moveTo(p.x + 3, p.y - 3);
      context.lineTo(p.x - 3, p.y + 3);
      context.stroke();
    }
    context.globalAlpha = 1;
    this.view.requestDraw();
  }
}
