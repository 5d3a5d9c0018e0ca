import { describe, expect, test, vi } from 'vitest';
import type { Arrow } from '../comms';
import { DisplayClock } from './clock';
import { placeOf } from './messages';

vi.mock('./ink', () => ({ ink: () => ({}) }));

const arrow = (more: Partial<Arrow>): Arrow => ({
  serial: 1,
  from: '/a',
  to: '/b',
  protocol: 'p',
  label: 'L',
  content: '',
  bytes: 0,
  sent: 2,
  at: 4,
  fate: 'received',
  why: '',
  ...more,
});

describe('a message', () => {
  test('is as far along its way as its time', () => {
    expect(placeOf(arrow({}), 1.9, 0)).toBeNull();
    expect(placeOf(arrow({}), 2.5, 0)).toEqual({ share: 0.25, strength: 1 });
    expect(placeOf(arrow({}), 4, 0)).toBeNull();
    expect(placeOf(arrow({}), 4.1, 1)?.share).toBe(1);
  });

  test('that was lost as it was sent stops on the way', () => {
    const lost = arrow({ fate: 'lost', at: 2 });
    const place = placeOf(lost, 2.1, 1);
    expect(place?.share).toBeLessThan(1);
    expect(place?.strength).toBeLessThan(1);
    expect(placeOf(lost, 3.1, 1)).toBeNull();
  });

  test('that nobody knows the arrival of has left', () => {
    expect(placeOf(arrow({ at: null, fate: 'under way' }), 100, 0)?.share).toBeGreaterThan(0);
  });
});

describe('the clock', () => {
  test('goes evenly from one frame to the next', () => {
    const clock = new DisplayClock();
    clock.frame(0, 0, true);
    clock.frame(1, 1000, true);
    clock.frame(2, 2000, true);
    expect(clock.at(2500)).toBeCloseTo(1.5);
    expect(clock.at(9000)).toBe(2);
    expect([clock.isMoving(2500), clock.isMoving(9000)]).toEqual([true, false]);
  });

  test('is at once where a person has gone to', () => {
    const clock = new DisplayClock();
    clock.frame(5, 0, true);
    clock.frame(1, 100, true);
    expect(clock.at(100)).toBe(1);
    clock.frame(3, 200, false);
    expect([clock.at(200), clock.rate]).toEqual([3, 0]);
  });
});
