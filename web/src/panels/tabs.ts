/**
 * Console, problems, plots, messages, code and, of a spread run, workers: tabs below the timeline, built when they are
 * first shown.
 */

import type { App } from '../app';
import { register } from '../commands';
import { h } from '../dom';
import { recall, remember } from '../settings';
import { t } from '../strings';
import { commandButton } from './buttons';
import { CodePane } from './code-pane';
import { ConsolePane } from './console-pane';
import { setDesk } from './desk';
import { mountMessages } from './messages';
import { mountPlots } from './plots';
import { mountProblems } from './problems';
import type { Shell } from './shell';
import { mountWorkers } from './workers';

const TABS = ['console', 'problems', 'plots', 'messages', 'code', 'workers'] as const;
type TabId = (typeof TABS)[number];

export function mountTabs(app: App, shell: Shell): HTMLElement {
  const code = new CodePane(app);
  const plots = mountPlots(app);
  const messages = mountMessages(app);
  const workers = mountWorkers(app);
  const badge = h('span', { class: 'count', hidden: true, data: { test: 'problem-count' } });
  const contents: Record<TabId, HTMLElement> = {
    console: new ConsolePane(app).element,
    problems: mountProblems(app, badge),
    plots: plots.element,
    messages: messages.element,
    code: code.element,
    workers: workers.element,
  };
  const titles: Record<TabId, string> = {
    console: t.console,
    problems: t.problems,
    plots: t.plots,
    messages: t.messages,
    code: t.code,
    workers: t.workers,
  };
  let active: TabId = TABS.find((id) => id === recall('tab')) ?? 'console';

  const tab = (id: TabId): HTMLButtonElement =>
    h(
      'button',
      {
        class: 'tab',
        id: `tab-${id}`,
        role: 'tab',
        aria: { controls: `pane-${id}` },
        data: { tab: id },
        on: { click: () => show(id) },
      },
      titles[id],
      id === 'problems' && badge,
    );
  const buttons = TABS.map(tab);
  const panes = TABS.map((id) =>
    h(
      'div',
      {
        class: 'pane',
        id: `pane-${id}`,
        role: 'tabpanel',
        aria: { labelledby: `tab-${id}` },
        data: { pane: id },
      },
      contents[id],
    ),
  );
  const show = (id: TabId): void => {
    active = id;
    remember('tab', id);
    shell.show('bottom');
    mark();
    if (id === 'code') code.shown();
    if (id === 'plots') plots.shown();
    messages.shown(id === 'messages');
    workers.shown(id === 'workers');
  };
  /** Tabs that can be chosen: there are workers only of a run that is spread. */
  const usable = (): TabId[] => TABS.filter((id) => id !== 'workers' || app.store.status?.spread);
  const mark = (): void => {
    TABS.forEach((id, k) => {
      buttons[k]?.setAttribute('aria-selected', String(id === active));
      if (buttons[k]) {
        buttons[k].tabIndex = id === active ? 0 : -1;
        buttons[k].hidden = !usable().includes(id);
      }
      if (panes[k]) panes[k].hidden = id !== active;
    });
  };
  const list = h('div', { class: 'tab-list', role: 'tablist', aria: { label: t.bottomTabs } }, ...buttons);
  list.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const all = usable();
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? all.length - 1 : all.indexOf(active) + by;
    if (by === 0 && !['Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    if (next) show(next);
    buttons[TABS.indexOf(active)]?.focus();
  });
  register(
    ...TABS.map((id) => ({
      id: `tab.${id}`,
      title: t.showTab(titles[id]),
      group: 'View' as const,
      ...(id === 'workers' ? { refused: () => (app.store.status?.spread ? null : t.notSpread) } : {}),
      run: () => show(id),
    })),
  );
  setDesk({
    plot: (probe) => {
      show('plots');
      plots.add(probe);
    },
    source: (file, line, column) => {
      show('code');
      code.open(file, line, column);
    },
  });
  let wasSpread: boolean | undefined;
  app.store.on('status', () => {
    const isSpread = app.store.status?.spread ?? false;
    if (isSpread === wasSpread) return;
    wasSpread = isSpread;
    if (active === 'workers' && !isSpread) show('console');
    mark();
  });
  mark();
  if (active === 'code') code.shown();
  if (active === 'plots') plots.shown();
  if (active === 'messages') messages.shown(true);
  if (active === 'workers') workers.shown(true);
  return h(
    'div',
    { class: 'tabs', data: { tour: 'tabs' } },
    h(
      'div',
      { class: 'tab-bar' },
      list,
      h('div', { class: 'spring' }),
      commandButton('panel.bottom', 'down'),
    ),
    ...panes,
  );
}
