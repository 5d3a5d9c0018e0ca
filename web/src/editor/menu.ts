/** The context menu: the same commands as everywhere, with their keys. */

import type { App } from '../app';
import { all, run, type Command } from '../commands';
import { h } from '../dom';
import { t } from '../strings';
import { viewOf } from '../view/view';
import { placedIds } from './handles';
import { middleOf } from './moves';

const OPTIONAL = ['edit.corners', 'edit.split'];

let open: HTMLElement | null = null;

/** Opens the menu at a place of the window. */
export function openMenu(_app: App, clientX: number, clientY: number): void {
  open?.remove();
  const before = document.activeElement;
  const items = all()
    // What this selection does not have is left out; what is off for another reason says why.
    .filter((c) => c.menu && !(OPTIONAL.includes(c.id) && (c.refused?.() ?? null) !== null))
    .map((c) => itemOf(c, () => close(before)));
  const menu = h(
    'div',
    { class: 'context-menu', role: 'menu', tabIndex: -1, aria: { label: t.menu }, data: { test: 'menu' } },
    ...items,
  );
  menu.addEventListener('keydown', (event) => {
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    const to: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + items.length,
      Home: 0,
      End: items.length - 1,
    };
    const next = to[event.key];
    event.stopPropagation();
    if (next !== undefined) items[next % items.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close(before);
    else return;
    event.preventDefault();
  });
  menu.addEventListener('contextmenu', (event) => event.preventDefault());
  document.body.append(menu);
  const { offsetWidth, offsetHeight } = menu;
  menu.style.left = `${Math.max(4, Math.min(clientX, innerWidth - offsetWidth - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(clientY, innerHeight - offsetHeight - 4))}px`;
  open = menu;
  (items.find((i) => i.getAttribute('aria-disabled') !== 'true') ?? items[0])?.focus();
  addEventListener('pointerdown', outside, true);
}

function outside(event: PointerEvent): void {
  if (open && event.target instanceof Node && open.contains(event.target)) return;
  close(null);
}

function close(before: Element | null): void {
  open?.remove();
  open = null;
  removeEventListener('pointerdown', outside, true);
  if (before instanceof HTMLElement) before.focus();
}

function itemOf(command: Command, done: () => void): HTMLButtonElement {
  const why = command.refused?.() ?? null;
  const keys = command.keys?.[0];
  return h(
    'button',
    {
      type: 'button',
      role: command.pressed ? 'menuitemcheckbox' : 'menuitem',
      tabIndex: -1,
      title: why ?? '',
      data: { command: command.id },
      aria: {
        disabled: String(why !== null),
        ...(command.pressed ? { checked: String(command.pressed()) } : {}),
      },
      on: {
        click: () => {
          done();
          run(command.id);
        },
      },
    },
    h('span', {}, command.title),
    keys ? h('kbd', {}, keys.replace('Arrow', '')) : null,
  );
}

/** Opens the menu where the selection is, for those without a pointer. */
export function openMenuAtSelection(app: App): void {
  const [id] = placedIds(app);
  const view = viewOf(app);
  const row = document.querySelector('[role="treeitem"][aria-selected="true"]');
  if (id !== undefined) {
    const { x, y } = view.toScreen(...middleOf(app, id));
    openMenu(app, x, y);
  } else {
    const box = (row ?? view.canvas).getBoundingClientRect();
    openMenu(app, box.left + box.width / 2, box.top + box.height / 2);
  }
}
