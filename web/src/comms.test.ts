import { describe, expect, test } from 'vitest';
import { colourNumber, CommStore } from './comms';
import type { CommLine, Comms } from './protocol';

const message = { serial: 1, protocol: 'order', label: 'ACK', content: 'c', bytes: 3 };
const sent = (t: number, serial: number, to = ['/b']): CommLine => ({
  t,
  what: 'sent',
  from: '/a',
  to,
  ...message,
  serial,
});
const came = (t: number, serial: number, at: number, to = '/b'): CommLine => ({
  t,
  what: 'received',
  from: '/a',
  to: [to],
  sent: at,
  ...message,
  serial,
});
const news = (lines: CommLine[], next: number, more: Partial<Comms> = {}): Comms => ({
  is: 'comms',
  run: 1,
  lines,
  left_out: 0,
  next,
  under_way: [],
  ...more,
});

function begun(lines: CommLine[], more: Partial<Comms> = {}): CommStore {
  const store = new CommStore();
  store.begin(news(lines, lines.length, { since: 0, ...more }));
  return store;
}

describe('messages', () => {
  test('are put together from their sending and their arrival', () => {
    const store = begun([sent(1, 7, ['/b', '/c'])]);
    expect(store.arrows.map((a) => [a.to, a.fate, a.at])).toEqual([
      ['/b', 'under way', null],
      ['/c', 'under way', null],
    ]);
    store.add(news([came(1.5, 7, 1), { ...came(1.6, 7, 1, '/c'), what: 'lost', why: 'chance' }], 3));
    expect(store.arrows.map((a) => [a.to, a.fate, a.sent, a.at, a.why])).toEqual([
      ['/b', 'received', 1, 1.5, ''],
      ['/c', 'lost', 1, 1.6, 'chance'],
    ]);
  });

  test('whose sending is not here have the time of it all the same', () => {
    const store = begun([came(5, 3, 2)]);
    expect(store.arrows).toMatchObject([{ sent: 2, at: 5, fate: 'received', from: '/a', to: '/b' }]);
  });

  test('that come twice are two', () => {
    const store = begun([sent(1, 1), came(2, 1, 1), came(3, 1, 1)]);
    expect(store.arrows.map((a) => a.at)).toEqual([2, 3]);
  });

  test('under way have the moment at which they come, once that is decided', () => {
    const store = begun([sent(1, 1)], { under_way: [[1, '/b', 4]] });
    expect(store.arrows).toMatchObject([{ at: 4, fate: 'under way' }]);
    expect(store.between(3.5, 3.9)).toHaveLength(1);
    expect(store.between(4.1, 5)).toHaveLength(0);
  });

  test('are found by the time they were under way', () => {
    const store = begun([sent(0, 1), sent(1, 2), came(1.5, 2, 1), came(9, 1, 0), sent(10, 3)]);
    const serials = (from: number, to: number): number[] => store.between(from, to).map((a) => a.serial);
    expect(serials(5, 6)).toEqual([1]);
    expect(serials(1.2, 1.3)).toEqual([1, 2]);
    expect(serials(9.5, 9.9)).toEqual([]);
    expect(serials(0, 20)).toEqual([1, 2, 3]);
    expect(store.between(0, 20, 2).map((a) => a.serial)).toEqual([2, 3]);
  });
});

describe('news', () => {
  test('are taken once, however they overlap', () => {
    const store = begun([sent(1, 1), sent(2, 2)]);
    store.add(news([sent(2, 2), sent(3, 3)], 3));
    store.add(news([sent(3, 3)], 3));
    expect(store.arrows.map((a) => a.serial)).toEqual([1, 2, 3]);
  });

  test('of another run are left alone', () => {
    const store = begun([sent(1, 1)]);
    expect(store.add(news([sent(2, 2)], 2, { run: 2 }))).toBe(false);
    expect(store.arrows).toHaveLength(1);
  });

  test('with a gap before them begin anew', () => {
    const store = begun([sent(1, 1)]);
    store.add(news([sent(8, 9)], 9, { left_out: 7 }));
    expect(store.arrows.map((a) => a.serial)).toEqual([9]);
    expect(store.covered?.from).toBe(8);
  });
});

describe('older lines', () => {
  test('are put before what is here', () => {
    const store = begun([came(5, 2, 4), sent(6, 3)], { left_out: 2 });
    expect(store.covered?.from).toBe(5);
    store.prepend(news([sent(1, 1), came(2, 1, 1), sent(4, 2)], 4, { from: 0, since: 0 }));
    expect(store.arrows.map((a) => [a.serial, a.fate])).toEqual([
      [1, 'received'],
      [2, 'received'],
      [3, 'under way'],
    ]);
    expect(store.covered?.from).toBe(0);
  });
});

test('a robot is out of service from its crash to its recovery', () => {
  const store = begun([
    { t: 2, what: 'crashed', from: '/a' },
    { t: 5, what: 'recovered', from: '/a' },
  ]);
  expect([1, 2, 4, 5].map((t) => store.isCrashed('/a', t))).toEqual([false, true, true, false]);
  expect(store.isCrashed('/b', 3)).toBe(false);
});

test('protocols have colours of their own', () => {
  const store = begun([sent(1, 1), { ...sent(2, 2), protocol: 'other' }]);
  expect(['order', 'other', 'nobody'].map((p) => colourNumber(store, p))).toEqual([0, 1, 0]);
});
