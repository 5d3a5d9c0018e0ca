/** What the selected robots see, do and hold in their registers; numbers change in place while a run goes on. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { shortName } from '../names';
import type { InspectedRobot, TypeInfo } from '../protocol';
import { t } from '../strings';
import { iconButton } from './buttons';
import { PROBE_TYPE, theDesk } from './desk';
import { channelRows, registerRows, shapeOf, type ChannelRow } from './inspected';
import { formatValue, hex } from './numbers';
import { openPoke } from './poke';

/** Channels with more values than this are folded. */
const UNFOLDED = 12;
const PLOTTED_AT_ONCE = 8;

/** One robot's card: built once for a shape, then only written to. */
interface Card {
  shape: string;
  element: HTMLElement;
  write(robot: InspectedRobot, type: TypeInfo): void;
}

export function mountInspector(app: App): HTMLElement {
  const { store } = app;
  const box = h('section', { class: 'inspector', aria: { label: t.inspector }, data: { test: 'inspector' } });
  const empty = h('p', { class: 'empty' }, t.inspectorEmpty);
  const cards = new Map<string, Card>();

  const show = (): void => {
    const robots = (store.inspect?.robots ?? []).filter((r) => store.selection.has(r.path));
    const kept = new Set(robots.map((r) => r.path));
    for (const [path, card] of cards)
      if (!kept.has(path)) {
        card.element.remove();
        cards.delete(path);
      }
    for (const robot of robots) {
      const type = typeOf(app, robot.path);
      if (!type) continue;
      const shape = shapeOf(robot, type);
      let card = cards.get(robot.path);
      if (card?.shape !== shape) {
        const fresh = makeCard(app, robot, type, shape, robots.length === 1 || cards.size === 0);
        if (card) card.element.replaceWith(fresh.element);
        else box.append(fresh.element);
        card = fresh;
        cards.set(robot.path, card);
      }
      card.write(robot, type);
    }
    const anyRobot = [...store.selection].some((id) => typeOf(app, id) !== undefined);
    empty.textContent = anyRobot ? t.inspectorWaits : t.inspectorEmpty;
    empty.hidden = cards.size > 0;
    box.dataset['stop'] = String(store.inspect?.stop ?? '');
  };
  store.on(['inspect', 'selection', 'world'], show);
  fill(box, h('h2', {}, t.inspector), empty);
  return box;
}

function typeOf(app: App, path: string): TypeInfo | undefined {
  const { world } = app.store;
  const body = world?.bodies[world.bodyOf.get(path) ?? -1];
  return body && world?.drawing.types[body.type]?.kind === 'robot' ? world.types[body.type] : undefined;
}

type Writer = (robot: InspectedRobot, type: TypeInfo) => void;

function makeCard(app: App, robot: InspectedRobot, type: TypeInfo, shape: string, open: boolean): Card {
  const writers: Writer[] = [];
  const state = h('span', { class: 'badge', hidden: true });
  writers.push((r) => {
    state.hidden = !r.halted && !r.failed;
    state.textContent = r.failed ? t.failed : t.halted;
    state.classList.toggle('error', r.failed);
  });
  const element = h(
    'details',
    { open, class: 'card', data: { robot: robot.path } },
    h('summary', {}, h('strong', {}, shortName(robot.path)), h('span', { class: 'faint' }, type.name), state),
    motion(robot, writers),
    controllers(type, writers),
    channels(robot, type, writers),
    registers(app, robot, type, writers),
    printed(writers),
  );
  return { shape, element, write: (r, ty) => writers.forEach((write) => write(r, ty)) };
}

/** Writes a text only when it differs: most numbers stand still. */
function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function motion(robot: InspectedRobot, writers: Writer[]): HTMLElement {
  const cell = (
    label: string,
    unit: string,
    probe: string | null,
    read: (r: InspectedRobot) => number,
  ): HTMLElement => {
    const value = h('output', {});
    if (probe) draggable(value, robot.path, probe, 0);
    writers.push((r) => put(value, formatValue(read(r))));
    return h('div', {}, h('span', { class: 'faint' }, label), value, h('span', { class: 'faint' }, unit));
  };
  const degrees = (rad: number): number => (rad * 180) / Math.PI;
  return h(
    'div',
    { class: 'motion', data: { test: 'pose' } },
    cell('x', 'm', 'x', (r) => r.pose[0]),
    cell('y', 'm', 'y', (r) => r.pose[1]),
    cell(t.heading, '°', 'heading', (r) => degrees(Math.atan2(Math.sin(r.pose[2]), Math.cos(r.pose[2])))),
    cell(t.ahead, 'm/s', null, (r) => r.twist[0]),
    cell(t.toTheLeft, 'm/s', null, (r) => r.twist[1]),
    cell(t.turning, '°/s', null, (r) => degrees(r.twist[2])),
  );
}

