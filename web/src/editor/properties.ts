/** The settings of what is selected: one field per parameter of its class, from the sheets. */

import '../styles/editor.css';
import type { App } from '../app';
import { run } from '../commands';
import { fill, h } from '../dom';
import { icon, type IconName } from '../icons';
import type { SheetParam } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { makeField, type Field } from './fields';
import { entriesOf, partsOf, sheetOf, nameOf, typeOf, whyNotEdit } from './subject';

export function mountProperties(app: App): HTMLElement {
  const { store } = app;
  const body = h('div', { class: 'properties-body' });
  let key = '';
  let fields: Field[] = [];
  const show = (): void => {
    const entries = entriesOf(store, store.selection);
    const now = JSON.stringify([
      [...store.selection],
      entries.map((e) => [e.key, e.class, e.fixed]),
      store.sheets.size,
      whyNotEdit(store),
      partsKey(app, entries),
    ]);
    if (now === key) {
      for (const field of fields) field.update(entries);
      return;
    }
    key = now;
    const params = commonParams(app, entries);
    const isFixed = entries.some((e) => e.fixed !== null);
    fields = params.map((p) => makeField(app, p, entries));
    const group = h(
      'fieldset',
      { class: 'fields', disabled: isFixed || whyNotEdit(store) !== null },
      ...fields.map((f) => f.element),
    );
    fill(
      body,
      ...heading(app, entries),
      ...notes(app, entries),
      params.length > 0 && group,
      ...links(app, entries),
    );
  };
  store.on(['world', 'selection', 'sheets', 'control', 'link', 'status'], show);
  show();
  return h(
    'section',
    { class: 'properties', aria: { label: t.properties } },
    h('h2', {}, t.properties),
    body,
  );
}

/** The parameters that all entries have, in the order of the first one's sheet. */
export function commonParams(app: App, entries: readonly Entry[]): SheetParam[] {
  const lists = entries.map((e) => sheetOf(app.store, e)?.params ?? []);
  const [first, ...others] = lists;
  const isCommon = (p: SheetParam): boolean =>
    others.every((list) => list.some((q) => q.name === p.name && q.kind === p.kind));
  const common = (first ?? []).filter(isCommon);
  // Two things cannot have one name.
  return entries.length > 1 ? common.filter((p) => p.name !== 'name') : common;
}

const ICONS: Record<string, IconName> = {
  robot: 'robot',
  obstacle: 'box',
  wall: 'wall',
  track: 'track',
  beacon: 'beacon',
  type: 'type',
  part: 'sensor',
  controller: 'controller',
  run: 'play',
  record: 'play',
  assert: 'play',
};

function heading(app: App, entries: readonly Entry[]): (HTMLElement | null)[] {
  const { store } = app;
  const ids = [...store.selection];
  const [first] = ids;
  if (first === undefined)
    return [
      h(
        'div',
        { class: 'nothing' },
        h('p', {}, t.nothingSelected),
        h('p', { class: 'faint' }, whyNotEdit(store) ?? t.selectHint),
      ),
    ];
  const [entry] = entries;
  const title = ids.length === 1 ? nameOf(store, first) : t.selectedMany(ids.length);
  const kind =
    entries.length === 1 && entry
      ? entry.class || entry.section
      : [...new Set(entries.map((e) => e.section))].join(', ');
  return [
    h(
      'div',
      { class: 'properties-title' },
      icon(ICONS[entry?.section ?? ''] ?? 'world', 18),
      h('strong', { data: { test: 'subject' } }, title),
      h('span', { class: 'faint' }, kind),
    ),
  ];
}

function notes(app: App, entries: readonly Entry[]): HTMLElement[] {
  const { store } = app;
  const list: HTMLElement[] = [];
  const fixed = new Set(entries.flatMap((e) => e.fixed ?? []));
  for (const why of fixed) list.push(h('p', { class: 'note', data: { test: 'fixed' } }, t.fixed(why)));
  const why = store.selection.size > 0 ? whyNotEdit(store) : null;
  if (why) list.push(h('p', { class: 'note' }, why));
  const [entry] = entries;
  if (entries.length === 1 && entry && entry.count > 1 && entry.section === 'robot')
    list.push(
      h(
        'p',
        { class: 'note' },
        t.oneOfMany(entry.count),
        h('button', { type: 'button', on: { click: () => run('edit.split') } }, t.split),
      ),
    );
  const sheet = entry && sheetOf(store, entry);
  if (entries.length === 1 && sheet) list.push(h('p', { class: 'faint summary' }, ...prose(sheet.summary)));
  return list;
}

/** What the links show, as a text, to know when they change. */
function partsKey(app: App, entries: readonly Entry[]): string {
  const type = typeFor(app, entries);
  return type
    ? partsOf(app.store, type)
        .map((e) => `${e.key}=${e.name}:${e.class}`)
        .join()
    : '';
}

function typeFor(app: App, entries: readonly Entry[]): string | null {
  const [entry] = entries;
  if (!entry || entries.length !== 1) return null;
  if (entry.section === 'type') return entry.name;
  return entry.section === 'robot' ? typeOf(app.store, entry.paths[0] ?? '') : null;
}

/** A robot's type, parts and controllers, as links to their own settings. */
function links(app: App, entries: readonly Entry[]): (HTMLElement | null)[] {
  const type = typeFor(app, entries);
  if (type === null) return upLink(app, entries);
  const { store } = app;
  const own = partsOf(store, type).filter((e) => e.section === 'part' || e.section === 'controller');
  const item = (id: string, name: string, kind: string, symbol: IconName): HTMLElement =>
    h(
      'li',
      {},
      h(
        'button',
        { type: 'button', class: 'link', on: { click: () => store.select([id]) } },
        icon(symbol, 15),
        h('span', {}, name),
        h('span', { class: 'faint' }, kind),
      ),
    );
  const isType = entries[0]?.section === 'type';
  return [
    h('h3', {}, isType ? t.parts : t.typeAndParts),
    h(
      'ul',
      { class: 'links' },
      isType ? null : item(`type.${type}`, type, t.type, 'type'),
      ...own.map((e) =>
        item(e.key, e.name ?? e.class, e.class, e.section === 'controller' ? 'controller' : symbolOf(app, e)),
      ),
    ),
    isType ? h('button', { type: 'button', on: { click: () => run('edit.type') } }, t.openBuilder) : null,
  ];
}

/** From a part back to its type. */
function upLink(app: App, entries: readonly Entry[]): HTMLElement[] {
  const type = /^type\.([^.]+)\./.exec(entries[0]?.key ?? '')?.[1];
  if (!type || entries.length !== 1) return [];
  const select = (): void => app.store.select([`type.${type}`]);
  return [
    h(
      'ul',
      { class: 'links' },
      h(
        'li',
        {},
        h(
          'button',
          { type: 'button', class: 'link', on: { click: select } },
          icon('type', 15),
          h('span', {}, type),
          h('span', { class: 'faint' }, t.type),
        ),
      ),
    ),
  ];
}

export function symbolOf(app: App, entry: Entry): IconName {
  const kind = sheetOf(app.store, entry)?.kind;
  return kind === 'actuator' ? 'actuator' : kind === 'controller' ? 'controller' : 'sensor';
}

/** A sentence of a sheet, with what stands between backticks as code. */
function prose(text: string): (string | HTMLElement)[] {
  return text.split('`').map((piece, k) => (k % 2 === 1 ? h('code', {}, piece) : piece));
}
