/** What the selected robots see, do and hold in their registers. */

import type { App } from '../app';
import { h } from '../dom';

export function mountInspector(_app: App): HTMLElement {
  return h('div');
}
