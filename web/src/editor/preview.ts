/**
 * What the world would look like if a drag ended now: objects that move or turn, and parameters that are
 * being typed. Only drawn; nothing of it is in the document.
 */

import type { App } from '../app';
import type { Point } from '../protocol';
import { placed, type Pose } from '../view/geometry';
import { viewOf } from '../view/view';
import { poseOf } from './subject';

/** A turn about a point, then a shift. */
export interface Motion {
  by: Point;
  turn: number;
  about: Point;
  /** Where the object was when it was taken in hand; a run may have moved it since. */
  from?: Pose;
}

export const STILL: Motion = { by: [0, 0], turn: 0, about: [0, 0] };

export function movedPoint(motion: Motion, p: Point): Point {
  const pose = { x: motion.about[0], y: motion.about[1], heading: motion.turn };
  const [x, y] = placed(pose, [p[0] - motion.about[0], p[1] - motion.about[1]]);
  return [x + motion.by[0], y + motion.by[1]];
}

export function movedPose(motion: Motion, pose: Pose): Pose {
  const [x, y] = movedPoint(motion, [pose.x, pose.y]);
  return { x, y, heading: pose.heading + motion.turn };
}

export function withFrom(motion: Motion, from: Pose | undefined): Motion {
  return from ? { ...motion, from } : motion;
}

class Preview {
  readonly motions = new Map<string, Motion>();
  /** Objects that are drawn in the error colour for a moment. */
  readonly wrong = new Set<string>();
  /** Numbers of a beacon that are being typed. */
  beacon: { id: string; aperture: number | null; range: number | null } | null = null;
  /** Told what is typed into a field. */
  typed: (key: string, text: string) => void = () => undefined;
  private readonly listeners = new Map<HTMLElement, () => void>();

  constructor(private readonly app: App) {}

  /** Calls `listener` on every change for as long as `owner` is on the page. */
  on(owner: HTMLElement, listener: () => void): void {
    this.listeners.set(owner, listener);
  }

  set(ids: Iterable<string>, motion: Motion, from?: ReadonlyMap<string, Pose>): void {
    this.motions.clear();
    for (const id of ids) this.motions.set(id, withFrom(motion, from?.get(id)));
    this.changed();
  }

  clear(): void {
    if (this.motions.size === 0) return;
    this.motions.clear();
    this.changed();
  }

  /** Where an object would be; `null` when nothing moves it. */
  poseOf(id: string): Pose | null {
    const motion = this.motions.get(id);
    const pose = motion && (motion.from ?? poseOf(this.app.store, id));
    return pose ? movedPose(motion, pose) : null;
  }

  /** Shows objects in the error colour for a moment. */
  flash(ids: Iterable<string>): void {
    for (const id of ids) this.wrong.add(id);
    document.body.dataset['refused'] = [...this.wrong].join(' ');
    this.changed();
    setTimeout(() => {
      this.wrong.clear();
      delete document.body.dataset['refused'];
      this.changed();
    }, 2500);
  }

  changed(): void {
    for (const [owner, listener] of this.listeners)
      if (owner.isConnected) listener();
      else this.listeners.delete(owner);
    viewOf(this.app).requestDraw();
  }
}

let preview: Preview | null = null;

export function previewOf(app: App): Preview {
  preview ??= new Preview(app);
  return preview;
}
