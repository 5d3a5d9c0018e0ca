/**
 * Reads the few kinds of value that stand in a field of the document: numbers, texts, switches and lists.
 * Only to show them and to draw handles; what is written back goes through the server, which knows all.
 */

import type { Point } from '../protocol';
import { measure, short } from './numbers';

export type Value = number | string | boolean | Value[];

/** The value of a field as written, or `null` if it is of another kind (a table, say) or broken. */
export function parseValue(text: string): Value | null {
  const reader = new Reader(text);
  const value = reader.value();
  reader.space();
  return reader.ended ? value : null;
}

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  space(): void {
    const found = /^(?:\s|#[^\n]*(?:\n|$))*/.exec(this.text.slice(this.at));
    this.at += found?.[0].length ?? 0;
  }

  value(): Value | null {
    this.space();
    const rest = this.text.slice(this.at);
    if (rest.startsWith('[')) return this.list();
    const quoted = /^"((?:[^"\\\n]|\\.)*)"|^'([^'\n]*)'/.exec(rest);
    if (quoted) {
      this.at += quoted[0].length;
      return quoted[2] ?? unescaped(quoted[1] ?? '');
    }
    const word = /^(true|false)\b/.exec(rest);
    if (word) {
      this.at += word[0].length;
      return word[1] === 'true';
    }
    const number = /^(0x[0-9a-f_]+|[-+]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:e[-+]?[0-9]+)?)/i.exec(rest);
    if (!number) return null;
    this.at += number[0].length;
    return Number(number[0].replaceAll('_', ''));
  }

  private list(): Value[] | null {
    const values: Value[] = [];
    this.at += 1;
    for (;;) {
      this.space();
      if (this.text[this.at] === ']') {
        this.at += 1;
        return values;
      }
      const value = this.value();
      if (value === null) return null;
      values.push(value);
      this.space();
      if (this.text[this.at] === ',') this.at += 1;
      else if (this.text[this.at] !== ']') return null;
    }
  }
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** A text as TOML writes it. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A field's text as a person reads it: without quotes around a text. */
export function plain(text: string): string {
  const value = parseValue(text);
  return typeof value === 'string' ? value : text.trim();
}

/** A length in metres, if that is known without evaluating parameters. */
export function lengthOf(value: Value | null | undefined): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? measure(value, 'length') : null;
}

/** The points of a list such as `[[0, 1], ["2m", 3]]`, or `null` where they depend on parameters. */
export function pointsOf(text: string): Point[] | null {
  const value = parseValue(text);
  if (!Array.isArray(value)) return null;
  const points: Point[] = [];
  for (const pair of value) {
    if (!Array.isArray(pair) || pair.length !== 2) return null;
    const [x, y] = [lengthOf(pair[0]), lengthOf(pair[1])];
    if (x === null || y === null) return null;
    points.push([x, y]);
  }
  return points;
}

export function writePoints(points: readonly Point[]): string {
  return `[${points.map(([x, y]) => `[${short(x)}, ${short(y)}]`).join(', ')}]`;
}
