/** Chooses a value of a robot: its pose, or a number of one of its channels. */

import type { App } from '../app';
import { h } from '../dom';
import { shortName } from '../names';
import type { Probe } from '../protocol';
import { t } from '../strings';

const MAX_ROBOTS = 2000;

export function probePicker(app: App, pick: (probe: Probe) => void): HTMLElement {
  const { store } = app;
  const robot = h('select', { aria: { label: t.robot } });
  const channel = h('select', { aria: { label: t.channel } });
  const index = h('input', { type: 'number', min: '0', value: '0', aria: { label: t.index } });
  const add = h('button', { type: 'submit' }, t.addLine);

  const channels = (): { path: string; name: string; len: number; label: string }[] => {
    const path = robot.value;
    const body = store.world?.bodies[store.world.bodyOf.get(path) ?? -1];
    const type = body && store.world?.types[body.type];
    const pose = ['x', 'y', 'heading'].map((name) => ({ path, name, len: 1, label: name }));
    const parts = (type?.parts ?? []).flatMap((part) =>
      part.channels.map((c) => ({
        path: `${path}/${part.name}`,
        name: c.name,
        len: c.len,
        label: `${part.name}.${c.name}${c.unit ? ` (${c.unit})` : ''}`,
      })),
    );
    return path ? [...parts, ...pose] : [];
  };
  const chosen = (): ReturnType<typeof channels>[number] | undefined => channels()[channel.selectedIndex];
  const showIndex = (): void => {
    const len = chosen()?.len ?? 1;
    index.hidden = len <= 1;
    index.max = String(len - 1);
    index.value = '0';
  };
  const showChannels = (): void => {
    const before = channel.value;
    channel.replaceChildren(...channels().map((c) => h('option', { value: c.label }, c.label)));
    if ([...channel.options].some((o) => o.value === before)) channel.value = before;
    showIndex();
  };
  const showRobots = (): void => {
    const { world } = store;
    const bodies = (world?.bodies ?? []).slice(0, MAX_ROBOTS);
    const before = robot.value;
    robot.replaceChildren(...bodies.map((b) => h('option', { value: b.path }, shortName(b.path))));
    const selected = [...store.selection].find((id) => world?.bodyOf.has(id));
    robot.value = bodies.some((b) => b.path === before) ? before : (selected ?? bodies[0]?.path ?? '');
    add.disabled = bodies.length === 0;
    showChannels();
  };
  robot.addEventListener('change', showChannels);
  channel.addEventListener('change', showIndex);
  store.on('world', showRobots);
  store.on('selection', () => {
    const selected = [...store.selection].find((id) => store.world?.bodyOf.has(id));
    if (selected === undefined || selected === robot.value) return;
    robot.value = selected;
    showChannels();
  });
  const form = h('form', { class: 'picker', aria: { label: t.choosePlot } }, robot, channel, index, add);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const c = chosen();
    if (!c) return;
    const at = Math.max(0, Math.min(c.len - 1, Math.trunc(Number(index.value) || 0)));
    pick({ path: c.path, channel: c.name, index: at });
  });
  showRobots();
  return form;
}
