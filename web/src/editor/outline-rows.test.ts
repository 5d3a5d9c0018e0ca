import { expect, test } from 'vitest';
import type { Entry, World } from '../store';
import { above, rows, tree } from './outline-rows';

const TITLES = {
  robots: 'Robots',
  types: 'Types',
  obstacles: 'Obstacles',
  walls: 'Walls',
  tracks: 'Tracks',
  beacons: 'Beacons',
  world: 'World',
  run: 'Run',
};

const entry = (key: string, section: string, name: string | null, paths: string[] = []): Entry => ({
  key,
  section,
  class: section,
  name,
  paths,
  poses: [],
  points: [],
  count: paths.length,
  line: 1,
  fields: [],
  fixed: null,
});

function sample(): World {
  const entries = [
    entry('type.scout', 'type', 'scout'),
    entry('type.scout.part[0]', 'part', 'drive'),
    entry('robot[0]', 'robot', 'a', ['/robots/a']),
    entry('wall[0]', 'wall', null, ['/world/walls/wall1']),
  ];
  return {
    drawing: { types: [{ kind: 'robot' }], tracks: [], beacons: [] },
    bodies: [{ path: '/robots/a', type: 0 }],
    owners: ['/world/walls/wall1'],
    types: [],
    entries,
    entryOf: new Map(entries.flatMap((e) => [[e.key, e] as const, ...e.paths.map((p) => [p, e] as const)])),
  } as unknown as World;
}

test('the tree has a group for what there is, and no empty ones', () => {
  expect(tree(sample(), TITLES).map((n) => n.label)).toEqual(['Robots', 'Types', 'Walls']);
});

test('only what is open has rows, each with its place among its neighbours', () => {
  const nodes = tree(sample(), TITLES);
  const shut = rows(nodes, (key) => key !== 'type.scout');
  expect(shut.map((r) => r.label)).toEqual(['Robots', 'a', 'Types', 'scout', 'Walls', 'wall1']);
  const open = rows(nodes, () => true);
  expect(open.find((r) => r.label === 'drive')).toMatchObject({
    level: 3,
    place: 1,
    of: 1,
    parent: 'type.scout',
  });
});

test('the way to a part leads through its type', () => {
  expect(above(tree(sample(), TITLES), 'type.scout.part[0]')).toEqual(['group.types', 'type.scout']);
  expect(above(tree(sample(), TITLES), '/robots/nobody')).toBe(null);
});
