import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Point } from '../protocol';
import { parseValue, plain, pointsOf, writePoints } from './toml';

test('values of every kind are read as written', () => {
  expect(parseValue('1_000')).toBe(1000);
  expect(parseValue('-2.5e1')).toBe(-25);
  expect(parseValue('0x20')).toBe(32);
  expect(parseValue("'a # b'")).toBe('a # b');
  expect(parseValue('"tab\\t"')).toBe('tab\t');
  expect(parseValue('true')).toBe(true);
  expect(parseValue('[1, "2m", [3,], # why\n 4]')).toEqual([1, '2m', [3], 4]);
});

test('what is of another kind, or broken, is no value', () => {
  for (const text of ['{ class = "row" }', '[1, 2', '1 2', '"open', '']) expect(parseValue(text)).toBe(null);
});

test('texts are shown without quotes, other values as written', () => {
  expect(plain('"25cm"')).toBe('25cm');
  expect(plain(' [1, 2] ')).toBe('[1, 2]');
  expect(plain('"${tape}"')).toBe('${tape}');
});

test('points may have units, but not parameters', () => {
  expect(pointsOf('[["150cm", 2], [0, "-1m"]]')).toEqual([
    [1.5, 2],
    [0, -1],
  ]);
  expect(pointsOf('[["${x}", 2]]')).toBe(null);
  expect(pointsOf('[[1, 2, 3]]')).toBe(null);
});

test('points that were written are read back to a micrometre', () => {
  const number = fc.double({ min: -1000, max: 1000, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 20 }), (points) => {
      const back = pointsOf(writePoints(points)) ?? [];
      expect(back).toHaveLength(points.length);
      back.forEach(([x, y]: Point, k) => {
        expect(Math.hypot(x - (points[k]?.[0] ?? 0), y - (points[k]?.[1] ?? 0))).toBeLessThan(2e-6);
      });
    }),
  );
});
