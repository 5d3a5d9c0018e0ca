/**
 * The same world in space. Loaded only when it is wanted; draws only when something has changed; gives
 * everything back to the graphics card when it is left.
 */

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { h } from '../dom';
import { t } from '../strings';
import { selectedRobot } from './commands';
import { ink } from './ink';
import { BodyMeshes } from './three-bodies';
import { MarkLines } from './three-marks';
import { buildStill } from './three-still';
import { disposeAll } from './three-tools';
import type { View } from './view';

/** Pixels a pointer may move and still be a click. */
const CLICK_SLOP = 4;
const FIELD = 45;
const EYE_FIELD = 75;
const SOUTH = new THREE.Vector3(0, -0.72, 0.8);

export class SpaceView {
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  /** Everything of the world; turned for headsets, for which up is another axis. */
  private readonly root = new THREE.Group();
  private readonly camera = new THREE.PerspectiveCamera(FIELD, 1, 0.02, 2000);
  private readonly orbit: OrbitControls;
  private readonly bodies: BodyMeshes;
  private readonly marks: MarkLines;
  private still = new THREE.Group();
  private readonly stops: (() => void)[] = [];
  private drawAsked = 0;
  private followed: { x: number; y: number } | null = null;
  private vrButton: HTMLElement | null = null;

  constructor(
    private readonly view: View,
    private readonly stage: HTMLElement,
    onLost: () => void,
  ) {
    const canvas = h('canvas', {
      class: 'view space',
      tabIndex: 0,
      aria: { label: t.canvas3d },
      role: 'img',
    });
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
    stage.prepend(canvas);
    this.camera.up.set(0, 0, 1);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.maxPolarAngle = Math.PI / 2 - 0.02;
    this.bodies = new BodyMeshes(view);
    this.marks = new MarkLines(view);
    this.root.add(this.bodies.group, this.marks.object, ...lights());
    this.scene.add(this.root);
    this.lookAsAbove(SOUTH.clone());
    this.listen(canvas, onLost);
    this.rebuild();
    this.resize();
    void this.offerVr();
  }

  /** Gives back all that the graphics card holds. */
  dispose(): void {
    cancelAnimationFrame(this.drawAsked);
    this.renderer.setAnimationLoop(null);
    for (const stop of this.stops) stop();
    this.orbit.dispose();
    this.bodies.dispose();
    this.marks.dispose();
    disposeAll(this.still);
    this.vrButton?.remove();
    this.view.project3d = null;
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.renderer.domElement.remove();
  }

  private listen(canvas: HTMLCanvasElement, onLost: () => void): void {
    const { store } = this.view;
    const on = (target: EventTarget, name: string, listener: (event: Event) => void): void => {
      target.addEventListener(name, listener);
      this.stops.push(() => target.removeEventListener(name, listener));
    };
    on(canvas, 'webglcontextlost', (event) => {
      event.preventDefault();
      onLost();
    });
    let down = { x: 0, y: 0 };
    on(canvas, 'pointerdown', (event) => {
      const { clientX, clientY } = event as PointerEvent;
      down = { x: clientX, y: clientY };
    });
    on(canvas, 'pointerup', (event) => {
      const { clientX, clientY, button } = event as PointerEvent;
      if (button === 0 && Math.hypot(clientX - down.x, clientY - down.y) < CLICK_SLOP)
        this.select(clientX, clientY);
    });
    this.orbit.addEventListener('change', () => this.requestDraw());
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(this.stage);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    on(scheme, 'change', () => this.rebuild());
    this.stops.push(
      () => sizes.disconnect(),
      store.on(['frame', 'marks', 'view'], () => this.requestDraw()),
      store.on('camera', () => store.follow === null && this.lookAsAbove()),
      store.on(['world', 'layers', 'view', 'settings', 'selection'], () => this.rebuild()),
    );
    this.view.project3d = (x, y) => this.project(x, y);
  }

  /** Looks where the top view looks and shows about as much of it; at first from the south and above. */
  private lookAsAbove(from = this.camera.position.clone().sub(this.orbit.target)): void {
    const { camera } = this.view.store;
    const height = this.view.size.height / camera.scale;
    const far = Math.min(500, Math.max(0.5, height * 1.3));
    this.orbit.target.set(camera.x, camera.y, 0);
    this.camera.position.copy(this.orbit.target).addScaledVector(from.normalize(), far);
    this.orbit.update();
  }

  private rebuild(): void {
    disposeAll(this.still);
    this.root.remove(this.still);
    this.still = buildStill(this.view);
    this.root.add(this.still);
    this.scene.background = new THREE.Color(ink().outside);
    this.bodies.rebuild();
    this.requestDraw();
  }

