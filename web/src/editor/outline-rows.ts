/** The rows of the outline, from the world: groups, objects, types with their parts. Pure. */

import type { IconName } from '../icons';
import type { Entry, World } from '../store';

export interface Row {
  /** What is selected with it; `null` for a group. */
  id: string | null;
  /** Unique in the tree; groups have one too. */
  key: string;
  label: string;
  level: number;
  icon: IconName;
  /** How many rows are below it; 0 for a leaf. */
  children: number;
  /** Number among its neighbours, from 1, and how many they are. */
  place: number;
  of: number;
  parent: string | null;
  fixed: boolean;
}

export interface Node {
  id: string | null;
  key: string;
  label: string;
  icon: IconName;
  fixed?: boolean;
  below: Node[];
}

/** The whole tree. Empty groups are left out. */
export function tree(world: World, titles: Record<GroupKey, string>): Node[] {
  const groups: [GroupKey, IconName, Node[]][] = [
    ['robots', 'robot', robots(world)],
    ['types', 'type', types(world)],
    ['obstacles', 'box', obstacles(world)],
    ['walls', 'wall', fixed(world, '/world/walls/', 'wall')],
    ['tracks', 'track', world.drawing.tracks.map((t) => leaf(world, t.path, '/world/tracks/', 'track'))],
    [
      'beacons',
      'beacon',
      (world.drawing.beacons ?? []).map((b) => leaf(world, b.path, '/beacons/', 'beacon')),
    ],
    ['world', 'world', entries(world, ['world', 'surface', 'params', 'template', 'use'], 'world')],
    ['run', 'play', entries(world, ['scenario', 'run', 'record', 'assert'], 'play')],
  ];
  return groups
    .filter(([, , below]) => below.length > 0)
    .map(([key, icon, below]) => ({ id: null, key: `group.${key}`, label: titles[key], icon, below }));
}

export type GroupKey = 'robots' | 'types' | 'obstacles' | 'walls' | 'tracks' | 'beacons' | 'world' | 'run';

/** The rows that are seen when only these nodes are open. */
export function rows(
  nodes: Node[],
  isOpen: (key: string) => boolean,
  level = 1,
  parent: string | null = null,
): Row[] {
  const out: Row[] = [];
  nodes.forEach((node, k) => {
    out.push({
      id: node.id,
      key: node.key,
      label: node.label,
      level,
      icon: node.icon,
      children: node.below.length,
      place: k + 1,
      of: nodes.length,
      parent,
      fixed: node.fixed ?? false,
    });
    if (node.below.length > 0 && isOpen(node.key)) out.push(...rows(node.below, isOpen, level + 1, node.key));
  });
  return out;
}

/** The keys of the nodes above the one with this id, outermost first. */
export function above(nodes: Node[], id: string): string[] | null {
  for (const node of nodes) {
    if (node.id === id) return [];
    const deeper = above(node.below, id);
    if (deeper) return [node.key, ...deeper];
  }
  return null;
}

function leaf(world: World, path: string, prefix: string, icon: IconName): Node {
  const label = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  const isFixed = (world.entryOf.get(path)?.fixed ?? null) !== null;
  return { id: path, key: path, label, icon, fixed: isFixed, below: [] };
}

function robots(world: World): Node[] {
  const { types } = world.drawing;
  return world.bodies
    .filter((b) => types[b.type]?.kind === 'robot')
    .map((b) => leaf(world, b.path, '/robots/', 'robot'));
}

function obstacles(world: World): Node[] {
  const { types } = world.drawing;
  const moving = world.bodies.filter((b) => types[b.type]?.kind === 'obstacle');
  const found = [...moving.map((b) => b.path), ...world.owners.filter((o) => o.startsWith('/obstacles/'))];
  return [...new Set(found)].map((path) => leaf(world, path, '/obstacles/', 'box'));
}

function fixed(world: World, prefix: string, icon: IconName): Node[] {
  return [...new Set(world.owners)]
    .filter((o) => o.startsWith(prefix))
    .map((path) => leaf(world, path, prefix, icon));
}

function types(world: World): Node[] {
  const written = world.entries.filter((e) => e.section === 'type');
  if (written.length === 0)
    return world.types.map((t) => ({
      id: null,
      key: `type.${t.name}`,
      label: t.name,
      icon: 'type',
      below: [],
    }));
  return written.map((type) => ({
    ...node(type, 'type'),
    below: world.entries
      .filter((e) => e.key.startsWith(`${type.key}.`) || e.key.startsWith(`/types/${type.name}/`))
      .filter((e) => e.section === 'part' || e.section === 'controller')
      .map((e) => node(e, e.section === 'controller' ? 'controller' : 'sensor')),
  }));
}

function entries(world: World, sections: string[], icon: IconName): Node[] {
  return world.entries.filter((e) => sections.includes(e.section)).map((e) => node(e, icon));
}

function node(entry: Entry, icon: IconName): Node {
  const own = entry.name ?? (entry.section === 'controller' ? entry.class || 'controller' : entry.key);
  return { id: entry.key, key: entry.key, label: own, icon, fixed: entry.fixed !== null, below: [] };
}
