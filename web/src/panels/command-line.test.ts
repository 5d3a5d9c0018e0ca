import { expect, test } from 'vitest';
import { complete, read, WORDS, type Names } from './command-line';

const names: Names = {
  robots: ['/robots/r1', '/robots/r2', '/a/twin', '/b/twin'],
  entries: new Map([
    ['robot[0]', ['at', 'type']],
    ['type.scout.part[0]', ['range']],
  ]),
  entryOf: (path) => (path === '/robots/r1' ? 'robot[0]' : null),
  registers: () => [{ name: 'left', address: 0x21, bytes: 2 }],
  quantum: 0.02,
};

test('plain words become requests', () => {
  expect(read('pause', names)).toEqual({ do: 'pause', with: {} });
  expect(read(' step 10 ', names)).toEqual({ do: 'step', with: { n: 10 } });
  expect(read('step', names)).toEqual({ do: 'step', with: { n: 1 } });
  expect(read('speed 2', names)).toEqual({ do: 'speed', with: { factor: 2 } });
  expect(read('speed max', names)).toEqual({ do: 'speed', with: { factor: null } });
});
test('seek takes ticks or seconds', () => {
  expect(read('seek 100', names)).toEqual({ do: 'seek', with: { stop: 100 } });
  expect(read('seek 2.5 s', names)).toEqual({ do: 'seek', with: { stop: 125 } });
});
test('set names an entry, or the robot that it made', () => {
  expect(read('set robot[0].at [1,2]', names)).toEqual({
    set: { entry: 'robot[0]', key: 'at', value: '[1,2]' },
  });
  expect(read('set r1.at [1, 2]', names)).toEqual({ set: { entry: 'robot[0]', key: 'at', value: '[1, 2]' } });
  expect(read('set type.scout.part[0].range 3m', names)).toEqual({
    set: { entry: 'type.scout.part[0]', key: 'range', value: '3m' },
  });
});
test('poke takes an address in hexadecimal or a register’s name, and knows its size', () => {
  const wanted = { do: 'poke', with: { robot: '/robots/r1', address: 0x21, bytes: 2, value: 40 } };
  expect(read('poke r1 0x21 40', names)).toEqual(wanted);
  expect(read('poke r1 left 40', names)).toEqual(wanted);
});
test('what cannot be meant is refused with a reason', () => {
  for (const line of [
    '',
    'fly',
    'step x',
    'step -1',
    'speed',
    'speed 0',
    'poke r1 0x21',
    'poke r9 1 1',
    'halt twin',
  ])
    expect(read(line, names), line).toHaveProperty('wrong');
  for (const line of ['set r2.at 1', 'poke r1 0x21 -1', 'poke r1 0x21 1.5', 'toString', 'constructor'])
    expect(read(line, names), line).toHaveProperty('wrong');
});
test('completion offers words, robots, entries with their keys, and registers', () => {
  expect(complete('st', names)).toEqual(['start', 'step']);
  expect(complete('halt r', names)).toEqual(['halt r1', 'halt r2']);
  expect(complete('set rob', names)).toEqual(['set robot[0].']);
  expect(complete('set robot[0].a', names)).toEqual(['set robot[0].at ']);
  expect(complete('poke r1 0', names)).toEqual(['poke r1 0x21 ']);
});
test('every word begins its own usage', () => {
  for (const [word, { usage }] of Object.entries(WORDS)) expect(usage.split(' ')[0]).toBe(word);
});
