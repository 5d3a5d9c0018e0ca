import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventLine } from '../protocol';
import { MARK_KINDS, pixels, placeOfStop, stopAt, thin } from './timeline-marks';

const at = (stop: number, kind: string): EventLine => ({
  stop,
  time: stop,
  level: 'info',
  kind,
  robot: null,
  text: '',
});

test('events close together are one mark, of the gravest kind', () => {
  const marks = thin([at(10, 'edit'), at(11, 'assert'), at(12, 'code'), at(90, 'code')], 100, 1000, 24);
  expect(marks.map((m) => [m.kind, m.stop, m.lines.length])).toEqual([
    ['assert', 10, 3],
    ['code', 90, 1],
  ]);
});
test('marks never stand closer than their room, and lose no event', () => {
  const events = fc.array(fc.tuple(fc.nat(500), fc.constantFrom(...MARK_KINDS)), { maxLength: 200 });
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 2000 }), (list, width) => {
      const lines = list.map(([stop, kind]) => at(stop, kind)).sort((a, b) => a.stop - b.stop);
      const marks = thin(lines, 500, width, 24);
      marks.slice(1).forEach((m, k) => expect(m.x - (marks[k]?.x ?? 0)).toBeGreaterThanOrEqual(24));
      expect(marks.flatMap((m) => m.lines)).toHaveLength(lines.length);
    }),
  );
});
test('a hundred thousand contacts are at most one tick per pixel', () => {
  const stops = Array.from({ length: 100_000 }, (_, k) => k);
  expect(pixels(stops, 100_000, 800).length).toBeLessThanOrEqual(801);
});
test('what lies after the newest moment is not shown', () => {
  expect(thin([at(50, 'edit')], 20, 100, 24)).toEqual([]);
  expect(pixels([50], 20, 100)).toEqual([]);
});
test('a stop and its place belong together', () => {
  expect(stopAt(placeOfStop(37, 100, 800), 100, 800)).toBe(37);
  expect([stopAt(-5, 100, 800), stopAt(900, 100, 800), stopAt(5, 0, 0)]).toEqual([0, 100, 0]);
});
