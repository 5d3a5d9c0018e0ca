/** Undo and redo, in the bar above. */

import type { App } from '../app';
import { h } from '../dom';

export function mountEditButtons(_app: App): HTMLElement {
  return h('span');
}
