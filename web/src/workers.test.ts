import { expect, test } from 'vitest';
import type { WorkerFigures, WorkersMessage } from './protocol';
import { busiest, formatBytes, formatMicros, priceRows, regionsOf, workerRows } from './workers';

function figures(worker: number, more: Partial<WorkerFigures> = {}): WorkerFigures {
  return {
    worker,
    host: null,
    pid: 4711,
    endpoint: null,
    at_work: true,
    bodies: 5,
    ghosts: 2,
    work_s: 0,
    wait_s: 0,
    sent: 0,
    widened: 0,
    asked_again: 0,
    region: null,
    ...more,
  };
}

function message(
  wall_s: number,
  workers: WorkerFigures[],
  more: { run?: number; lost?: number[] } = {},
): WorkersMessage {
  const { run = 1, lost = [] } = more;
  const spread = { epochs: 1, again: 0, lost, undivided: null, workers, links: [], heaviest: [] };
  return { is: 'workers', run, wall_s, spread };
}

test('shares and rates are of the time between two messages', () => {
  const before = message(10, [figures(0, { work_s: 1, wait_s: 2, sent: 1000 })]);
  const now = message(12, [figures(0, { work_s: 2, wait_s: 2.5, sent: 5000 })]);
  const [row] = workerRows(now, before);
  expect([row?.working, row?.waiting, row?.rate]).toEqual([0.5, 0.25, 2000]);
});

test('the first message, another run and a new worker have no rates yet', () => {
  const now = message(12, [figures(0), figures(1)]);
  expect(workerRows(now, null).map((r) => r.working)).toEqual([null, null]);
  expect(workerRows(now, message(11, [figures(0)], { run: 7 }))[0]?.rate).toBeNull();
  expect(workerRows(now, message(11, [figures(0)])).map((r) => r.rate)).toEqual([0, null]);
  expect(workerRows({ ...now, spread: null }, null)).toEqual([]);
});

test('a share is never more than the whole, and figures that went back count as nothing', () => {
  const before = message(10, [figures(0, { sent: 9000 })]);
  const now = message(11, [figures(0, { work_s: 3, sent: 0 })]);
  expect(workerRows(now, before)[0]).toMatchObject({ working: 1, rate: 0 });
});

test('who is lost is lost, whatever it was doing', () => {
  const now = message(1, [figures(0), figures(1), figures(2, { at_work: false })], { lost: [1] });
  expect(workerRows(now, null).map((r) => r.state)).toEqual(['at work', 'lost', 'idle']);
});

test('what programs on other hosts cost is shown by where most time goes, and nothing of older servers', () => {
  const of = (place: string, answers: number, waited_s: number) => ({
    place,
    answers,
    waited_s,
    sent: 10,
    received: 20,
  });
  const now = {
    ...message(1, []),
    elsewhere: [of('alpha', 4, 0.002), of('beta', 2, 0.5), of('gamma', 0, 0)],
  };
  expect(priceRows(now).map((r) => [r.place, r.answerUs])).toEqual([
    ['beta', 250_000],
    ['alpha', 500],
    ['gamma', null],
  ]);
  expect(priceRows({ ...now, spread: null })[0]).toMatchObject({ answers: 2, sent: 10, received: 20 });
  expect(priceRows(message(1, []))).toEqual([]);
});

test('links are shown by what they carried', () => {
  const link = (
    from: number,
    bytes: number,
  ): { from: number; to: number; messages: number; bytes: number } => ({
    from,
    to: 9,
    messages: 1,
    bytes,
  });
  expect(busiest([link(1, 5), link(2, 50), link(3, 20)], 2).map((l) => l.from)).toEqual([2, 3]);
});

test('bytes are written as people write them', () => {
  expect([0, 999, 1500, 12_345_678].map(formatBytes)).toEqual(['0 B', '999 B', '1.50 kB', '12.3 MB']);
});

test('an unbounded region ends where the picture does, and the whole plane has no border', () => {
  const now = message(1, [
    figures(0, { region: [null, null, 2, null] }),
    figures(1, { region: [2, null, null, null] }),
    figures(2, { region: [null, null, null, null] }),
    figures(3, { region: [0, 0, 1, 1], at_work: false }),
  ]);
  const seen = { left: -5, bottom: -4, right: 5, top: 4 };
  expect(regionsOf(now, seen)).toEqual([
    { worker: 0, left: -5, bottom: -4, right: 2, top: 4 },
    { worker: 1, left: 2, bottom: -4, right: 5, top: 4 },
  ]);
  expect(regionsOf(null, seen)).toEqual([]);
});

test('microseconds have three digits, or more when they are many', () => {
  expect([0, 0.01234, 3.14159, 99.96, 1234.5].map(formatMicros)).toEqual([
    '0',
    '0.0123',
    '3.14',
    '100',
    '1235',
  ]);
});
