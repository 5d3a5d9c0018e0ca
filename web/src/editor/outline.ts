/** Everything in the world as a tree, beside the canvas. */

import type { App } from '../app';
import { h } from '../dom';

export function mountOutline(_app: App): HTMLElement {
  return h('div');
}
