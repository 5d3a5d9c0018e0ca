/** Arrow keys: a row of presses is shown at once and written as one step when it pauses. */

import type { App } from '../app';
import type { Point } from '../protocol';
import { editsOf } from './edits';
import { moveBy } from './moves';
import { previewOf } from './preview';
import { whyNotEdit } from './subject';

const PAUSE_MS = 300;

let pending: { ids: string[]; by: Point; timer: ReturnType<typeof setTimeout> } | null = null;

/** Moves the selection by a little more. */
export function nudge(app: App, by: Point): void {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  const ids = [...app.store.selection];
  if (pending && pending.ids.join() !== ids.join()) flushNudges(app);
  const before = pending?.by ?? [0, 0];
  if (pending) clearTimeout(pending.timer);
  pending = {
    ids,
    by: [before[0] + by[0], before[1] + by[1]],
    timer: setTimeout(() => flushNudges(app), PAUSE_MS),
  };
  previewOf(app).set(ids, { by: pending.by, turn: 0, about: [0, 0] });
}

/** Writes what was moved so far. */
export function flushNudges(app: App): void {
  if (!pending) return;
  const { ids, by, timer } = pending;
  pending = null;
  clearTimeout(timer);
  void moveBy(app, ids, by).then((done) => !done && previewOf(app).clear());
}

export function startNudges(app: App): void {
  editsOf(app).beforeNext = () => flushNudges(app);
  app.store.on('selection', () => {
    if (pending && pending.ids.join() !== [...app.store.selection].join()) flushNudges(app);
  });
}
