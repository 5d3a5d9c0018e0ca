/** Draws a ring around what is selected. */

import { ink } from './ink';
import { pathsOf } from './paths';
import { fixedOf } from './pick';
import type { View } from './view';

type Context = CanvasRenderingContext2D;

export function drawSelection(context: Context, view: View): void {
  const { selection, world } = view.store;
  if (!world || selection.size === 0) return;
  context.lineJoin = context.lineCap = 'round';
  for (const [width, colour] of [
    [5, ink().halo],
    [2, ink().select],
  ] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    for (const id of selection) ring(context, view, id);
  }
}

function ring(context: Context, view: View, id: string): void {
  const { store } = view;
  const { world } = store;
  if (!world) return;
  const { scale } = store.camera;
  const pose = store.poseOf(id);
  if (pose) {
    const type = world.bodies[world.bodyOf.get(id) ?? -1]?.type ?? -1;
    const at = view.toCanvas(pose.x, pose.y);
    const radius = (pathsOf(world)[type]?.reach ?? 0) * scale + 4;
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
    context.stroke();
    return;
  }
  const beacon = world.drawing.beacons?.find((b) => b.path === id);
  if (beacon) {
    const at = view.toCanvas(beacon.pose[0], beacon.pose[1]);
    context.beginPath();
    context.arc(at.x, at.y - 4, 14, 0, 2 * Math.PI);
    context.stroke();
    return;
  }
  const track = world.drawing.tracks.find((t) => t.path === id);
  const lines = track ? [track.points] : fixedOf(world).flatMap((f) => (f.id === id ? f.lines : []));
  for (const line of lines) {
    context.beginPath();
    line.forEach(([x, y], k) => {
      const p = view.toCanvas(x, y);
      if (k === 0) context.moveTo(p.x, p.y);
      else context.lineTo(p.x, p.y);
    });
    context.stroke();
  }
}
