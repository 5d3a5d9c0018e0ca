/** Console, problems, plots, messages and code: tabs below the timeline, built when they are first shown. */

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

const TABS = ['console', 'problems', 'plots', 'messages', 'code'] as const;
type TabId = (typeof TABS)[number];

export function mountTabs(app: App, shell: Shell): HTMLElement {
  const code = new CodePane(app);
  const plots = mountPlots(app);
  const messages = mountMessages(app);
  const badge = h('span', { class: 'count', hidden: true, data: { test: 'problem-count' } });
  const contents: Record<TabId, HTMLElement> = {
    console: new ConsolePane(app).element,
    problems: mountProblems(app, badge),
    plots: plots.element,
    messages: messages.element,
    code: code.element,
  };
  const titles: Record<TabId, string> = {
    console: t.console,
    problems: t.problems,
    plots: t.plots,
    messages: t.messages,
    code: t.code,
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
  };
  const mark = (): void => {
    TABS.forEach((id, k) => {
      buttons[k]?.setAttribute('aria-selected', String(id === active));
      if (buttons[k]) buttons[k].tabIndex = id === active ? 0 : -1;
      if (panes[k]) panes[k].hidden = id !== active;
    });
  };
  const list = h('div', { class: 'tab-list', role: 'tablist', aria: { label: t.bottomTabs } }, ...buttons);
  list.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? TABS.length - 1 : TABS.indexOf(active) + by;
    if (by === 0 && !['Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    const next = TABS[(to + TABS.length) % TABS.length];
    if (next) show(next);
    buttons[TABS.indexOf(active)]?.focus();
  });
  register(
    ...TABS.map((id) => ({
      id: `tab.${id}`,
      title: t.showTab(titles[id]),
      group: 'View' as const,
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
  mark();
  if (active === 'code') code.shown();
  if (active === 'plots') plots.shown();
  if (active === 'messages') messages.shown(true);
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
