/** The run controls above the canvas. */

import type { App } from '../app';
import { h } from '../dom';
import { register, run } from '../commands';
import { t } from '../strings';

export function mountRunBar(app: App): HTMLElement {
  const { store } = app;
  const refused = (): string | null => (store.isConsole ? null : t.needControl);
  register(
    { id: 'run.start', title: t.start, group: 'Run', refused, run: () => void app.do('start') },
    { id: 'run.pause', title: t.pause, group: 'Run', refused, run: () => void app.do('pause') },
    { id: 'run.step', title: t.step, group: 'Run', keys: ['.'], refused, run: () => void app.do('step') },
    { id: 'run.reset', title: t.reset, group: 'Run', refused, run: () => void app.do('reset') },
  );
  const tick = h('output', { class: 'tick' });
  const button = (id: string, title: string): HTMLElement =>
    h('button', { on: { click: () => run(id) } }, title);
  store.on('status', () => {
    const s = store.status;
    if (s) tick.textContent = `${s.stop} · ${s.time.toFixed(2)} s`;
  });
  return h(
    'div',
    { class: 'run-bar', role: 'toolbar', aria: { label: 'Run' } },
    button('run.start', t.start),
    button('run.pause', t.pause),
    button('run.step', t.step),
    button('run.reset', t.reset),
    tick,
  );
}
