/** What is wrong with the scenario and the programs; a click selects the object and opens its text. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { icon } from '../icons';
import type { Diagnostic } from '../protocol';
import { t } from '../strings';
import { theDesk } from './desk';
import { placed } from './diagnostics';

export function mountProblems(app: App, badge: HTMLElement): HTMLElement {
  const { store } = app;
  const list = h('ul', { class: 'problems', data: { test: 'problems' } });
  const show = (): void => {
    const all = (['open', 'document', 'code'] as const).flatMap((from) =>
      placed(store.problems[from], store.world?.file ?? null),
    );
    const errors = all.filter((d) => d.severity === 'error').length;
    badge.textContent = String(all.length);
    badge.hidden = all.length === 0;
    badge.title = t.problemCount(errors, all.length - errors);
    badge.classList.toggle('error', errors > 0);
    if (all.length === 0) fill(list, h('li', { class: 'empty' }, t.noProblems));
    else fill(list, ...all.map((d) => h('li', {}, row(app, d))));
  };
  store.on('problems', show);
  store.on('world', () => {
    // Another world came: what could not be opened before is of the past.
    if (store.problems.open.length === 0) return;
    store.problems = { ...store.problems, open: [] };
    store.changed('problems');
  });
  show();
  return list;
}

/** `file:line:col`, as far as it is known. */
export function place(d: Diagnostic): string {
  return [d.file ?? '', ...[d.line, d.column].filter((n) => n !== null)].filter((p) => p !== '').join(':');
}

function row(app: App, d: Diagnostic): HTMLElement {
  const names = { error: 'error', warning: 'warning', note: 'info' } as const;
  return h(
    'button',
    { class: `plain problem ${d.severity}`, data: { code: d.code }, on: { click: () => goTo(app, d) } },
    icon(names[d.severity]),
    h('span', { class: 'unseen' }, t.severities[d.severity]),
    h('span', { class: 'words' }, h('span', {}, d.message), d.help && h('span', { class: 'faint' }, d.help)),
    h('code', { class: 'faint' }, place(d)),
  );
}

function goTo(app: App, d: Diagnostic): void {
  const { store } = app;
  const inDocument = d.file === null || d.file === store.world?.file;
  const line = inDocument ? d.line : null;
  const entry = line === null ? undefined : store.world?.entries.findLast((e) => e.line <= line);
  const object = d.path !== null && store.exists(d.path) ? d.path : (entry?.paths[0] ?? entry?.key);
  if (object !== undefined && store.exists(object)) store.select([object]);
  theDesk()?.source(d.file === store.world?.file ? null : d.file, d.line, d.column);
}
