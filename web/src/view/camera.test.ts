import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { barLength, fitted, lengthText, pannedBy, seen, toMetres, toPixels, zoomedAt } from './camera';
import { cameraFrom, cameraText, layersFrom, layersText } from './address';
import { LAYERS, type Layers } from '../store';

const size = { width: 800, height: 600 };
const camera = fc.record({
  x: fc.double({ min: -100, max: 100, noNaN: true }),
  y: fc.double({ min: -100, max: 100, noNaN: true }),
  scale: fc.double({ min: 2, max: 5000, noNaN: true }),
});
const pixel = fc.record({ x: fc.integer({ min: 0, max: 800 }), y: fc.integer({ min: 0, max: 600 }) });

describe('the camera', () => {
  test('pixels and metres are each other’s inverse', () => {
    fc.assert(
      fc.property(camera, pixel, (c, p) => {
        const at = toMetres(c, size, p.x, p.y);
        const back = toPixels(c, size, at.x, at.y);
        expect(back.x).toBeCloseTo(p.x, 4);
        expect(back.y).toBeCloseTo(p.y, 4);
      }),
    );
  });

  test('zooming leaves the point under the pointer where it is', () => {
    fc.assert(
      fc.property(camera, pixel, fc.double({ min: 0.2, max: 5, noNaN: true }), (c, p, factor) => {
        const before = toMetres(c, size, p.x, p.y);
        const after = toPixels(zoomedAt(c, size, p.x, p.y, factor), size, before.x, before.y);
        expect(Math.hypot(after.x - p.x, after.y - p.y)).toBeLessThan(0.01);
      }),
    );
  });

  test('zooming never leaves 2 to 5000 pixels per metre', () => {
    expect(zoomedAt({ x: 0, y: 0, scale: 3 }, size, 1, 1, 0.01).scale).toBe(2);
    expect(zoomedAt({ x: 0, y: 0, scale: 3000 }, size, 1, 1, 10).scale).toBe(5000);
  });

  test('panning moves every point by exactly the hand’s way', () => {
    const c = { x: 1, y: 2, scale: 50 };
    const before = toPixels(c, size, 3, 3);
    const after = toPixels(pannedBy(c, 30, -20), size, 3, 3);
    expect([after.x - before.x, after.y - before.y]).toEqual([30, -20]);
  });

  test('what is fitted is seen whole', () => {
    const box = { minX: -3, minY: 1, maxX: 9, maxY: 2 };
    const c = fitted(box, size);
    const view = c && seen(c, size);
    expect(view && view.minX < -3 && view.maxX > 9 && view.minY < 1 && view.maxY > 2).toBe(true);
    expect(fitted({ minX: 1, minY: 1, maxX: 0, maxY: 0 }, size)).toBeNull();
  });

  test('the scale bar is a round length', () => {
    expect(lengthText(barLength(100, 120))).toBe('1 m');
    expect(lengthText(barLength(240, 120))).toBe('50 cm');
    expect(lengthText(barLength(5000, 120))).toBe('2 cm');
    expect(lengthText(barLength(2, 120))).toBe('50 m');
  });
});

describe('the address', () => {
  test('a camera comes back from it to a tenth of a millimetre', () => {
    fc.assert(
      fc.property(camera, (c) => {
        const back = cameraFrom(cameraText(c));
        expect(back?.x).toBeCloseTo(c.x, 3);
        expect(back?.scale).toBeCloseTo(c.scale, 2);
      }),
    );
  });

  test('what is not a camera is none', () => {
    for (const text of ['', '1,2', '1,2,3,4', '1,x,3', '1,2,-5', 'Infinity,0,1'])
      expect(cameraFrom(text)).toBeNull();
  });

  test('layers come back from it', () => {
    const other: Layers = { ...LAYERS, rays: false, arcs: true, trails: 'outline', grid: true };
    for (const layers of [LAYERS, other]) expect(layersFrom(layersText(layers))).toEqual(layers);
    expect(layersFrom('nonsense').trails).toBe('none');
  });
});
