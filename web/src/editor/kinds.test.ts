import { expect, test } from 'vitest';
import type { World } from '../store';
import { added, freeCode, polyline, relative } from './kinds';
import { moved, stepFor } from './scrub';

const world = (codes: number[]): World =>
  ({ drawing: { beacons: codes.map((id) => ({ id })) } }) as unknown as World;

test('a new beacon has the lowest code that nobody has', () => {
  expect(freeCode(world([1, 2, 4]))).toBe(3);
  const change = added(world([1]), 'beacon', [1, 2]);
  expect(change).toMatchObject({ op: 'add', section: 'beacon' });
  expect(change?.op === 'add' && change.fields[0]).toEqual(['id', '2']);
});

test('a robot of a type is written with its type and place', () => {
  expect(added(world([]), 'type.scout', [0.1 + 0.2, -1])).toEqual({
    op: 'add',
    section: 'robot',
    fields: [
      ['type', '"scout"'],
      ['at', '[0.3, -1, "0deg"]'],
    ],
  });
});

test('a drawn polygon stands at its middle, its corners around that', () => {
  const change = polyline('polygon', [
    [1, 1],
    [3, 1],
    [2, 2],
  ]);
  expect(change.op === 'add' && change.fields).toEqual([
    ['at', '[2, 1.5, "0deg"]'],
    ['polygon', '[[-1, -0.5], [1, -0.5], [0, 0.5]]'],
  ]);
});

test('a file is named as seen from the folder of the scenario', () => {
  expect(relative('worlds/a.toml', 'worlds/parts/b.robot')).toBe('parts/b.robot');
  expect(relative('worlds/a.toml', 'examples/b.robot')).toBe('../examples/b.robot');
  expect(relative(null, 'b.robot')).toBe('b.robot');
});

test('dragging a label changes the last digits that matter and keeps the unit', () => {
  expect(stepFor(40)).toBe(1);
  expect(moved('25cm', 3)).toBe('28cm');
  expect(moved('0.25', -2)).toBe('0.23');
  expect(moved('auto', 1)).toBe(null);
});
