/** Draws which part of the plane each worker has: thin borders, and its number in the corner. */

import { regionsOf } from '../workers';
import { ink } from './ink';
import type { View } from './view';

export function drawRegions(context: CanvasRenderingContext2D, view: View): void {
  const { store, seen } = view;
  if (!store.layers.regions || !store.status?.spread) return;
  // Beyond the picture, so that no border is drawn where there is none.
  const margin = 20 / store.camera.scale;
  const regions = regionsOf(store.workers, {
    left: seen.minX - margin,
    bottom: seen.minY - margin,
    right: seen.maxX + margin,
    top: seen.maxY + margin,
  });
  if (regions.length === 0) return;
  const colours = ink();
  context.save();
  context.strokeStyle = colours.link;
  context.fillStyle = colours.label;
  context.lineWidth = 1;
  context.setLineDash([8, 4]);
  context.font = '600 11px system-ui, sans-serif';
  context.textBaseline = 'top';
  for (const region of regions) {
    const a = view.toCanvas(region.left, region.top);
    const b = view.toCanvas(region.right, region.bottom);
    // Left and lower borders only: the others are those of a neighbour.
    context.beginPath();
    context.moveTo(a.x, a.y);
    context.lineTo(a.x, b.y);
    context.lineTo(b.x, b.y);
    context.stroke();
    const [x, y] = [Math.max(a.x, 0) + 5, Math.max(a.y, 0) + 5];
    if (x < Math.min(b.x, view.size.width) && y < Math.min(b.y, view.size.height))
      context.fillText(String(region.worker), x, y);
  }
  context.restore();
}
