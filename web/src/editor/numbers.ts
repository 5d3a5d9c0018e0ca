/**
 * Numbers as the scenario writes them: short, to a micrometre; and the small arithmetic that people type
 * into the fields of a place (`25cm+1m`, `90deg/2`). Every other field is read by the server.
 */

/** A number without rounding noise: `0.3`, never `0.30000000000000004`. */
export function short(value: number): string {
  const rounded = Math.round(value * 1e6) / 1e6;
  return String(Object.is(rounded, -0) ? 0 : rounded);
}

export function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}

/** An angle from −π (left out) to π. */
export function wrap(angle: number): number {
  const turn = 2 * Math.PI;
  const rest = ((angle % turn) + turn) % turn;
  return rest > Math.PI ? rest - turn : rest;
}

/** A heading as it is written into a place: `"90deg"`. */
export function headingText(radians: number): string {
  const d = Math.round(degrees(wrap(radians)) * 1e4) / 1e4;
  return `"${Object.is(d, -0) ? 0 : d}deg"`;
}

/** The multiple of `step` nearest to `value`. */
export function snapTo(value: number, step: number): number {
  return Math.round(value / step) * step;
}

const LENGTHS: Record<string, number> = { m: 1, cm: 0.01, mm: 0.001, km: 1000, in: 0.0254, ft: 0.3048 };
const ANGLES: Record<string, number> = {
  rad: 1,
  deg: Math.PI / 180,
  '°': Math.PI / 180,
  turn: 2 * Math.PI,
};

export type Quantity = 'length' | 'angle';

/** A number with or without unit, as metres or radians; `null` if it is none. */
export function measure(text: string, quantity: Quantity): number | null {
  const found = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-z°]*)\s*$/i.exec(text);
  if (!found) return null;
  const unit = found[2] ?? '';
  const factor = unit === '' ? 1 : (quantity === 'length' ? LENGTHS : ANGLES)[unit];
  return factor === undefined ? null : Number(found[1]) * factor;
}

/**
 * What a person typed for one number of a place, as it is written: a plain number or a number with unit
 * stays as typed, arithmetic becomes the number; `null` when it means nothing.
 */
export function typedNumber(typed: string, quantity: Quantity): string | null {
  const plain = measure(typed, quantity);
  if (plain !== null)
    return /[a-z°]\s*$/i.test(typed) ? `"${typed.trim().replace('°', 'deg')}"` : short(plain);
  const value = evaluate(typed, quantity);
  return value === null ? null : short(value);
}

/** Arithmetic with + − * / and brackets over numbers with units. */
export function evaluate(text: string, quantity: Quantity): number | null {
  const tokens = text.match(/(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*[a-z°]*|[-+*/()]|\S/gi) ?? [];
  let at = 0;
  const atom = (): number | null => {
    const token = tokens[at++];
    if (token === undefined) return null;
    if (token === '-') return negate(atom());
    if (token === '+') return atom();
    if (token === '(') {
      const inner = sum();
      return tokens[at++] === ')' ? inner : null;
    }
    return measure(token, quantity);
  };
  const product = (): number | null => {
    let left = atom();
    while (left !== null && (tokens[at] === '*' || tokens[at] === '/')) {
      const times = tokens[at++] === '*';
      const right = atom();
      left = right === null ? null : times ? left * right : left / right;
    }
    return left;
  };
  const sum = (): number | null => {
    let left = product();
    while (left !== null && (tokens[at] === '+' || tokens[at] === '-')) {
      const plus = tokens[at++] === '+';
      const right = product();
      left = right === null ? null : plus ? left + right : left - right;
    }
    return left;
  };
  const value = sum();
  return at === tokens.length && value !== null && Number.isFinite(value) ? value : null;
}

function negate(value: number | null): number | null {
  return value === null ? null : -value;
}
