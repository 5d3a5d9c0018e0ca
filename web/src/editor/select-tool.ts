/**
 * The pointer on the canvas: selects, moves, turns, catches with a rubber band, duplicates with Alt, and
 * deletes what is dragged onto the panel at the left. What is dragged is only drawn; letting go is the edit.
 */

import type { App } from '../app';
import { run } from '../commands';
import type { Point } from '../protocol';
import { t } from '../strings';
import { boxOf, type Box, type Pose } from '../view/geometry';
import { viewOf } from '../view/view';
import { duplicate } from './clipboard';
import { flagsOf } from './flags';
import { guidesFor } from './guides';
import { boundsOfMany, HANDLE, placedIds, startHandles, turnHandle, type Drawn } from './handles';
import { say } from './hints';
import { openMenu } from './menu';
import { currentMode } from './modes';
import { middleOf, moveBy, remove, turnBy } from './moves';
import { degrees, snapTo, wrap } from './numbers';
import { snapped } from './place';
import { previewOf, withFrom } from './preview';
import { entryOf, oneLine, poseOf, whyNotEdit } from './subject';

/** Pixels before a press is a drag; fingers are less steady. */
const FAR = { mouse: 3, pen: 5, touch: 10 };
const LONG_PRESS_MS = 550;
const GUIDE_PX = 5;
/** The wall around the world belongs to the world, not to anything that could be dragged. */
export const BORDER = '/world/border';

type Doing =
  | { what: 'press'; id: string | null; add: boolean }
  | {
      what: 'move';
      ids: string[];
      from: Map<string, Pose>;
      anchor: Point;
      by: Point;
      box: Box | null;
      others: Box[];
    }
  | { what: 'band'; before: ReadonlySet<string> }
  | { what: 'turn'; id: string; pose: Pose | null; about: Point; from: number; by: number };

export class SelectTool {
  private doing: Doing | null = null;
  private start: { x: number; y: number; clientX: number; clientY: number } = {
    x: 0,
    y: 0,
    clientX: 0,
    clientY: 0,
  };
  private far = FAR.mouse;
  private longPress: ReturnType<typeof setTimeout> | undefined;
  private readonly drawn: Drawn = { band: null, guides: [] };

