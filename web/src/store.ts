/**
 * What the page knows: the server's last words, and what this page itself has chosen (selection, camera,
 * layers). Panels read it and listen to the topics they show; nobody else keeps state of the world.
 */

import { CommStore } from './comms';
import type { BodiesFrame, GridFrame, MarksFrame } from './frames';
import type { LinkState } from './link';
import type {
  Control,
  Diagnostic,
  DocumentEntry,
  EventLine,
  Inspect,
  Links,
  Point,
  Probe,
  Samples,
  Sheet,
  Status,
  Wishes,
  WorkersMessage,
  WorldMessage,
} from './protocol';
import { applySettings, readSettings, remember, type Settings } from './settings';

/** Something that moves, by its number in frames. */
export interface Body {
  path: string;
  /** Number of its type in `drawing.types` and `types`. */
  type: number;
}

/** One place of the document, where everything is somewhere. */
export interface Entry extends DocumentEntry {
  /** Where each of its paths starts; the middle of its points where it has no pose. */
  poses: [number, number, number][];
}

/** The world of the last `world` message, with look-ups. */
export interface World extends Omit<WorldMessage, 'entries'> {
  entries: Entry[];
  bodies: Body[];
  /** Number of a body by its path. */
  bodyOf: Map<string, number>;
  /** The entry of the document that made a path. */
  entryOf: Map<string, Entry>;
}

/** What is drawn besides the world itself. */
export interface Layers {
  sensors: boolean;
  rays: boolean;
  beacons: boolean;
  trails: 'none' | 'dots' | 'outline';
  arcs: boolean;
  grid: boolean;
  contacts: boolean;
  shapes: boolean;
  ids: boolean;
  links: boolean;
  messages: boolean;
  regions: boolean;
}

export const LAYERS: Layers = {
  sensors: true,
  rays: true,
  beacons: true,
  trails: 'dots',
  arcs: false,
  grid: false,
  contacts: true,
  shapes: false,
  ids: true,
  links: true,
  messages: true,
  regions: true,
};

/** World point at the middle of the canvas, and pixels per metre. */
export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export type Topic =
  | 'world'
  | 'status'
  | 'control'
  | 'frame'
  | 'marks'
  | 'grid'
  | 'inspect'
  | 'samples'
  | 'events'
  | 'comms'
  | 'links'
  | 'workers'
  | 'problems'
  | 'link'
  | 'selection'
  | 'camera'
  | 'layers'
  | 'sheets'
  | 'view'
  | 'wishes'
  | 'settings';

/** Lines the console keeps. */
const MAX_EVENTS = 100_000;

export class Store {
  link: LinkState = 'connecting';
  linkWhy = '';
  me = '';
  key = '';
  build = '';
  project = '';
  world: World | null = null;
  status: Status | null = null;
  control: Control = { is: 'control', holder: null, asking: [], clients: [] };
  frame: BodiesFrame | null = null;
  marks: MarksFrame | null = null;
  grid: GridFrame | null = null;
  inspect: Inspect | null = null;
  samples: Samples | null = null;
  events: EventLine[] = [];
  readonly comms = new CommStore();
  links: Links | null = null;
  workers: WorkersMessage | null = null;
  /** Whether the chart of messages is open. */
  isChartOpen = false;
  /** Whether the table of workers is open. */
  isWorkersOpen = false;
  problems: Record<'document' | 'code' | 'open', Diagnostic[]> = { document: [], code: [], open: [] };
  sheets = new Map<string, Sheet>();
  /** Scene paths (`/robots/r1`, `/world/walls/north`) or, for what has none, entry keys (`type.scout`). */
  selection: ReadonlySet<string> = new Set();
  camera: Camera = { x: 0, y: 0, scale: 100 };
  layers: Layers = { ...LAYERS };
  view: '2d' | '3d' = '2d';
  /** The robot that the camera follows. */
  follow: string | null = null;
  snap = true;
  /** Grid step, m. */
  step = 0.1;
  /** Objects that cannot be picked on the canvas, and objects that are not drawn. */
  locked: ReadonlySet<string> = new Set();
  hidden: ReadonlySet<string> = new Set();
  probes: Probe[] = [];
  settings: Settings = readSettings();

  private listeners = new Map<Topic, Set<() => void>>();

  /** Calls `listener` whenever `topic` has changed; answers how to stop that. */
  on(topic: Topic | Topic[], listener: () => void): () => void {
    const topics = Array.isArray(topic) ? topic : [topic];
    for (const t of topics) {
      const set = this.listeners.get(t) ?? new Set();
      set.add(listener);
      this.listeners.set(t, set);
    }
    return () => topics.forEach((t) => this.listeners.get(t)?.delete(listener));
  }

