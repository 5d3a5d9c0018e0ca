/** The view's commands: camera, layers, and the way into space and back. */

import { register, type Command } from '../commands';
import type { Layers } from '../store';
import { t } from '../strings';
import { FULL_SCALE, pannedBy, zoomedAt } from './camera';
import type { Traces } from './traces';
import type { View } from './view';

/** Factor of one press of a zoom button. */
const ZOOM = 1.4;
/** Part of the canvas that one press of a key moves the picture. */
const PAN = 0.15;

/** Layers that have a key of their own. */
const LAYER_KEYS: Partial<Record<keyof Layers, string>> = { messages: 'M', links: 'Shift+M' };

export function registerViewCommands(view: View, traces: Traces): void {
  register(...cameraCommands(view), ...spaceCommands(view), ...layerCommands(view, traces));
}

/** The one robot that is selected. */
export function selectedRobot(view: View): string | null {
  const { selection, world } = view.store;
  const robots = [...selection].filter((id) => {
    const body = world?.bodyOf.get(id);
    return body !== undefined && world?.drawing.types[world.bodies[body]?.type ?? -1]?.kind === 'robot';
  });
  return robots.length === 1 ? (robots[0] ?? null) : null;
}

function cameraCommands(view: View): Command[] {
  const { store } = view;
  const zoom = (factor: number): void =>
    view.flyTo(zoomedAt(store.camera, view.size, view.size.width / 2, view.size.height / 2, factor));
  const pan = (x: number, y: number) => (): void =>
    view.flyTo(pannedBy(store.camera, x * PAN * view.size.width, y * PAN * view.size.height));
  const group = 'View' as const;
  return [
    { id: 'view.zoom-in', title: t.zoomIn, group, keys: ['+', '='], run: () => zoom(ZOOM) },
    { id: 'view.zoom-out', title: t.zoomOut, group, keys: ['-'], run: () => zoom(1 / ZOOM) },
    { id: 'view.fit-all', title: t.fitAll, group, keys: ['Shift+1'], run: () => view.fitAll() },
    {
      id: 'view.fit-selection',
      title: t.fitSelection,
      group,
      keys: ['Shift+2'],
      menu: true,
      refused: () => (store.selection.size > 0 ? null : t.selectSomething),
      run: () => view.fitObjects(store.selection),
    },
    {
      id: 'view.full-scale',
      title: t.fullScale,
      group,
      keys: ['Ctrl+0'],
      run: () => view.flyTo({ ...store.camera, scale: FULL_SCALE }),
    },
    {
      id: 'view.follow',
      title: t.follow,
      group,
      keys: ['F'],
      menu: true,
      refused: () => (store.follow !== null || selectedRobot(view) !== null ? null : t.selectRobot),
      pressed: () => store.follow !== null,
      run: () => {
        store.follow = store.follow === null ? selectedRobot(view) : null;
        store.changed('view');
      },
    },
    { id: 'view.pan-left', title: t.panLeft, group, keys: ['Alt+Shift+ArrowLeft'], run: pan(1, 0) },
    { id: 'view.pan-right', title: t.panRight, group, keys: ['Alt+Shift+ArrowRight'], run: pan(-1, 0) },
    { id: 'view.pan-up', title: t.panUp, group, keys: ['Alt+Shift+ArrowUp'], run: pan(0, 1) },
    { id: 'view.pan-down', title: t.panDown, group, keys: ['Alt+Shift+ArrowDown'], run: pan(0, -1) },
  ];
}

function spaceCommands(view: View): Command[] {
  const { store } = view;
  return [
    {
      id: 'view.3d',
      title: t.inSpace,
      group: 'View',
      keys: ['Shift+3'],
      pressed: () => store.view === '3d',
      run: () => {
        store.view = store.view === '3d' ? '2d' : '3d';
        view.isRobotsEye = false;
        store.changed('view');
      },
    },
    {
      id: 'view.robots-eye',
      title: t.robotsEye,
      group: 'View',
      keys: ['Shift+4'],
      menu: true,
      refused: () => (view.isRobotsEye || selectedRobot(view) !== null ? null : t.selectRobot),
      pressed: () => view.isRobotsEye,
      run: () => {
        view.isRobotsEye = !view.isRobotsEye;
        if (view.isRobotsEye) store.view = '3d';
        store.changed('view');
      },
    },
  ];
}

function layerCommands(view: View, traces: Traces): Command[] {
  const { store } = view;
  const group = 'Layers' as const;
  const switches = Object.entries(t.layerNames) as [Exclude<keyof Layers, 'trails'>, string][];
  const trails = Object.entries(t.trailNames) as [Layers['trails'], string][];
  return [
    ...switches.map(([name, title]): Command => ({
      id: `layer.${name}`,
      title,
      group,
      ...(LAYER_KEYS[name] ? { keys: [LAYER_KEYS[name]] } : {}),
      pressed: () => store.layers[name],
      run: () => store.setLayers({ [name]: !store.layers[name] }),
    })),
    ...trails.map(([name, title]): Command => ({
      id: `layer.trails-${name}`,
      title: t.trailCommand(title),
      group,
      pressed: () => store.layers.trails === name,
      run: () => store.setLayers({ trails: name }),
    })),
    {
      id: 'layer.clear',
      title: t.clearTraces,
      group,
      run: () => {
        traces.clear();
        view.requestDraw();
      },
    },
  ];
}
