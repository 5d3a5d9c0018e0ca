/** The messages of the display protocol, version 1, as docs/display-protocol.md describes them. */

export const VERSION = 1;

export type Point = [number, number];

export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning' | 'note';
  message: string;
  help: string | null;
  path: string | null;
  file: string | null;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
}

export interface Failure {
  code: string;
  message: string;
  help?: string | null;
  problems?: Diagnostic[];
}

export interface ClientName {
  id: string;
  name: string;
}

export interface Welcome {
  is: 'welcome';
  version: number;
  build: string;
  you: string;
  key: string;
  project: string;
}

export type RunState = 'paused' | 'running' | 'waiting' | 'ended' | 'error';

export interface Status {
  is: 'status';
  state: RunState;
  mode: 'live' | 'replay';
  stop: number;
  time: number;
  newest: number;
  newest_time: number;
  looking_back: boolean;
  duration: number;
  speed: number | null;
  rtf: number;
  quantum: number;
  detail: 'coarse' | 'normal' | 'fine';
  waiting: { robot: string; seconds: number }[];
  hash: string;
  file: string | null;
  title: string;
  dirty: boolean;
  revision: number;
  undo: string | null;
  redo: string | null;
  undo_depth: number;
  run: number;
  verified: number;
  /** Whether workers elsewhere take the steps. */
  spread: boolean;
}

export interface Control {
  is: 'control';
  holder: ClientName | null;
  asking: ClientName[];
  clients: ClientName[];
}

export interface Shape {
  corners: Point[];
  round: number;
}

export interface NameRun {
  prefix: string;
  from: number | null;
  count: number;
}

export interface BodyType {
  name: string;
  kind: 'robot' | 'obstacle';
  colour: string | null;
  outline: Shape;
  count: number;
  names: NameRun[];
}

export interface Edge {
  kind: 'wall' | 'obstacle';
  owner: number;
  a: Point;
  b: Point;
}

export interface TrackMark {
  path: string;
  points: Point[];
  width: number | null;
  reflectivity: number;
}

export interface BeaconMark {
  path: string;
  id: number;
  pose: [number, number, number];
  aperture: number;
  range: number;
  height: number;
}

export interface Drawing {
  bounds: [Point, Point] | null;
  types: BodyType[];
  edges: Edge[];
  tracks: TrackMark[];
  beacons?: BeaconMark[];
}

export interface ChannelInfo {
  name: string;
  len: number;
  unit: string;
  command: boolean;
}

export interface RegisterInfo {
  name: string;
  address: number;
  bytes: number;
  part: string | null;
  channel: string | null;
  index: number;
}

export interface TypeInfo {
  name: string;
  parts: { name: string; class: string; channels: ChannelInfo[] }[];
  controllers: { name: string; class: string; source: string | null }[];
  registers: RegisterInfo[];
}

/** One place of the scenario's text that can be edited. */
export interface DocumentEntry {
  key: string;
  section: string;
  class: string;
  name: string | null;
  paths: string[];
  /** Where each path starts; null for walls and tracks, which have points. */
  poses: ([number, number, number] | null)[];
  points: (Point[] | null)[];
  count: number;
  line: number;
  fields: { key: string; text: string; line: number }[];
  fixed: string | null;
}

export interface WorldMessage {
  is: 'world';
  revision: number;
  file: string | null;
  title: string;
  mode: 'live' | 'replay';
  drawing: Drawing;
  /** Path of each wall or obstacle that `drawing.edges` belong to, by their owner's number. */
  owners: string[];
  types: TypeInfo[];
  entries: DocumentEntry[];
  text: string;
}

export interface InspectedRobot {
  path: string;
  type: string;
  pose: [number, number, number];
  twist: [number, number, number];
  halted: boolean;
  /** Whether one of its controllers has failed. */
  failed: boolean;
  /** The values of every channel of every part, in the order of the type in `world.types`. */
  parts: (number | null)[][][];
  /** The raw value of every register, in the order of the type. */
  registers: number[];
  lines: string[];
}

export interface Inspect {
  is: 'inspect';
  stop: number;
  robots: InspectedRobot[];
}

export interface Probe {
  path: string;
  channel: string;
  index: number;
}

export interface Samples {
  is: 'samples';
  probes: Probe[];
  /** Time, then one value per probe; `null` where there is none. */
  rows: (number | null)[][];
}

export interface EventLine {
  stop: number;
  time: number;
  level: 'info' | 'warning' | 'error';
  kind: string;
  robot: string | null;
  text: string;
}

export interface Events {
  is: 'events';
  lines: EventLine[];
}

/** One line about messages of robots. */
export interface CommLine {
  /** Simulated seconds. */
  t: number;
  what: 'sent' | 'received' | 'lost' | 'crashed' | 'recovered';
  from: string;
  to?: string[];
  receivers?: number;
  serial?: number;
  protocol?: string;
  label?: string;
  content?: string;
  bytes?: number;
  sent?: number;
  why?: string;
}

