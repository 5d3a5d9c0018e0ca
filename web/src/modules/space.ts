/**
 * The scene of a chain in space: universe, arm, obstacles, objects, seen from the view point that the chain gives.
 * Draws only when something has changed.
 */

import * as THREE from 'three';
import { h } from '../dom';
import { t } from '../strings';
import { disposeAll } from '../view/three-tools';
import type { Point3, Scenery } from './scenery';

const COLOURS = { base: 0x56b4e9, link: 0xe69f00, joint: 0x7f7f7f, box: 0xcc79a7, object: 0x009e73 };
const UP = new THREE.Vector3(0, 0, 1);

/** A thing as it is drawn: the corners of what it fills in space, in metres, and where its middle is on the canvas, in pixels. */
export interface Drawn {
  name: string;
  low: number[];
  high: number[];
  pixel: [number, number];
}

export class ModuleSpace {
  readonly canvas = h('canvas', { class: 'view', role: 'img', aria: { label: t.modulesCanvas } });
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(45, 1, 0.05, 5000);
  private readonly things = new THREE.Group();
  private asked = 0;

  constructor(private readonly stage: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
    this.camera.up.copy(UP);
    const sun = new THREE.DirectionalLight(0xffffff, 2);
    sun.position.set(30, -40, 80);
    this.scene.add(this.things, sun, new THREE.HemisphereLight(0xffffff, 0x667788, 1.4));
    stage.prepend(this.canvas);
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
  }

  /** Shows a scene in the place of the one before. */
  show(scenery: Scenery): void {
    disposeAll(this.things);
    this.things.add(floor(scenery.universe));
    for (const [n, [low, high]] of Object.entries(scenery.boxes))
      this.things.add(named(`box ${n}`, box(low, high)));
    for (const [n, place] of Object.entries(scenery.objects))
      this.things.add(named(`object ${n}`, ball(place, 0.35, COLOURS.object)));
    if (scenery.arm) this.things.add(...arm(scenery.arm.points));
    const [x, y, z] = scenery.eye_now;
    this.camera.fov = scenery.field_deg;
    this.camera.position.set(x, y, z);
    this.camera.lookAt(...scenery.towards);
    this.camera.updateProjectionMatrix();
    this.requestDraw();
  }

  /** Where the camera is, the direction in which it looks (of length 1), and what is drawn; for tests. */
  view(): { eye: number[]; direction: number[]; field: number; things: Drawn[] } {
    this.camera.updateMatrixWorld();
    return {
      eye: this.camera.position.toArray(),
      direction: this.camera.getWorldDirection(new THREE.Vector3()).toArray(),
      field: this.camera.fov,
      things: this.things.children.map((thing) => this.drawn(thing)),
    };
  }

  private drawn(thing: THREE.Object3D): Drawn {
    const around = new THREE.Box3().setFromObject(thing, true);
    const middle = around.getCenter(new THREE.Vector3()).project(this.camera);
    const { clientWidth: width, clientHeight: height } = this.stage;
    const pixel: [number, number] = [((middle.x + 1) / 2) * width, ((1 - middle.y) / 2) * height];
    return { name: thing.name, low: around.min.toArray(), high: around.max.toArray(), pixel };
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.requestDraw();
  }

  private requestDraw(): void {
    if (this.asked !== 0) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.scene.background = new THREE.Color(getComputedStyle(document.body).backgroundColor);
      this.renderer.render(this.scene, this.camera);
    });
  }
}

function named<T extends THREE.Object3D>(name: string, thing: T): T {
  thing.name = name;
  return thing;
}

function paint(colour: number): THREE.MeshLambertMaterial {
  return new THREE.MeshLambertMaterial({ color: colour });
}

function ball([x, y, z]: Point3, radius: number, colour: number): THREE.Mesh {
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(radius, 20, 14), paint(colour));
  mesh.position.set(x, y, z);
  return mesh;
}

function box(low: Point3, high: Point3): THREE.Mesh {
  const size = (i: 0 | 1 | 2): number => Math.max(0.01, high[i] - low[i]);
  const mesh = new THREE.Mesh(new THREE.BoxGeometry(size(0), size(1), size(2)), paint(COLOURS.box));
  mesh.position.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
  return mesh;
}

/** A rod between two points. */
function rod(from: Point3, to: Point3, radius: number, colour: number): THREE.Mesh {
  const a = new THREE.Vector3(...from);
  const along = new THREE.Vector3(...to).sub(a);
  const length = Math.max(1e-6, along.length());
  const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, length, 16), paint(colour));
  mesh.position.copy(a).addScaledVector(along, 0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
  return mesh;
}

/** The arm: a platform on the truss, a column, three links with their joints. */
function arm([foot, shoulder, elbow, wrist, tip]: [
  Point3,
  Point3,
  Point3,
  Point3,
  Point3,
]): THREE.Object3D[] {
  const platform = box(
    [foot[0] - 1.5, foot[1] - 1.5, foot[2] - 0.4],
    [foot[0] + 1.5, foot[1] + 1.5, foot[2]],
  );
  (platform.material as THREE.MeshLambertMaterial).color.set(COLOURS.base);
  return [
    named('platform', platform),
    named('column', rod(foot, shoulder, 0.4, COLOURS.base)),
    named('upper arm', rod(shoulder, elbow, 0.25, COLOURS.link)),
    named('forearm', rod(elbow, wrist, 0.22, COLOURS.link)),
    named('hand', rod(wrist, tip, 0.15, COLOURS.link)),
    named('shoulder', ball(shoulder, 0.4, COLOURS.joint)),
    named('elbow', ball(elbow, 0.4, COLOURS.joint)),
    named('wrist', ball(wrist, 0.4, COLOURS.joint)),
  ];
}

/** The edges of the universe, and a truss along x on which the base goes. */
function floor({ low, high }: Scenery['universe']): THREE.Object3D {
  const size = new THREE.Vector3(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  const solid = new THREE.BoxGeometry(Math.max(size.x, 0.01), Math.max(size.y, 0.01), Math.max(size.z, 0.01));
  const edges = new THREE.EdgesGeometry(solid);
  solid.dispose();
  edges.translate((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
  const lines: number[] = [];
  const step = Math.max(2, (high[0] - low[0]) / 100);
  for (let x = low[0]; x < high[0]; x += step) {
    lines.push(x, -1, -0.5, x, 1, -0.5);
    for (const y of [-1, 1]) lines.push(x, y, -0.5, Math.min(x + step, high[0]), y, -0.5);
  }
  const truss = new THREE.BufferGeometry();
  truss.setAttribute('position', new THREE.Float32BufferAttribute(lines, 3));
  const ink = new THREE.LineBasicMaterial({ color: 0x8a94a3 });
  const group = named('universe', new THREE.Group());
  group.add(new THREE.LineSegments(edges, ink), new THREE.LineSegments(truss, ink.clone()));
  return group;
}
