/**
 * The kit of parts: when a type is selected, every class of sensor, actuator and controller, to be dragged
 * onto the body of a robot of that type, or chosen by keyboard.
 */

import type { App } from '../app';
import { ask, row } from '../dialog';
import { fill, h } from '../dom';
import { icon } from '../icons';
import type { Change, Point, Sheet, SheetParam } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { unplaced } from '../view/geometry';
import { viewOf } from '../view/view';
import { carry } from './carry';
import { editsOf } from './edits';
import { titleOf } from './fields';
import { hint } from './hints';
import { headingText, short } from './numbers';
import { freeName } from './place';
import { defaultText, partsOf, poseOf, typeInHand, typeOf, whyNotEdit } from './subject';
import { quoted } from './toml';

const KINDS = ['sensor', 'actuator', 'controller'] as const;

export function mountKit(app: App): HTMLElement {
  const { store } = app;
  const kit = h('div', { class: 'kit', hidden: true, data: { test: 'kit' } });
  let shown = '';
  const show = (): void => {
    const type = typeInHand(store);
    const key = `${type} ${store.sheets.size}`;
    if (key === shown) return;
    shown = key;
    kit.hidden = type === null || store.sheets.size === 0;
    if (type !== null) fill(kit, h('h3', {}, t.kitOf(type)), ...groups(app, () => typeInHand(store) ?? type));
  };
  store.on(['selection', 'sheets', 'world'], show);
  return kit;
}

/** The classes of parts by kind, as items to drag. */
export function groups(app: App, type: () => string, toMount?: Drop): HTMLElement[] {
  return KINDS.map((kind) => {
    const sheets = [...app.store.sheets.values()].filter((s) => s.kind === kind);
    return h(
      'div',
      { class: 'kit-group', role: 'group', aria: { label: t.partKinds[kind] } },
      h('span', { class: 'faint' }, t.partKinds[kind]),
      ...sheets.map((sheet) => item(app, sheet, type, toMount)),
    );
  });
}

/** Where on the body of the type a point of the window is; `null` beside it. */
export type Drop = (clientX: number, clientY: number) => Point | null;

function item(app: App, sheet: Sheet, type: () => string, toMount?: Drop): HTMLElement {
  const button = h(
    'button',
    { type: 'button', class: 'kit-item', title: sheet.summary, data: { kind: `part.${sheet.class}` } },
    icon(sheet.kind === 'structure' || sheet.kind === 'layout' ? 'sensor' : sheet.kind, 15),
    h('span', {}, sheet.class),
  );
  hint(app, button, sheet.summary);
  if (toMount) {
    button.addEventListener('click', () => void addPart(app, type(), sheet, [0, 0]));
    return button;
  }
  carry(app, button, {
    shape: { corners: [[0, 0]], round: 0.03 },
    line: null,
    free: true,
    drop: (p) => {
      const mount = mountAt(app, type(), p);
      if (mount) void addPart(app, type(), sheet, mount);
      else app.toast(t.dropOnRobot(type()), 'error');
    },
    enter: () => void addPart(app, type(), sheet, [0, 0]),
  });
  return button;
}

/** A point of the world on the body of a robot of a type, in the body's frame. */
function mountAt(app: App, type: string, p: Point): Point | null {
  const hit = viewOf(app)
    .objectsAt(p[0], p[1])
    .find((o) => typeOf(app.store, o.id) === type);
  const pose = hit && poseOf(app.store, hit.id);
  return pose ? unplaced(pose, p) : null;
}

/** Adds a part to a type, with its mount; asks for what its class requires. */
export async function addPart(app: App, type: string, sheet: Sheet, mount: Point): Promise<Entry | null> {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return null;
  }
  const needed = await required(app, sheet);
  if (!needed) return null;
  const taken = partsOf(app.store, type).map((e) => e.name ?? '');
  const name = freeName(sheet.class.replace(/^.*-/, ''), taken);
  const fields: [string, string][] = [['class', quoted(sheet.class)], ...needed];
  const hasMount = sheet.params.some((p) => p.name === 'mount' && p.kind === 'pose');
  if (hasMount && (mount[0] !== 0 || mount[1] !== 0)) fields.push(['mount', mountText(mount)]);
  const section = sheet.kind === 'controller' ? 'controller' : 'part';
  const before = new Set(app.store.world?.entries.map((e) => `${e.key} ${e.name}`));
  const add: Change =
    section === 'part'
      ? { op: 'add', section, name, fields, under: `type.${type}` }
      : { op: 'add', section, fields, under: `type.${type}` };
  const done = await editsOf(app).change(t.stepAddPart(sheet.class, type), [add]);
  if (!done) return null;
  const made = app.store.world?.entries.find(
    (e) => e.section === section && e.key.startsWith(`type.${type}.`) && !before.has(`${e.key} ${e.name}`),
  );
  if (made) app.store.select([made.key]);
  app.announce(t.saidPart(sheet.class, type));
  return made ?? null;
}

/** A place on a body, to a millimetre. */
export function mountText([x, y]: Point, heading = 0): string {
  const mm = (v: number): string => short(Math.round(v * 1000) / 1000);
  return heading === 0 ? `[${mm(x)}, ${mm(y)}]` : `[${mm(x)}, ${mm(y)}, ${headingText(heading)}]`;
}

/** Asks for the parameters that a class cannot do without; `null` when it was cancelled. */
async function required(app: App, sheet: Sheet): Promise<[string, string][] | null> {
  const params = sheet.params.filter((p) => p.required);
  if (params.length === 0) return [];
  const inputs = params.map((p) => {
    const input = h('input', {
      type: 'text',
      value: exampleOf(sheet, p),
      title: p.summary,
      required: true,
      spellcheck: false,
    });
    return { p, input, row: row(titleOf(p), input, p.summary) };
  });
  inputs[0]?.input.setAttribute('data-first', '');
  const problem = h('p', { class: 'field-message', hidden: true });
  const answer = await ask(
    t.partNeeds(sheet.class),
    [...inputs.map((i) => i.row), problem],
    [
      { title: t.cancel, value: 'cancel' },
      {
        title: t.addIt,
        value: 'add',
        primary: true,
        check: () => inputs.every((i) => i.input.value.trim() !== ''),
      },
    ],
    'part-needs',
  );
  if (answer !== 'add') return null;
  const fields: [string, string][] = [];
  for (const { p, input } of inputs) {
    const said = await app.do('normalise', { class: sheet.class, param: p.name, typed: input.value });
    if (!said) return null;
    fields.push([p.name, String(said['value'] ?? input.value)]);
  }
  return fields;
}

/** What the class' own example says for a parameter. */
function exampleOf(sheet: Sheet, param: SheetParam): string {
  const found = new RegExp(`^\\s*${param.name}\\s*=\\s*(.+)$`, 'm').exec(sheet.example)?.[1] ?? '';
  return found.replace(/\s+#.*$/, '').replace(/^"(.*)"$/, '$1') || defaultText(param);
}
