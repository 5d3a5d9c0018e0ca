/** Writes what a person typed into a field to the document: checked by the server first, one undo step. */

import type { App } from '../app';
import { Refused } from '../link';
import type { Change, Failure, SheetParam } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { editsOf } from './edits';
import { fieldOf, whyNotEdit } from './subject';
import { plain } from './toml';

/** Sets one parameter of all entries; answers what is wrong, or `null` when it was done. */
export async function settle(
  app: App,
  entries: readonly Entry[],
  param: SheetParam,
  typed: string,
): Promise<string | null> {
  const why = whyNotEdit(app.store);
  if (why) return why;
  const text = typed.trim();
  if (text === '' && param.required) return t.required;
  let value = text;
  if (text !== '' && !isName(param)) {
    try {
      const ask = { class: entries[0]?.class ?? '', param: param.name, typed: text };
      const answer = await app.link.ask('normalise', ask);
      value = String(answer['value'] ?? text);
    } catch (error) {
      return messageOf(error, param);
    }
  }
  const keys = entries.map((e) => e.key);
  const present = (): Entry[] => (app.store.world?.entries ?? []).filter((e) => keys.includes(e.key));
  let refused: string | null = null;
  const label = t.stepSet(param.name, nameOfAll(entries));
  await editsOf(app).change(
    label,
    () => present().flatMap((e) => changeOf(e, param, value)),
    'same',
    (failure) => (refused = messageOf(new Refused(failure), param)),
  );
  return refused;
}

/** Whether a parameter is the entry's own name, which others may refer to. */
export function isName(param: SheetParam): boolean {
  return param.name === 'name' && param.kind === 'text';
}

function changeOf(entry: Entry, param: SheetParam, value: string): Change[] {
  const written = fieldOf(entry, param.name);
  if (value === '') return written === null ? [] : [{ op: 'unset', entry: entry.key, key: param.name }];
  if (isName(param) && entry.name !== null)
    return entry.name === value ? [] : [{ op: 'rename', entry: entry.key, name: value }];
  if (written !== null && (written === value || plain(written) === value)) return [];
  return [{ op: 'set', entry: entry.key, key: param.name, value }];
}

/** What the server said, with the allowed range where it did not say it. */
export function messageOf(error: unknown, param?: SheetParam): string {
  if (!(error instanceof Refused)) throw error;
  const { message, help, problems }: Failure = error.failure;
  const first = problems?.[0];
  const words = [message, help, first && first.message !== message ? first.message : null].filter(Boolean);
  const text = words.join(' · ');
  return param?.range && !text.includes(param.range) ? `${text} · ${t.allowed(param.range)}` : text;
}

export function nameOfAll(entries: readonly Entry[]): string {
  const [only] = entries;
  if (only && entries.length === 1) return only.name ?? only.key;
  const sections = new Set(entries.map((e) => e.section));
  return t.manyOf(entries.length, sections.size === 1 && only ? only.section : 'object');
}
