import { shortName } from '../names';
import { expect, test } from 'vitest';
import type { EventLine } from '../protocol';
import { sane } from '../settings';
import { arrive, isDirty, isDisputed, openBuffer, settle } from './code-buffers';
import { EventFeed } from './event-feed';
import { score, search } from './fuzzy';
import { channelRows, registerRows } from './inspected';
import { formatFactor, formatTime, formatValue, hex } from './numbers';

test('numbers are written with as many digits as help', () => {
  expect([0, 3, -2.5, 123.456, 1e-7, Infinity, NaN, null].map(formatValue)).toEqual([
    '0',
    '3',
    '−2.5000',
    '123.46',
    '1.00e−7',
    '∞',
    'none',
    '–',
  ]);
});
test('factors, times, addresses and names read as people write them', () => {
  expect([formatFactor(0.5, 'max'), formatFactor(12.4, 'max'), formatFactor(null, 'max')]).toEqual([
    '0.5×',
    '12×',
    'max',
  ]);
  expect([formatTime(1.5), formatTime(185)]).toEqual(['1.50 s', '3 min 05.0 s']);
  expect([hex(0x21, 4), shortName('/robots/r1')]).toEqual(['0x0021', 'r1']);
});
test('letters find a command in their order, and the start of a word counts', () => {
  expect(score('xyz', 'Step back')).toBeNull();
  const found = search('sb', ['Show problems below', 'Step back', 'Subtract'], (s) => s);
  expect(found[0]).toBe('Step back');
  expect(search('stp', ['Start or pause', 'Step'], (s) => s)[0]).toBe('Step');
  expect(search('', ['b', 'a'], (s) => s)).toEqual(['b', 'a']);
});
test('a text that nobody typed in follows the server', () => {
  const buffer = openBuffer('a.c', 'one');
  expect(arrive(buffer, 'two')).toBe(true);
  expect([buffer.mine, isDirty(buffer)]).toEqual(['two', false]);
});
test('a text that changed on both sides is disputed until somebody decides', () => {
  const buffer = openBuffer('a.c', 'one');
  buffer.mine = 'mine';
  expect(arrive(buffer, 'theirs')).toBe(false);
  expect(isDisputed(buffer)).toBe(true);
  const other = { ...buffer };
  settle(buffer, 'mine');
  expect([buffer.mine, isDirty(buffer), isDisputed(buffer)]).toEqual(['mine', true, false]);
  settle(other, 'theirs');
  expect([other.mine, isDirty(other), isDisputed(other)]).toEqual(['theirs', false, false]);
});
test('the same change on both sides is no dispute', () => {
  const buffer = openBuffer('a.c', 'one');
  buffer.mine = 'two';
  arrive(buffer, 'two');
  expect([isDirty(buffer), isDisputed(buffer)]).toEqual([false, false]);
});
test('a feed hands on each event once, and says when the list began anew', () => {
  const line = (text: string): EventLine => ({
    stop: 0,
    time: 0,
    level: 'info',
    kind: 'run',
    robot: null,
    text,
  });
  const feed = new EventFeed();
  const list = [line('a'), line('b')];
  expect(feed.take(list)).toEqual({ lines: list, anew: false });
  list.push(line('c'));
  list.shift();
  expect(feed.take(list)).toEqual({ lines: [list[1]], anew: false });
  const fresh = [line('z')];
  expect(feed.take(fresh)).toEqual({ lines: fresh, anew: true });
});
test('unknown settings take their defaults', () => {
  expect(sane({ theme: 'pink', pointing: 'trackpad' })).toEqual({
    theme: 'system',
    pointing: 'trackpad',
    motion: 'system',
  });
  expect(sane('nonsense')).toEqual({ theme: 'system', pointing: 'mouse', motion: 'system' });
});
test('an inspected robot’s values meet the names of its type', () => {
  const type = {
    name: 'scout',
    parts: [
      { name: 'sonar', class: 'sonar', channels: [{ name: 'range', len: 2, unit: 'm', command: false }] },
    ],
    controllers: [],
    registers: [{ name: 'echo', address: 0x21, bytes: 1, part: 'sonar', channel: 'range', index: 1 }],
  };
  const robot = {
    path: '/robots/r1',
    type: 'scout',
    pose: [0, 0, 0] as [number, number, number],
    twist: [0, 0, 0] as [number, number, number],
    halted: false,
    failed: false,
    parts: [[[0.5, 0.7]]],
    registers: [70],
    lines: [],
  };
  expect(channelRows(robot, type)).toEqual([
    { part: 'sonar', name: 'range', unit: 'm', command: false, values: [0.5, 0.7] },
  ]);
  expect(registerRows(robot, type)).toEqual([{ name: 'echo', address: 0x21, bytes: 1, raw: 70, value: 0.7 }]);
});
