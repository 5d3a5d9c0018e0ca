/** Undo and redo, for the bar above the canvas: they name the step, and are off when there is none. */

import type { App } from '../app';
import { command, run } from '../commands';
import { h } from '../dom';
import { icon } from '../icons';
import { startEditor } from './start';

export function mountEditButtons(app: App): HTMLElement {
  startEditor(app);
  const { store } = app;
  const button = (id: 'edit.undo' | 'edit.redo', symbol: 'undo' | 'redo'): HTMLElement => {
    const element = h(
      'button',
      { type: 'button', class: 'edit-button', data: { command: id }, on: { click: () => run(id) } },
      icon(symbol),
    );
    const show = (): void => {
      const { title, keys, refused } = command(id);
      element.disabled = (refused?.() ?? null) !== null;
      element.title = `${title} (${keys?.[0] ?? ''})`;
      element.setAttribute('aria-label', title);
    };
    store.on(['status', 'control', 'world', 'link'], show);
    show();
    return element;
  };
  return h('span', { class: 'edit-buttons' }, button('edit.undo', 'undo'), button('edit.redo', 'redo'));
}
