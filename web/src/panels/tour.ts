/** A tour of six steps over the page itself: each lights up a real part of it and says what it is for. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { remember } from '../settings';
import { t } from '../strings';

let running: (() => void) | null = null;

export function startTour(app: App): void {
  running?.();
  const steps = t.tourSteps;
  const before = document.activeElement;
  const ring = h('div', { class: 'tour-ring', aria: { hidden: 'true' } });
  const card = h('div', {
    class: 'tour-card',
    role: 'dialog',
    tabIndex: -1,
    aria: { label: t.tour },
    data: { test: 'tour' },
  });
  let at = 0;

  const end = (): void => {
    running = null;
    ring.remove();
    card.remove();
    removeEventListener('resize', place);
    removeEventListener('keydown', escape, { capture: true });
    remember('welcomed', true);
    app.store.changed('settings');
    if (before instanceof HTMLElement) before.focus();
  };
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    end();
  };
  const place = (): void => {
    const target = document.querySelector(`[data-tour="${steps[at]?.[0]}"]`);
    const box = target?.getBoundingClientRect();
    const seen = box && box.width > 0 && box.right > 0 && box.left < innerWidth;
    ring.hidden = !seen;
    if (box) {
      const edges = { left: box.left, top: box.top, width: box.width, height: box.height };
      for (const [name, value] of Object.entries(edges)) ring.style.setProperty(name, `${value}px`);
    }
    const { offsetWidth: width, offsetHeight: height } = card;
    const want = seen
      ? besides(box, width, height)
      : { x: (innerWidth - width) / 2, y: (innerHeight - height) / 2 };
    card.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, want.x))}px`;
    card.style.top = `${Math.max(8, Math.min(innerHeight - height - 8, want.y))}px`;
  };
  const go = (to: number): void => {
    if (to >= steps.length) return end();
    at = Math.max(0, to);
    const [, title, text] = steps[at] ?? ['', '', ''];
    card.dataset['step'] = String(at + 1);
    const next = h(
      'button',
      { class: 'primary', on: { click: () => go(at + 1) } },
      at + 1 < steps.length ? t.next : t.finish,
    );
    fill(
      card,
      h('h2', {}, title),
      h('p', {}, text),
      h(
        'footer',
        {},
        h('span', { class: 'faint' }, t.stepOf(at + 1, steps.length)),
        h('div', { class: 'spring' }),
        h('button', { class: 'plain', on: { click: end } }, t.endTour),
        h('button', { disabled: at === 0, on: { click: () => go(at - 1) } }, t.previous),
        next,
      ),
    );
    place();
    next.focus();
  };
  card.addEventListener('keydown', (event) => {
    const act = { ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1) }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  addEventListener('resize', place);
  addEventListener('keydown', escape, { capture: true });
  document.body.append(ring, card);
  running = end;
  go(0);
}

/** A place for the card next to a box: below, above, right or left of it, or within. */
function besides(box: DOMRect, width: number, height: number): { x: number; y: number } {
  const gap = 12;
  if (box.bottom + gap + height < innerHeight) return { x: box.left, y: box.bottom + gap };
  if (box.top - gap - height > 0) return { x: box.left, y: box.top - gap - height };
  if (box.right + gap + width < innerWidth) return { x: box.right + gap, y: box.top + gap };
  if (box.left - gap - width > 0) return { x: box.left - gap - width, y: box.top + gap };
  return { x: box.left + (box.width - width) / 2, y: box.top + (box.height - height) / 2 };
}
