/**
 * Where everything stands: run controls above, palette and outline left, canvas in the middle,
 * properties and inspector right, timeline and tabs below. Panels can be resized and hidden; on narrow
 * windows the sides are drawers.
 */

import type { App } from './app';
import { onRefused } from './commands';
import { h } from './dom';
import { mountOutline } from './editor/outline';
import { mountPalette } from './editor/palette';
import { mountProperties } from './editor/properties';
import { mountStatusLine } from './editor/status-line';
import { mountBanners } from './panels/banners';
import { registerHelpCommands } from './panels/help-commands';
import { mountInspector } from './panels/inspector';
import { mountRunBar } from './panels/run-bar';
import { registerRunCommands } from './panels/run-commands';
import { Shell } from './panels/shell';
import { mountTabs } from './panels/tabs';
import { mountTimeline } from './panels/timeline';
import { t } from './strings';
import './styles/messages.css';
import './styles/panels.css';
import './styles/workers.css';
import { mountCanvas } from './view/canvas';

export function layout(app: App): HTMLElement {
  onRefused((why) => app.toast(why, 'error'));
  const page = h('div', { class: 'page' });
  const shell = new Shell(page);
  registerRunCommands(app);
  registerHelpCommands(app);
  const top = h('header', { class: 'top' }, mountRunBar(app), mountBanners(app));
  const left = h(
    'aside',
    { class: 'left', id: 'left', aria: { label: t.paletteAndOutline }, data: { tour: 'left' } },
    mountPalette(app),
    mountOutline(app),
  );
  const centre = h('main', { class: 'centre', data: { tour: 'canvas' } }, mountCanvas(app));
  const right = h(
    'aside',
    { class: 'right', id: 'right', aria: { label: t.properties }, data: { tour: 'right' } },
    mountProperties(app),
    mountInspector(app),
  );
  const bottom = h(
    'section',
    { class: 'bottom', aria: { label: t.bottom } },
    mountTimeline(app),
    mountTabs(app, shell),
  );
  const status = h('footer', { class: 'status-line' }, mountStatusLine(app));
  page.append(
    top,
    left,
    shell.splitter('left'),
    centre,
    shell.splitter('right'),
    right,
    shell.splitter('bottom'),
    bottom,
    status,
  );
  return page;
}