/** News about messages, and the answer to `comms`. */
export interface Comms {
  is: 'comms';
  run: number;
  lines: CommLine[];
  left_out: number;
  /** Number of lines there have been. */
  next: number;
  under_way: [serial: number, to: string, at: number][];
  /** Of an answer: the moment before which lines may be missing. */
  since?: number;
  /** Of an answer: the moment from which it was asked for. */
  from?: number;
}

/** Who could hear whom, by numbers of bodies; everybody when null. */
export interface Links {
  is: 'links';
  revision: number;
  pairs: [number, number][] | null;
}

/** What one worker of a spread run did. */
export interface WorkerFigures {
  worker: number;
  /** The host that lends its machine; null is the server's own. */
  host: string | null;
  pid: number | null;
  endpoint: string | null;
  at_work: boolean;
  bodies: number;
  ghosts: number;
  work_s: number;
  wait_s: number;
  sent: number;
  widened: number;
  asked_again: number;
  /** Left, lower, right and upper border in metres; null is unbounded. */
  region: (number | null)[] | null;
}

/** What went from one worker to another. */
export interface LinkFigures {
  from: number;
  to: number;
  messages: number;
  bytes: number;
}

/** What one robot cost: microseconds per tick, as means over the ticks that were measured. */
export interface RobotFigures {
  path: string;
  worker: number;
  /** All in all. */
  cost_us: number;
  sense_us: number;
  think_us: number;
  act_us: number;
  contact_us: number;
  /** Fuel that its programs used per tick, where it is metered. */
  fuel: number;
  /** Ticks that were measured. */
  quanta: number;
}

/** What the workers of the run do. */
export interface WorkersMessage {
  is: 'workers';
  run: number;
  /** Seconds of the server's clock, to reckon rates by. */
  wall_s: number;
  /** Null when the run is not spread. */
  spread: {
    epochs: number;
    again: number;
    lost: number[];
    undivided: string | null;
    workers: WorkerFigures[];
    links: LinkFigures[];
    heaviest: RobotFigures[];
  } | null;
  /** What modules of robots on other hosts cost; servers of older versions do not say. */
  elsewhere?: ElsewhereFigures[];
}

/** What everything costs that robots have on one other host. */
export interface ElsewhereFigures {
  /** The host, as the robots call it. */
  place: string;
  answers: number;
  /** Seconds from each question to its answer, added up. */
  waited_s: number;
  sent: number;
  received: number;
}

export interface Problems {
  is: 'problems';
  from: 'document' | 'code' | 'open';
  list: Diagnostic[];
}

export interface Reply {
  is: 'reply';
  id: number;
  ok?: Record<string, unknown>;
  error?: Failure;
}

export interface Goodbye {
  is: 'goodbye';
  why: string;
}

export type ServerMessage =
  | Welcome
  | Status
  | Control
  | WorldMessage
  | Inspect
  | Samples
  | Events
  | Comms
  | Links
  | WorkersMessage
  | Problems
  | Reply
  | Goodbye;

/** What one display wants to be sent. */
export interface Wishes {
  frames: boolean;
  rate: number;
  marks: 'none' | 'all' | string[];
  inspect: string[];
  probes: Probe[];
  grid: string | null;
  comms: boolean;
  links: boolean;
  workers: boolean;
}

/** One change of the document. */
export type Change =
  | { op: 'set'; entry: string; key: string; value: string }
  | { op: 'unset'; entry: string; key: string }
  | { op: 'add'; section: string; name?: string; fields: [string, string][]; under?: string }
  | { op: 'copy'; entry: string; name?: string; fields: [string, string][] }
  | { op: 'remove'; entry: string }
  | { op: 'rename'; entry: string; name: string }
  | { op: 'move'; entries: string[]; by: Point }
  | { op: 'turn'; entries: string[]; by: number; about?: Point }
  | { op: 'split'; entry: string };

export interface SheetParam {
  name: string;
  /** `bool`, `int`, `number`, `text`, `choice`, `name`, `numbers`, `texts`, `point`, `points`, `rows`, `pose`, `period`, `inline`. */
  kind: string;
  words: string;
  unit: string;
  min: number | null;
  max: number | null;
  range: string;
  default: string | null;
  required: boolean;
  choices: string[];
  /** For `name`: what it names (`type`, `surface`, `part`). */
  of?: string;
  summary: string;
}

export interface Sheet {
  class: string;
  kind: 'structure' | 'layout' | 'sensor' | 'actuator' | 'controller';
  summary: string;
  params: SheetParam[];
  channels: ChannelInfo[];
  marks: string;
  example: string;
}

export interface WorldFile {
  path: string;
  title: string;
  about: string;
}
