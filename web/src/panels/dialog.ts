/** Dialogs and pop-overs: one way to open each, so that all behave alike. */

import { h, type Child } from '../dom';
import { icon } from '../icons';
import { t } from '../strings';

/** Opens a modal dialog; it is removed when it closes. */
export function openDialog(
  title: string,
  options: { class?: string; test: string },
  ...content: Child[]
): HTMLDialogElement {
  const close = h(
    'button',
    { class: 'plain only-icon', aria: { label: t.close }, on: { click: () => dialog.close() } },
    icon('close'),
  );
  const dialog = h(
    'dialog',
    {
      class: `dialog ${options.class ?? ''}`,
      aria: { label: title },
      data: { test: options.test },
      on: {
        close: () => dialog.remove(),
        click: (event) => {
          // A click on the dialog itself, not on what is in it, is one beside it.
          if (event.target === dialog && !inside(dialog, event)) dialog.close();
        },
      },
    },
    h('header', {}, h('h2', {}, title), close),
    ...content,
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function inside(element: Element, event: MouseEvent): boolean {
  const box = element.getBoundingClientRect();
  return (
    event.clientX >= box.left &&
    event.clientX <= box.right &&
    event.clientY >= box.top &&
    event.clientY <= box.bottom
  );
}

/** Asks before something that cannot be taken back. */
export function confirmDialog(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    let agreed = false;
    const agree = (): void => {
      agreed = true;
      dialog.close();
    };
    const dialog = openDialog(
      title,
      { class: 'small', test: 'confirm' },
      h('p', {}, text),
      h(
        'footer',
        {},
        h('button', { on: { click: () => dialog.close() } }, t.cancel),
        h('button', { class: 'primary', on: { click: agree } }, yes),
      ),
    );
    dialog.addEventListener('close', () => resolve(agreed));
  });
}

let popovers = 0;

/** Makes `button` open a pop-over below it, which closes by Escape or a click elsewhere. */
export function attachPopover(button: HTMLButtonElement, label: string, ...content: Child[]): HTMLElement {
  const id = `popover-${++popovers}`;
  const place = (): void => {
    const at = button.getBoundingClientRect();
    const wide = Math.min(box.offsetWidth, innerWidth - 16);
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - wide - 8))}px`;
    const below = at.bottom + 4;
    const fits = below + box.offsetHeight <= innerHeight - 8;
    box.style.top = `${fits ? below : Math.max(8, at.top - box.offsetHeight - 4)}px`;
  };
  const box = h(
    'div',
    {
      id,
      class: 'popover',
      popover: 'auto',
      role: 'dialog',
      aria: { label },
      on: {
        toggle: (event) => {
          const open = (event as ToggleEvent).newState === 'open';
          button.setAttribute('aria-expanded', String(open));
          if (open) place();
        },
      },
    },
    ...content,
  );
  button.setAttribute('aria-expanded', 'false');
  button.setAttribute('aria-controls', id);
  button.popoverTargetElement = box;
  return box;
}