function controllers(type: TypeInfo, writers: Writer[]): HTMLElement | null {
  if (type.controllers.length === 0) return null;
  const rows = type.controllers.map((c) => {
    const status = h('span', {});
    writers.push((r) => put(status, r.failed ? t.failed : r.halted ? t.halted : t.works));
    const source = c.source;
    return h(
      'div',
      { class: 'row' },
      h('span', {}, c.name),
      h('span', { class: 'faint' }, c.class),
      status,
      source !== null &&
        iconButton(t.openSource(source), 'pencil', () => theDesk()?.source(source, null, null)),
    );
  });
  return h('div', { class: 'block' }, h('h3', {}, t.controllers), ...rows);
}

function channels(robot: InspectedRobot, type: TypeInfo, writers: Writer[]): HTMLElement | null {
  const first = channelRows(robot, type);
  if (first.length === 0) return null;
  const rows = first.map((row, k) => channelRow(robot.path, row, k, writers));
  return h('div', { class: 'block', data: { test: 'channels' } }, h('h3', {}, t.channels), ...rows);
}

function channelRow(robot: string, row: ChannelRow, k: number, writers: Writer[]): HTMLElement {
  const path = `${robot}/${row.part}`;
  const name = `${row.part}.${row.name}`;
  const values = row.values.map((_, index) => {
    const value = h('output', { title: t.dragToPlot(`${name}[${index}]`) });
    draggable(value, path, row.name, index);
    return value;
  });
  const plot = (): void => {
    for (let index = 0; index < Math.min(PLOTTED_AT_ONCE, Math.max(1, values.length)); index++)
      theDesk()?.plot({ path, channel: row.name, index });
  };
  const list = h('span', { class: 'values' }, ...values);
  const folded = values.length > UNFOLDED;
  const holder = folded
    ? h('details', { class: 'fold' }, h('summary', {}, t.valuesCount(values.length)), list)
    : list;
  writers.push((r, ty) => {
    if (holder instanceof HTMLDetailsElement && !holder.open) return;
    const now = channelRows(r, ty)[k]?.values ?? [];
    values.forEach((element, index) => put(element, formatValue(now[index])));
  });
  return h(
    'div',
    {
      class: `channel ${row.command ? 'command' : ''} ${values.length > 2 ? 'tall' : ''}`,
      data: { channel: name },
    },
    h('span', { class: 'name', title: row.command ? t.commandChannel : t.readingChannel }, name),
    holder,
    h('span', { class: 'faint unit' }, row.unit),
    iconButton(t.plotChannel(name), 'plot', plot),
  );
}

/** Lets a value be dragged onto a plot. */
function draggable(element: HTMLElement, path: string, channel: string, index: number): void {
  element.draggable = true;
  element.addEventListener('dragstart', (event) => {
    event.dataTransfer?.setData(PROBE_TYPE, JSON.stringify({ path, channel, index }));
    event.dataTransfer?.setData('text/plain', `${path} ${channel}[${index}]`);
  });
}

function registers(app: App, robot: InspectedRobot, type: TypeInfo, writers: Writer[]): HTMLElement | null {
  const first = registerRows(robot, type);
  if (first.length === 0) return null;
  const body = h('tbody', {});
  const rows = first.map((row) => {
    const [value, raw] = [h('td', { class: 'number' }), h('td', { class: 'number' })];
    const poke = iconButton(t.poke(row.name), 'pencil', () => openPoke(app, robot.path, row));
    body.append(
      h(
        'tr',
        { data: { register: row.name } },
        h('td', {}, h('code', {}, hex(row.address, 4))),
        h('td', {}, row.name),
        value,
        raw,
        h('td', {}, poke),
      ),
    );
    return { value, raw, poke };
  });
  writers.push((r, ty) => {
    registerRows(r, ty).forEach((row, k) => {
      const cells = rows[k];
      if (!cells) return;
      put(cells.value, row.value === null ? '' : formatValue(row.value));
      put(cells.raw, row.raw === null ? '–' : hex(row.raw, 2 * row.bytes));
      cells.poke.disabled = !app.store.canEdit;
    });
  });
  return h(
    'details',
    { class: 'block', open: first.length <= 40, data: { test: 'registers' } },
    h('summary', {}, h('h3', {}, `${t.registers} (${first.length})`)),
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...[t.address, t.name, t.value, t.raw].map((text) => h('th', { scope: 'col' }, text)),
          h('td', {}),
        ),
      ),
      body,
    ),
  );
}

function printed(writers: Writer[]): HTMLElement {
  const lines = h('pre', {});
  const block = h(
    'div',
    { class: 'block', hidden: true, data: { test: 'printed' } },
    h('h3', {}, t.printed),
    lines,
  );
  writers.push((r) => {
    block.hidden = r.lines.length === 0;
    put(lines, r.lines.slice(-8).join('\n'));
  });
  return block;
}
