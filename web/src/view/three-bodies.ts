/** Robots and movable obstacles of the 3-D view: one mesh per type, many instances. */

import * as THREE from 'three';
import { CARRIED } from '../frames';
import { outlineOf, reachOf } from './geometry';
import { colourOf, ink } from './ink';
import { poseAt } from './pick';
import { colour, disposeAll, prism } from './three-tools';
import type { View } from './view';

/** Selected bodies that get a ring; of more, the first ones. */
const MAX_RINGS = 64;

interface TypeMesh {
  body: THREE.InstancedMesh;
  /** Shows where the front is. */
  nose: THREE.InstancedMesh | null;
  /** Body numbers of its instances. */
  numbers: number[];
  height: number;
  /** How far its outline goes ahead of its middle. */
  front: number;
}

export class BodyMeshes {
  readonly group = new THREE.Group();
  private types: TypeMesh[] = [];
  private rings: THREE.Mesh[] = [];

  constructor(private readonly view: View) {}

  /** Makes everything anew, for another world or other colours. */
  rebuild(): void {
    this.dispose();
    const { world } = this.view.store;
    if (!world) return;
    world.drawing.types.forEach((type, number) => {
      const numbers = world.bodies.flatMap((b, k) => (b.type === number ? [k] : []));
      const reach = reachOf(type.outline);
      const height =
        type.kind === 'robot'
          ? Math.min(0.6, Math.max(0.06, 0.9 * reach))
          : Math.min(0.25, Math.max(0.05, 2 * reach));
      const paint = new THREE.MeshLambertMaterial({ color: colour(colourOf(world, number)) });
      const body = new THREE.InstancedMesh(prism(outlineOf(type.outline), height), paint, numbers.length);
      body.frustumCulled = false;
      this.group.add(body);
      const front = Math.max(...type.outline.corners.map(([x]) => x)) + type.outline.round;
      const mesh: TypeMesh = { body, nose: null, numbers, height, front };
      if (type.kind === 'robot') {
        const stick = new THREE.BoxGeometry(front, 0.16 * reach, 0.04 * reach + 0.004);
        stick.translate(front / 2, 0, height + 0.01 * reach);
        const light = new THREE.MeshLambertMaterial({ color: colour(ink().halo) });
        mesh.nose = new THREE.InstancedMesh(stick, light, numbers.length);
        mesh.nose.frustumCulled = false;
        this.group.add(mesh.nose);
      }
      this.types.push(mesh);
    });
  }

  /** Puts every body where the frame has it. */
  update(): void {
    const { world, frame, hidden } = this.view.store;
    if (!world || !frame) return;
    const place = new THREE.Matrix4();
    const nowhere = new THREE.Matrix4().makeScale(0, 0, 0);
    for (const { body, nose, numbers, height } of this.types) {
      numbers.forEach((number, k) => {
        const isThere = number < frame.count && !hidden.has(world.bodies[number]?.path ?? '');
        const pose = poseAt(frame.rows, number);
        const isCarried = ((frame.flags[number] ?? 0) & CARRIED) !== 0;
        place.makeRotationZ(pose.heading).setPosition(pose.x, pose.y, isCarried ? 0.3 * height : 0);
        body.setMatrixAt(k, isThere ? place : nowhere);
        nose?.setMatrixAt(k, isThere ? place : nowhere);
      });
      for (const mesh of nose ? [body, nose] : [body]) {
        mesh.instanceMatrix.needsUpdate = true;
        // Otherwise a click would look where they were.
        mesh.boundingSphere = null;
      }
    }
    this.updateRings();
  }

  /** The path of a body that a ray hit. */
  idOf(hit: THREE.Intersection): string | undefined {
    const found = this.types.find((m) => m.body === hit.object || m.nose === hit.object);
    const number = hit.instanceId === undefined ? undefined : found?.numbers[hit.instanceId];
    return number === undefined ? undefined : this.view.store.world?.bodies[number]?.path;
  }

  /** Where a robot's eye is: at its front edge, as high as it is. */
  frontOf(path: string): { height: number; front: number } {
    const { world } = this.view.store;
    const type = this.types[world?.bodies[world.bodyOf.get(path) ?? -1]?.type ?? -1];
    return { height: type?.height ?? 0.1, front: (type?.front ?? 0) + 0.01 };
  }

  dispose(): void {
    disposeAll(this.group);
    this.types = [];
    this.rings = [];
  }

  private updateRings(): void {
    const { store } = this.view;
    const chosen = [...store.selection].filter((id) => store.world?.bodyOf.has(id)).slice(0, MAX_RINGS);
    while (this.rings.length < chosen.length) {
      const paint = new THREE.MeshBasicMaterial({ color: colour(ink().select) });
      const ring = new THREE.Mesh(new THREE.RingGeometry(1.12, 1.3, 40), paint);
      this.rings.push(ring);
      this.group.add(ring);
    }
    this.rings.forEach((ring, k) => {
      const pose = store.poseOf(chosen[k] ?? '');
      ring.visible = pose !== null;
      if (!pose) return;
      const type =
        store.world?.drawing.types[
          store.world.bodies[store.world.bodyOf.get(chosen[k] ?? '') ?? -1]?.type ?? -1
        ];
      const reach = type ? reachOf(type.outline) : 0.1;
      ring.scale.setScalar(reach);
      ring.position.set(pose.x, pose.y, 0.012);
    });
  }
}
