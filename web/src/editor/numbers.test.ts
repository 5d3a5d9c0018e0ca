import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, headingText, measure, short, snapTo, typedNumber, wrap } from './numbers';

describe('numbers of places', () => {
  test('are written without rounding noise', () => {
    expect(short(0.1 + 0.2)).toBe('0.3');
    expect(short(-0)).toBe('0');
    expect(short(-1e-9)).toBe('0');
    expect(short(1.2345678)).toBe('1.234568');
  });

  test('written shortly and read back are the same to a micrometre', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e4, max: 1e4, noNaN: true }), (v) => {
        expect(Math.abs(Number(short(v)) - v)).toBeLessThan(1e-6);
      }),
    );
  });

  test('may have units', () => {
    expect(measure('25cm', 'length')).toBeCloseTo(0.25);
    expect(measure('90deg', 'angle')).toBeCloseTo(Math.PI / 2);
    expect(measure('90deg', 'length')).toBe(null);
    expect(measure('${x}', 'length')).toBe(null);
  });

  test('may be arithmetic', () => {
    expect(evaluate('0.3*2', 'length')).toBeCloseTo(0.6);
    expect(evaluate('25cm + 1m', 'length')).toBeCloseTo(1.25);
    expect(evaluate('-(1+2)/4', 'length')).toBeCloseTo(-0.75);
    expect(evaluate('90deg/2', 'angle')).toBeCloseTo(Math.PI / 4);
    for (const broken of ['', '1+', '(1', '1)', 'two', '1/0', '1 2'])
      expect(evaluate(broken, 'length')).toBe(null);
  });

  test('keep their unit as typed; arithmetic becomes a number', () => {
    expect(typedNumber('25cm', 'length')).toBe('"25cm"');
    expect(typedNumber('45°', 'angle')).toBe('"45deg"');
    expect(typedNumber('1.50', 'length')).toBe('1.5');
    expect(typedNumber('1m/4', 'length')).toBe('0.25');
    expect(typedNumber('over there', 'length')).toBe(null);
  });

  test('arithmetic of any numbers agrees with that of the language', () => {
    const whole = fc.integer({ min: 1, max: 999 });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        expect(evaluate(`${a}+${b}*${c}`, 'length')).toBe(a + b * c);
        expect(evaluate(`(${a}-${b})/${c}`, 'length')).toBe((a - b) / c);
      }),
    );
  });
});

test('headings are written in degrees, the short way round', () => {
  expect(headingText(Math.PI / 2)).toBe('"90deg"');
  expect(headingText((3 * Math.PI) / 2)).toBe('"-90deg"');
  expect(headingText(-0)).toBe('"0deg"');
  expect(wrap(3 * Math.PI)).toBeCloseTo(Math.PI);
});

test('the grid takes the nearest multiple', () => {
  expect(snapTo(0.26, 0.1)).toBeCloseTo(0.3);
  expect(snapTo(-0.26, 0.25)).toBeCloseTo(-0.25);
});
