/** Draws what the editor adds to the picture: the turning handle, ghosts of what is dragged, guides. */

import type { App } from '../app';
import type { Point } from '../protocol';
import { isEmpty, union, EMPTY, type Box } from '../view/geometry';
import { styleColour } from '../view/ink';
import { trace } from '../view/still';
import { viewOf, type View } from '../view/view';
import type { Guide } from './guides';
import { middleOf } from './moves';
import { movedPoint, previewOf } from './preview';
import { linesOf } from './shapes';
import { entryOf, PLACED, poseOf, whyNotEdit } from './subject';
import { currentMode } from './modes';

/** Pixels from the outline to the turning handle. */
const ARM = 26;
export const HANDLE = 8;

/** The objects of the selection that stand in the world. */
export function placedIds(app: App): string[] {
  return [...app.store.selection].filter((id) => {
    const section = entryOf(app.store, id)?.section;
    return id.startsWith('/') && section !== undefined && (PLACED as readonly string[]).includes(section);
  });
}

/** The one object that can be turned by its handle, and where the handle is on the canvas. */
export function turnHandle(app: App): { id: string; about: Point; heading: number; at: Point } | null {
  const ids = placedIds(app);
  const [id] = ids;
  if (id === undefined || ids.length !== 1 || app.store.selection.size !== 1) return null;
  if (whyNotEdit(app.store) !== null || entryOf(app.store, id)?.fixed) return null;
  const view = viewOf(app);
  const pose = previewOf(app).poseOf(id) ?? poseOf(app.store, id);
  const motion = previewOf(app).motions.get(id);
  const about = pose ? ([pose.x, pose.y] as Point) : middleOf(app, id);
  const heading = pose?.heading ?? motion?.turn ?? 0;
  const box = view.boundsOf(id);
  const reach = box ? Math.max(box.maxX - box.minX, box.maxY - box.minY) / 2 : 0.1;
  const far = reach * app.store.camera.scale + ARM;
  const c = view.toCanvas(about[0], about[1]);
  return { id, about, heading, at: [c.x + far * Math.cos(heading), c.y - far * Math.sin(heading)] };
}

export interface Drawn {
  band: { from: Point; to: Point } | null;
  guides: Guide[];
}

/** Draws over the world; `drawn` is what the pointer is doing. */
export function startHandles(app: App, drawn: Drawn): void {
  const view = viewOf(app);
  view.overlay((context) => {
    context.save();
    ghosts(app, view, context);
    beaconGhost(app, view, context);
    if (drawn.band) band(view, context, drawn.band.from, drawn.band.to);
    for (const guide of drawn.guides) drawGuide(view, context, guide);
    if (!currentMode()) drawTurnHandle(app, view, context);
    context.restore();
  });
}

function ghosts(app: App, view: View, context: CanvasRenderingContext2D): void {
  const preview = previewOf(app);
  context.lineWidth = 2;
  context.setLineDash([5, 4]);
  context.strokeStyle = styleColour('--accent');
  for (const [id, motion] of preview.motions) {
    for (const { points, closed } of linesOf(app.store, id, motion.from)) {
      context.beginPath();
      trace(
        context,
        view,
        points.map((p) => movedPoint(motion, p)),
        closed,
      );
      context.stroke();
    }
    const pose = preview.poseOf(id);
    if (!pose) continue;
    const [a, nose] = [view.toCanvas(pose.x, pose.y), 14];
    context.beginPath();
    context.moveTo(a.x, a.y);
    context.lineTo(a.x + nose * Math.cos(pose.heading), a.y - nose * Math.sin(pose.heading));
    context.stroke();
  }
  context.setLineDash([]);
  context.strokeStyle = styleColour('--error');
  context.lineWidth = 4;
  for (const id of preview.wrong)
    for (const { points, closed } of linesOf(app.store, id)) {
      context.beginPath();
      trace(context, view, points, closed);
      context.stroke();
    }
}

/** The cone of a beacon whose numbers are being typed. */
function beaconGhost(app: App, view: View, context: CanvasRenderingContext2D): void {
  const typed = previewOf(app).beacon;
  const beacon = app.store.world?.drawing.beacons?.find((b) => b.path === typed?.id);
  if (!typed || !beacon) return;
  const [x, y, heading] = beacon.pose;
  const c = view.toCanvas(x, y);
  const half = (typed.aperture ?? beacon.aperture) / 2;
  const range = (typed.range ?? beacon.range) * app.store.camera.scale;
  context.beginPath();
  context.moveTo(c.x, c.y);
  context.arc(c.x, c.y, Math.max(0, range), -heading - half, -heading + half);
  context.closePath();
  context.strokeStyle = context.fillStyle = styleColour('--accent');
  context.lineWidth = 2;
  context.stroke();
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 1;
}

function band(view: View, context: CanvasRenderingContext2D, from: Point, to: Point): void {
  const [a, b] = [view.toCanvas(...from), view.toCanvas(...to)];
  context.setLineDash([]);
  context.strokeStyle = context.fillStyle = styleColour('--accent');
  context.lineWidth = 1;
  context.strokeRect(a.x, a.y, b.x - a.x, b.y - a.y);
  context.globalAlpha = 0.1;
  context.fillRect(a.x, a.y, b.x - a.x, b.y - a.y);
  context.globalAlpha = 1;
}

function drawGuide(view: View, context: CanvasRenderingContext2D, guide: Guide): void {
  const { at, from, to } = guide;
  const [a, b] =
    guide.axis === 'x'
      ? [view.toCanvas(at, from), view.toCanvas(at, to)]
      : [view.toCanvas(from, at), view.toCanvas(to, at)];
  context.setLineDash([2, 3]);
  context.strokeStyle = styleColour('--warning');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
  context.setLineDash([]);
}

function drawTurnHandle(app: App, view: View, context: CanvasRenderingContext2D): void {
  const handle = turnHandle(app);
  if (!handle) return;
  const c = view.toCanvas(...handle.about);
  const [x, y] = handle.at;
  context.setLineDash([]);
  context.strokeStyle = context.fillStyle = styleColour('--accent');
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(c.x, c.y);
  context.lineTo(x, y);
  context.stroke();
  const angle = Math.atan2(y - c.y, x - c.x);
  context.translate(x, y);
  context.rotate(angle);
  context.beginPath();
  context.moveTo(HANDLE, 0);
  context.lineTo(-HANDLE + 2, HANDLE - 2);
  context.lineTo(-HANDLE + 2, -HANDLE + 2);
  context.closePath();
  context.fill();
  context.rotate(-angle);
  context.translate(-x, -y);
}

/** The box around several objects. */
export function boundsOfMany(app: App, ids: Iterable<string>): Box | null {
  let box = EMPTY;
  for (const id of ids) box = union(box, viewOf(app).boundsOf(id) ?? EMPTY);
  return isEmpty(box) ? null : box;
}
