/** Draws what does not move: floor, grid, tracks, light cones, obstacles, walls, the border and beacons. */

import type { BeaconMark, Point, TrackMark } from '../protocol';
import type { World } from '../store';
import { barLength } from './camera';
import { boxOf, overlaps, type Box } from './geometry';
import { ink } from './ink';
import { fixedOf } from './pick';
import type { View } from './view';

type Context = CanvasRenderingContext2D;

/** The context's unit is the CSS pixel. */
export function drawStill(context: Context, view: View): void {
  const { world, layers, hidden } = view.store;
  const colours = ink();
  context.fillStyle = world?.drawing.bounds ? colours.outside : colours.floor;
  context.fillRect(0, 0, view.size.width, view.size.height);
  if (!world) return;
  const { drawing } = world;
  context.lineJoin = context.lineCap = 'round';
  drawFloor(context, view, world);
  const isDrawn = ({ path }: { path: string }): boolean => !hidden.has(path);
  const beacons = (drawing.beacons ?? []).filter(isDrawn);
  for (const track of drawing.tracks.filter(isDrawn)) drawTrack(context, view, track);
  if (layers.beacons) for (const beacon of beacons) drawCone(context, view, beacon);
  drawFixed(context, view, world);
  drawBorder(context, view, world);
}

function drawFloor(context: Context, view: View, world: World): void {
  const { seen } = view;
  const { bounds } = world.drawing;
  const box: Box = bounds ? boxOf(bounds) : seen;
  if (!overlaps(box, seen)) return;
  const a = view.toCanvas(Math.max(box.minX, seen.minX), Math.min(box.maxY, seen.maxY));
  const b = view.toCanvas(Math.min(box.maxX, seen.maxX), Math.max(box.minY, seen.minY));
  const colours = ink();
  context.fillStyle = colours.floor;
  context.fillRect(a.x, a.y, b.x - a.x, b.y - a.y);
  // A line about every 24 pixels at least, every tenth stronger.
  const { scale } = view.store.camera;
  const step = Math.pow(10, Math.ceil(Math.log10(24 / scale)));
  drawLines(context, view, step, colours.fine, [a, b]);
  drawLines(context, view, 10 * step, colours.coarse, [a, b]);
}

function drawLines(
  context: Context,
  view: View,
  step: number,
  colour: string,
  [a, b]: [{ x: number; y: number }, { x: number; y: number }],
): void {
  const { seen } = view;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  // Half pixels keep lines of one pixel sharp.
  for (let k = Math.ceil(seen.minX / step); k * step <= seen.maxX; k++) {
    const x = Math.round(view.toCanvas(k * step, 0).x) + 0.5;
    if (x < a.x || x > b.x) continue;
    context.moveTo(x, a.y);
    context.lineTo(x, b.y);
  }
  for (let k = Math.ceil(seen.minY / step); k * step <= seen.maxY; k++) {
    const y = Math.round(view.toCanvas(0, k * step).y) + 0.5;
    if (y < a.y || y > b.y) continue;
    context.moveTo(a.x, y);
    context.lineTo(b.x, y);
  }
  context.stroke();
}

/** Adds a line through these points to the path. */
export function trace(context: Context, view: View, points: readonly Point[], closed = false): void {
  points.forEach(([x, y], k) => {
    const p = view.toCanvas(x, y);
    if (k === 0) context.moveTo(p.x, p.y);
    else context.lineTo(p.x, p.y);
  });
  if (closed) context.closePath();
}

function drawTrack(context: Context, view: View, track: TrackMark): void {
  context.beginPath();
  trace(context, view, track.points, track.width === null);
  // What reflects more is brighter tape; even the dullest stays visible.
  context.globalAlpha = 0.45 + 0.55 * Math.min(1, Math.max(0, track.reflectivity));
  if (track.width === null) {
    context.fillStyle = ink().track;
    context.fill();
  } else {
    context.strokeStyle = ink().track;
    context.lineWidth = Math.max(1.5, track.width * view.store.camera.scale);
    context.stroke();
  }
  context.globalAlpha = 1;
}

function drawCone(context: Context, view: View, beacon: BeaconMark): void {
  const [x, y, heading] = beacon.pose;
  const at = view.toCanvas(x, y);
  const radius = beacon.range * view.store.camera.scale;
  const half = beacon.aperture / 2;
  const isAllAround = !(half > 0 && half < Math.PI - 1e-6);
  context.beginPath();
  if (!isAllAround) context.moveTo(at.x, at.y);
  // The canvas' y goes down: angles turn the other way.
  context.arc(
    at.x,
    at.y,
    radius,
    -heading - (isAllAround ? Math.PI : half),
    -heading + (isAllAround ? Math.PI : half),
  );
  context.closePath();
  context.fillStyle = context.strokeStyle = ink().cone;
  context.lineWidth = 1;
  context.globalAlpha = 0.14;
  context.fill();
  context.globalAlpha = 0.6;
  context.stroke();
  context.globalAlpha = 1;
}

function drawFixed(context: Context, view: View, world: World): void {
  const { seen } = view;
  const colours = ink();
  const visible = fixedOf(world).filter((f) => overlaps(f.box, seen) && !view.store.hidden.has(f.id));
  context.beginPath();
  for (const f of visible)
    if (f.kind === 'obstacle') for (const line of f.lines) trace(context, view, line, true);
  context.fillStyle = colours.obstacle;
  context.strokeStyle = colours['obstacle-edge'];
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
  context.beginPath();
  for (const f of visible) if (f.kind === 'wall') for (const line of f.lines) trace(context, view, line);
  context.strokeStyle = colours.wall;
  context.lineWidth = 3;
  context.stroke();
}

function drawBorder(context: Context, view: View, world: World): void {
  const { bounds } = world.drawing;
  if (!bounds) return;
  const [a, b] = bounds.map(([x, y]) => view.toCanvas(x, y));
  if (!a || !b) return;
  context.strokeStyle = ink().border;
  context.lineWidth = 2;
  context.strokeRect(a.x, b.y, b.x - a.x, a.y - b.y);
}

/** The beacons themselves, drawn last: they often stand on a pillar, which is a body. */
export function drawLamps(context: Context, view: View): void {
  const { world, hidden } = view.store;
  for (const beacon of world?.drawing.beacons ?? [])
    if (!hidden.has(beacon.path)) drawLamp(context, view, beacon);
}

/** A little lighthouse that stands on its place: tower, gallery, lamp and roof; y down, in pixels. */
const LAMP = new Path2D(
  'M-4 5 L-2.4 -5 H-3.6 V-6.8 H-2.4 V-10.8 L0 -13.6 L2.4 -10.8 V-6.8 H3.6 V-5 H2.4 L4 5 Z',
);

function drawLamp(context: Context, view: View, beacon: BeaconMark): void {
  const at = view.toCanvas(beacon.pose[0], beacon.pose[1]);
  const colours = ink();
  context.save();
  context.translate(at.x, at.y);
  context.lineWidth = 2.5;
  context.strokeStyle = colours.halo;
  context.fillStyle = colours.beacon;
  context.stroke(LAMP);
  context.fill(LAMP);
  context.font = '600 11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.strokeText(String(beacon.id), 8, -6);
  context.fillText(String(beacon.id), 8, -6);
  context.restore();
}

/** Length and words of the scale bar for a camera. */
export function scaleBar(scale: number): { metres: number; pixels: number } {
  const metres = barLength(scale, 120);
  return { metres, pixels: metres * scale };
}
