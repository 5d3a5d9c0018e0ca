/** Quantum length and level of detail: what a step is. */

import type { App } from '../app';
import { h } from '../dom';
import { t } from '../strings';

const LEVELS = ['coarse', 'normal', 'fine'] as const;

export function runOptions(app: App): HTMLElement {
  const { store } = app;
  const quantum = h('input', {
    type: 'text',
    size: 8,
    name: 'quantum',
    autocomplete: 'off',
    spellcheck: false,
  });
  const level = h(
    'select',
    { name: 'detail' },
    ...LEVELS.map((name) => h('option', { value: name }, t.levels[name])),
  );
  const why = h('p', { class: 'faint' });
  const form = h(
    'form',
    { class: 'panel-form' },
    h('label', {}, h('span', {}, t.quantum), quantum),
    h('label', {}, h('span', {}, t.detail), level),
    why,
  );
  const show = (): void => {
    const s = store.status;
    if (s && document.activeElement !== quantum)
      quantum.value = `${Number((s.quantum * 1000).toPrecision(6))}ms`;
    if (s && document.activeElement !== level) level.value = s.detail;
    const locked = !store.isConsole || s?.mode === 'replay';
    quantum.disabled = level.disabled = locked;
    why.textContent = !store.isConsole
      ? t.needControl
      : s?.mode === 'replay'
        ? t.replayFixed
        : t.fromNextStep;
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    quantum.blur();
  });
  quantum.addEventListener('change', () => {
    const value = quantum.value.trim();
    void app.do('quantum', { value: /^[\d.]+$/.test(value) ? `${value}ms` : value }).then(show);
  });
  level.addEventListener('change', () => void app.do('detail', { level: level.value }).then(show));
  store.on(['status', 'control'], show);
  show();
  return form;
}
