/**
 * Moving the picture by hand: wheel, Space or middle button and drag, one finger on what nobody else
 * wants, two fingers to move and pinch. What is not about the camera goes to the view's handlers first.
 */

import { isTyping } from '../dom';
import { pannedBy, zoomedAt } from './camera';
import { isTrackpad } from './settings';
import type { View } from './view';

/** Pixels a pointer may move and still be a click. */
const CLICK_SLOP = 4;

interface Finger {
  x: number;
  y: number;
}

/** Set while Space is down; whether it was used to move the picture decides whether it was a tap. */
const space = { isDown: false, wasUsed: false };

/** Whether the Space key that is down, or just came up, moved the picture; then it is no tap. */
export function spaceMovedPicture(): boolean {
  return space.wasUsed;
}

export function attachInput(view: View): void {
  const gestures = new Gestures(view);
  const { canvas } = view;
  canvas.addEventListener('wheel', (event) => onWheel(view, event), { passive: false });
  canvas.addEventListener('pointerdown', (event) => gestures.down(event));
  canvas.addEventListener('pointermove', (event) => gestures.move(event));
  canvas.addEventListener('pointerup', (event) => gestures.up(event));
  canvas.addEventListener('pointercancel', (event) => gestures.up(event));
  canvas.addEventListener('dblclick', (event) => offer(view, event));
  canvas.addEventListener('contextmenu', (event) => offer(view, event));
  // A middle click would otherwise paste or scroll by itself.
  canvas.addEventListener('auxclick', (event) => event.preventDefault());
  canvas.addEventListener('mousedown', (event) => {
    if (event.button === 1) event.preventDefault();
  });
  // Safari zooms the page itself on a pinch unless it is told not to.
  for (const name of ['gesturestart', 'gesturechange'])
    canvas.addEventListener(name, (event) => event.preventDefault());
  attachSpace(view);
}

function attachSpace(view: View): void {
  const setDown = (isDown: boolean): void => {
    space.isDown = isDown;
    view.canvas.classList.toggle('hand', isDown);
  };
  addEventListener(
    'keydown',
    (event) => {
      if (event.key !== ' ' || event.repeat || isTyping(event.target)) return;
      space.wasUsed = false;
      setDown(true);
    },
    true,
  );
  addEventListener('keyup', (event) => event.key === ' ' && setDown(false), true);
  addEventListener('blur', () => setDown(false));
}

/** Lets the view's handlers have an event; answers whether one used it. */
function offer(view: View, event: PointerEvent | MouseEvent): boolean {
  for (const handler of view.handlers) if (handler(event)) return true;
  return false;
}

function onWheel(view: View, event: WheelEvent): void {
  event.preventDefault();
  const lines =
    event.deltaMode === WheelEvent.DOM_DELTA_LINE
      ? 16
      : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
        ? 400
        : 1;
  const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
  // A pinch on a trackpad arrives as a wheel with Ctrl.
  const isPinch = event.ctrlKey || event.metaKey;
  const isPan = !isPinch && (isTrackpad() || event.shiftKey || event.altKey);
  const { camera } = view.store;
  if (isPan) {
    const isSideways = event.shiftKey && dx === 0;
    view.moveCamera(pannedBy(camera, isSideways ? -dy : -dx, isSideways ? 0 : -dy), true);
    return;
  }
  const speed = isPinch && Math.abs(dy) < 50 ? 0.01 : 0.0016;
  const box = view.canvas.getBoundingClientRect();
  const factor = Math.exp(-Math.max(-600, Math.min(600, dy)) * speed);
  const zoomed = zoomedAt(camera, view.size, event.clientX - box.left, event.clientY - box.top, factor);
  // Someone who follows a robot and zooms wants to see it closer, not to lose it.
  if (view.store.follow !== null) view.moveCamera({ ...camera, scale: zoomed.scale });
  else view.moveCamera(zoomed);
}

