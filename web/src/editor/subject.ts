/** What the editor speaks about: objects of the selection and the entries of the document behind them. */

import type { App } from '../app';
import type { Sheet, SheetParam } from '../protocol';
import type { Entry, Store } from '../store';
import { t } from '../strings';
import type { Pose } from '../view/geometry';
import { degrees, short } from './numbers';
import { plain } from './toml';

/** Sections whose entries stand somewhere in the world. */
export const PLACED = ['robot', 'obstacle', 'wall', 'track', 'beacon', 'use'] as const;

/** Why the document cannot be edited now, or `null`. */
export function whyNotEdit(store: Store): string | null {
  if (store.link !== 'open') return t.noConnection;
  if (store.world?.mode === 'replay') return t.replayOnly;
  if (store.status?.looking_back) return t.lookingBack;
  return store.isConsole ? null : t.needControl;
}

/** The entry of the document behind an object or an entry's address. */
export function entryOf(store: Store, id: string): Entry | null {
  const { world } = store;
  if (!world) return null;
  const found = world.entryOf.get(id);
  if (found) return found;
  // An entry that makes very many robots lists the first ones only.
  if (!world.bodyOf.has(id)) return null;
  const base = id.replace(/\d+$/, '');
  return (
    world.entries.find((e) => e.count > e.paths.length && e.paths[0]?.replace(/\d+$/, '') === base) ?? null
  );
}

/** The entries behind objects, each once, in the order of the document. */
export function entriesOf(store: Store, ids: Iterable<string>): Entry[] {
  const found = new Set<Entry>();
  for (const id of ids) {
    const entry = entryOf(store, id);
    if (entry) found.add(entry);
  }
  const order = store.world?.entries ?? [];
  return order.filter((e) => found.has(e));
}

const PREFIXES = ['/robots/', '/obstacles/', '/beacons/', '/world/walls/', '/world/tracks/', '/types/'];

/** An object as people call it: `r3` for `/robots/r3`, `scout` for `type.scout`. */
export function nameOf(store: Store, id: string): string {
  const prefix = PREFIXES.find((p) => id.startsWith(p));
  if (prefix) return id.slice(prefix.length);
  const entry = store.world?.entryOf.get(id);
  return entry?.name ?? entry?.key ?? id;
}

/** What an edit was done to, for the name of its step: `r3`, `3 robots`, `5 objects`. */
export function describe(store: Store, ids: readonly string[]): string {
  const [first] = ids;
  if (first !== undefined && ids.length === 1) return nameOf(store, first);
  const sections = new Set(ids.map((id) => entryOf(store, id)?.section ?? 'object'));
  const [only] = sections;
  return t.manyOf(ids.length, sections.size === 1 && only ? only : 'object');
}

/** Where an object is: as shown, or else as the document says. */
export function poseOf(store: Store, id: string): Pose | null {
  return store.poseOf(id) ?? startOf(store, id);
}

/** Where the document puts an object. */
export function startOf(store: Store, id: string): Pose | null {
  const entry = entryOf(store, id);
  const pose = entry?.poses[Math.max(0, entry.paths.indexOf(id))];
  return pose ? { x: pose[0], y: pose[1], heading: pose[2] } : null;
}

/** A field of an entry as written. */
export function fieldOf(entry: Entry, key: string): string | null {
  return entry.fields.find((f) => f.key === key)?.text ?? null;
}

/** The name of the type of a robot. */
export function typeOf(store: Store, id: string): string | null {
  const body = store.world?.bodyOf.get(id);
  const type = body === undefined ? undefined : store.world?.bodies[body]?.type;
  return type === undefined ? null : (store.world?.types[type]?.name ?? null);
}

/** The type that is being looked at: a type or one of its parts. */
export function typeInHand(store: Store): string | null {
  const names = new Set<string>();
  for (const id of store.selection) {
    const name = /^type\.("[^"]+"|[^.]+)/.exec(id)?.[1] ?? /^\/types\/([^/]+)/.exec(id)?.[1];
    names.add(name?.replaceAll('"', '') ?? '');
  }
  const [only] = names;
  return names.size === 1 && only ? only : null;
}

/** The names of the types of the document. */
export function typeNames(store: Store): string[] {
  const written = store.world?.entries.filter((e) => e.section === 'type').map((e) => e.name ?? '') ?? [];
  return written.filter((n) => n !== '');
}

/** The entries of the parts, controllers and registers of a type. */
export function partsOf(store: Store, type: string): Entry[] {
  const entries = store.world?.entries ?? [];
  return entries.filter((e) => e.key.startsWith(`type.${type}.`) || e.key.startsWith(`/types/${type}/`));
}

export function sheetOf(store: Store, entry: Entry): Sheet | null {
  return store.sheets.get(entry.class) ?? null;
}

/** A parameter's default as a placeholder: angles in degrees, texts without quotes. */
export function defaultText(param: SheetParam): string {
  if (param.default === null) return '';
  const number = Number(param.default);
  if (param.unit === 'rad' && param.kind === 'number' && Number.isFinite(number))
    return `${short(degrees(number))}deg`;
  return plain(param.default);
}

/** An object's settings in one line. */
export function oneLine(app: App, id: string): string {
  const { store } = app;
  const entry = entryOf(store, id);
  const pose = poseOf(store, id);
  const words = [nameOf(store, id)];
  if (entry) words[0] = `${entry.section} ${words[0]}`;
  if (pose)
    words.push(`${t.at} ${pose.x.toFixed(2)}, ${pose.y.toFixed(2)} m, ${Math.round(degrees(pose.heading))}°`);
  for (const field of entry?.fields ?? [])
    if (field.key !== 'name' && !(field.key === 'at' && pose))
      words.push(`${field.key} ${shortened(plain(field.text))}`);
  if (entry?.fixed) words.push(entry.fixed);
  return words.join(' · ');
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 48 ? `${line.slice(0, 46)}…` : line;
}
