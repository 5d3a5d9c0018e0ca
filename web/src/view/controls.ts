/** What lies on the canvas: camera buttons, the layer switches, scale bar, the pointer's place, and notes. */

import { command, run } from '../commands';
import { fill, h } from '../dom';
import { icon, type IconName } from '../icons';
import { shortName } from '../names';
import type { Layers } from '../store';
import { t } from '../strings';
import { lengthText } from './camera';
import { isEmpty } from './geometry';
import type { Hover } from './hover';
import { boundsOfAll, isAnythingIn, objects } from './pick';
import { scaleBar } from './still';
import type { View } from './view';

/** Buttons that show a command's state; `refresh` reads it again. */
class Buttons {
  private list: { id: string; element: HTMLButtonElement }[] = [];

  make(id: string, shape: IconName, title?: string): HTMLButtonElement {
    const found = command(id);
    const keys = found.keys?.[0] ? ` (${found.keys[0]})` : '';
    const element = h(
      'button',
      { title: found.title + keys, aria: { label: found.title }, on: { click: () => run(id) } },
      icon(shape),
      title !== undefined && h('span', {}, title),
    );
    this.list.push({ id, element });
    return element;
  }

  refresh(): void {
    for (const { id, element } of this.list) {
      const found = command(id);
      if (found.pressed) element.setAttribute('aria-pressed', String(found.pressed()));
      // Not `disabled`: a press then says why it cannot be done.
      element.setAttribute('aria-disabled', String((found.refused?.() ?? null) !== null));
    }
  }
}

export class Controls {
  readonly elements: HTMLElement[];
  private readonly buttons = new Buttons();
  private readonly zoom = h('button', { class: 'zoom', on: { click: () => run('view.full-scale') } });
  private readonly bar = h('div', { class: 'scale-bar' });
  private readonly barText = h('div');
  private readonly place = h('div', { class: 'place', data: { test: 'place' } });
  private readonly back: HTMLButtonElement;
  private readonly following = h('div', { class: 'view-note following', role: 'status', hidden: true });
  private readonly empty = h('div', { class: 'view-note empty', hidden: true });
  private readonly layers: HTMLElement;
  private scale = 0;

  constructor(
    private readonly view: View,
    private readonly hover: Hover,
  ) {
    const { buttons } = this;
    this.back = h(
      'button',
      {
        class: 'view-note back',
        hidden: true,
        data: { test: 'back-to-content' },
        on: { click: () => run('view.fit-all') },
      },
      icon('return'),
      t.backToContent,
    );
    this.layers = layersBox(view);
    this.elements = [
      h(
        'div',
        { class: 'view-tools camera', role: 'toolbar', aria: { label: t.camera } },
        buttons.make('view.follow', 'follow'),
        buttons.make('view.fit-all', 'fit'),
        buttons.make('view.fit-selection', 'selection'),
        buttons.make('view.zoom-out', 'minus'),
        this.zoom,
        buttons.make('view.zoom-in', 'plus'),
      ),
      h(
        'div',
        { class: 'view-tools shown', role: 'toolbar', aria: { label: t.layers } },
        buttons.make('view.robots-eye', 'robots-eye'),
        buttons.make('view.3d', 'cube'),
        this.layersButton(),
      ),
      this.layers,
      h('div', { class: 'view-corner' }, this.place, this.barText, this.bar),
      this.following,
      this.empty,
      this.back,
    ];
    this.zoom.title = `${t.fullScale} (Ctrl+0)`;
    this.refresh();
    view.store.on(['selection', 'view', 'world', 'layers'], () => this.refresh());
  }

  /** With every picture: what follows the camera and the pointer. */
  update(): void {
    const { scale } = this.view.store.camera;
    if (scale !== this.scale) this.showScale(scale);
    const at = this.hover.place;
    const digits = scale > 500 ? 3 : 2;
    const place = at ? `${at.x.toFixed(digits)}, ${at.y.toFixed(digits)} m` : '';
    if (place !== this.place.textContent) this.place.textContent = place;
    this.back.hidden = !this.isNothingSeen();
  }

  private showScale(scale: number): void {
    this.scale = scale;
    const share = `${Math.round(scale)} %`;
    this.zoom.textContent = share;
    this.zoom.setAttribute('aria-label', `${t.fullScale}, ${share}`);
    const { metres, pixels } = scaleBar(scale);
    this.bar.style.width = `${pixels}px`;
    this.barText.textContent = lengthText(metres);
  }

  private refresh(): void {
    this.buttons.refresh();
    const { follow, world, view } = this.view.store;
    this.following.hidden = follow === null;
    if (follow !== null) this.following.textContent = t.following(shortName(follow));
    const isEmptyWorld = world !== null && objects(this.view.store).length === 0;
    this.empty.hidden = world !== null && !isEmptyWorld;
    this.empty.textContent = world === null ? t.waitingForWorld : t.emptyWorld;
    for (const element of this.elements)
      if (element.matches('.view-corner')) element.style.visibility = view === '3d' ? 'hidden' : '';
  }

  private isNothingSeen(): boolean {
    const { store, seen } = this.view;
    if (!store.world || !store.frame || store.view === '3d') return false;
    return !isAnythingIn(store, seen) && !isEmpty(boundsOfAll(store));
  }

  private layersButton(): HTMLElement {
    const button = h(
      'button',
      {
        class: 'labelled',
        aria: { label: t.layers, haspopup: 'dialog', expanded: 'false' },
        title: t.layersOpen,
        on: { click: () => this.layers.togglePopover() },
      },
      icon('layers'),
      h('span', {}, t.layers),
    );
    this.layers.addEventListener('toggle', (event) => {
      const isOpen = event.newState === 'open';
      button.setAttribute('aria-expanded', String(isOpen));
      if (!isOpen) return;
      const at = button.getBoundingClientRect();
      this.layers.style.top = `${at.bottom + 6}px`;
      this.layers.style.right = `${Math.max(6, innerWidth - at.right)}px`;
    });
    return button;
  }
}

/** The switches, each one a command as well. */
function layersBox(view: View): HTMLElement {
  const { store } = view;
  const switches = Object.entries(t.layerNames) as [Exclude<keyof Layers, 'trails'>, string][];
  const draw = (): void => {
    const hadFocus = (document.activeElement as HTMLElement | null)?.dataset['layer'];
    fill(
      box,
      h('h2', {}, t.layersOpen),
      ...switches.map(([name, title]) =>
        h(
          'label',
          {},
          h('input', {
            type: 'checkbox',
            checked: store.layers[name],
            data: { layer: name },
            on: { change: () => run(`layer.${name}`) },
          }),
          title,
        ),
      ),
      trailChoice(store.layers.trails),
      h('button', { on: { click: () => run('layer.clear') } }, t.clearTraces),
    );
    if (hadFocus) box.querySelector<HTMLElement>(`[data-layer="${hadFocus}"]`)?.focus();
  };
  const box = h('div', { class: 'layers-box', role: 'dialog', aria: { label: t.layers } });
  box.popover = 'auto';
  store.on('layers', draw);
  draw();
  return box;
}

function trailChoice(now: Layers['trails']): HTMLElement {
  const choices = Object.entries(t.trailNames) as [Layers['trails'], string][];
  return h(
    'fieldset',
    {},
    h('legend', {}, t.trails),
    ...choices.map(([name, title]) =>
      h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name: 'trails',
          checked: now === name,
          data: { layer: `trails-${name}` },
          on: { change: () => run(`layer.trails-${name}`) },
        }),
        title,
      ),
    ),
  );
}
