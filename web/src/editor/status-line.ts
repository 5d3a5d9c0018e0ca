/** The line below: settings of what was clicked, hints of tools, the grid, and whether changes are unsaved. */

import '../styles/editor.css';
import type { App } from '../app';
import { command, run } from '../commands';
import { h } from '../dom';
import { icon } from '../icons';
import { t } from '../strings';
import { hintPlace } from './hints';
import { startEditor } from './start';
import { describe, oneLine } from './subject';

const STEPS = [0.01, 0.05, 0.1, 0.25, 0.5, 1];

export function mountStatusLine(app: App): HTMLElement {
  startEditor(app);
  const { store } = app;
  const settings = h('span', { class: 'settings', data: { test: 'clicked' } });
  const file = h('span', { class: 'file', data: { test: 'file' } });
  const snap = h(
    'button',
    { type: 'button', class: 'snap', data: { command: 'edit.snap' }, on: { click: () => run('edit.snap') } },
    icon('snap', 15),
    h('span', {}, t.snapShort),
  );
  const step = h(
    'select',
    { aria: { label: t.gridStep }, title: t.gridStep, on: { change: () => setStep(Number(step.value)) } },
    ...STEPS.map((s) => h('option', { value: String(s) }, s < 1 ? `${Math.round(s * 100)} cm` : `${s} m`)),
  );
  const setStep = (value: number): void => {
    store.step = value;
    store.changed('settings');
  };
  const showSelection = (): void => {
    const ids = [...store.selection];
    const [first] = ids;
    settings.textContent =
      first === undefined
        ? ''
        : ids.length === 1
          ? oneLine(app, first)
          : t.selectedWhat(describe(store, ids));
    settings.title = settings.textContent;
  };
  const showSettings = (): void => {
    const { title, keys, pressed } = command('edit.snap');
    snap.title = `${title} (${keys?.[0] ?? ''})`;
    snap.setAttribute('aria-label', title);
    snap.setAttribute('aria-pressed', String(pressed?.() ?? false));
    step.value = String(store.step);
  };
  const showFile = (): void => {
    const { status } = store;
    const isDirty = status?.dirty ?? false;
    document.body.dataset['dirty'] = String(isDirty);
    file.textContent = status ? `${isDirty ? '● ' : ''}${status.file ?? t.untitled}` : '';
    file.title = isDirty ? t.unsaved : t.allSaved;
  };
  store.on(['selection', 'world'], showSelection);
  store.on('settings', showSettings);
  store.on('status', showFile);
  showSettings();
  return h('div', { class: 'status-bar' }, settings, hintPlace(app), snap, step, file);
}