  private requestDraw(): void {
    if (this.drawAsked !== 0 || this.renderer.xr.isPresenting) return;
    this.drawAsked = requestAnimationFrame(() => {
      this.drawAsked = 0;
      this.view.draws += 1;
      this.draw();
    });
  }

  private draw(): void {
    this.bodies.update();
    this.marks.update();
    if (!this.renderer.xr.isPresenting) this.placeCamera();
    this.renderer.render(this.scene, this.camera);
    this.stage.dataset['spaceDraws'] = String(Number(this.stage.dataset['spaceDraws'] ?? 0) + 1);
  }

  /** At a robot's eye, behind the robot that is followed, or wherever the hand has put it. */
  private placeCamera(): void {
    const { store, isRobotsEye } = this.view;
    const eye = isRobotsEye ? (selectedRobot(this.view) ?? store.follow) : null;
    const pose = eye === null ? null : store.poseOf(eye);
    this.orbit.enabled = pose === null;
    const field = pose ? EYE_FIELD : FIELD;
    if (this.camera.fov !== field) {
      this.camera.fov = field;
      this.camera.updateProjectionMatrix();
      if (!pose) this.lookAsAbove(SOUTH.clone());
    }
    if (pose && eye !== null) {
      // At the front edge, so that the robot does not see itself.
      const { height, front } = this.bodies.frontOf(eye);
      const [c, s] = [Math.cos(pose.heading), Math.sin(pose.heading)];
      this.camera.position.set(pose.x + front * c, pose.y + front * s, height);
      this.camera.lookAt(pose.x + c, pose.y + s, height - 0.12);
      return;
    }
    const followed = store.follow === null ? null : store.poseOf(store.follow);
    if (followed) {
      const last = this.followed ?? { x: this.orbit.target.x, y: this.orbit.target.y };
      const by = new THREE.Vector3(followed.x - last.x, followed.y - last.y, 0);
      this.camera.position.add(by);
      this.orbit.target.add(by);
      this.camera.lookAt(this.orbit.target);
    }
    this.followed = followed && { x: followed.x, y: followed.y };
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.requestDraw();
  }

  /** Where a point of the floor is on the canvas, CSS pixels. */
  private project(x: number, y: number): { x: number; y: number } {
    const p = new THREE.Vector3(x, y, 0.02).project(this.camera);
    const { clientWidth, clientHeight } = this.stage;
    return { x: ((p.x + 1) / 2) * clientWidth, y: ((1 - p.y) / 2) * clientHeight };
  }

  private select(clientX: number, clientY: number): void {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2(
      ((clientX - box.left) / box.width) * 2 - 1,
      1 - ((clientY - box.top) / box.height) * 2,
    );
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const { store } = this.view;
    for (const hit of ray.intersectObjects([this.bodies.group, this.still], true)) {
      const id = this.bodies.idOf(hit) ?? (hit.object.userData['id'] as string | undefined);
      if (id === undefined || !hit.object.visible) continue;
      store.select([id]);
      return;
    }
    store.select([]);
  }

  /** A way in with a headset, where there is one. */
  private async offerVr(): Promise<void> {
    const { xr } = navigator;
    if (!xr || !(await xr.isSessionSupported('immersive-vr').catch(() => false))) return;
    const enter = async (): Promise<void> => {
      const session = await xr.requestSession('immersive-vr', { optionalFeatures: ['local-floor'] });
      this.renderer.xr.enabled = true;
      await this.renderer.xr.setSession(session);
      // Where one looked is where one stands.
      const { x, y } = this.orbit.target;
      this.root.rotation.x = -Math.PI / 2;
      this.root.position.set(-x, 0, y);
      this.renderer.setAnimationLoop(() => this.draw());
      session.addEventListener('end', () => {
        this.root.rotation.x = 0;
        this.root.position.set(0, 0, 0);
        this.renderer.setAnimationLoop(null);
        this.renderer.xr.enabled = false;
        this.requestDraw();
      });
    };
    const click = (): void => void enter().catch((why: unknown) => this.view.app.toast(String(why), 'error'));
    this.vrButton = h('button', { class: 'view-note vr', on: { click } }, t.enterVr);
    this.stage.append(this.vrButton);
  }
}

function lights(): THREE.Light[] {
  const sun = new THREE.DirectionalLight(0xffffff, 1.6);
  sun.position.set(-3, -5, 9);
  return [new THREE.HemisphereLight(0xffffff, 0x8a8f98, 1.7), sun];
}
