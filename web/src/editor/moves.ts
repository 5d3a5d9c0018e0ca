/**
 * Moving, turning and removing what is selected: one edit each, whatever is in the selection.
 *
 * While a run is past its beginning, an object is not where the document starts it: what a person drags is
 * then put where he lets it go, so its whole place is written.
 */

import type { App } from '../app';
import { ask } from '../dialog';
import { Refused } from '../link';
import type { Change, Failure, Point } from '../protocol';
import type { Entry, Store } from '../store';
import { t } from '../strings';
import type { Pose } from '../view/geometry';
import { viewOf } from '../view/view';
import { editsOf } from './edits';
import { headingText, short } from './numbers';
import { movedPose, previewOf, withFrom, type Motion } from './preview';
import { describe, entriesOf, entryOf, PLACED, poseOf, nameOf, startOf } from './subject';

/**
 * Moves objects by a vector, from where they were when they were taken in hand. Answers whether it was
 * done.
 */
export async function moveBy(
  app: App,
  ids: readonly string[],
  by: Point,
  from?: ReadonlyMap<string, Pose>,
): Promise<boolean> {
  if (by[0] === 0 && by[1] === 0) return false;
  const label = t.stepMove(describe(app.store, ids));
  const motion: Motion = { by, turn: 0, about: [0, 0] };
  return moveEach(app, label, new Map(ids.map((id) => [id, withFrom(motion, from?.get(id))])));
}

/** Turns objects: each about its own place, or all about one point. */
export async function turnBy(
  app: App,
  ids: readonly string[],
  turn: number,
  about?: Point,
  from?: Pose,
): Promise<boolean> {
  const { store } = app;
  const motions = new Map<string, Motion>();
  for (const id of ids)
    motions.set(id, withFrom({ by: [0, 0], turn, about: about ?? middleOf(app, id) }, from));
  return moveEach(app, t.stepTurn(describe(store, ids)), motions);
}

/** The place of an object, or the middle of its outline. */
export function middleOf(app: App, id: string): Point {
  const pose = poseOf(app.store, id);
  if (pose) return [pose.x, pose.y];
  const box = viewOf(app).boundsOf(id);
  return box ? [(box.minX + box.maxX) / 2, (box.minY + box.maxY) / 2] : [0, 0];
}

/** Moves each object in its own way, all in one step. */
export async function moveEach(app: App, label: string, motions: Map<string, Motion>): Promise<boolean> {
  const { store } = app;
  const ids = [...motions.keys()];
  const whole = await whoMoves(app, ids);
  if (!whole) {
    previewOf(app).clear();
    return false;
  }
  const done = await editsOf(app).change(
    label,
    () => entriesOf(store, ids).flatMap((e) => changeOf(store, e, ids, motions)),
    'same',
    (failure) => refuse(app, failure, ids),
  );
  previewOf(app).clear();
  const [first] = ids;
  if (!done || first === undefined) return done !== null;
  const at = middleOf(app, first);
  app.announce(
    ids.length === 1
      ? t.saidMoved(nameOf(store, first), at[0], at[1])
      : t.saidMovedMany(describe(store, ids)),
  );
  return true;
}

/** A refused place: the reason, and the objects in the error colour for a moment. */
function refuse(app: App, failure: Failure, ids: readonly string[]): void {
  app.fail(new Refused(failure));
  previewOf(app).flash(ids);
}

function changeOf(
  store: Store,
  entry: Entry,
  ids: readonly string[],
  motions: Map<string, Motion>,
): Change[] {
  const isPlaced = (PLACED as readonly string[]).includes(entry.section);
  const id = ids.find((i) => entryOf(store, i) === entry);
  const motion = id === undefined ? undefined : motions.get(id);
  if (!isPlaced || entry.fixed !== null || id === undefined || !motion) return [];
  const [start, shown] = [startOf(store, id), motion.from ?? poseOf(store, id)];
  if (entry.count === 1 && start && shown && isElsewhere(start, shown)) {
    const { x, y, heading } = movedPose(motion, shown);
    return [
      {
        op: 'set',
        entry: entry.key,
        key: 'at',
        value: `[${short(x)}, ${short(y)}, ${headingText(heading)}]`,
      },
    ];
  }
  if (motion.turn === 0) return [{ op: 'move', entries: [entry.key], by: motion.by }];
  return [{ op: 'turn', entries: [entry.key], by: motion.turn, about: motion.about }];
}

/** Frames are exact to a tenth of a millimetre. */
function isElsewhere(a: { x: number; y: number; heading: number }, b: typeof a): boolean {
  const turned = Math.abs(Math.sin((a.heading - b.heading) / 2));
  return Math.abs(a.x - b.x) > 2e-4 || Math.abs(a.y - b.y) > 2e-4 || turned > 2e-4;
}

/**
 * Sees to it that the entries behind objects can be moved or removed: those that make many robots of which
 * only some are meant are split first, or taken whole, as the person decides. `null`: not at all.
 */
export async function whoMoves(app: App, ids: readonly string[]): Promise<'whole' | null> {
  const { store } = app;
  const entries = entriesOf(store, ids);
  const why = entries.find((e) => e.fixed !== null)?.fixed;
  if (entries.length === 0 || entries.every((e) => e.fixed !== null)) {
    app.toast(why ? t.fixed(why) : t.notInDocument, 'error');
    return null;
  }
  if (why) app.toast(t.someFixed(why));
  const chosen = new Set(ids);
  const partly = entries.filter(
    (e) =>
      e.section === 'robot' &&
      e.count > 1 &&
      !(e.count === e.paths.length && e.paths.every((p) => chosen.has(p))),
  );
  if (partly.length === 0) return 'whole';
  const count = partly.reduce((sum, e) => sum + e.count, 0);
  const answer = await ask(
    t.splitTitle,
    [t.splitWords(describe(store, ids), count)],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.takeAll(count), value: 'all' },
      { title: t.split, value: 'split', primary: true },
    ],
    'split',
  );
  if (answer === 'all') return 'whole';
  if (answer !== 'split') return null;
  return (await splitEntries(app, partly)) ? 'whole' : null;
}

/** One entry per robot from now on. */
export async function splitEntries(app: App, entries: readonly Entry[]): Promise<boolean> {
  const changes = entries.map((e): Change => ({ op: 'split', entry: e.key }));
  return (await editsOf(app).change(t.stepSplit, changes)) !== null;
}

/** Removes what is selected. */
export async function remove(app: App, ids: readonly string[], byDragging = false): Promise<void> {
  const { store } = app;
  if (!(await whoMoves(app, ids))) return previewOf(app).clear();
  const what = describe(store, ids);
  const done = await editsOf(app).change(
    t.stepRemove(what),
    () => {
      const entries = entriesOf(store, ids).filter((e) => e.fixed === null);
      // What goes with what it stands in is not removed twice.
      const roots = entries.filter((e) => !entries.some((o) => o !== e && e.key.startsWith(`${o.key}.`)));
      return roots.map((e): Change => ({ op: 'remove', entry: e.key }));
    },
    [],
  );
  previewOf(app).clear();
  if (!done) return;
  app.announce(t.saidRemoved(what));
  if (byDragging)
    app.toast(t.saidRemoved(what), 'info', { title: t.undo, run: () => void editsOf(app).undo() });
}
