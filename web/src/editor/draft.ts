/**
 * Unsaved changes are kept in the browser too. After a reload they are there: the server has kept them, or,
 * if it was started anew meanwhile, the draft is put back as one undo step.
 */

import type { App } from '../app';
import { t } from '../strings';
import { editsOf } from './edits';

interface Draft {
  text: string;
  /** The text without the changes. */
  base: string;
}

export function startDrafts(app: App): void {
  const { store } = app;
  let checked: string | null = null;
  /** Whether the world came after the connection was made: a status alone speaks of another one. */
  let isFresh = false;
  let base = '';
  const key = (): string =>
    `swarmyard.draft.${store.project}.${store.status?.file ?? store.world?.title ?? ''}`;
  const look = (): void => {
    const { world, status } = store;
    if (
      !isFresh ||
      !world ||
      !status ||
      world.mode === 'replay' ||
      store.link !== 'open' ||
      world.file !== status.file
    )
      return;
    const now = key();
    if (checked !== now) {
      // Who has control is said before the world, so this is known by now.
      checked = now;
      if (!status.dirty) base = world.text;
      void restore(app, read(now), status.dirty).then(note);
      return;
    }
    note();
  };
  const note = (): void => {
    const { world, status } = store;
    if (!world || !status) return;
    if (status.revision !== world.revision) return;
    if (status.dirty) write(key(), { text: world.text, base });
    else {
      base = world.text;
      write(key(), null);
    }
  };
  store.on('world', () => {
    isFresh = true;
    look();
  });
  store.on('status', look);
  store.on('link', () => {
    if (store.link === 'open') return;
    checked = null;
    isFresh = false;
  });
}

async function restore(app: App, draft: Draft | null, isDirty: boolean): Promise<void> {
  const { store } = app;
  const text = store.world?.text ?? '';
  if (!draft) return;
  if (isDirty && draft.text === text) {
    app.toast(t.restored);
    return;
  }
  if (isDirty || draft.text === text) return;
  const put = async (): Promise<void> => {
    const done = await editsOf(app).replace(t.stepRestore, draft.text);
    if (done) app.toast(t.restored);
  };
  if (draft.base === text && store.canEdit) await put();
  else app.toast(t.draftOfOther, 'info', { title: t.restoreDraft, run: () => void put() });
}

function read(key: string): Draft | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return null;
    const { text, base } = kept as Partial<Draft>;
    return typeof text === 'string' && typeof base === 'string' ? { text, base } : null;
  } catch {
    return null;
  }
}

function write(key: string, draft: Draft | null): void {
  try {
    if (draft) localStorage.setItem(key, JSON.stringify(draft));
    else localStorage.removeItem(key);
  } catch {
    // No room, or a browser that keeps nothing: the server still has the changes.
  }
}
