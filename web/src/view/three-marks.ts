/** What parts show of themselves, as lines in space at about the height of the sensors. */

import * as THREE from 'three';
import type { Mark } from '../frames';
import { placed, reachOf, type Pose } from './geometry';
import { ink } from './ink';
import { classOfMark, layerOf } from './marks';
import { poseAt } from './pick';
import { colour } from './three-tools';
import type { View } from './view';

/** Lines that are drawn at most. */
const MAX_LINES = 60_000;
/** Straight pieces of a whole circle. */
const PIECES = 36;

export class MarkLines {
  readonly object: THREE.LineSegments;
  private readonly positions = new THREE.BufferAttribute(new Float32Array(6 * MAX_LINES), 3);
  private readonly colours = new THREE.BufferAttribute(new Float32Array(6 * MAX_LINES), 3);
  private count = 0;

  constructor(private readonly view: View) {
    const geometry = new THREE.BufferGeometry();
    this.positions.setUsage(THREE.DynamicDrawUsage);
    this.colours.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute('position', this.positions);
    geometry.setAttribute('color', this.colours);
    const paint = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.75 });
    this.object = new THREE.LineSegments(geometry, paint);
    this.object.frustumCulled = false;
  }

  update(): void {
    const { world, frame, marks, layers, hidden } = this.view.store;
    this.count = 0;
    const colours = { sensors: colour(ink().sensor), rays: colour(ink().ray), links: colour(ink().link) };
    for (const { body, marks: list } of marks?.robots ?? []) {
      if (!world || !frame || body >= frame.count || hidden.has(world.bodies[body]?.path ?? '')) continue;
      const pose = poseAt(frame.rows, body);
      const type = world.drawing.types[world.bodies[body]?.type ?? -1];
      const height = 0.5 * Math.min(0.6, Math.max(0.06, 0.9 * (type ? reachOf(type.outline) : 0.1)));
      for (const mark of list) {
        const layer = layerOf(mark, classOfMark(world, body, mark));
        if (layers[layer]) this.add(pose, pointsOf(mark), height, colours[layer]);
      }
    }
    this.object.geometry.setDrawRange(0, 2 * this.count);
    for (const attribute of [this.positions, this.colours]) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 6 * this.count);
      attribute.needsUpdate = true;
    }
  }

  dispose(): void {
    this.object.geometry.dispose();
    (this.object.material as THREE.Material).dispose();
  }

  private add(pose: Pose, points: [number, number][], height: number, paint: THREE.Color): void {
    let last: [number, number] | null = null;
    for (const point of points) {
      const at = placed(pose, point);
      if (last && this.count < MAX_LINES) {
        const from = 6 * this.count;
        this.positions.array.set([last[0], last[1], height, at[0], at[1], height], from);
        this.colours.array.set([paint.r, paint.g, paint.b, paint.r, paint.g, paint.b], from);
        this.count += 1;
      }
      last = at;
    }
  }
}

/** A mark as straight lines, in its body's frame; words are left to the top view. */
function pointsOf(mark: Mark): [number, number][] {
  if (mark.shape === 'line') return mark.points;
  if (mark.shape === 'text') return [];
  const [from, to] = mark.shape === 'arc' ? [mark.from, mark.to] : [0, 2 * Math.PI];
  const steps = Math.max(2, Math.ceil(((to - from) / (2 * Math.PI)) * PIECES));
  return Array.from({ length: steps + 1 }, (_, k) => {
    const angle = from + ((to - from) * k) / steps;
    return [mark.x + mark.radius * Math.cos(angle), mark.y + mark.radius * Math.sin(angle)];
  });
}
