/** Every command of the editor. */

import type { App } from '../app';
import { register, type Command } from '../commands';
import type { Point } from '../protocol';
import { t } from '../strings';
import { objects } from '../view/pick';
import { align, distribute, duplicateMany } from './arrange';
import { openBuilder } from './builder';
import { copy, cut, duplicate, paste } from './clipboard';
import { editsOf } from './edits';
import { fileActions, insertActions } from './file-actions';
import { flagsOf } from './flags';
import { placedIds } from './handles';
import { openMenuAtSelection } from './menu';
import { remove, splitEntries, turnBy } from './moves';
import { nudge } from './nudge';
import { openParameters, renameSelected } from './parameters';
import { BORDER } from './select-tool';
import { entriesOf, entryOf, whyNotEdit } from './subject';
import { cornersKey, editCorners } from './vertices';

export function registerActions(app: App): void {
  register(
    ...editing(app),
    ...selecting(app),
    ...moving(app),
    ...arranging(app),
    ...insertActions(app),
    ...fileActions(app),
  );
}

function refusals(app: App) {
  const { store } = app;
  const edit = (): string | null => whyNotEdit(store);
  const some = (): string | null => (store.selection.size === 0 ? t.nothingSelected : null);
  return { edit, some, change: (): string | null => some() ?? edit() };
}

function editing(app: App): Command[] {
  const { store } = app;
  const { edit, some, change } = refusals(app);
  const ids = (): string[] => [...store.selection];
  const any = (): boolean => store.selection.size > 0;
  return [
    {
      id: 'edit.undo',
      get title() {
        const step = store.status?.undo;
        return step ? `${t.undo} ${step}` : t.undo;
      },
      group: 'Edit',
      keys: ['Ctrl+Z'],
      refused: () => edit() ?? (store.status?.undo ? null : t.nothingToUndo),
      run: () => void editsOf(app).undo(),
    },
    {
      id: 'edit.redo',
      get title() {
        const step = store.status?.redo;
        return step ? `${t.redo} ${step}` : t.redo;
      },
      group: 'Edit',
      keys: ['Ctrl+Shift+Z', 'Ctrl+Y'],
      refused: () => edit() ?? (store.status?.redo ? null : t.nothingToRedo),
      run: () => void editsOf(app).redo(),
    },
    { id: 'edit.open', title: t.openObject, group: 'Edit', refused: some, run: () => openObject(app) },
    {
      id: 'edit.corners',
      title: t.editCorners,
      group: 'Edit',
      menu: true,
      refused: () => change() ?? (cornered(app) === null ? t.noCorners : null),
      run: () => openObject(app),
    },
    {
      id: 'edit.parameters',
      title: t.parameters,
      group: 'Edit',
      keys: ['Enter'],
      when: () => isOnCanvas() && any(),
      menu: true,
      refused: some,
      run: () => void openSettings(app),
    },
    {
      id: 'edit.cut',
      title: t.cut,
      group: 'Edit',
      keys: ['Ctrl+X'],
      menu: true,
      refused: change,
      run: () => void cut(app),
    },
    {
      id: 'edit.copy',
      title: t.copy,
      group: 'Edit',
      keys: ['Ctrl+C'],
      when: any,
      menu: true,
      refused: some,
      run: () => void copy(app),
    },
    // The key comes as a paste event, which carries the text.
    {
      id: 'edit.paste',
      title: t.paste,
      group: 'Edit',
      keys: ['Ctrl+V'],
      when: () => false,
      menu: true,
      refused: edit,
      run: () => void paste(app),
    },
    {
      id: 'edit.duplicate',
      title: t.duplicate,
      group: 'Edit',
      keys: ['Ctrl+D'],
      menu: true,
      refused: change,
      run: () => void duplicate(app, ids()),
    },
    {
      id: 'edit.grid',
      title: t.duplicateGrid,
      group: 'Edit',
      menu: true,
      refused: change,
      run: () => void duplicateMany(app, 'grid'),
    },
    {
      id: 'edit.circle',
      title: t.duplicateCircle,
      group: 'Edit',
      menu: true,
      refused: change,
      run: () => void duplicateMany(app, 'circle'),
    },
    {
      id: 'edit.rename',
      title: t.renameTitle,
      group: 'Edit',
      keys: ['F2'],
      menu: true,
      refused: change,
      run: () => void renameSelected(app),
    },
    {
      id: 'edit.split',
      title: t.split,
      group: 'Edit',
      menu: true,
      refused: () => change() ?? (entriesOf(store, ids()).some(isMany) ? null : t.nothingToSplit),
      run: () => void splitEntries(app, entriesOf(store, ids()).filter(isMany)),
    },
    { id: 'edit.type', title: t.openBuilder, group: 'Edit', keys: ['B'], run: () => void openBuilder(app) },
    {
      id: 'edit.delete',
      title: t.remove,
      group: 'Edit',
      keys: ['Delete', 'Backspace'],
      when: any,
      menu: true,
      refused: change,
      run: () => void remove(app, ids()),
    },
  ];
}

const isMany = (e: { section: string; count: number }): boolean => e.section === 'robot' && e.count > 1;

/** The one selected object, if it has corners. */
function cornered(app: App): string | null {
  const [id, ...others] = [...app.store.selection];
  const entry = id === undefined ? null : entryOf(app.store, id);
  return id !== undefined && others.length === 0 && entry && cornersKey(entry) ? id : null;
}

