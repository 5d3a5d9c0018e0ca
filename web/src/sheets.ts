/** Reads the sheets as the server says them: what does not apply to a parameter is left out there. */

import type { Sheet, SheetParam } from './protocol';

type Raw = Partial<Omit<SheetParam, 'default'>> & { name: string; type?: string; default?: unknown };

/** The sheets with every field in its place. */
export function readSheets(raw: unknown): Map<string, Sheet> {
  const list = Array.isArray(raw) ? (raw as (Omit<Sheet, 'params'> & { params?: Raw[] })[]) : [];
  return new Map(list.map((s) => [s.class, { ...s, params: (s.params ?? []).map(param) }]));
}

function param(raw: Raw): SheetParam {
  return {
    name: raw.name,
    kind: raw.kind ?? 'text',
    words: raw.words ?? raw.type ?? '',
    unit: raw.unit ?? '',
    min: raw.min ?? null,
    max: raw.max ?? null,
    range: raw.range ?? '',
    default: written(raw.default),
    required: raw.required ?? false,
    choices: raw.choices ?? [],
    ...(raw.of === undefined ? {} : { of: raw.of }),
    summary: raw.summary ?? '',
  };
}

/** A default as a person would write it; `null` when there is none. */
function written(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  return Array.isArray(value)
    ? `[${value.map((v) => (typeof v === 'string' ? JSON.stringify(v) : written(v))).join(', ')}]`
    : String(value);
}
