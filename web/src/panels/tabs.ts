/** Console, problems, plots and code. */

import type { App } from '../app';
import { h } from '../dom';

export function mountTabs(_app: App): HTMLElement {
  return h('div');
}