/** What a double click does: corners of what has them, parameters of everything else. */
function openObject(app: App): void {
  const id = cornered(app);
  if (id !== null) editCorners(app, id);
  else void openSettings(app);
}

function openSettings(app: App): Promise<void> {
  const [first, ...others] = entriesOf(app.store, app.store.selection);
  return first?.section === 'type' && others.length === 0 ? openBuilder(app) : openParameters(app);
}

function selecting(app: App): Command[] {
  const { store } = app;
  const { some } = refusals(app);
  const flags = flagsOf(app);
  const onCanvas = (): string[] => [...store.selection].filter((id) => id.startsWith('/'));
  return [
    {
      id: 'select.all',
      title: t.selectAll,
      group: 'Edit',
      keys: ['Ctrl+A'],
      run: () =>
        store.select(
          objects(store)
            .map((o) => o.id)
            .filter((id) => id !== BORDER && flags.isFree(id)),
        ),
    },
    {
      id: 'select.none',
      title: t.selectNone,
      group: 'Edit',
      keys: ['Escape'],
      when: () => store.selection.size > 0,
      run: () => store.select([]),
    },
    {
      id: 'edit.snap',
      title: t.snap,
      group: 'Edit',
      keys: ["Ctrl+'", 'Ctrl+#'],
      pressed: () => store.snap,
      run: () => {
        store.snap = !store.snap;
        store.changed('settings');
        app.announce(store.snap ? t.snapOn : t.snapOff);
      },
    },
    {
      id: 'edit.lock',
      title: t.lock,
      group: 'Edit',
      keys: ['Shift+L'],
      menu: true,
      refused: some,
      pressed: () => onCanvas().length > 0 && onCanvas().every((id) => flags.isLocked(id)),
      run: () => flags.toggle('locked', onCanvas()),
    },
    {
      id: 'edit.hide',
      title: t.hide,
      group: 'Edit',
      keys: ['Shift+H'],
      menu: true,
      refused: some,
      pressed: () => onCanvas().length > 0 && onCanvas().every((id) => flags.isHidden(id)),
      run: () => flags.toggle('hidden', onCanvas()),
    },
    {
      id: 'edit.menu',
      title: t.menu,
      group: 'Edit',
      keys: ['Shift+F10', 'ContextMenu'],
      run: () => openMenuAtSelection(app),
    },
  ];
}

/** Whether keys are meant for the picture, not for a control that uses them itself. */
function isOnCanvas(): boolean {
  const at = document.activeElement;
  return at === null || at === document.body || at instanceof HTMLCanvasElement;
}

function arrowsAreFree(): boolean {
  const used =
    '[role="slider"], [role="tablist"], [role="tree"], [role="menu"], [role="separator"], [role="listbox"], dialog, input, summary';
  return document.activeElement?.closest(used) === null || document.activeElement === null;
}

function moving(app: App): Command[] {
  const { store } = app;
  const { change } = refusals(app);
  const when = (): boolean => arrowsAreFree() && placedIds(app).length > 0;
  const arrow = (key: string, title: string, by: Point): Command[] =>
    (
      [
        ['', 1],
        ['Shift+', 10],
        ['Alt+', 0],
      ] as const
    ).map(([mod, times]) => ({
      id: `move.${title.toLowerCase()}${mod ? `.${mod.slice(0, -1).toLowerCase()}` : ''}`,
      title: t.moveStep(
        title.toLowerCase(),
        mod === '' ? t.oneStep : mod === 'Shift+' ? t.tenSteps : t.oneMillimetre,
      ),
      group: 'Edit',
      keys: [`${mod}Arrow${key}`],
      when,
      refused: change,
      run: () => {
        const far = times === 0 ? 0.001 : times * store.step;
        nudge(app, [by[0] * far, by[1] * far]);
      },
    }));
  const turn = (degrees: number): void => void turnBy(app, placedIds(app), (degrees * Math.PI) / 180);
  return [
    ...arrow('Left', t.left, [-1, 0]),
    ...arrow('Right', t.right, [1, 0]),
    ...arrow('Up', t.up, [0, 1]),
    ...arrow('Down', t.down, [0, -1]),
    {
      id: 'turn.left',
      title: t.turnLeft,
      group: 'Edit',
      keys: ['R'],
      menu: true,
      refused: change,
      run: () => turn(15),
    },
    {
      id: 'turn.right',
      title: t.turnRight,
      group: 'Edit',
      keys: ['Shift+R'],
      menu: true,
      refused: change,
      run: () => turn(-15),
    },
  ];
}

function arranging(app: App): Command[] {
  const { change } = refusals(app);
  const list = [
    ['left', 'Ctrl+Shift+ArrowLeft'],
    ['right', 'Ctrl+Shift+ArrowRight'],
    ['top', 'Ctrl+Shift+ArrowUp'],
    ['bottom', 'Ctrl+Shift+ArrowDown'],
    ['middle-x', null],
    ['middle-y', null],
  ] as const;
  return [
    ...list.map(([how, key]): Command => ({
      id: `align.${how}`,
      title: t.align[how],
      group: 'Edit',
      ...(key ? { keys: [key], when: arrowsAreFree } : {}),
      refused: change,
      run: () => void align(app, how),
    })),
    ...(['x', 'y'] as const).map((axis): Command => ({
      id: `distribute.${axis}`,
      title: t.distribute[axis],
      group: 'Edit',
      refused: change,
      run: () => void distribute(app, axis),
    })),
  ];
}
