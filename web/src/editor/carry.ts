/**
 * Carrying something from a panel onto the canvas: by dragging it, or by clicking it and then the place.
 * A ghost shows where it would land; Escape cancels. Enter on the focused item needs no place.
 */

import type { App } from '../app';
import type { Point, Shape } from '../protocol';
import { t } from '../strings';
import { outlineOf } from '../view/geometry';
import { styleColour } from '../view/ink';
import { viewOf } from '../view/view';
import { snapped } from './place';
import { say } from './hints';

export interface Load {
  shape: Shape;
  line: Point[] | null;
  /** Put down at a point of the world. */
  drop(p: Point): void;
  /** Clicked with the pointer, instead of carrying it to the next click. */
  click?: () => void;
  /** Chosen with the keyboard. */
  enter(): void;
  /** Whether places are those of the grid (not for parts on a body). */
  free?: boolean;
}

const FAR = 4;

export function carry(app: App, item: HTMLElement, load: Load): void {
  item.addEventListener('pointerdown', (down) => {
    if (down.button !== 0) return;
    item.setPointerCapture(down.pointerId);
    begin(app, item, load, down);
  });
  item.addEventListener('click', (event) => {
    // Enter and Space make clicks without a pointer.
    if (event.detail === 0) load.enter();
  });
  // On touch screens a drag from here carries; it does not scroll.
  item.style.touchAction = 'none';
}

/** What is being carried, if something is. */
let stopCarrying: (() => void) | null = null;

function begin(app: App, item: HTMLElement, load: Load, down: PointerEvent): void {
  stopCarrying?.();
  const view = viewOf(app);
  let where: Point | null = null;
  let hasMoved = false;
  let isUp = false;
  const isOver = (event: PointerEvent): boolean => {
    const box = view.canvas.getBoundingClientRect();
    return (
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom &&
      !(document.elementFromPoint(event.clientX, event.clientY)?.closest('aside, dialog') ?? null)
    );
  };
  const stopDrawing = view.overlay((context) => {
    if (where) drawGhost(context, view.toCanvas.bind(view), load, where, app.store.camera.scale);
  });
  const move = (event: PointerEvent): void => {
    if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > FAR) hasMoved = true;
    const { x, y } = view.toWorld(event.clientX, event.clientY);
    where = hasMoved && isOver(event) ? (load.free ? [x, y] : snapped(app, [x, y], event.ctrlKey)) : null;
    if (where) say(app, `${where[0].toFixed(2)}, ${where[1].toFixed(2)} m`);
    view.requestDraw();
  };
  const end = (): void => {
    stopDrawing();
    stopCarrying = null;
    delete document.body.dataset['carrying'];
    say(app, '');
    for (const type of ['pointermove', 'pointerup', 'pointercancel'] as const)
      removeEventListener(type, handlers[type], true);
    removeEventListener('keydown', key, true);
    removeEventListener('pointerdown', press, true);
  };
  const up = (event: PointerEvent): void => {
    if (!isUp && !hasMoved) {
      // A click: it stays in the hand until the next one.
      isUp = true;
      if (load.click) {
        end();
        load.click();
      } else say(app, t.carryHint);
      return;
    }
    move(event);
    const p = where;
    if (isUp && !p) return;
    end();
    if (p) load.drop(p);
  };
  const press = (event: PointerEvent): void => {
    if (!isUp) return;
    if (isOver(event)) event.stopPropagation();
    else end();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    end();
  };
  const handlers = { pointermove: move, pointerup: up, pointercancel: end };
  for (const type of ['pointermove', 'pointerup', 'pointercancel'] as const)
    addEventListener(type, handlers[type], true);
  addEventListener('keydown', key, true);
  addEventListener('pointerdown', press, true);
  document.body.dataset['carrying'] = item.dataset['kind'] ?? '';
  stopCarrying = end;
}

function drawGhost(
  context: CanvasRenderingContext2D,
  toCanvas: (x: number, y: number) => { x: number; y: number },
  load: Load,
  p: Point,
  scale: number,
): void {
  const points = load.line ?? outlineOf(load.shape);
  context.save();
  context.beginPath();
  points.forEach(([x, y], k) => {
    const q = toCanvas(p[0] + x, p[1] + y);
    if (k === 0) context.moveTo(q.x, q.y);
    else context.lineTo(q.x, q.y);
  });
  if (!load.line) context.closePath();
  context.strokeStyle = styleColour('--accent');
  context.lineWidth = load.line ? Math.max(2, 0.03 * scale) : 2;
  context.setLineDash(load.line ? [] : [5, 4]);
  context.globalAlpha = 0.9;
  context.stroke();
  if (!load.line) {
    context.fillStyle = styleColour('--accent');
    context.globalAlpha = 0.15;
    context.fill();
  }
  context.restore();
}
