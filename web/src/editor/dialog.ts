/** Dialogs that ask for something: a title, fields, and buttons of which one is the answer. */

import { h, type Child } from '../dom';
import { t } from '../strings';
import { icon } from './icons';

export interface Choice {
  title: string;
  value: string;
  /** The one that Enter chooses. */
  primary?: boolean;
  /** Closes nothing when it answers false: something is missing. */
  check?: () => boolean;
}

let serial = 0;

/** Shows a dialog and waits for one of its buttons; `null` when it was closed without one. */
export function ask(title: string, body: Child[], choices: Choice[], name?: string): Promise<string | null> {
  return new Promise((resolve) => {
    let answer: string | null = null;
    const titleId = `dialog-title-${++serial}`;
    const dialog = h('dialog', {
      class: 'editor-dialog',
      aria: { labelledby: titleId },
      data: { test: name ?? 'dialog' },
    });
    const close = (choice: Choice): void => {
      if (choice.check && !choice.check()) return;
      answer = choice.value;
      dialog.close();
    };
    const form = h(
      'form',
      {
        method: 'dialog',
        on: {
          submit: (event) => {
            event.preventDefault();
            const primary = choices.find((c) => c.primary);
            if (primary) close(primary);
          },
        },
      },
      h(
        'header',
        {},
        h('h2', { id: titleId }, title),
        h(
          'button',
          { type: 'button', class: 'plain', aria: { label: t.close }, on: { click: () => dialog.close() } },
          icon('remove', 16),
        ),
      ),
      h('div', { class: 'dialog-body' }, ...body),
      choices.length > 0 &&
        h(
          'footer',
          {},
          ...choices.map((c) =>
            h(
              'button',
              {
                type: c.primary ? ('submit' as const) : ('button' as const),
                class: c.primary ? 'primary' : '',
                data: { answer: c.value },
                on: c.primary ? {} : { click: () => close(c) },
              },
              c.title,
            ),
          ),
        ),
    );
    dialog.append(form);
    const before = document.activeElement;
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(answer);
    });
    // Keys typed here are not commands of the page, except for closing.
    dialog.addEventListener('keydown', (event) => event.stopPropagation());
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector<HTMLElement>('[data-first]')?.focus();
  });
}

/** Closes the dialog that an element stands in, without an answer. */
export function closeDialogOf(element: Element): void {
  element.closest('dialog')?.close();
}

/** A row of a dialog: a label and its field. */
export function row(label: string, field: HTMLElement, hint?: string): HTMLElement {
  return h('label', { class: 'dialog-row' }, h('span', {}, label), field, hint ? h('small', {}, hint) : null);
}
