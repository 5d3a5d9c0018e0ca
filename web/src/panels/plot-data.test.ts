import { expect, test } from 'vitest';
import type { Probe } from '../protocol';
import { labelOf, PlotData, ticks, toCsv, toSvg } from './plot-data';

const a: Probe = { path: '/robots/r1/sonar', channel: 'range', index: 2 };
const b: Probe = { path: '/robots/r1', channel: 'x', index: 0 };

test('a value is named by robot, part, channel and index', () => {
  expect([labelOf(a), labelOf(b)]).toEqual(['r1 sonar.range[2]', 'r1 x']);
});
test('a value that is added later has gaps before', () => {
  const data = new PlotData();
  data.column(a);
  data.add({ is: 'samples', probes: [a], rows: [[0, 1]] });
  data.column(b);
  data.add({
    is: 'samples',
    probes: [b, a],
    rows: [
      [1, 5, 2],
      [2, null, 3],
    ],
  });
  expect(data.times).toEqual([0, 1, 2]);
  expect(data.column(a)).toEqual([1, 2, 3]);
  expect(data.column(b)).toEqual([null, 5, null]);
});
test('a run that goes back in time writes over what came after', () => {
  const data = new PlotData();
  data.column(a);
  data.add({
    is: 'samples',
    probes: [a],
    rows: [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  });
  data.add({ is: 'samples', probes: [a], rows: [[1, 9]] });
  expect([data.times, data.column(a)]).toEqual([
    [0, 1],
    [1, 9],
  ]);
});
test('memory is bounded', () => {
  const data = new PlotData();
  data.column(a);
  data.add({ is: 'samples', probes: [a], rows: Array.from({ length: 80_000 }, (_, k) => [k, k]) });
  expect(data.times.length).toBeLessThanOrEqual(55_000);
  expect(data.column(a).at(-1)).toBe(79_999);
  expect(data.column(a)).toHaveLength(data.times.length);
});
test('CSV has names and one line per time', () => {
  const data = new PlotData();
  data.column(a);
  data.column(b);
  data.add({
    is: 'samples',
    probes: [a, b],
    rows: [
      [0.02, 1.5, null],
      [0.04, 2, 3],
    ],
  });
  expect(toCsv(data, [a, b])).toBe('time_s,r1 sonar.range[2],r1 x\n0.02,1.5,\n0.04,2,3\n');
});
test('SVG lifts the pen over gaps and writes names safely', () => {
  const data = new PlotData();
  const odd: Probe = { path: '/robots/a<b&c', channel: 'x', index: 0 };
  data.column(odd);
  data.add({
    is: 'samples',
    probes: [odd],
    rows: [
      [0, 0],
      [1, 1],
      [2, null],
      [3, 2],
    ],
  });
  const svg = toSvg(data, [odd], ['#123456']);
  expect(svg).toContain('a&lt;b&amp;c x');
  const path = /<path d="(M[^"]*)" fill="none" stroke="#123456"/.exec(svg)?.[1] ?? '';
  expect(path.match(/M/g)).toHaveLength(2);
  expect(path).not.toContain('NaN');
});
test('an empty plot is still a drawing', () =>
  expect(toSvg(new PlotData(), [a], ['#000'])).not.toContain('NaN'));
test('ticks are round and within', () => expect(ticks(0.1, 1.02, 5)).toEqual([0.2, 0.4, 0.6, 0.8, 1]));
