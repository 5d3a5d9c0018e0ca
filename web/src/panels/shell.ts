/** Sizes of the panels around the canvas: splitters to drag, panels to hide, drawers on narrow windows. Remembered. */

import { register } from '../commands';
import { h } from '../dom';
import { recall, remember } from '../settings';
import { t } from '../strings';

type Side = 'left' | 'right' | 'bottom';

const LIMITS: Record<Side, [smallest: number, largest: number, usual: number]> = {
  left: [160, 480, 232],
  right: [220, 640, 300],
  bottom: [90, 900, 172],
};
/** At this width and below, the sides are drawers over the canvas. */
const NARROW = '(max-width: 900px)';

interface Kept {
  left: number;
  right: number;
  bottom: number;
  hidden: Side[];
}

export class Shell {
  private kept: Kept;
  private readonly narrow = matchMedia(NARROW);
  /** The drawer that is open, on narrow windows. */
  private drawer: 'left' | 'right' | null = null;
  private readonly splitters = new Map<Side, HTMLElement>();

  constructor(private readonly page: HTMLElement) {
    this.kept = sane(recall('layout'), innerWidth <= 600 ? ['bottom'] : []);
    const side = (name: Side, title: string, keys: string[]): Parameters<typeof register>[0] => ({
      id: `panel.${name}`,
      title,
      group: 'View',
      keys,
      pressed: () => this.shown(name),
      run: () => this.toggle(name),
    });
    register(
      side('left', t.toggleLeft, ['Ctrl+B']),
      side('right', t.toggleRight, ['Ctrl+Alt+B']),
      side('bottom', t.toggleBottom, ['Ctrl+J']),
    );
    this.narrow.addEventListener('change', () => {
      this.drawer = null;
      this.apply();
    });
    addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.drawer === null || event.defaultPrevented) return;
      event.preventDefault();
      this.drawer = null;
      this.apply();
    });
    queueMicrotask(() => this.apply());
  }

  shown(side: Side): boolean {
    if (side !== 'bottom' && this.narrow.matches) return this.drawer === side;
    return !this.kept.hidden.includes(side);
  }

  show(side: Side): void {
    if (!this.shown(side)) this.toggle(side);
  }

  toggle(side: Side): void {
    if (side !== 'bottom' && this.narrow.matches) {
      this.drawer = this.drawer === side ? null : side;
    } else {
      const { hidden } = this.kept;
      this.kept.hidden = hidden.includes(side) ? hidden.filter((s) => s !== side) : [...hidden, side];
      remember('layout', this.kept);
    }
    this.apply();
  }

  /** A bar between two panels, dragged with the pointer or moved with the arrow keys. */
  splitter(side: Side): HTMLElement {
    const upright = side !== 'bottom';
    const [smallest, largest] = LIMITS[side];
    const bar = h('div', {
      class: `splitter ${side}-splitter`,
      tabIndex: 0,
      role: 'separator',
      aria: {
        label: t.resize[side],
        orientation: upright ? 'vertical' : 'horizontal',
        valuemin: String(smallest),
        valuemax: String(largest),
      },
    });
    bar.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      bar.setPointerCapture(event.pointerId);
      const from = { x: event.clientX, y: event.clientY, size: this.kept[side] };
      const move = (to: PointerEvent): void => {
        const by =
          side === 'left'
            ? to.clientX - from.x
            : side === 'right'
              ? from.x - to.clientX
              : from.y - to.clientY;
        this.resize(side, from.size + by);
      };
      bar.addEventListener('pointermove', move);
      const end = (): void => bar.removeEventListener('pointermove', move);
      bar.addEventListener('pointerup', end, { once: true });
      bar.addEventListener('pointercancel', end, { once: true });
    });
    bar.addEventListener('keydown', (event) => {
      const grow = { left: 'ArrowRight', right: 'ArrowLeft', bottom: 'ArrowUp' }[side];
      const shrink = { left: 'ArrowLeft', right: 'ArrowRight', bottom: 'ArrowDown' }[side];
      const by = event.key === grow ? 16 : event.key === shrink ? -16 : 0;
      if (by === 0) return;
      event.preventDefault();
      this.resize(side, this.kept[side] + by);
    });
    bar.addEventListener('dblclick', () => this.resize(side, LIMITS[side][2]));
    this.splitters.set(side, bar);
    return bar;
  }

  private resize(side: Side, size: number): void {
    const [smallest, largest] = LIMITS[side];
    // The canvas keeps some room, however small the window is.
    const room = side === 'bottom' ? innerHeight - 280 : innerWidth - 400;
    this.kept[side] = Math.round(Math.max(smallest, Math.min(largest, room, size)));
    remember('layout', this.kept);
    this.apply();
  }

  private apply(): void {
    const { style, dataset } = this.page;
    for (const side of ['left', 'right', 'bottom'] as const) {
      style.setProperty(`--${side}-size`, `${this.kept[side]}px`);
      dataset[side] = this.shown(side) ? 'shown' : 'hidden';
      this.splitters.get(side)?.setAttribute('aria-valuenow', String(this.kept[side]));
      for (const button of this.page.querySelectorAll(`[data-command="panel.${side}"]`))
        button.setAttribute('aria-pressed', String(this.shown(side)));
    }
  }
}

function sane(found: unknown, hidden: Side[]): Kept {
  const given = (typeof found === 'object' && found !== null ? found : {}) as Partial<
    Record<string, unknown>
  >;
  const size = (side: Side): number => {
    const [smallest, largest, usual] = LIMITS[side];
    const value = given[side];
    if (typeof value === 'number' && value >= smallest && value <= largest) return value;
    // Tall windows give more of their height to the panels below.
    return side === 'bottom' ? Math.round(Math.max(usual, 0.22 * innerHeight)) : usual;
  };
  const list = Array.isArray(given['hidden']) ? given['hidden'] : hidden;
  return {
    left: size('left'),
    right: size('right'),
    bottom: size('bottom'),
    hidden: (['left', 'right', 'bottom'] as const).filter((side) => list.includes(side)),
  };
}
