/** The line of time. */

import type { App } from '../app';
import { h } from '../dom';

export function mountTimeline(_app: App): HTMLElement {
  return h('div');
}
