/** The settings of what is selected. */

import type { App } from '../app';
import { h } from '../dom';

export function mountProperties(_app: App): HTMLElement {
  return h('div');
}
