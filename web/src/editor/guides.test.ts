import { describe, expect, test } from 'vitest';
import type { Box } from '../view/geometry';
import { alignBy, circlePlaces, distributeBy, gridPlaces, guidesFor } from './guides';

const box = (x: number, y: number, half = 0.5): Box => ({
  minX: x - half,
  maxX: x + half,
  minY: y - half,
  maxY: y + half,
});

describe('guides', () => {
  test('appear where edges or middles nearly coincide, and say how far it is', () => {
    const { guides, by } = guidesFor(box(0.02, 3), [box(0, 0)], 0.05);
    expect(guides.map((g) => g.axis)).toEqual(['x']);
    expect(by[0]).toBeCloseTo(-0.02);
    expect(by[1]).toBe(0);
    expect(guides[0]?.from).toBeCloseTo(-0.5);
    expect(guides[0]?.to).toBeCloseTo(3.5);
  });

  test('do not appear for what is far from any line', () => {
    expect(guidesFor(box(0.2, 3.2), [box(0, 0)], 0.05).guides).toEqual([]);
  });
});

test('aligned boxes share the edge of the outermost', () => {
  expect(alignBy([box(0, 0), box(1, 2), box(3, 1)], 'top')).toEqual([
    [0, 2],
    [0, 0],
    [0, 1],
  ]);
  expect(alignBy([box(0, 0), box(2, 0, 1)], 'left')).toEqual([
    [0, 0],
    [-1.5, 0],
  ]);
});

test('distributed middles are evenly apart and the outermost stay', () => {
  const by = distributeBy([box(0, 0), box(9, 0), box(1, 0), box(2, 0)], 'x');
  expect(by.map((p) => p[0])).toEqual([0, 0, 2, 4]);
});

test('a grid has rows of so many columns around its middle', () => {
  expect(gridPlaces(3, 2, 1, [0, 0])).toEqual([
    [-0.5, -0.5],
    [0.5, -0.5],
    [-0.5, 0.5],
  ]);
});

test('a circle has its places at the same distance, looking outward', () => {
  const places = circlePlaces(5, 2, [1, 1]);
  for (const { at, heading } of places) {
    expect(Math.hypot(at[0] - 1, at[1] - 1)).toBeCloseTo(2);
    expect(Math.cos(heading)).toBeCloseTo((at[0] - 1) / 2);
  }
});
