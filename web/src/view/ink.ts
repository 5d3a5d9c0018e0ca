/** The view's colours, read from the page's style sheet, so that light, dark and high contrast need no code here. */

import type { World } from '../store';

const NAMES = [
  'outside',
  'floor',
  'fine',
  'coarse',
  'border',
  'wall',
  'obstacle',
  'obstacle-edge',
  'track',
  'movable',
  'beacon',
  'cone',
  'sensor',
  'ray',
  'link',
  'comm-0',
  'comm-1',
  'comm-2',
  'comm-3',
  'comm-4',
  'comm-5',
  'comm-6',
  'comm-7',
  'contact',
  'select',
  'label',
  'halo',
  'halted',
  'failed',
  'waited',
  'shape',
  'occupied',
  'free',
] as const;

export type Ink = Record<(typeof NAMES)[number], string>;

/** For types without a colour of their own: eight that colour-blind people can tell apart. */
const FALLBACK = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#8a6fd1', '#7f7f7f'];

let current: Ink | null = null;

/** The colours that hold now. */
export function ink(): Ink {
  current ??= read();
  return current;
}

/** Calls `listener` when the page turns dark, light or high in contrast. */
export function onInkChanged(listener: () => void): void {
  const again = (): void => {
    current = null;
    listener();
  };
  for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', again);
  new MutationObserver(again).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ['data-theme', 'class'],
  });
}

/** The colour of a type of body: its own, or one of the fallback palette. */
export function colourOf(world: World, type: number): string {
  const found = world.drawing.types[type];
  if (found?.colour) return found.colour;
  if (found?.kind === 'obstacle') return ink().movable;
  return FALLBACK[type % FALLBACK.length] ?? '#7f7f7f';
}

function read(): Ink {
  return Object.fromEntries(NAMES.map((name) => [name, styleColour(`--view-${name}`)])) as Ink;
}

let probe: HTMLElement | null = null;

/**
 * A colour of the style sheet as the canvas understands it, in the present theme.
 *
 * Custom properties are not resolved by themselves; a real property that uses one is.
 */
export function styleColour(name: string): string {
  if (!probe?.isConnected) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
