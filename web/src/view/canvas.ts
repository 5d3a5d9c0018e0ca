/**
 * The displays: the top view, the 3-D view when it is asked for, and the controls on them.
 *
 * The top view has a ground (what is still, and what was left behind) on a canvas that nobody sees; it is
 * drawn again only when the camera or the world changes. A picture is a copy of the ground with what moves
 * on top, at most one per picture of the screen. One canvas that is seen, and a solid one: where the
 * graphics card is only pretended, putting canvases together costs more than drawing on them.
 */

import '../styles/view.css';
import type { App } from '../app';
import { h } from '../dom';
import { installHook } from '../hook';
import { keepAddress, readAddress } from './address';
import { drawBodies, seenBodies } from './bodies';
import { registerViewCommands } from './commands';
import { Flashes } from './contacts';
import { Controls } from './controls';
import { TraceLayer } from './draw-traces';
import { GridLayer } from './grid';
import { Hover } from './hover';
import { onInkChanged } from './ink';
import { attachInput } from './input';
import { drawMarks } from './marks';
import { viewHook } from './look';
import { MessageLayer } from './messages';
import { drawRegions } from './regions';
import { drawSelection } from './selection';
import { attachSpaceView } from './space';
import { drawLamps, drawStill } from './still';
import { Traces } from './traces';
import { viewOf, type View } from './view';

export function mountCanvas(app: App): HTMLElement {
  const view = viewOf(app);
  const isChosen = readAddress(app.store);
  const traces = new Traces();
  const flashes = new Flashes(view);
  const messages = new MessageLayer(view);
  registerViewCommands(view, traces);
  const hover = new Hover(view);
  const controls = new Controls(view, hover);
  view.canvas.classList.add('flat');
  const stage = h('div', { class: 'stage' }, view.canvas, ...controls.elements, hover.element);

  const painter = new Painter(view, traces, flashes, messages);
  view.paint = () => {
    if (app.store.view === '2d') painter.paint();
    hover.update();
    controls.update();
  };
  attachInput(view);
  attachSpaceView(view, stage);
  attachCamera(view, stage, painter, isChosen);
  attachFrames(view, traces, flashes);
  app.store.on(['world', 'camera', 'layers', 'view'], () => painter.groundChanged());
  app.store.on(['marks', 'grid', 'selection', 'status', 'comms', 'links', 'workers'], () =>
    view.requestDraw(),
  );
  onInkChanged(() => painter.groundChanged());
  installHook(app, (x, y) => view.toScreen(x, y), viewHook(view, traces, flashes, messages));
  return stage;
}

/** Everything that frames bring: trails, arcs, contacts, and the robot that is followed. */
function attachFrames(view: View, traces: Traces, flashes: Flashes): void {
  const { store } = view;
  store.on(['status', 'world'], () => traces.setRun(store.status?.run ?? 0, store.world));
  store.on(['frame', 'marks'], () => {
    const { world, frame, marks } = store;
    if (world && frame && marks && store.layers.arcs) traces.addArcs(world, marks, frame);
  });
  store.on('frame', () => {
    const { world, frame } = store;
    if (!world || !frame) return;
    traces.addBodies(world, frame);
    if (store.layers.contacts) flashes.add(frame.contacts);
    followNow(view);
    view.requestDraw();
  });
  store.on('view', () => followNow(view));
}

function followNow(view: View): void {
  const { store } = view;
  const pose = store.follow === null ? null : store.poseOf(store.follow);
  if (pose && (pose.x !== store.camera.x || pose.y !== store.camera.y))
    view.moveCamera({ ...store.camera, x: pose.x, y: pose.y });
}

/** The camera at the beginning: from the address, or so that everything is seen. Kept when the window changes. */
function attachCamera(view: View, stage: HTMLElement, painter: Painter, isChosen: boolean): void {
  const { store } = view;
  let file: string | null | undefined;
  let isFitting = false;
  const fit = (): void => {
    isFitting = true;
    view.fitAll(true);
    isFitting = false;
  };
  store.on('camera', () => {
    if (!isFitting) isChosen = true;
  });
  keepAddress(store, () => isChosen);
  addEventListener('hashchange', () => {
    readAddress(store);
    store.changed('view');
  });
  const measure = (): void => {
    view.size = { width: stage.clientWidth, height: stage.clientHeight };
    painter.resize();
  };
  store.on('frame', () => {
    // The first frame may come before the browser has told the size.
    if (view.size.width === 0) measure();
    // A first look, and a look at another file, shows everything; an edit does not move the picture.
    const now = store.world?.file ?? store.world?.title ?? null;
    if (now === file) return;
    const isFirst = file === undefined;
    file = now;
    if (isFirst && isChosen) return;
    isChosen = false;
    fit();
  });
  new ResizeObserver(() => {
    measure();
    if (!isChosen && store.frame) fit();
  }).observe(stage);
}

class Painter {
  private isGroundOld = true;
  private ratio = 1;
  private readonly grid: GridLayer;
  private readonly traceLayer: TraceLayer;
  private readonly ground: CanvasRenderingContext2D;
  private readonly seen: CanvasRenderingContext2D;

  constructor(
    private readonly view: View,
    traces: Traces,
    private readonly flashes: Flashes,
    private readonly messages: MessageLayer,
  ) {
    this.grid = new GridLayer(view);
    this.traceLayer = new TraceLayer(view, traces);
    this.ground = contextOf(document.createElement('canvas'));
    this.seen = contextOf(view.canvas);
  }

  /** What is still has changed, or is seen from elsewhere, or in other colours. */
  groundChanged(): void {
    this.isGroundOld = true;
    this.view.requestDraw();
  }

  resize(): void {
    this.ratio = Math.min(3, devicePixelRatio || 1);
    const { width, height } = this.view.size;
    for (const { canvas } of [this.ground, this.seen]) {
      canvas.width = Math.max(1, Math.round(width * this.ratio));
      canvas.height = Math.max(1, Math.round(height * this.ratio));
    }
    this.groundChanged();
  }

  paint(): void {
    const { view, ratio, ground, seen } = this;
    if (view.size.width === 0) return;
    ground.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.isGroundOld || this.traceLayer.mustBeginAnew) {
      drawStill(ground, view);
      this.traceLayer.drawAll(ground, ratio, this.isGroundOld);
      this.isGroundOld = false;
    } else this.traceLayer.drawNew(ground, ratio);
    seen.setTransform(1, 0, 0, 1, 0, 0);
    seen.drawImage(ground.canvas, 0, 0);
    seen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { layers } = view.store;
    if (layers.grid) this.grid.draw(seen);
    drawRegions(seen, view);
    this.messages.drawLinks(seen);
    drawMarks(seen, view);
    drawBodies(seen, view, seenBodies(view), ratio);
    this.messages.drawMessages(seen);
    drawLamps(seen, view);
    drawSelection(seen, view);
    if (layers.contacts) this.flashes.draw(seen);
    for (const overlay of view.overlays) {
      seen.save();
      overlay(seen, view);
      seen.restore();
    }
  }
}

/** Drawn by the processor: steady everywhere, also where the graphics card is only pretended. */
function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true, alpha: false });
  if (!context) throw new Error('this browser cannot draw on a canvas');
  return context;
}
