import { expect, test } from 'vitest';
import type { EventLine } from '../protocol';
import { asText, knownPrefix, Lines, linesOf, MAX_LINES } from './console-lines';

const event = (
  stop: number,
  text: string,
  level: EventLine['level'] = 'info',
  robot = '/robots/r1',
): EventLine => ({
  stop,
  time: stop / 50,
  level,
  kind: 'print',
  robot,
  text,
});

test('a filter by robot, level and text shows only what passes all three', () => {
  const lines = new Lines();
  lines.add(
    [event(1, 'a'), event(2, 'Bad', 'error'), event(3, 'bad', 'warning', '/robots/r2')].flatMap(linesOf),
  );
  lines.setFilter({ robot: '', level: 'warning', text: 'BAD' });
  expect(lines.shown).toEqual([1, 2]);
  lines.setFilter({ robot: '/robots/r2', level: 'warning', text: '' });
  expect(lines.shown).toEqual([2]);
  lines.add(linesOf(event(4, 'more', 'error', '/robots/r2')));
  expect(lines.shown).toEqual([2, 3]);
});
test('at least a hundred thousand lines are kept, and not without end', () => {
  const lines = new Lines();
  for (let k = 0; k < 130; k++)
    lines.add(Array.from({ length: 1000 }, (_, i) => event(k, String(i))).flatMap(linesOf));
  expect(lines.all.length).toBeGreaterThanOrEqual(MAX_LINES);
  expect(lines.all.length).toBeLessThan(MAX_LINES * 1.2);
  expect(lines.shown.length).toBe(lines.all.length);
});
test('what a program printed last stands on lines of its own', () => {
  expect(linesOf(event(1, 'exited with 1\nout of memory')).map((l) => l.text)).toEqual([
    'exited with 1',
    'out of memory',
  ]);
});
test('a copied line has time, robot, level and text', () => {
  const [line] = linesOf(event(100, 'hello', 'warning'));
  expect(line && asText(line)).toBe('2.00 s\tr1\twarning\thello');
});
test('after a reconnection only what is new is added', () => {
  const known = [event(1, 'a'), event(2, 'b')];
  expect(knownPrefix(known, [event(1, 'a'), event(2, 'b'), event(3, 'c')])).toBe(2);
  expect(knownPrefix(known, [event(2, 'b'), event(3, 'c')])).toBe(1);
  expect(knownPrefix(known, [event(1, 'a'), event(2, 'other')])).toBe(0);
  expect(knownPrefix(known, [])).toBe(0);
});