  constructor(private readonly app: App) {
    startHandles(app, this.drawn);
    viewOf(app).onPointer((event) => currentMode()?.pointer(event) ?? this.pointer(event));
    addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape' || !this.doing || this.doing.what === 'press') return;
        event.preventDefault();
        event.stopPropagation();
        this.cancel();
      },
      true,
    );
  }

  private accept = (id: string): boolean => id !== BORDER && flagsOf(this.app).isFree(id);

  private pointer(event: PointerEvent | MouseEvent): boolean {
    switch (event.type) {
      case 'pointerdown':
        return this.down(event as PointerEvent);
      case 'pointermove':
        return this.move(event as PointerEvent);
      case 'pointerup':
        return this.up(event as PointerEvent);
      case 'pointercancel':
        this.cancel();
        return true;
      case 'dblclick':
        return this.doubleClick(event);
      case 'contextmenu':
        event.preventDefault();
        this.menu(event.clientX, event.clientY);
        return true;
      default:
        return false;
    }
  }

  private down(event: PointerEvent): boolean {
    if (event.button !== 0) return false;
    const view = viewOf(this.app);
    view.canvas.focus({ preventScroll: true });
    const { x, y } = view.toWorld(event.clientX, event.clientY);
    this.start = { x, y, clientX: event.clientX, clientY: event.clientY };
    this.far = FAR[event.pointerType as keyof typeof FAR] ?? FAR.mouse;
    capture(view.canvas, event.pointerId);
    const handle = turnHandle(this.app);
    const rect = view.canvas.getBoundingClientRect();
    const reach = event.pointerType === 'touch' ? 22 : HANDLE + 5;
    if (
      handle &&
      Math.hypot(event.clientX - rect.left - handle.at[0], event.clientY - rect.top - handle.at[1]) < reach
    ) {
      const pose = poseOf(this.app.store, handle.id);
      this.doing = { what: 'turn', id: handle.id, pose, about: handle.about, from: handle.heading, by: 0 };
      return true;
    }
    const id = view.objectAt(x, y, this.accept)?.id ?? null;
    this.doing = { what: 'press', id, add: event.shiftKey };
    clearTimeout(this.longPress);
    if (event.pointerType === 'touch')
      this.longPress = setTimeout(() => {
        this.cancel();
        this.menu(event.clientX, event.clientY);
      }, LONG_PRESS_MS);
    return true;
  }

  private move(event: PointerEvent): boolean {
    const { doing } = this;
    if (!doing) return false;
    const { x, y } = viewOf(this.app).toWorld(event.clientX, event.clientY);
    if (doing.what === 'press') {
      const gone = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY);
      if (gone < this.far) return true;
      clearTimeout(this.longPress);
      this.beginDrag(doing);
      return this.move(event);
    }
    if (doing.what === 'move') this.drag(doing, [x, y], event);
    else if (doing.what === 'turn') this.turn(doing, [x, y], event.shiftKey);
    else this.catch(doing.before, [x, y], event.shiftKey);
    viewOf(this.app).requestDraw();
    return true;
  }

  private beginDrag(press: { id: string | null; add: boolean }): void {
    const { store } = this.app;
    const { id } = press;
    if (id === null) {
      this.doing = { what: 'band', before: store.selection };
      return;
    }
    if (!store.selection.has(id)) store.select(press.add ? [...store.selection, id] : [id]);
    const why = whyNotEdit(store) ?? this.whyFixed(id);
    if (why) {
      this.app.toast(why, 'error');
      this.doing = null;
      return;
    }
    const chosen = placedIds(this.app).filter((i) => !flagsOf(this.app).isLocked(i));
    // What one use of a template made moves together.
    const ids = [
      ...new Set(
        chosen.flatMap((i) =>
          entryOf(store, i)?.section === 'use' ? (entryOf(store, i)?.paths ?? []) : [i],
        ),
      ),
    ];
    const view = viewOf(this.app);
    const set = new Set(ids);
    const near = view.objectsIn({ minX: -1e9, minY: -1e9, maxX: 1e9, maxY: 1e9 }).slice(0, 400);
    const others = near.filter((o) => !set.has(o.id)).flatMap((o) => view.boundsOf(o.id) ?? []);
    this.doing = {
      what: 'move',
      ids,
      from: new Map(
        ids.flatMap((i) =>
          [[i, poseOf(store, i)] as const].filter((p): p is [string, Pose] => p[1] !== null),
        ),
      ),
      anchor: this.anchorOf(id),
      by: [0, 0],
      box: boundsOfMany(this.app, ids),
      others,
    };
    document.body.dataset['dragging'] = String(ids.length);
  }

  /** The point of an object that goes to the grid. */
  private anchorOf(id: string): Point {
    const { world } = this.app.store;
    const track = world?.drawing.tracks.find((m) => m.path === id)?.points[0];
    const owner = world?.owners.indexOf(id) ?? -1;
    const isWall = entryOf(this.app.store, id)?.section === 'wall';
    const edge = isWall ? world?.drawing.edges.find((e) => e.owner === owner)?.a : undefined;
    return track ?? edge ?? middleOf(this.app, id);
  }

  private whyFixed(id: string): string | null {
    const entry = entryOf(this.app.store, id);
    if (!entry) return t.notInDocument;
    return entry.fixed === null ? null : t.fixed(entry.fixed);
  }

  private drag(doing: Extract<Doing, { what: 'move' }>, [x, y]: Point, event: PointerEvent): void {
    const { store } = this.app;
    const free: Point = [x - this.start.x, y - this.start.y];
    const to: Point = [doing.anchor[0] + free[0], doing.anchor[1] + free[1]];
    const suspended = event.ctrlKey || event.metaKey;
    const goal = snapped(this.app, to, suspended);
    doing.by = [goal[0] - doing.anchor[0], goal[1] - doing.anchor[1]];
    if (doing.box) {
      const { guides, by } = guidesFor(
        shifted(doing.box, doing.by),
        doing.others,
        GUIDE_PX / store.camera.scale,
      );
      this.drawn.guides = guides;
      document.body.dataset['guides'] = String(guides.length);
      // Off the grid, guides attract.
      if (!store.snap && !suspended) doing.by = [doing.by[0] + by[0], doing.by[1] + by[1]];
    }
    previewOf(this.app).set(doing.ids, { by: doing.by, turn: 0, about: [0, 0] }, doing.from);
    const out = isOverBin(event);
    document.querySelector('.left')?.classList.toggle('bin', out);
    say(this.app, out ? t.dropToDelete : `${goal[0].toFixed(3)}, ${goal[1].toFixed(3)} m`);
  }

  private turn(doing: Extract<Doing, { what: 'turn' }>, [x, y]: Point, inSteps: boolean): void {
    const angle = Math.atan2(y - doing.about[1], x - doing.about[0]);
    const heading = inSteps ? snapTo(angle, Math.PI / 12) : angle;
    doing.by = wrap(heading - doing.from);
    const motion = { by: [0, 0] as Point, turn: doing.by, about: doing.about };
    previewOf(this.app).set([doing.id], withFrom(motion, doing.pose ?? undefined));
    say(this.app, `${degrees(wrap(heading)).toFixed(1)}°`);
  }

  private catch(before: ReadonlySet<string>, to: Point, add: boolean): void {
    const from: Point = [this.start.x, this.start.y];
    this.drawn.band = { from, to };
    const caught = viewOf(this.app)
      .objectsIn(boxOf([from, to]), this.accept)
      .map((o) => o.id);
    this.app.store.select(add ? [...before, ...caught] : caught);
  }

  private up(event: PointerEvent): boolean {
    const { doing } = this;
    if (!doing) return false;
    clearTimeout(this.longPress);
    this.doing = null;
    this.tidy();
    if (doing.what === 'press') this.click(doing.id, doing.add);
    if (doing.what === 'turn') {
      if (doing.by === 0) previewOf(this.app).clear();
      else void turnBy(this.app, [doing.id], doing.by, doing.about, doing.pose ?? undefined);
    }
    if (doing.what === 'move') this.drop(doing, event);
    return true;
  }

  private drop({ ids, by, from }: Extract<Doing, { what: 'move' }>, event: PointerEvent): void {
    if (isOverBin(event)) void remove(this.app, ids, true);
    else if (event.altKey) {
      previewOf(this.app).clear();
      void duplicate(this.app, ids, by);
    } else if (by[0] === 0 && by[1] === 0) previewOf(this.app).clear();
    else void moveBy(this.app, ids, by, from);
  }

  private click(id: string | null, add: boolean): void {
    const { store } = this.app;
    if (id === null) {
      if (!add && store.selection.size > 0) store.select([]);
      return;
    }
    const ids = new Set(add ? store.selection : []);
    if (add && ids.has(id)) ids.delete(id);
    else ids.add(id);
    store.select(ids);
    this.app.announce(oneLine(this.app, id));
  }

  private doubleClick(event: MouseEvent): boolean {
    const { x, y } = viewOf(this.app).toWorld(event.clientX, event.clientY);
    const id = viewOf(this.app).objectAt(x, y, this.accept)?.id;
    if (id === undefined) return false;
    this.app.store.select([id]);
    run('edit.open');
    return true;
  }

  private menu(clientX: number, clientY: number): void {
    const { store } = this.app;
    const { x, y } = viewOf(this.app).toWorld(clientX, clientY);
    const id = viewOf(this.app).objectAt(x, y, this.accept)?.id;
    if (id !== undefined && !store.selection.has(id)) store.select([id]);
    openMenu(this.app, clientX, clientY);
  }

  private cancel(): void {
    clearTimeout(this.longPress);
    if (this.doing?.what === 'band') this.app.store.select(this.doing.before);
    this.doing = null;
    this.tidy();
    previewOf(this.app).clear();
  }

  private tidy(): void {
    this.drawn.band = null;
    this.drawn.guides = [];
    document.querySelector('.left')?.classList.remove('bin');
    delete document.body.dataset['dragging'];
    delete document.body.dataset['guides'];
    say(this.app, '');
    viewOf(this.app).requestDraw();
  }
}

function shifted(box: Box, [x, y]: Point): Box {
  return { minX: box.minX + x, maxX: box.maxX + x, minY: box.minY + y, maxY: box.maxY + y };
}

/** Whether the pointer is over the panel at the left, where things are thrown away. */
function isOverBin(event: PointerEvent): boolean {
  const bin = document.querySelector('.left')?.getBoundingClientRect();
  return (
    bin !== undefined &&
    bin.width > 0 &&
    event.clientX < bin.right &&
    event.clientX >= bin.left &&
    event.clientY >= bin.top &&
    event.clientY <= bin.bottom
  );
}

function capture(canvas: HTMLElement, pointer: number): void {
  try {
    canvas.setPointerCapture(pointer);
  } catch {
    // A pointer that is gone already; its events still come while it is over the canvas.
  }
}
