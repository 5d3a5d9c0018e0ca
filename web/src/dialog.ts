/**
 * Dialogs: one way to open them, so that all behave alike.
 *
 * In: a title, what is in it, and for a question its answers. Out: the dialog, or the answer.
 * A closed dialog is never left on the page.
 */

import './styles/dialog.css';
import { h, type Child } from './dom';
import { icon } from './icons';
import { t } from './strings';

interface Options {
  class?: string;
  test: string;
  /** Whether a click beside it closes it; it does unless this says `stays`. */
  beside?: 'closes' | 'stays';
}

/** Opens a modal dialog; it is removed when it closes. */
export function openDialog(title: string, options: Options, ...content: Child[]): HTMLDialogElement {
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
          if (options.beside === 'stays') return;
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

/** An answer to a question, with its button. */
export interface Choice {
  title: string;
  value: string;
  /** The one that Enter chooses. */
  primary?: boolean;
  /** Closes nothing when it answers false: something is missing. */
  check?: () => boolean;
}

/** Asks with fields and buttons, and waits for a button; `null` when it was closed without one. */
export function ask(
  title: string,
  body: Child[],
  choices: Choice[],
  name = 'dialog',
): Promise<string | null> {
  return new Promise((resolve) => {
    let answer: string | null = null;
    const choose = (choice: Choice): void => {
      if (choice.check && !choice.check()) return;
      answer = choice.value;
      dialog.close();
    };
    const submit = (event: Event): void => {
      event.preventDefault();
      const primary = choices.find((c) => c.primary);
      if (primary) choose(primary);
    };
    const form = h(
      'form',
      { method: 'dialog', on: { submit } },
      h('div', { class: 'dialog-body' }, ...body),
      choices.length > 0 && h('footer', {}, ...choices.map((c) => answerButton(c, choose))),
    );
    const before = document.activeElement;
    // It stays when somebody clicks beside it: what was typed would be lost.
    const dialog = openDialog(title, { class: 'asking', test: name, beside: 'stays' }, form);
    dialog.addEventListener('close', () => {
      if (before instanceof HTMLElement) before.focus();
      resolve(answer);
    });
    // Keys typed here are not commands of the page, except for closing.
    dialog.addEventListener('keydown', (event) => event.stopPropagation());
    dialog.querySelector<HTMLElement>('[data-first]')?.focus();
  });
}

function answerButton(choice: Choice, choose: (choice: Choice) => void): HTMLElement {
  const data = { answer: choice.value };
  if (choice.primary) return h('button', { type: 'submit', class: 'primary', data }, choice.title);
  return h('button', { type: 'button', data, on: { click: () => choose(choice) } }, choice.title);
}

/** Closes the dialog that an element stands in, without an answer. */
export function closeDialogOf(element: Element): void {
  element.closest('dialog')?.close();
}

/** A row of a dialog: a label and its field. */
export function row(label: string, field: HTMLElement, hint?: string): HTMLElement {
  return h('label', { class: 'dialog-row' }, h('span', {}, label), field, hint ? h('small', {}, hint) : null);
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
