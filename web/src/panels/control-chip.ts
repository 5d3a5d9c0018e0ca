/** Who holds control, and how to ask for it, hand it on, refuse or take it. */

import type { App } from '../app';
import { run } from '../commands';
import { fill, h } from '../dom';
import { icon } from '../icons';
import { t } from '../strings';
import { attachPopover } from './popover';

export function controlChip(app: App): HTMLElement {
  const { store } = app;
  const words = h('span', { class: 'chip-words' });
  const asking = h('span', { class: 'count', hidden: true });
  const button = h(
    'button',
    { class: 'chip', title: t.control, data: { test: 'control' } },
    icon('person'),
    words,
    asking,
  );
  const list = h('div', { class: 'control-list' });
  const box = attachPopover(button, t.control, list);
  const act = (title: string, run: () => void): HTMLElement => h('button', { on: { click: run } }, title);
  const give = (to: string | null): void => void app.do('control.give', { to });

  const show = (): void => {
    const { holder, clients } = store.control;
    const wanted = store.control.asking;
    const mine = store.isConsole;
    words.textContent = mine ? t.youControl : holder ? t.controls(holder.name) : t.nobodyControls;
    button.setAttribute('aria-label', words.textContent);
    button.dataset['mine'] = String(mine);
    asking.hidden = !mine || wanted.length === 0;
    asking.textContent = String(wanted.length);
    fill(
      list,
      h('p', {}, mine ? t.youControlLong : holder ? t.othersControlLong(holder.name) : t.nobodyControlsLong),
      ...wanted.map((client) =>
        h(
          'div',
          { class: 'row' },
          h('span', {}, t.asks(client.name)),
          mine && act(t.give, () => give(client.id)),
          mine && act(t.deny, () => void app.do('control.deny', { to: client.id })),
        ),
      ),
      mine && clients.length > 1 && h('h3', {}, t.handTo),
      ...(mine ? clients : [])
        .filter((c) => c.id !== store.me && !wanted.some((w) => w.id === c.id))
        .map((c) =>
          h(
            'div',
            { class: 'row' },
            h('span', {}, c.name),
            act(t.give, () => give(c.id)),
          ),
        ),
      h(
        'div',
        { class: 'row actions' },
        mine && act(t.releaseControl, () => run('control.release')),
        !mine && act(t.askControl, () => run('control.ask')),
        !mine && holder && act(t.takeControl, () => run('control.take')),
      ),
    );
  };
  let known = 0;
  store.on('control', () => {
    show();
    const wanted = store.isConsole ? store.control.asking : [];
    const last = wanted.at(-1);
    if (last && wanted.length > known)
      app.toast(t.asks(last.name), 'info', { title: t.give, run: () => give(last.id) });
    known = wanted.length;
  });
  store.on('link', show);
  show();
  return h('span', {}, button, box);
}
