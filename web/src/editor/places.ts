/** Sets one number (x, y or heading) of the places of several entries in one step. */

import type { App } from '../app';
import type { SheetParam } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { editsOf } from './edits';
import { messageOf, nameOfAll } from './settle';
import { fieldOf } from './subject';
import { parseValue } from './toml';
import { Refused } from '../link';

export async function setPlaces(
  app: App,
  entries: readonly Entry[],
  param: SheetParam,
  k: number,
  value: string,
): Promise<string | null> {
  let refused: string | null = null;
  await editsOf(app).change(
    t.stepSet(param.name, nameOfAll(entries)),
    entries.map((e) => ({ op: 'set', entry: e.key, key: param.name, value: withNumber(e, param, k, value) })),
    'same',
    (failure) => (refused = messageOf(new Refused(failure))),
  );
  return refused;
}

function withNumber(entry: Entry, param: SheetParam, k: number, value: string): string {
  const now = parseValue(fieldOf(entry, param.name) ?? param.default ?? '[0, 0]');
  const numbers = (Array.isArray(now) ? now : [0, 0]).map((v) =>
    typeof v === 'string' ? `"${v}"` : String(v),
  );
  while (numbers.length <= k) numbers.push('0');
  numbers[k] = value;
  return `[${numbers.join(', ')}]`;
}
