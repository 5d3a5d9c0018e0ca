/** What a server of a chain of modules says: the scene of its display, and what happened to modules. */

export type Point3 = [number, number, number];

/** The scene, as `crates/modules/src/scenery.rs` has it. Metres, radians, degrees where the name says so. */
export interface Scenery {
  is: 'scenery';
  universe: { low: Point3; high: Point3 };
  /** Simulated time, in nanoseconds. */
  at: number;
  eye: Point3;
  towards: Point3;
  field_deg: number;
  attached: number | null;
  made_of: { links_m: Point3; shoulder_m: number };
  arm: {
    pose: { base_m: number; turn_rad: number; joints_rad: Point3 };
    /** Foot, shoulder, elbow, wrist and tip. */
    points: [Point3, Point3, Point3, Point3, Point3];
  } | null;
  boxes: Record<string, [Point3, Point3]>;
  objects: Record<string, Point3>;
  is_done: boolean;
  lines: number;
  /** Where the eye is now: at its object, if it is attached to one. */
  eye_now: Point3;
  /** The number that commands for the display go to. */
  display: number;
}

export interface ModuleEvent {
  number: number;
  name: string;
  kind: string;
  at: number;
  is_fine: boolean;
  text: string;
}

export type ModuleMessage =
  Scenery | { is: 'events'; lines: ModuleEvent[] } | { is: 'answer'; id: number; ok: boolean; why?: string };

/** The line of a command of the controller. */
export function command(to: number, what: number, values: readonly number[] = []): string {
  return ['0', to, what, ...values].join(' ');
}

/** Commands of the chain itself (docs/modules.md), and of the display. */
export const RESET = 0;
export const END = 65534;
export const ON = 65533;
export const OFF = 65532;
export const SET = 65531;
export const VIEW = 1;
export const FIELD = 2;
export const ATTACH = 13;
