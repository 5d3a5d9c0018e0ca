/** Many from one: copies in rows or on a circle, and aligning what is there. */

import type { App } from '../app';
import { ask, row } from '../dialog';
import { h } from '../dom';
import type { Change, Point } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { viewOf } from '../view/view';
import { editsOf } from './edits';
import { alignBy, circlePlaces, distributeBy, gridPlaces, type Alignment } from './guides';
import { placedIds } from './handles';
import { moveEach } from './moves';
import { headingText, short } from './numbers';
import { describe, entryOf, startOf } from './subject';

const MOST = 500;

/** Asks how many and how, and makes them in one step. */
export async function duplicateMany(app: App, how: 'grid' | 'circle'): Promise<void> {
  const { store } = app;
  const [id] = placedIds(app);
  const entry = id === undefined ? null : entryOf(store, id);
  const start = id === undefined ? null : startOf(store, id);
  if (!entry || !start || id === undefined) {
    app.toast(t.onlyPosed, 'error');
    return;
  }
  const number = (value: string, label: string, unit = ''): [HTMLInputElement, HTMLElement] => {
    const input = h('input', { type: 'number', value, min: '0', step: 'any', required: true });
    return [input, row(label, input, unit)];
  };
  const [count, countRow] = number('9', t.howMany);
  const [gap, gapRow] = number(how === 'grid' ? '0.5' : '1', how === 'grid' ? t.spacing : t.radius, 'm');
  const [columns, columnsRow] = number('3', t.columns);
  count.dataset['first'] = '';
  const n = (): number => Math.trunc(Number(count.value));
  const isRight = (): boolean =>
    n() >= 2 && n() <= MOST && Number(gap.value) > 0 && Number(columns.value) >= 1;
  const answer = await ask(
    how === 'grid' ? t.duplicateGrid : t.duplicateCircle,
    [countRow, how === 'grid' && columnsRow, gapRow, h('p', { class: 'faint' }, t.duplicateHint(MOST))],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.duplicateNow, value: 'make', primary: true, check: isRight },
    ],
    'duplicate-many',
  );
  if (answer !== 'make') return;
  const around: Point = [start.x, start.y];
  const places =
    how === 'grid'
      ? fromFirst(gridPlaces(n(), Math.trunc(Number(columns.value)), Number(gap.value), around), around).map(
          (at) => ({ at, heading: start.heading }),
        )
      : circlePlaces(n(), Number(gap.value), around);
  await editsOf(app).change(t.stepMany(n(), describe(store, [id])), () => copies(entry, places), 'made');
}

/** The grid's first place is where the original stands. */
function fromFirst(places: Point[], at: Point): Point[] {
  const [first] = places;
  if (!first) return places;
  return places.map(([x, y]) => [x - first[0] + at[0], y - first[1] + at[1]]);
}

/** The original goes to the first place, copies to the others. */
function copies(entry: Entry, places: { at: Point; heading: number }[]): Change[] {
  const [first, ...others] = places.map(
    ({ at, heading }) => `[${short(at[0])}, ${short(at[1])}, ${headingText(heading)}]`,
  );
  if (first === undefined) return [];
  return [
    { op: 'set', entry: entry.key, key: 'at', value: first },
    ...others.map((value): Change => ({ op: 'copy', entry: entry.key, fields: [['at', value]] })),
  ];
}

export async function align(app: App, how: Alignment): Promise<void> {
  await arrange(app, t.stepAlign, 2, (boxes) => alignBy(boxes, how));
}

export async function distribute(app: App, axis: 'x' | 'y'): Promise<void> {
  await arrange(app, t.stepDistribute, 3, (boxes) => distributeBy(boxes, axis));
}

async function arrange(
  app: App,
  label: string,
  least: number,
  by: (boxes: NonNullable<ReturnType<ReturnType<typeof viewOf>['boundsOf']>>[]) => Point[],
): Promise<void> {
  const objects = placedIds(app).flatMap((id) => {
    const box = viewOf(app).boundsOf(id);
    return box ? [{ id, box }] : [];
  });
  if (objects.length < least) {
    app.toast(t.selectAtLeast(least), 'error');
    return;
  }
  const shifts = by(objects.map((o) => o.box));
  const moved = objects.flatMap(({ id }, k) => {
    const shift = shifts[k] ?? [0, 0];
    return Math.hypot(...shift) < 1e-9 ? [] : [[id, { by: shift, turn: 0, about: [0, 0] as Point }] as const];
  });
  if (moved.length > 0) await moveEach(app, label, new Map(moved));
}
