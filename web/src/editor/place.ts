/** Puts things into the world: one edit each, what is new is selected. */

import type { App } from '../app';
import { ask, row } from '../dialog';
import { h } from '../dom';
import type { Point } from '../protocol';
import { t } from '../strings';
import { viewOf } from '../view/view';
import { editsOf } from './edits';
import { added, at, newType, relative, robotText, typeFromFile } from './kinds';
import { snapTo } from './numbers';
import { projectFiles } from './project-files';
import { nameOf, typeNames, whyNotEdit } from './subject';

/** Puts one of a kind at a point of the world. */
export async function place(app: App, kind: string, p: Point): Promise<void> {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  if (kind === 'robot') return placeAnyRobot(app, p);
  const title = kind.startsWith('type.') ? 'robot' : kind;
  const done = await editsOf(app).change(
    t.stepAdd(title),
    () => {
      const change = app.store.world && added(app.store.world, kind, p);
      return change ? [change] : null;
    },
    'made',
  );
  if (done) announceMade(app, done.paths, p);
}

/** Puts one of a kind at the middle of the view, beside what is there already. */
export function placeAtCentre(app: App, kind: string): Promise<void> {
  const { camera } = app.store;
  return place(app, kind, freePlace(app, snapped(app, [camera.x, camera.y])));
}

/** The point on the grid next to `p`, when the grid is on. */
export function snapped(app: App, p: Point, suspended = false): Point {
  const { snap, step } = app.store;
  return snap && !suspended ? [snapTo(p[0], step), snapTo(p[1], step)] : p;
}

/** A place near `p` where nothing stands, so that things made by keyboard do not pile up. */
function freePlace(app: App, p: Point): Point {
  const view = viewOf(app);
  const far = Math.max(0.4, app.store.step);
  for (let ring = 0; ring < 6; ring++)
    for (let k = 0; k < Math.max(1, 8 * ring); k++) {
      const angle = (2 * Math.PI * k) / Math.max(1, 8 * ring);
      const q = snapped(app, [p[0] + ring * far * Math.cos(angle), p[1] + ring * far * Math.sin(angle)]);
      const around: Point[] = [
        [0, 0],
        [0.15, 0],
        [-0.15, 0],
        [0, 0.15],
        [0, -0.15],
      ];
      if (around.every(([x, y]) => view.objectAt(q[0] + x, q[1] + y) === null)) return q;
    }
  return p;
}

function announceMade(app: App, paths: readonly string[], p: Point): void {
  const [first] = paths;
  if (first === undefined) return;
  app.announce(t.saidAdded(nameOf(app.store, first), p[0], p[1]));
}

/** A robot of a kind that is asked for: one of the document, a robot's file, or a new one. */
async function placeAnyRobot(app: App, p: Point): Promise<void> {
  const names = typeNames(app.store);
  const files = (await projectFiles(app, ['.robot'])).map((f) => f.path);
  const list = h(
    'select',
    {
      size: Math.min(10, Math.max(4, names.length + files.length + 1)),
      aria: { label: t.robotType },
      data: { first: '' },
    },
    ...names.map((n) => h('option', { value: `type:${n}` }, n)),
    ...files.map((f) => h('option', { value: `file:${f}` }, f)),
    h('option', { value: 'new' }, t.newType),
  );
  list.selectedIndex = 0;
  const name = h('input', { type: 'text', placeholder: t.newTypeName });
  const nameRow = row(t.newTypeName, name);
  const showName = (): void => void (nameRow.hidden = list.value.startsWith('type:'));
  list.addEventListener('change', showName);
  showName();
  const answer = await ask(
    t.whichRobot,
    [h('p', {}, t.whichRobotHint), list, nameRow],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.addRobot, value: 'add', primary: true },
    ],
    'robot-type',
  );
  if (answer !== 'add') return;
  const [what, ...rest] = list.value.split(':');
  const chosen = rest.join(':');
  if (what === 'type') return place(app, `type.${chosen}`, p);
  const wanted = name.value.trim() || (what === 'file' ? baseName(chosen) : 'robot');
  const free = freeName(wanted, names);
  const file = app.store.status?.file ?? null;
  const type = what === 'file' ? typeFromFile(free, relative(file, chosen)) : newType(free);
  const done = await editsOf(app).paste(`${type}\n${robotText(free, at(p), 'r1')}`, [0, 0]);
  const made = done?.paths.filter((id) => id.startsWith('/robots/')) ?? [];
  if (made.length > 0) app.store.select(made);
  if (done) announceMade(app, made, p);
}

export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let k = 2; taken.includes(name); k++) name = `${wanted}${k}`;
  return name;
}

export function baseName(path: string): string {
  return (path.split('/').pop() ?? path).replace(/\.[^.]*$/, '');
}