  changed(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  setWorld(message: WorldMessage): void {
    const bodies: Body[] = [];
    message.drawing.types.forEach((type, number) => {
      for (const run of type.names)
        for (let k = 0; k < run.count; k++)
          bodies.push({ path: run.from === null ? run.prefix : run.prefix + (run.from + k), type: number });
    });
    const bodyOf = new Map(bodies.map((b, k) => [b.path, k]));
    const entryOf = new Map<string, Entry>();
    const entries = message.entries.map(placed);
    for (const entry of entries) {
      entryOf.set(entry.key, entry);
      for (const path of entry.paths) entryOf.set(path, entry);
    }
    // A recording may not know whose its edges are.
    const owners = message.owners ?? [];
    this.world = { ...message, entries, owners, bodies, bodyOf, entryOf };
    this.changed('world');
    const kept = [...this.selection].filter((id) => this.exists(id));
    if (kept.length !== this.selection.size) this.select(kept);
  }

  /** Whether there is an object or entry of that name. */
  exists(id: string): boolean {
    const world = this.world;
    return world !== null && (world.bodyOf.has(id) || world.entryOf.has(id) || world.owners.includes(id));
  }

  addEvents(lines: EventLine[]): void {
    this.events.push(...lines);
    if (this.events.length > MAX_EVENTS) this.events.splice(0, this.events.length - MAX_EVENTS);
    this.changed('events');
  }

  select(ids: Iterable<string>): void {
    this.selection = new Set(ids);
    this.changed('selection');
  }

  setCamera(camera: Camera): void {
    // One metre is never less than 2 nor more than 5000 pixels.
    this.camera = { ...camera, scale: Math.min(5000, Math.max(2, camera.scale)) };
    this.changed('camera');
  }

  setLayers(change: Partial<Layers>): void {
    this.layers = { ...this.layers, ...change };
    this.changed('layers');
  }

  setSettings(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
    remember('settings', this.settings);
    applySettings(this.settings);
    this.changed('settings');
  }

  /** The chart of messages has been opened or closed. */
  setChartOpen(isOpen: boolean): void {
    if (isOpen === this.isChartOpen) return;
    this.isChartOpen = isOpen;
    this.changed('wishes');
  }

  /** The table of workers has been opened or closed. */
  setWorkersOpen(isOpen: boolean): void {
    if (isOpen === this.isWorkersOpen) return;
    this.isWorkersOpen = isOpen;
    this.changed('wishes');
  }

  setStatus(status: Status): void {
    const wasSpread = this.status?.spread ?? false;
    this.status = status;
    this.changed('status');
    if (status.spread !== wasSpread) this.changed('wishes');
  }

  setProbes(probes: Probe[]): void {
    this.probes = probes;
    this.changed('wishes');
  }

  /** Whether this page holds control. */
  get isConsole(): boolean {
    return this.control.holder?.id === this.me && this.me !== '';
  }

  /** Whether the document can be edited from here. */
  get canEdit(): boolean {
    return this.isConsole && this.world?.mode === 'live' && this.link === 'open';
  }

  /** Pose of a body in the frame that is shown. */
  poseOf(path: string): { x: number; y: number; heading: number } | null {
    const k = this.world?.bodyOf.get(path);
    if (k === undefined || !this.frame || k >= this.frame.count) return null;
    const [x = 0, y = 0, heading = 0] = this.frame.rows.subarray(3 * k, 3 * k + 3);
    return { x, y, heading };
  }

  /** Whether anything on the page shows messages of robots. */
  get wantsComms(): boolean {
    return this.layers.messages || this.isChartOpen;
  }

  /** What this page wants to be sent, from what it shows. */
  wishes(): Wishes {
    const { layers, world } = this;
    const robots = [...this.selection].filter((id) => world?.bodyOf.has(id));
    const wantsMarks = layers.sensors || layers.rays || layers.arcs || layers.links;
    return {
      frames: true,
      rate: 30,
      marks: wantsMarks ? 'all' : robots,
      inspect: robots.slice(0, 16),
      probes: this.probes,
      grid: layers.grid ? (robots[0] ?? world?.bodies[0]?.path ?? null) : null,
      comms: this.wantsComms,
      links: layers.links,
      workers: (this.status?.spread ?? false) && (this.isWorkersOpen || layers.regions),
    };
  }
}

function placed(entry: DocumentEntry): Entry {
  const poses = entry.paths.map((_, k) => entry.poses[k] ?? ([...middle(entry.points[k] ?? []), 0] as const));
  return { ...entry, poses: poses.map(([x, y, heading]) => [x, y, heading]) };
}

/** The middle of the box around some points. */
function middle(points: Point[]): Point {
  const of = (k: 0 | 1): number => {
    const all = points.map((p) => p[k]);
    return all.length ? (Math.min(...all) + Math.max(...all)) / 2 : 0;
  };
  return [of(0), of(1)];
}
