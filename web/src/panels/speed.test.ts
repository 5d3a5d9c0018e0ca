import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chordFactor, factorAt, placeOf, SLIDER_MAX } from './speed';

test('digits in a row mean a factor: 2, 50, 05, 025', () => {
  expect([chordFactor('2'), chordFactor('50'), chordFactor('05'), chordFactor('025')]).toEqual([
    2, 50, 0.5, 0.25,
  ]);
});
test('a single zero is as fast as possible', () => expect(chordFactor('0')).toBeNull());
test('a chord never leaves what a server takes', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{2,4}$/), (digits) => {
      const factor = chordFactor(digits);
      expect(factor).toBeGreaterThanOrEqual(0.1);
      expect(factor).toBeLessThanOrEqual(1000);
    }),
  );
});
test('the slider goes from 0.1 to 100, then as fast as possible, and has a place for 1', () => {
  expect([factorAt(0), factorAt(SLIDER_MAX - 1), factorAt(SLIDER_MAX)]).toEqual([0.1, 100, null]);
  expect(factorAt(placeOf(1))).toBe(1);
});
test('every place of the slider is its own factor’s place', () => {
  for (let place = 0; place <= SLIDER_MAX; place++) expect(placeOf(factorAt(place))).toBe(place);
});
