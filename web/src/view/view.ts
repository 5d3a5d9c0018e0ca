/**
 * The view as other rooms of the page use it: where a pixel is in the world, what is at a place, drawing
 * on top, first say over the pointer, and moving the camera.
 *
 * There is one view per page; `viewOf(app)` can be called in any order, before or after it is mounted.
 * Coordinates named `x, y` are metres of the world, `clientX, clientY` CSS pixels of the window.
 */

import type { App } from '../app';
import { h } from '../dom';
import type { Camera, Store } from '../store';
import { t } from '../strings';
import { between, fitted, seen, toMetres, toPixels, type Size } from './camera';
import { EMPTY, isEmpty, union, type Box } from './geometry';
import { isCalm } from './settings';
import { boundsOf, boundsOfAll, markAt, objectsAt, objectsIn, type Picked, type PickedMark } from './pick';

/** Pixels beside a thing that still count as on it. */
const SLACK = 6;
const FLIGHT_MS = 220;

/** Draws on top of the world. The context's unit is the CSS pixel of the canvas. */
export type Overlay = (context: CanvasRenderingContext2D, view: View) => void;

/** Answers whether it used the event; then nobody else (panning, hovering) gets it. */
export type PointerHandler = (event: PointerEvent | MouseEvent) => boolean;

type Accept = (id: string) => boolean;

export class View {
  readonly store: Store;
  /** Where the pointer works and what has the keyboard's focus. */
  readonly canvas = h('canvas', { class: 'view', tabIndex: 0, role: 'img', aria: { label: t.canvas } });
  /** The canvas' size in CSS pixels. */
  size: Size = { width: 0, height: 0 };
  /** Whether the pointer moves the picture now. */
  isPanning = false;
  /** Draws everything; the mounted canvas sets it. */
  paint: () => void = () => undefined;
  /** How often the page has drawn, for whoever measures. */
  draws = 0;
  readonly overlays = new Set<Overlay>();
  readonly handlers = new Set<PointerHandler>();
  /** Set while the 3-D view shows: where a point is on its canvas. */
  project3d: ((x: number, y: number) => { x: number; y: number }) | null = null;
  /** Whether the 3-D view looks through the selected robot's eyes. */
  isRobotsEye = false;
  private isDrawAsked = false;
  private flight = 0;

  constructor(readonly app: App) {
    this.store = app.store;
  }

  /** Where a pixel of the window is in the world. */
  toWorld(clientX: number, clientY: number): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return toMetres(this.store.camera, this.size, clientX - box.left, clientY - box.top);
  }

  /** Where a point of the world is in the window, CSS pixels. */
  toScreen(x: number, y: number): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const p = this.project3d?.(x, y) ?? this.toCanvas(x, y);
    return { x: box.left + p.x, y: box.top + p.y };
  }

  /** Where a point of the world is on the canvas: what an overlay draws with. */
  toCanvas(x: number, y: number): { x: number; y: number } {
    return toPixels(this.store.camera, this.size, x, y);
  }

  /** Metres that count as beside a thing at the present scale. */
  get slack(): number {
    return SLACK / this.store.camera.scale;
  }

  /** The object on top at a point of the world. */
  objectAt(x: number, y: number, accept?: Accept): Picked | null {
    return this.objectsAt(x, y, accept)[0] ?? null;
  }

  /** Every object at a point of the world, the top one first. */
  objectsAt(x: number, y: number, accept?: Accept): Picked[] {
    return objectsAt(this.store, x, y, this.slack, accept);
  }

  /** Every object wholly inside a box of the world. */
  objectsIn(box: Box, accept?: Accept): Picked[] {
    return objectsIn(this.store, box, accept);
  }

  /** The sensor mark at a point of the world. */
  markAt(x: number, y: number): PickedMark | null {
    return markAt(this.store, x, y, this.slack);
  }

  /** The box around an object, where it is now. */
  boundsOf(id: string): Box | null {
    return boundsOf(this.store, id);
  }

  /** Draws on top of the world from now on; answers how to stop that. */
  overlay(draw: Overlay): () => void {
    this.overlays.add(draw);
    this.requestDraw();
    return () => {
      this.overlays.delete(draw);
      this.requestDraw();
    };
  }

  /**
   * Gets pointerdown, pointermove, pointerup, pointercancel, dblclick and contextmenu of the canvas before
   * hovering does. Moving the picture (Space, middle button, a second finger) comes first of all; when it
   * begins in the middle of a drag, the handler gets a pointercancel.
   */
  onPointer(handler: PointerHandler): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }

  /** Draws before the next picture of the screen, once however often it is asked. */
  requestDraw(): void {
    if (this.isDrawAsked) return;
    this.isDrawAsked = true;
    requestAnimationFrame(() => {
      this.isDrawAsked = false;
      this.draws += 1;
      this.paint();
    });
  }

  /** The part of the world that is seen. */
  get seen(): Box {
    return seen(this.store.camera, this.size);
  }

  /** Moves the camera at once; whatever was moving it stops. `byHand` ends following. */
  moveCamera(camera: Camera, byHand = false): void {
    cancelAnimationFrame(this.flight);
    if (byHand && this.store.follow !== null) {
      this.store.follow = null;
      this.store.changed('view');
    }
    this.store.setCamera(camera);
  }

  /** Moves the camera in a short flight, or at once for those who asked for less motion. */
  flyTo(camera: Camera): void {
    cancelAnimationFrame(this.flight);
    if (isCalm()) {
      this.moveCamera(camera, true);
      return;
    }
    const from = this.store.camera;
    const start = performance.now();
    const step = (now: number): void => {
      const share = Math.min(1, (now - start) / FLIGHT_MS);
      // Slow at both ends.
      const eased = share * share * (3 - 2 * share);
      this.store.setCamera(share < 1 ? between(from, camera, eased) : camera);
      if (share < 1) this.flight = requestAnimationFrame(step);
    };
    this.moveCamera(from, true);
    this.flight = requestAnimationFrame(step);
  }

  /** Shows everything. */
  fitAll(atOnce = false): void {
    this.fit(boundsOfAll(this.store), atOnce);
  }

  /** Shows some objects; what is no longer there is left out. */
  fitObjects(ids: Iterable<string>): void {
    let box = EMPTY;
    for (const id of ids) box = union(box, this.boundsOf(id) ?? EMPTY);
    // A single robot with some of its surroundings.
    const margin = isEmpty(box) ? 0 : 0.25 * Math.max(box.maxX - box.minX, box.maxY - box.minY, 0.1);
    this.fit({
      minX: box.minX - margin,
      minY: box.minY - margin,
      maxX: box.maxX + margin,
      maxY: box.maxY + margin,
    });
  }

  private fit(box: Box, atOnce = false): void {
    const camera = fitted(box, this.size);
    if (!camera) return;
    if (atOnce) this.moveCamera(camera);
    else this.flyTo(camera);
  }
}

const views = new WeakMap<App, View>();

/** The page's view. */
export function viewOf(app: App): View {
  const view = views.get(app) ?? new View(app);
  views.set(app, view);
  return view;
}
