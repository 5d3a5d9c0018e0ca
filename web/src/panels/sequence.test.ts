import { describe, expect, test } from 'vitest';
import { CommStore } from '../comms';
import type { CommLine } from '../protocol';
import { following, layOut, neighbour, robotsOf, ticks, zoomed } from './sequence';

const ROBOTS = ['/a', '/b', '/c'];

function store(lines: CommLine[]): CommStore {
  const found = new CommStore();
  found.begin({ is: 'comms', run: 1, lines, left_out: 0, next: lines.length, under_way: [], since: 0 });
  return found;
}
const pair = (from: string, to: string, sent: number, at: number, serial: number): CommLine[] => {
  const message = { from, to: [to], serial, protocol: serial % 2 ? 'odd' : 'even', label: 'L' };
  return [
    { t: sent, what: 'sent', ...message },
    { t: at, what: 'received', sent, ...message },
  ];
};
const frame = { width: 300, height: 100, window: { from: 0, span: 10 } };

describe('the window', () => {
  test('has the moment that is shown near its lower edge', () => {
    expect(following(100, 10)).toEqual({ from: 91.5, span: 10 });
  });

  test('zooms about a moment that stays where it is', () => {
    const before = { from: 20, span: 10 };
    const after = zoomed(before, 4, 0.3);
    expect(after.span).toBe(2.5);
    expect(after.from + 0.3 * after.span).toBeCloseTo(before.from + 0.3 * before.span);
    expect(zoomed(before, 1e9).span).toBeGreaterThan(0);
  });
});

describe('the lines', () => {
  test('are those of the selected robots, or the first twelve', () => {
    const all = Array.from({ length: 30 }, (_, k) => `/r${k}`);
    expect(robotsOf(all, [], [])).toEqual(all.slice(0, 12));
    expect(robotsOf(all, ['/r20', '/r3', '/world/wall'], [])).toEqual(['/r3', '/r20']);
  });

  test('are those of one selected robot and whom it speaks with', () => {
    const { arrows } = store([...pair('/c', '/a', 1, 2, 1), ...pair('/b', '/a', 1, 2, 2)]);
    expect(robotsOf(ROBOTS, ['/c'], arrows)).toEqual(['/a', '/c']);
    expect(robotsOf(ROBOTS, ['/c'], [])).toEqual(ROBOTS);
  });

  test('show where a robot was out of service', () => {
    const comms = store([
      { t: 2, what: 'crashed', from: '/b' },
      { t: 6, what: 'recovered', from: '/b' },
    ]);
    const line = layOut(comms, ROBOTS, null, frame).lines[1];
    expect(line?.x).toBe(150);
    expect(line?.stretches).toEqual([
      { y1: 0, y2: 20, isCrashed: false },
      { y1: 20, y2: 60, isCrashed: true },
      { y1: 60, y2: 100, isCrashed: false },
    ]);
    const later = layOut(comms, ROBOTS, null, { ...frame, window: { from: 3, span: 1 } });
    expect(later.lines[1]?.stretches).toEqual([{ y1: 0, y2: 100, isCrashed: true }]);
  });
});

describe('the arrows', () => {
  const comms = store([
    ...pair('/a', '/b', 1, 3, 1),
    ...pair('/b', '/c', 4, 5, 2),
    ...pair('/a', '/z', 6, 7, 3),
  ]);

  test('go from the moment of sending to the moment of arrival', () => {
    expect(layOut(comms, ROBOTS, null, frame).arrows[0]).toMatchObject({ x1: 50, y1: 10, x2: 150, y2: 30 });
  });

  test('with robots that have no line are counted, not drawn', () => {
    const { arrows, left } = layOut(comms, ROBOTS, null, frame);
    expect(arrows.map((a) => a.arrow.serial)).toEqual([1, 2]);
    expect(left).toEqual({ others: 1, more: 0 });
  });

  test('are those of one protocol', () => {
    expect(layOut(comms, ROBOTS, 'even', frame).arrows.map((a) => a.arrow.serial)).toEqual([2]);
  });

  test('are chosen one after another, and the ends are the ends', () => {
    const { arrows } = layOut(comms, ROBOTS, null, frame);
    const [first, second] = arrows.map((a) => a.arrow);
    expect(neighbour(arrows, null, 1)).toBe(first);
    expect(neighbour(arrows, null, -1)).toBe(second);
    expect(neighbour(arrows, first ?? null, 1)).toBe(second);
    expect(neighbour(arrows, second ?? null, 1)).toBe(second);
    expect(neighbour([], null, 1)).toBeNull();
  });
});

test('the axis has round moments, none before the start', () => {
  expect(ticks({ ...frame, window: { from: -4, span: 10 } }, 20).map((t) => t.t)).toEqual([0, 2, 4, 6]);
  expect(ticks({ ...frame, window: { from: 0.0311, span: 0.01 } }, 20).map((t) => t.t)).toEqual([
    0.032, 0.034, 0.036, 0.038, 0.04,
  ]);
});
