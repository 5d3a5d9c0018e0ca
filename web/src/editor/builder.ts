/**
 * Building a robot's type: its body drawn large, parts as marks that can be dragged to where they are
 * mounted, the kit of parts beside it, and a list to remove them from.
 */

import type { App } from '../app';
import { ask, closeDialogOf } from '../dialog';
import { fill, h } from '../dom';
import { icon, svgElement } from '../icons';
import type { Point } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { outlineOf } from '../view/geometry';
import { editsOf } from './edits';
import { groups, mountText } from './kit';
import { measure } from './numbers';
import { symbolOf } from './properties';
import { shapeOfType } from './shapes';
import { fieldOf, partsOf, sheetOf, typeInHand, typeNames, typeOf, whyNotEdit } from './subject';
import { lengthOf, parseValue } from './toml';

const SIZE = 340;

export async function openBuilder(app: App): Promise<void> {
  const { store } = app;
  const names = typeNames(store);
  const [id = ''] = store.selection;
  const type = typeInHand(store) ?? typeOf(store, id) ?? names[0];
  if (type === undefined) {
    app.toast(t.noTypes, 'error');
    return;
  }
  const body = svgElement('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, class: 'builder-body', role: 'img' });
  body.setAttribute('aria-label', t.bodyOf(type));
  const list = h('ul', { class: 'links builder-parts', aria: { label: t.parts } });
  const show = (): void => {
    drawBody(app, body, type);
    listParts(app, list, type);
  };
  const stop = store.on(['world', 'sheets'], show);
  show();
  const why = whyNotEdit(store);
  await ask(
    t.builderOf(type),
    [
      why ? h('p', { class: 'note' }, why) : null,
      h(
        'div',
        { class: 'builder' },
        h('div', {}, body, h('p', { class: 'faint' }, t.builderHint)),
        h(
          'div',
          { class: 'builder-side' },
          h('h3', {}, t.parts),
          list,
          h('h3', {}, t.addPart),
          ...groups(
            app,
            () => type,
            () => null,
          ),
        ),
      ),
    ],
    [{ title: t.done, value: 'done', primary: true }],
    'builder',
  );
  stop();
}

/** Where a part is mounted; `null` when its class has no mount or it is not a plain number. */
export function mountOf(app: App, entry: Entry): { at: Point; heading: number } | null {
  if (!sheetOf(app.store, entry)?.params.some((p) => p.name === 'mount')) return null;
  const text = fieldOf(entry, 'mount');
  const value = text === null ? [0, 0, 0] : parseValue(text);
  if (!Array.isArray(value)) return null;
  const [x, y] = [lengthOf(value[0]), lengthOf(value[1])];
  const turn = value[2] ?? 0;
  const heading = typeof turn === 'number' ? turn : typeof turn === 'string' ? measure(turn, 'angle') : null;
  return x === null || y === null || heading === null ? null : { at: [x, y], heading };
}

function drawBody(app: App, svg: SVGSVGElement, type: string): void {
  const { store } = app;
  const outline = outlineOf(shapeOfType(store, type), 72);
  const reach = Math.max(0.01, ...outline.map(([x, y]) => Math.max(Math.abs(x), Math.abs(y))));
  const scale = (0.38 * SIZE) / reach;
  const px = ([x, y]: Point): Point => [SIZE / 2 + x * scale, SIZE / 2 - y * scale];
  const points = outline.map(px).map((p) => p.map((v) => v.toFixed(1)).join(','));
  const colour = store.world?.drawing.types.find((d) => d.name === type)?.colour ?? null;
  const shape = svgElement('polygon', { points: points.join(' '), class: 'body' });
  if (colour && /^#[0-9a-f]{6}$/i.test(colour)) shape.style.fill = colour;
  const nose = svgElement('path', { d: `M${SIZE / 2} ${SIZE / 2}h${reach * scale}`, class: 'nose' });
  const marks = partsOf(store, type).flatMap((entry) => {
    const mount = entry.section === 'part' ? mountOf(app, entry) : null;
    return mount ? [mark(app, entry, mount, px, scale)] : [];
  });
  svg.replaceChildren(shape, nose, ...marks);
}

/** A part on the body; it can be dragged, or moved with the arrow keys by a millimetre. */
function mark(
  app: App,
  entry: Entry,
  mount: { at: Point; heading: number },
  px: (p: Point) => Point,
  scale: number,
): SVGGElement {
  const name = entry.name ?? entry.class;
  const group = svgElement('g', {
    class: entry.fixed === null ? 'mark' : 'mark fixed',
    tabindex: '0',
    role: 'button',
  });
  group.setAttribute('aria-label', t.mountOf(name, mount.at[0], mount.at[1]));
  group.dataset['part'] = name;
  let at = mount.at;
  const circle = svgElement('circle', { r: '9' });
  const look = svgElement('path', { d: 'M0 0h16' });
  const label = svgElement('text', { y: '22' });
  label.textContent = name;
  group.append(look, circle, label);
  const show = (): void => {
    const [x, y] = px(at);
    group.setAttribute('transform', `translate(${x} ${y})`);
    look.setAttribute('transform', `rotate(${(-mount.heading * 180) / Math.PI})`);
  };
  const write = (): void => {
    if (at[0] === mount.at[0] && at[1] === mount.at[1]) return;
    const value = mountText(at, mount.heading);
    void editsOf(app)
      .change(t.stepMount(name), [{ op: 'set', entry: entry.key, key: 'mount', value }])
      .then((done) => {
        if (done) return;
        at = mount.at;
        show();
      });
  };
  show();
  if (entry.fixed !== null) {
    group.append(svgElement('title'));
    (group.lastElementChild as Element).textContent = entry.fixed;
    return group;
  }
  group.addEventListener('pointerdown', (down) => {
    const [from, pixel] = [at, (group.ownerSVGElement?.getBoundingClientRect().width ?? SIZE) / SIZE];
    group.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => {
      at = [
        from[0] + (event.clientX - down.clientX) / pixel / scale,
        from[1] - (event.clientY - down.clientY) / pixel / scale,
      ];
      show();
    };
    const up = (): void => {
      group.removeEventListener('pointermove', move);
      write();
    };
    group.addEventListener('pointermove', move);
    group.addEventListener('pointerup', up, { once: true });
  });
  group.addEventListener('keydown', (event) => {
    const far = event.shiftKey ? 0.01 : 0.001;
    const by: Record<string, Point> = {
      ArrowLeft: [-far, 0],
      ArrowRight: [far, 0],
      ArrowUp: [0, far],
      ArrowDown: [0, -far],
    };
    const step = by[event.key];
    if (!step) return;
    event.preventDefault();
    at = [at[0] + step[0], at[1] + step[1]];
    show();
    write();
  });
  return group;
}

function listParts(app: App, list: HTMLElement, type: string): void {
  const entries = partsOf(app.store, type).filter((e) => e.section === 'part' || e.section === 'controller');
  const edit = (entry: Entry, from: Element): void => {
    app.store.select([entry.key]);
    closeDialogOf(from);
  };
  fill(
    list,
    ...entries.map((entry) => {
      const name = entry.name ?? entry.class;
      const removal = (): void =>
        void editsOf(app).change(t.stepRemove(name), [{ op: 'remove', entry: entry.key }], 'same');
      return h(
        'li',
        { title: entry.fixed ?? '' },
        h(
          'button',
          { type: 'button', class: 'link', on: { click: (event) => edit(entry, event.target as Element) } },
          icon(symbolOf(app, entry), 15),
          h('span', {}, name),
          h('span', { class: 'faint' }, entry.class),
        ),
        entry.fixed === null
          ? h(
              'button',
              { type: 'button', class: 'plain', aria: { label: t.removeOne(name) }, on: { click: removal } },
              icon('close', 14),
            )
          : null,
      );
    }),
    entries.length === 0 && h('li', { class: 'faint' }, t.noParts),
  );
}
