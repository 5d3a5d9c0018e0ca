/** What can be put into the world, to be dragged onto the canvas; and the kit of parts of a robot's type. */

import '../styles/editor.css';
import type { App } from '../app';
import { fill, h } from '../dom';
import { icon, svgElement } from '../icons';
import type { Shape } from '../protocol';
import { t } from '../strings';
import { outlineOf } from '../view/geometry';
import { startDrawing } from './draw-tool';
import { carry } from './carry';
import { KINDS, type Kind } from './kinds';
import { mountKit } from './kit';
import { place, placeAtCentre } from './place';
import { hint } from './hints';
import { shapeOfType } from './shapes';
import { startEditor } from './start';
import { typeNames, whyNotEdit } from './subject';

export function mountPalette(app: App): HTMLElement {
  startEditor(app);
  const { store } = app;
  const items = h('div', { class: 'palette-items', role: 'toolbar', aria: { label: t.palette } });
  const why = h('p', { class: 'note', hidden: true });
  let shown = '';
  const show = (): void => {
    const reason = store.world ? whyNotEdit(store) : null;
    why.hidden = reason === null;
    why.textContent = reason;
    const types = typeNames(store);
    const key = JSON.stringify([types, types.map((n) => [shapeOfType(store, n), colourOf(app, n)])]);
    if (key === shown) return;
    shown = key;
    fill(
      items,
      ...KINDS.map((k) => item(app, k.id, t.kinds[k.id] ?? k.id, icon(k.icon, 22), k)),
      ...types.map((n) => {
        const shape = shapeOfType(store, n);
        return item(app, `type.${n}`, n, typeIcon(shape, colourOf(app, n)), {
          id: `type.${n}`,
          icon: 'robot',
          shape,
        });
      }),
    );
  };
  store.on(['world', 'control', 'link', 'status'], show);
  show();
  return h(
    'section',
    { class: 'palette', aria: { label: t.palette } },
    h('h2', {}, t.palette),
    why,
    items,
    mountKit(app),
  );
}

function item(app: App, id: string, title: string, symbol: SVGSVGElement, kind: Kind): HTMLElement {
  const words = kind.drawn ? t.drawHint(title) : t.dragHint(title);
  const button = h(
    'button',
    { type: 'button', class: 'palette-item', title: words, data: { kind: id }, aria: { label: title } },
    symbol,
    h('span', {}, title),
  );
  hint(app, button, words);
  carry(app, button, {
    shape: kind.shape,
    line: kind.line ?? null,
    drop: (p) => void place(app, id, p),
    // A click with the pointer: the next click on the canvas puts it there, or draws it point by point.
    ...(kind.drawn ? { click: () => startDrawing(app, kind.drawn ?? 'wall') } : {}),
    enter: () => void placeAtCentre(app, id),
  });
  return button;
}

function colourOf(app: App, type: string): string | null {
  return app.store.world?.drawing.types.find((d) => d.name === type && d.kind === 'robot')?.colour ?? null;
}

/** A type's own outline as its icon, nose to the right. */
function typeIcon(shape: Shape, colour: string | null): SVGSVGElement {
  const points = outlineOf(shape);
  const reach = Math.max(0.001, ...points.map(([x, y]) => Math.hypot(x, y)));
  const scaled = points.map(
    ([x, y]) => `${(10 + (8 * x) / reach).toFixed(2)},${(10 - (8 * y) / reach).toFixed(2)}`,
  );
  const svg = svgElement('svg', { viewBox: '0 0 20 20', width: '22', height: '22', class: 'icon type-icon' });
  svg.setAttribute('aria-hidden', 'true');
  const body = svgElement('polygon', { points: scaled.join(' ') });
  if (colour && /^#[0-9a-f]{6}$/i.test(colour)) body.style.fill = colour;
  svg.append(body, svgElement('path', { d: 'M10 10h7', class: 'nose' }));
  return svg;
}
