/**
 * Where everything stands: run controls above, palette and outline left, canvas in the middle,
 * properties right, timeline and tabs below.
 */

import type { App } from './app';
import { h } from './dom';
import { runBar } from './panels/run-bar';
import { mountCanvas } from './view/canvas';

export function layout(app: App): HTMLElement {
  return h(
    'div',
    { class: 'page' },
    h('header', { class: 'top' }, runBar(app)),
    h('aside', { class: 'left', aria: { label: 'Palette and outline' } }),
    h('main', { class: 'centre' }, mountCanvas(app)),
    h('aside', { class: 'right', aria: { label: 'Properties' } }),
    h('section', { class: 'bottom', aria: { label: 'Timeline and panels' } }),
    h('footer', { class: 'status-line' }),
  );
}
