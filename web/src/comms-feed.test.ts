import { expect, test } from 'vitest';
import type { App } from './app';
import { CommsFeed } from './comms-feed';
import { CommStore } from './comms';
import type { CommLine, Comms } from './protocol';

type Listener = () => void;

/** A server that remembers a line per second, and tells at most ten at a time. */
function desk(seconds: number, since = 0): { app: App; move: (time: number) => void; windows: unknown[] } {
  const line = (t: number): CommLine => ({
    t,
    what: 'received',
    from: '/a',
    to: ['/b'],
    sent: t - 0.5,
    serial: t,
    protocol: 'p',
    label: 'L',
    content: '',
    bytes: 1,
  });
  const listeners = new Map<string, Listener[]>();
  const windows: unknown[] = [];
  const comms = new CommStore();
  const tell = (what: string): void => listeners.get(what)?.forEach((f) => f());
  const store = {
    comms,
    frame: { time: seconds },
    status: { run: 1 },
    wantsComms: true,
    link: 'open',
    on: (all: string[], f: Listener) =>
      all.forEach((w) => listeners.set(w, [...(listeners.get(w) ?? []), f])),
    changed: tell,
  };
  const ask = (_: string, window: { from_s?: number; to_s?: number }): Promise<Comms> => {
    windows.push(window);
    const all = Array.from({ length: seconds }, (__, k) => line(k + 1)).filter(({ t }) => t > since);
    const inside = all.filter(({ t }) => t >= (window.from_s ?? 0) && t <= (window.to_s ?? Infinity));
    const lines = inside.slice(-10);
    const left_out = inside.length - lines.length;
    return Promise.resolve({ is: 'comms', run: 1, lines, left_out, since, next: seconds, under_way: [] });
  };
  const app = { store, link: { ask } } as unknown as App;
  new CommsFeed(app);
  tell('status');
  const move = (time: number): void => {
    store.frame.time = time;
    tell('frame');
  };
  return { app, move, windows };
}

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const at = (app: App, t: number): number => app.store.comms.between(t - 0.1, t).length;

test('an earlier moment has its messages though nobody looks at the chart', async () => {
  const { app, move } = desk(60);
  await settled();
  expect(at(app, 60)).toBe(1);
  expect(at(app, 5)).toBe(0);
  move(5);
  await settled();
  expect(at(app, 5)).toBe(1);
});

test('what the server has forgotten is asked for once', async () => {
  const { app, move, windows } = desk(60, 30);
  await settled();
  move(5);
  await settled();
  const asked = windows.length;
  expect(app.store.comms.covered?.from).toBe(30);
  move(4);
  await settled();
  expect(windows).toHaveLength(asked);
});
