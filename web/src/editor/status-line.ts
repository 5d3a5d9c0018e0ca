/** The settings of what was clicked, in one line. */

import type { App } from '../app';
import { h } from '../dom';

export function mountStatusLine(_app: App): HTMLElement {
  return h('div');
}
