/**
 * What the run has left behind: where robots went, and the arcs on which objects may be.
 *
 * In: frames as they come. Out: rows to draw. Both are bounded: the oldest go. A new run, a step back in
 * time or other bodies empty them.
 */

import type { BodiesFrame, MarksFrame } from '../frames';
import type { World } from '../store';
import { reachOf } from './geometry';
import { poseAt } from './pick';
import { Ring } from './ring';

/** Places of all trails together, and arcs of all sensors together. */
export const MAX_PLACES = 160_000;
export const MAX_ARCS = 8_000;

/** Columns of a place: x, y, heading, body, and 1 where an outline is left as well. */
export const PLACE = { x: 0, y: 1, heading: 2, body: 3, outline: 4 } as const;
/** Columns of an arc, in the world. */
export const ARC = { x: 0, y: 1, radius: 2, from: 3, to: 4 } as const;

interface Last {
  x: number;
  y: number;
  outlineX: number;
  outlineY: number;
  outlineHeading: number;
}

export class Traces {
  readonly places = new Ring(5, MAX_PLACES);
  readonly arcs = new Ring(5, MAX_ARCS);
  private last: (Last | undefined)[] = [];
  private stop = -1;
  private arcsStop = -1;
  private run = -1;
  private bodies = '';
  /** The farthest each sensor has shown; an arc there means that nothing was sensed. */
  private farthest = new Map<string, number>();

  clear(): void {
    this.places.clear();
    this.arcs.clear();
    this.last = [];
    this.arcsStop = -1;
  }

  /** Another run, or other bodies: what was left behind is not theirs. */
  setRun(run: number, world: World | null): void {
    const bodies = (world?.drawing.types ?? []).map((t) => `${t.name}×${t.count}`).join();
    if (run === this.run && bodies === this.bodies) return;
    this.run = run;
    this.bodies = bodies;
    this.stop = -1;
    this.farthest.clear();
    this.clear();
  }

  addBodies(world: World, frame: BodiesFrame): void {
    if (frame.stop < this.stop) this.clear();
    if (frame.stop === this.stop) return;
    this.stop = frame.stop;
    const types = world.drawing.types.map((t) => ({
      isRobot: t.kind === 'robot',
      reach: reachOf(t.outline),
    }));
    const count = Math.min(frame.count, world.bodies.length);
    for (let body = 0; body < count; body++) {
      const type = types[world.bodies[body]?.type ?? -1];
      if (type?.isRobot) this.addPlace(frame, body, type.reach);
    }
  }

  private addPlace(frame: BodiesFrame, body: number, reach: number): void {
    const { x, y, heading } = poseAt(frame.rows, body);
    const last = this.last[body];
    // A dot every third of a robot; an outline every robot, or where it turned.
    const gap = last ? Math.hypot(x - last.x, y - last.y) : Infinity;
    const far = last ? Math.hypot(x - last.outlineX, y - last.outlineY) : Infinity;
    const turned = last
      ? Math.abs(Math.atan2(Math.sin(heading - last.outlineHeading), Math.cos(heading - last.outlineHeading)))
      : 0;
    const isOutline = far >= reach || turned >= Math.PI / 6;
    if (gap < Math.max(0.01, reach / 3) && !isOutline) return;
    this.places.push(x, y, heading, body, isOutline ? 1 : 0);
    this.last[body] = {
      x,
      y,
      outlineX: isOutline ? x : (last?.outlineX ?? x),
      outlineY: isOutline ? y : (last?.outlineY ?? y),
      outlineHeading: isOutline ? heading : (last?.outlineHeading ?? heading),
    };
  }

  /** Adds the arcs of a marks frame, where its robots were at the same stop. */
  addArcs(world: World, marks: MarksFrame, frame: BodiesFrame): void {
    if (marks.stop !== frame.stop || marks.stop === this.arcsStop) return;
    this.arcsStop = marks.stop;
    for (const { body, marks: list } of marks.robots) {
      if (body >= frame.count) continue;
      const pose = poseAt(frame.rows, body);
      const [c, s] = [Math.cos(pose.heading), Math.sin(pose.heading)];
      for (const mark of list) {
        if (mark.shape !== 'arc') continue;
        const sensor = `${world.bodies[body]?.type}/${mark.part}`;
        const farthest = Math.max(mark.radius, this.farthest.get(sensor) ?? 0);
        this.farthest.set(sensor, farthest);
        if (mark.radius > 0.995 * farthest) continue;
        const [x, y] = [pose.x + c * mark.x - s * mark.y, pose.y + s * mark.x + c * mark.y];
        this.arcs.push(x, y, mark.radius, pose.heading + mark.from, pose.heading + mark.to);
      }
    }
  }
}
