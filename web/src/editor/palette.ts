/** What can be put into the world, to be dragged onto the canvas. */

import type { App } from '../app';
import { h } from '../dom';

export function mountPalette(_app: App): HTMLElement {
  return h('div');
}
