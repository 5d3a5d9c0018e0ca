/** Pop-overs: one way to open them, so that all behave alike. */

import { h, type Child } from '../dom';

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
