/**
 * Where everything stands: run controls above, palette and outline left, canvas in the middle,
 * properties and inspector right, timeline and tabs below.
 */

import type { App } from './app';
import { h } from './dom';
import { mountOutline } from './editor/outline';
import { mountPalette } from './editor/palette';
import { mountProperties } from './editor/properties';
import { mountStatusLine } from './editor/status-line';
import { mountInspector } from './panels/inspector';
import { mountRunBar } from './panels/run-bar';
import { mountTabs } from './panels/tabs';
import { mountTimeline } from './panels/timeline';
import { t } from './strings';
import { mountCanvas } from './view/canvas';

export function layout(app: App): HTMLElement {
  return h(
    'div',
    { class: 'page' },
    h('header', { class: 'top' }, mountRunBar(app)),
    h('aside', { class: 'left', aria: { label: t.paletteAndOutline } }, mountPalette(app), mountOutline(app)),
    h('main', { class: 'centre' }, mountCanvas(app)),
    h('aside', { class: 'right', aria: { label: t.properties } }, mountProperties(app), mountInspector(app)),
    h('section', { class: 'bottom', aria: { label: t.bottom } }, mountTimeline(app), mountTabs(app)),
    h('footer', { class: 'status-line' }, mountStatusLine(app)),
  );
}
