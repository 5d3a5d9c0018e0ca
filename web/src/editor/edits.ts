/**
 * Edits one after the other: each is made for the world that the one before it left, so that addresses and
 * revisions always fit, however fast they are asked for. Also keeps which objects were selected at each
 * undo step, so that undoing shows what it is about.
 */

import type { App } from '../app';
import { Refused } from '../link';
import type { Change, Failure, Point } from '../protocol';
import { t } from '../strings';
import { whyNotEdit } from './subject';

export interface Done {
  revision: number;
  paths: string[];
}

type Changes = Change[] | (() => Change[] | null);

export class Edits {
  private last: Promise<unknown> = Promise.resolve();
  /** Edits that were asked for and are not done. */
  private underWay = 0;
  /** The selection before the edit that made this undo depth, and after it. */
  private readonly before = new Map<number, string[]>();
  private readonly after = new Map<number, string[]>();
  /** Called before anything is done, to finish what is half done (a row of arrow keys). */
  beforeNext: () => void = () => undefined;

  constructor(private readonly app: App) {}

  /**
   * Changes the document. Says why when it cannot, to `refused` or else in a toast; answers what was done,
   * or `null`.
   */
  change(
    label: string,
    changes: Changes,
    then?: Select,
    refused?: (why: Failure) => void,
  ): Promise<Done | null> {
    return this.queue(async () => {
      const list = typeof changes === 'function' ? changes() : changes;
      if (!list || list.length === 0) return null;
      if (!refused) return this.app.edit(label, list);
      try {
        return await this.app.link.ask('edit', { label, changes: list, revision: this.revision });
      } catch (why) {
        if (!(why instanceof Refused)) throw why;
        refused(why.failure);
        return null;
      }
    }, then);
  }

  /**
   * Adds the entries of a piece of TOML, moved by `by`; where something stands in the way, by the next of
   * the ways.
   */
  paste(fragment: string, ...ways: Point[]): Promise<Done | null> {
    return this.queue(async () => {
      for (const [k, by] of ways.entries())
        try {
          return await this.app.link.ask('paste', { fragment, by, revision: this.revision });
        } catch (why) {
          if (k + 1 < ways.length && isOverlap(why)) continue;
          this.app.fail(why);
          return null;
        }
      return null;
    }, 'made');
  }

  /** Replaces the whole text. */
  replace(label: string, text: string): Promise<Done | null> {
    return this.queue(() => this.app.do('replace', { label, text, revision: this.revision }));
  }

  async undo(): Promise<void> {
    await this.walk('undo', -1);
  }

  async redo(): Promise<void> {
    await this.walk('redo', 1);
  }

  private get revision(): number {
    return this.app.store.world?.revision ?? 0;
  }

  private get depth(): number {
    return this.app.store.status?.undo_depth ?? 0;
  }

  private async walk(what: 'undo' | 'redo', by: number): Promise<void> {
    this.beforeNext();
    const name = this.app.store.status?.[what];
    await this.inTurn(async () => {
      const depth = this.depth;
      const answer = await this.app.do(what);
      if (!answer) return;
      await this.arrived(answer['revision']);
      const ids = what === 'undo' ? this.before.get(depth) : this.after.get(depth + by);
      if (ids) this.app.store.select(ids.filter((id) => this.app.store.exists(id)));
      this.app.announce(what === 'undo' ? t.undone(name ?? '') : t.redone(name ?? ''));
    });
  }

  private queue(
    ask: () => Promise<Record<string, unknown> | null>,
    then: Select = 'same',
  ): Promise<Done | null> {
    const { store } = this.app;
    const why = whyNotEdit(store);
    if (why) {
      this.app.toast(why, 'error');
      return Promise.resolve(null);
    }
    return this.inTurn(async () => {
      const [depth, selected] = [this.depth, [...store.selection]];
      const known = new Set(store.world?.entryOf.keys() ?? []);
      const answer = await ask();
      if (!answer) return null;
      await this.arrived(answer['revision']);
      const paths = this.made(answer['paths'], known);
      if (then === 'made') store.select(paths);
      else if (then !== 'same') store.select(then.filter((id) => store.exists(id)));
      this.before.set(depth + 1, selected);
      this.after.set(depth + 1, [...store.selection]);
      return { revision: Number(answer['revision'] ?? 0), paths };
    });
  }

  /** Does something when all before it is done. While anything is under way the body says how much (`data-edits`). */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const count = (more: 1 | -1): void => {
      this.underWay += more;
      if (this.underWay > 0) document.body.dataset['edits'] = String(this.underWay);
      else delete document.body.dataset['edits'];
    };
    count(1);
    const task = this.last.then(work);
    this.last = task.catch(() => undefined).then(() => count(-1));
    return task;
  }

  /** What an edit made: what the server says if the world has it, or else what is new in the world. */
  private made(paths: unknown, known: Set<string>): string[] {
    const { store } = this.app;
    const said = Array.isArray(paths) ? (paths as string[]).filter((p) => store.exists(p)) : [];
    if (said.length > 0) return said;
    const fresh = store.world?.entries
      .filter((e) => !e.fixed)
      .flatMap((e) => (e.paths.length ? e.paths : [e.key]));
    return (fresh ?? []).filter((id) => !known.has(id));
  }

  /** Waits until the page has the world of a revision, and knows where everything is in it. */
  private arrived(revision: unknown): Promise<void> {
    const { store } = this.app;
    const wanted = typeof revision === 'number' ? revision : 0;
    const isThere = (): boolean =>
      ((store.world?.revision ?? 0) >= wanted && (store.frame?.revision ?? 0) >= wanted) ||
      store.link !== 'open';
    if (isThere()) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = store.on(['world', 'frame', 'link'], () => {
        if (!isThere()) return;
        stop();
        resolve();
      });
    });
  }
}

function isOverlap(why: unknown): boolean {
  return why instanceof Refused && (why.failure.problems?.some((p) => p.code === 'overlap') ?? false);
}

/** What is selected after an edit: what it made, what was selected before, or these. */
export type Select = 'made' | 'same' | string[];

let edits: Edits | null = null;

/** The one queue of edits of the page. */
export function editsOf(app: App): Edits {
  edits ??= new Edits(app);
  return edits;
}
