/** The parameters of one object in a dialog of their own: what a double click opens. */

import type { App } from '../app';
import { ask } from '../dialog';
import { fill, h } from '../dom';
import type { SheetParam } from '../protocol';
import { t } from '../strings';
import { editsOf } from './edits';
import { makeField } from './fields';
import { measure } from './numbers';
import { previewOf } from './preview';
import { commonParams } from './properties';
import { entriesOf, nameOf, whyNotEdit } from './subject';

/** What a beacon is about; the rest is in the panel. */
const GOAL = ['id', 'aperture', 'range'];

export async function openParameters(app: App): Promise<void> {
  const { store } = app;
  const ids = [...store.selection];
  const entries = entriesOf(store, ids);
  const [first] = entries;
  const [id] = ids;
  if (!first || id === undefined || entries.length !== 1) {
    app.toast(t.selectOne, 'error');
    return;
  }
  const isBeacon = first.section === 'beacon';
  const wanted = (p: SheetParam): boolean => !isBeacon || GOAL.includes(p.name);
  const why = first.fixed === null ? whyNotEdit(store) : t.fixed(first.fixed);
  const group = h('fieldset', { class: 'fields', disabled: why !== null });
  let fields: ReturnType<typeof makeField>[] = [];
  const update = (): void => {
    const now = entriesOf(store, [id]);
    // What can be set is known when the sheets are here, which may be later than this dialog.
    if (fields.length === 0) {
      fields = commonParams(app, now)
        .filter(wanted)
        .map((p) => makeField(app, p, now));
      fill(group, ...fields.map((f) => f.element));
      group.querySelector('input, select, textarea')?.setAttribute('data-first', '');
    } else if (now.length > 0) for (const field of fields) field.update(now);
    if (isBeacon) previewOf(app).beacon = null;
  };
  update();
  const stop = store.on(['world', 'sheets'], update);
  if (isBeacon) showCone(app, id);
  const title = isBeacon ? t.goalParameters : t.parametersOf(nameOf(store, id));
  await ask(
    title,
    [why ? h('p', { class: 'note' }, why) : null, group],
    [{ title: t.done, value: 'done', primary: true }],
    'parameters',
  );
  stop();
  previewOf(app).typed = () => undefined;
  previewOf(app).beacon = null;
  previewOf(app).changed();
}

/** While the numbers of a beacon are typed, its cone follows. */
function showCone(app: App, id: string): void {
  const preview = previewOf(app);
  preview.typed = (key, text) => {
    if (key !== 'aperture' && key !== 'range') return;
    const value = measure(text, key === 'aperture' ? 'angle' : 'length');
    const before = preview.beacon ?? { id, aperture: null, range: null };
    preview.beacon = { ...before, [key]: value };
    preview.changed();
  };
}

/** Asks for another name of the one selected thing. */
export async function renameSelected(app: App): Promise<void> {
  const { store } = app;
  const entries = entriesOf(store, store.selection);
  const [entry] = entries;
  if (!entry || entries.length !== 1) {
    app.toast(t.selectOne, 'error');
    return;
  }
  const why = entry.fixed ?? whyNotEdit(store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  const now = entry.name ?? nameOf(store, [...store.selection][0] ?? '');
  const input = h('input', {
    type: 'text',
    value: now,
    data: { first: '' },
    aria: { label: t.name },
    spellcheck: false,
  });
  input.addEventListener('focus', () => input.select());
  const answer = await ask(
    t.rename,
    [input],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.rename, value: 'rename', primary: true, check: () => input.value.trim() !== '' },
    ],
    'rename',
  );
  const name = input.value.trim();
  if (answer !== 'rename' || name === now) return;
  const known = new Set(store.world?.entryOf.keys() ?? []);
  const index = store.world?.entries.indexOf(entry) ?? -1;
  const done = await editsOf(app).change(t.stepRename(now, name), [{ op: 'rename', entry: entry.key, name }]);
  if (!done) return;
  const renamed = store.world?.entries[index];
  const ids = renamed?.paths.filter((p) => !p.startsWith('/types/') && !known.has(p)) ?? [];
  store.select(ids.length > 0 ? ids : renamed ? [renamed.key] : []);
  app.announce(t.stepRename(now, name));
}
