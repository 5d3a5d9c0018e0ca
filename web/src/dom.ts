/** Small helpers that make elements; the page needs no framework beyond them. */

type Props<K extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[K], 'style' | 'dataset' | 'children'>
> & {
  class?: string;
  data?: Record<string, string>;
  aria?: Record<string, string>;
  role?: string;
  on?: { [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void };
};

export type Child = Node | string | number | null | undefined | false;

/** Makes an element: `h('button', { class: 'primary', on: { click } }, 'Start')`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props<K> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { class: classes, data, aria, role, on, ...rest } = props as Props<'div'>;
  if (classes) element.className = classes;
  if (role) element.setAttribute('role', role);
  for (const [name, value] of Object.entries(data ?? {})) element.dataset[name] = value;
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${name}`, value);
  for (const [name, listener] of Object.entries(on ?? {}))
    element.addEventListener(name, listener as EventListener);
  Object.assign(element, rest);
  element.append(...solid(children));
  return element;
}

/** Replaces everything inside an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...solid(children));
}

function solid(children: Child[]): (Node | string)[] {
  return children.flatMap((c) =>
    c === null || c === undefined || c === false ? [] : [typeof c === 'number' ? String(c) : c],
  );
}

/** Whether keys typed here are text, not commands. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'range', 'color'].includes(target.type);
  return target instanceof HTMLSelectElement;
}
