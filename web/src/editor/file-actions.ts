/** The commands that put things into the world, and those about files. */

import type { App } from '../app';
import type { Command } from '../commands';
import { t } from '../strings';
import { startDrawing } from './draw-tool';
import { newDocument, openDialog, save, saveAs, share } from './files';
import { KINDS } from './kinds';
import { placeAtCentre } from './place';
import { whyNotEdit } from './subject';

/** One command per kind of thing that can be put into the world. */
export function insertActions(app: App): Command[] {
  const edit = (): string | null => whyNotEdit(app.store);
  const keys: Record<string, string> = { robot: 'N', wall: 'W', track: 'T', polygon: 'P' };
  return KINDS.map((kind): Command => {
    const key = keys[kind.id];
    return {
      id: `insert.${kind.id}`,
      title: t.insert(t.kinds[kind.id] ?? kind.id),
      group: 'Insert',
      ...(key ? { keys: [key] } : {}),
      refused: edit,
      run: () => (kind.drawn ? startDrawing(app, kind.drawn) : void placeAtCentre(app, kind.id)),
    };
  });
}

export function fileActions(app: App): Command[] {
  const refused = (): string | null => (app.store.isConsole ? null : t.needControl);
  return [
    {
      id: 'file.new',
      title: t.newFile,
      group: 'File',
      keys: ['Ctrl+N', 'Alt+N'],
      refused,
      run: () => void newDocument(app),
    },
    {
      id: 'file.open',
      title: t.openTitle,
      group: 'File',
      keys: ['Ctrl+O'],
      refused,
      run: () => void openDialog(app),
    },
    { id: 'file.save', title: t.save, group: 'File', keys: ['Ctrl+S'], refused, run: () => void save(app) },
    {
      id: 'file.save-as',
      title: t.saveAsTitle,
      group: 'File',
      keys: ['Ctrl+Shift+S'],
      refused,
      run: () => void saveAs(app),
    },
    {
      id: 'file.share',
      title: t.shareLink,
      group: 'File',
      keys: ['Ctrl+Shift+L'],
      run: () => void share(app),
    },
  ];
}