/** What the pointers on the canvas are doing. */
class Gestures {
  private fingers = new Map<number, Finger>();
  /** The pointer that moves the picture, and whether it has moved beyond a click. */
  private pan: { id: number; last: Finger; start: Finger; isClick: boolean } | null = null;
  private isPinch = false;

  constructor(private readonly view: View) {}

  down(event: PointerEvent): void {
    const { view } = this;
    const at = { x: event.clientX, y: event.clientY };
    if (event.pointerType === 'touch') {
      this.fingers.set(event.pointerId, at);
      if (this.fingers.size === 2) {
        // The first finger may have begun a drag: it ends without effect.
        offer(view, new PointerEvent('pointercancel', { pointerId: event.pointerId }));
        this.beginPinch();
        return;
      }
      if (this.fingers.size > 2) return;
    }
    const isHand = event.button === 1 || (event.button === 0 && space.isDown);
    if (isHand) {
      event.preventDefault();
      if (event.button === 0) space.wasUsed = true;
      this.beginPan(event, false);
      return;
    }
    if (offer(view, event)) return;
    if (event.button === 0) this.beginPan(event, true);
  }

  move(event: PointerEvent): void {
    const { view } = this;
    const at = { x: event.clientX, y: event.clientY };
    if (this.isPinch) {
      this.pinch(event.pointerId, at);
      return;
    }
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, at);
    const { pan } = this;
    if (pan?.id === event.pointerId) {
      if (pan.isClick && Math.hypot(at.x - pan.start.x, at.y - pan.start.y) < CLICK_SLOP) return;
      pan.isClick = false;
      view.isPanning = true;
      view.moveCamera(pannedBy(view.store.camera, at.x - pan.last.x, at.y - pan.last.y), true);
      pan.last = at;
      return;
    }
    offer(view, event);
  }

  up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.isPinch) {
      if (this.fingers.size === 0) this.isPinch = this.view.isPanning = false;
      return;
    }
    const { pan, view } = this;
    if (pan?.id !== event.pointerId) {
      offer(view, event);
      return;
    }
    this.pan = null;
    view.isPanning = false;
    view.canvas.classList.remove('grabbing');
    // Without an editor a click still selects.
    if (pan.isClick && event.type === 'pointerup' && view.handlers.size === 0) this.select(event);
  }

  private select(event: PointerEvent): void {
    const { view } = this;
    const at = view.toWorld(event.clientX, event.clientY);
    const found = view.objectAt(at.x, at.y);
    view.store.select(found ? [found.id] : []);
  }

  private beginPan(event: PointerEvent, isClick: boolean): void {
    const at = { x: event.clientX, y: event.clientY };
    this.pan = { id: event.pointerId, last: at, start: at, isClick };
    this.view.canvas.setPointerCapture(event.pointerId);
    if (isClick) return;
    this.view.isPanning = true;
    this.view.canvas.classList.add('grabbing');
  }

  private beginPinch(): void {
    this.pan = null;
    this.isPinch = true;
    this.view.isPanning = true;
  }

  /** The middle between two fingers moves the picture, their distance zooms it there. */
  private pinch(id: number, at: Finger): void {
    const before = [...this.fingers.values()].slice(0, 2);
    if (!this.fingers.has(id)) return;
    this.fingers.set(id, at);
    const now = [...this.fingers.values()].slice(0, 2);
    const [a, b, c, d] = [...before, ...now];
    if (!a || !b || !c || !d) return;
    const middle = (p: Finger, q: Finger): Finger => ({ x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 });
    const apart = (p: Finger, q: Finger): number => Math.max(1, Math.hypot(p.x - q.x, p.y - q.y));
    const [from, to] = [middle(a, b), middle(c, d)];
    const box = this.view.canvas.getBoundingClientRect();
    const moved = pannedBy(this.view.store.camera, to.x - from.x, to.y - from.y);
    const factor = apart(c, d) / apart(a, b);
    this.view.moveCamera(zoomedAt(moved, this.view.size, to.x - box.left, to.y - box.top, factor), true);
  }
}
