/** What the person must know now: a lost connection, robots that are waited for, a run that ended in an error. */

import type { App } from '../app';
import { run } from '../commands';
import { fill, h, type Child } from '../dom';
import { icon } from '../icons';
import { shortName } from '../names';
import { recall, remember } from '../settings';
import { t } from '../strings';

/** How long the first connection may take before the page says so. */
const PATIENCE_MS = 1_000;

export function mountBanners(app: App): HTMLElement {
  const link = linkBanner(app);
  const waiting = waitingBanner(app);
  return h('div', { class: 'banners' }, link, waiting, welcome(app));
}

function linkBanner(app: App): HTMLElement {
  const { store } = app;
  const box = h('div', { class: 'banner error', role: 'alert', hidden: true, data: { test: 'lost' } });
  let opened = false;
  let late = false;
  const show = (): void => {
    if (store.link === 'open') opened = true;
    const closed = store.link === 'refused';
    box.hidden = store.link === 'open' || (!opened && !late && !closed);
    if (box.hidden) return;
    const words = closed ? t.refusedBecause(store.linkWhy) : opened ? t.connectionLost : t.connecting;
    if (box.dataset['words'] === words && box.firstChild) return;
    box.dataset['words'] = words;
    fill(
      box,
      icon('warning'),
      h('span', {}, words),
      closed && h('button', { on: { click: () => location.reload() } }, t.reload),
    );
  };
  store.on('link', show);
  setTimeout(() => {
    late = true;
    show();
  }, PATIENCE_MS);
  return box;
}

/** "Waiting for robot 7 (12 s)", with what can be done about it. */
function waitingBanner(app: App): HTMLElement {
  const { store } = app;
  const words = h('span', {});
  const act = (title: string, what: string, more: Record<string, unknown> = {}): HTMLButtonElement =>
    h(
      'button',
      { on: { click: () => robot() !== undefined && void app.do(what, { robot: robot(), ...more }) } },
      title,
    );
  const robot = (): string | undefined => store.status?.waiting[0]?.robot;
  const buttons = [act(t.skip, 'skip'), act(t.restart, 'restart'), act(t.halt, 'halt', { on: true })];
  const why = h('span', { class: 'faint' });
  const box = h(
    'div',
    { class: 'banner warning', role: 'status', hidden: true, data: { test: 'waiting' } },
    icon('warning'),
    words,
    ...buttons,
    why,
  );
  store.on(['status', 'control'], () => {
    const list = store.status?.waiting ?? [];
    const first = list[0];
    box.hidden = !first;
    if (!first) return;
    words.textContent = t.waitingFor(shortName(first.robot), Math.floor(first.seconds), list.length - 1);
    for (const button of buttons) button.disabled = !store.isConsole;
    why.textContent = store.isConsole ? '' : t.needControl;
  });
  return box;
}

/** A strip for those who are here for the first time; it takes no space from anyone else. */
function welcome(app: App): HTMLElement {
  const { store } = app;
  const done = (): void => {
    remember('welcomed', true);
    box.hidden = true;
  };
  const link = (title: string, id: string): Child =>
    h(
      'button',
      {
        on: {
          click: () => {
            done();
            run(id);
          },
        },
      },
      title,
    );
  const box = h(
    'div',
    { class: 'banner', hidden: recall('welcomed') === true, data: { test: 'welcome' } },
    h('span', {}, t.welcome),
    link(t.takeTour, 'help.tour'),
    link(t.browseWorlds, 'file.gallery'),
    h(
      'button',
      { class: 'plain only-icon', aria: { label: t.dismissWelcome }, on: { click: done } },
      icon('close'),
    ),
  );
  store.on('settings', () => (box.hidden = recall('welcomed') === true));
  return box;
}
