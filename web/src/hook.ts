/** `window.__sim`: a read-only look at what the page shows, for tests and for the curious. */

import type { App } from './app';
import type { Camera, Layers, World } from './store';

/** What the view adds. */
export interface ViewHook {
  layers(): Layers;
  follow(): string | null;
  /** How often the page has drawn. */
  draws(): number;
  /** How much the run has left behind: places of trails, arcs, contacts that still flash. */
  traces(): { places: number; arcs: number; contacts: number };
  toWorld(clientX: number, clientY: number): { x: number; y: number };
  objectAt(clientX: number, clientY: number): string | null;
  /** Every message that is drawn, where its dot or cross is, in CSS pixels of the window; and the links that are. */
  messages(): { serial: number; from: string; to: string; fate: string; x: number; y: number }[];
  linkCount(): number;
  /** Every mark that is shown, with a place on it, in CSS pixels of the window. */
  marks(): {
    robot: string;
    part: string;
    channel: string;
    index: number;
    shape: string;
    x: number;
    y: number;
  }[];
}

export interface SimHook extends ViewHook {
  world(): World | null;
  camera(): Camera;
  tick(): number | null;
  hash(): string | null;
  selection(): string[];
  undoDepth(): number;
  pose(path: string): { x: number; y: number; heading: number } | null;
  /** Where an object is on the page, in CSS pixels of the window. */
  toScreen(id: string): { x: number; y: number } | null;
  /** Where a point of the world is on the page. */
  pointToScreen(x: number, y: number): { x: number; y: number };
}

declare global {
  interface Window {
    __sim?: SimHook;
  }
}

/** Where a point of the world is within the canvas; the view sets it. */
export type Projection = (x: number, y: number) => { x: number; y: number };

export function installHook(app: App, project: Projection, view: ViewHook): void {
  const { store } = app;
  window.__sim = {
    ...view,
    world: () => store.world,
    camera: () => ({ ...store.camera }),
    tick: () => store.frame?.stop ?? null,
    hash: () => store.frame?.hash ?? null,
    selection: () => [...store.selection],
    undoDepth: () => store.status?.undo_depth ?? 0,
    pose: (path) => store.poseOf(path),
    toScreen: (id) => {
      const entry = store.world?.entryOf.get(id);
      const start = entry?.poses[entry.paths.indexOf(id)] ?? entry?.poses[0];
      const pose = store.poseOf(id) ?? (start && { x: start[0], y: start[1] });
      return pose ? project(pose.x, pose.y) : null;
    },
    pointToScreen: project,
  };
}
