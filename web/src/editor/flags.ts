/**
 * Which objects are locked (cannot be picked on the canvas) or hidden. That is a matter of this page, not
 * of the document; it is kept for as long as the tab lives.
 */

import type { App } from '../app';

type Flag = 'locked' | 'hidden';

class Flags {
  constructor(private readonly app: App) {
    for (const flag of ['locked', 'hidden'] as const) app.store[flag] = new Set(read(flag));
  }

  isLocked(id: string): boolean {
    return this.app.store.locked.has(id);
  }

  isHidden(id: string): boolean {
    return this.app.store.hidden.has(id);
  }

  /** Whether it can be picked on the canvas. */
  isFree(id: string): boolean {
    return !this.isLocked(id) && !this.isHidden(id);
  }

  /** Sets the flag of all, unless all have it. */
  toggle(flag: Flag, ids: readonly string[]): void {
    const { store } = this.app;
    const set = new Set(store[flag]);
    const all = ids.every((id) => set.has(id));
    for (const id of ids)
      if (all) set.delete(id);
      else set.add(id);
    store[flag] = set;
    try {
      sessionStorage.setItem(`swarmyard.${flag}`, JSON.stringify([...set]));
    } catch {
      // A browser that keeps nothing: then it is kept until the page goes.
    }
    store.changed('settings');
    if (flag === 'hidden') store.changed('view');
  }
}

function read(flag: Flag): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(`swarmyard.${flag}`) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

let flags: Flags | null = null;

export function flagsOf(app: App): Flags {
  flags ??= new Flags(app);
  return flags;
}
