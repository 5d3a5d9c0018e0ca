/** Buttons that are readings of the command list. */

import { command, run, type Command } from '../commands';
import { h } from '../dom';
import { icon, type IconName } from '../icons';

/** The title of a command with its keys, as tooltips show it. */
export function titleWithKeys(c: Command): string {
  const keys = shownKeys(c);
  return keys ? `${c.title} (${keys})` : c.title;
}

export function shownKeys(c: Command): string {
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  const named = (c.keys ?? []).map((k) =>
    k
      .replace('Ctrl', mac ? '⌘' : 'Ctrl')
      .replace('ArrowLeft', '←')
      .replace('ArrowRight', '→'),
  );
  return [...named, ...(c.hint ? [c.hint] : [])].join(', ');
}

/** A button that does a command. A click with a mouse leaves no focus behind, so that Space keeps starting and pausing. */
export function commandButton(id: string, iconName: IconName, words?: string): HTMLButtonElement {
  const c = command(id);
  const button = h(
    'button',
    {
      class: words ? '' : 'only-icon',
      title: titleWithKeys(c),
      data: { command: id },
      on: {
        click: (event) => {
          run(id);
          if (event.detail > 0) button.blur();
        },
      },
    },
    icon(iconName),
    words && h('span', { class: 'words' }, words),
  );
  if (!words) button.setAttribute('aria-label', c.title);
  return button;
}

/** A button with an icon and no command of its own. */
export function iconButton(label: string, iconName: IconName, click: () => void): HTMLButtonElement {
  return h(
    'button',
    { class: 'plain only-icon', title: label, aria: { label }, on: { click } },
    icon(iconName),
  );
}
