/** What the status line says: hints of what is under the pointer or in the hand. */

import type { App } from '../app';
import { h } from '../dom';

const places = new WeakMap<App, HTMLElement>();

/** The place of hints in the status line. */
export function hintPlace(app: App): HTMLElement {
  const place = places.get(app) ?? h('span', { class: 'hint', data: { test: 'hint' } });
  places.set(app, place);
  return place;
}

/** Shows a hint, or none. */
export function say(app: App, text: string): void {
  hintPlace(app).textContent = text;
}

/** Shows a hint while the pointer or the focus is on an element. */
export function hint(app: App, element: HTMLElement, text: string): void {
  for (const on of ['pointerenter', 'focus'] as const) element.addEventListener(on, () => say(app, text));
  for (const off of ['pointerleave', 'blur'] as const) element.addEventListener(off, () => say(app, ''));
}
