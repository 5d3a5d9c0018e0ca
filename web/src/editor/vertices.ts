/**
 * Edits the corners of a wall, a track or a polygon: drag one, drag an edge to insert one, Delete removes
 * the one in hand; never fewer than make sense. Each drag is one step.
 */

import type { App } from '../app';
import type { Point } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { distanceToSegment, placed, unplaced } from '../view/geometry';
import { styleColour } from '../view/ink';
import { viewOf } from '../view/view';
import { editsOf } from './edits';
import { enter, leave } from './modes';
import { snapped } from './place';
import { entryOf, fieldOf, nameOf, startOf, whyNotEdit } from './subject';
import { pointsOf, writePoints } from './toml';

const NEAR = 9;

/** The key that holds an entry's corners; `null` when it has none. */
export function cornersKey(entry: Entry): 'points' | 'polygon' | null {
  if (entry.section === 'wall' || entry.section === 'track') return 'points';
  return entry.section === 'obstacle' && fieldOf(entry, 'polygon') !== null ? 'polygon' : null;
}

/** Begins to edit the corners of an object. Answers whether it has any. */
export function editCorners(app: App, id: string): boolean {
  const { store } = app;
  const entry = entryOf(store, id);
  const key = entry && cornersKey(entry);
  if (!entry || !key) return false;
  const why = entry.fixed ?? whyNotEdit(store);
  if (why) {
    app.toast(why, 'error');
    return true;
  }
  const own = pointsOf(fieldOf(entry, key) ?? '');
  if (!own) {
    app.toast(t.cornersUnknown, 'error');
    return true;
  }
  new Corners(app, id, entry.key, key, own).begin();
  return true;
}

class Corners {
  private hand: number | null = null;
  private active: number | null = null;
  private hasMoved = false;
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly app: App,
    private readonly id: string,
    private readonly entryKey: string,
    private readonly key: 'points' | 'polygon',
    /** As written: in the world, or in the body's frame for a polygon. */
    private own: Point[],
  ) {}

  begin(): void {
    enter(this.app, {
      name: 'corners',
      hint: t.cornersHint,
      pointer: (event) => this.pointer(event),
      key: (event) => this.keyDown(event),
      draw: (context) => this.draw(context),
      end: () => {
        delete document.body.dataset['points'];
        this.stopListening();
      },
    });
    this.show();
    // Undo, or somebody else, may change the corners meanwhile.
    this.stopListening = this.app.store.on('world', () => this.reread());
  }

  private get isClosed(): boolean {
    if (this.key === 'polygon') return true;
    const entry = entryOf(this.app.store, this.id);
    if (entry?.section === 'track') return fieldOf(entry, 'width') === null;
    return entry !== null && fieldOf(entry, 'closed') === 'true';
  }

  private get least(): number {
    return this.key === 'polygon' ? 3 : 2;
  }

  private reread(): void {
    if (this.hand !== null) return;
    const entry = this.app.store.world?.entries.find((e) => e.key === this.entryKey);
    const now = entry && pointsOf(fieldOf(entry, this.key) ?? '');
    if (!now) return leave(this.app);
    this.own = now;
    this.show();
  }

  private toWorld(p: Point): Point {
    const pose = this.key === 'polygon' ? startOf(this.app.store, this.id) : null;
    return pose ? placed(pose, p) : p;
  }

  private fromWorld(p: Point): Point {
    const pose = this.key === 'polygon' ? startOf(this.app.store, this.id) : null;
    return pose ? unplaced(pose, p) : p;
  }

  private show(): void {
    document.body.dataset['points'] = String(this.own.length);
    viewOf(this.app).requestDraw();
  }

  private pointer(event: PointerEvent | MouseEvent): boolean {
    const view = viewOf(this.app);
    const { x, y } = view.toWorld(event.clientX, event.clientY);
    switch (event.type) {
      case 'pointerdown':
        return event.button === 0 && this.press([x, y]);
      case 'pointermove':
        if (this.hand === null) return false;
        this.hasMoved = true;
        this.own[this.hand] = this.fromWorld(snapped(this.app, [x, y], event.ctrlKey));
        this.show();
        return true;
      case 'pointerup':
        if (this.hand === null) return false;
        this.hand = null;
        if (this.hasMoved) this.write(t.stepCorner(nameOf(this.app.store, this.id)));
        return true;
      case 'pointercancel':
        this.hand = null;
        this.reread();
        return true;
      default:
        return true;
    }
  }

  /** Takes a corner in hand, or makes one on an edge; a press elsewhere ends it all. */
  private press(p: Point): boolean {
    const near = NEAR / this.app.store.camera.scale;
    const world = this.own.map((q) => this.toWorld(q));
    this.hasMoved = false;
    const corner = world.findIndex(([x, y]) => Math.hypot(x - p[0], y - p[1]) <= near);
    if (corner >= 0) {
      this.hand = this.active = corner;
      this.show();
      return true;
    }
    const edges = this.isClosed ? world.length : world.length - 1;
    for (let k = 0; k < edges; k++) {
      const [a, b] = [world[k] as Point, world[(k + 1) % world.length] as Point];
      if (distanceToSegment(p, a, b) > near) continue;
      this.own.splice(k + 1, 0, this.fromWorld(p));
      this.hand = this.active = k + 1;
      this.show();
      return true;
    }
    leave(this.app);
    return false;
  }

  private keyDown(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey) return false;
    const n = this.own.length;
    const step = this.app.store.step;
    const arrows: Record<string, Point> = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
    };
    const by = arrows[event.key];
    if (event.key === 'Escape' || event.key === 'Enter') leave(this.app);
    else if (event.key === 'Tab') this.active = ((this.active ?? -1) + (event.shiftKey ? n - 1 : 1) + n) % n;
    else if (event.key === 'Delete' || event.key === 'Backspace') this.removeActive();
    else if (by && this.active !== null) this.shift(this.active, by);
    else return false;
    viewOf(this.app).requestDraw();
    return true;
  }

  private shift(k: number, by: Point): void {
    const p = this.toWorld(this.own[k] as Point);
    this.own[k] = this.fromWorld([p[0] + by[0], p[1] + by[1]]);
    this.write(t.stepCorner(nameOf(this.app.store, this.id)));
  }

  private removeActive(): void {
    if (this.active === null) return;
    if (this.own.length <= this.least) {
      this.app.toast(t.leastPoints(this.least), 'error');
      return;
    }
    this.own.splice(this.active, 1);
    this.active = null;
    this.write(t.stepRemoveCorner(nameOf(this.app.store, this.id)));
  }

  private write(label: string): void {
    const value = writePoints(this.own);
    void editsOf(this.app)
      .change(label, [{ op: 'set', entry: this.entryKey, key: this.key, value }])
      .then((done) => !done && this.reread());
    this.show();
  }

  private draw(context: CanvasRenderingContext2D): void {
    const view = viewOf(this.app);
    const points = this.own.map((p) => view.toCanvas(...this.toWorld(p)));
    context.save();
    context.strokeStyle = styleColour('--accent');
    context.lineWidth = 1.5;
    context.beginPath();
    points.forEach((p, k) => (k === 0 ? context.moveTo(p.x, p.y) : context.lineTo(p.x, p.y)));
    if (this.isClosed) context.closePath();
    context.stroke();
    points.forEach((p, k) => {
      context.beginPath();
      context.rect(p.x - 5, p.y - 5, 10, 10);
      context.fillStyle = styleColour(k === this.active ? '--accent' : '--ground');
      context.fill();
      context.stroke();
    });
    context.restore();
  }
}
