/** Reads the binary messages of the display protocol: bodies, marks and occupancy grids. */

/** Metres per unit of length, radians per unit of angle. */
const LENGTH = 1e-4;
const ANGLE = 1e-4;
const TURN = Math.round((2 * Math.PI) / ANGLE);

export const HALTED = 1;
export const FAILED = 2;
export const TOUCHING = 4;
export const CARRIED = 8;
export const WAITED_FOR = 16;

interface Head {
  serial: number;
  revision: number;
  stop: number;
  /** Simulated seconds. */
  time: number;
}

/** Where every body is. `rows` has x, y (m), heading (rad) of each, in the order of the world's bodies. */
export interface BodiesFrame extends Head {
  kind: 'bodies';
  hash: string;
  count: number;
  rows: Float64Array;
  flags: Uint8Array;
  contacts: [number, number][];
}

export type MarkShape =
  | { shape: 'line'; points: [number, number][] }
  | { shape: 'circle'; x: number; y: number; radius: number }
  | { shape: 'arc'; x: number; y: number; radius: number; from: number; to: number }
  | { shape: 'text'; x: number; y: number; text: string };

/** Something a part draws, in its body's frame. */
export type Mark = MarkShape & { part: number; channel: number; index: number };

export interface MarksFrame extends Head {
  kind: 'marks';
  robots: { body: number; marks: Mark[] }[];
}

export interface GridFrame extends Head {
  kind: 'grid';
  body: number;
  x: number;
  y: number;
  cell: number;
  columns: number;
  rows: number;
  cells: Uint8Array;
}

export type Frame = BodiesFrame | MarksFrame | GridFrame;

class Reader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  byte(): number {
    const b = this.bytes[this.at++];
    if (b === undefined) throw new Error('a frame ends too early');
    return b;
  }

  /** An unsigned number of up to 2^53 − 1. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const b = this.byte();
      value += (b & 127) * scale;
      if (b < 128) return value;
      scale *= 128;
    }
  }

  zigzag(): number {
    const n = this.varint();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error('a frame ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/**
 * A mark and its numbers as they came, so that differences can be added to them. With a thousand robots
 * there are tens of thousands in a frame: what only moves is changed in place, not made anew.
 */
interface RawMark {
  numbers: number[];
  mark: Mark;
}

/** Keeps what the next difference builds on. One per connection. */
export class FrameReader {
  private bodies: { serial: number; units: Float64Array; flags: Uint8Array } | null = null;
  private marks: { serial: number; robots: { body: number; marks: RawMark[] }[] } | null = null;

  /** Reads one message; `null` when it builds on one that this reader has not seen. */
  read(buffer: ArrayBuffer): Frame | null {
    const r = new Reader(new Uint8Array(buffer));
    const kind = r.byte();
    const serial = r.varint();
    const base = kind === 2 || kind === 4 ? r.varint() : null;
    const head: Head = { serial, revision: r.varint(), stop: r.varint(), time: r.varint() / 1e9 };
    switch (kind) {
      case 1:
      case 2:
        return this.readBodies(r, head, base);
      case 3:
      case 4:
        return this.readMarks(r, head, base);
      case 5:
        return readGrid(r, head);
      default:
        throw new Error(`unknown kind of frame ${kind}`);
    }
  }

  private readBodies(r: Reader, head: Head, base: number | null): BodiesFrame | null {
    if (base !== null && this.bodies?.serial !== base) return null;
    const hash = [...r.take(8)].reverse().map(hex).join('');
    const count = r.varint();
    const before = base === null ? null : this.bodies;
    if (before && before.flags.length !== count) return null;
    const units = before ? before.units.slice() : new Float64Array(3 * count);
    const flags = before ? before.flags.slice() : new Uint8Array(count);
    const changed = before ? r.take(Math.ceil(count / 8)).slice() : null;
    for (let k = 0; k < count; k++) {
      if (changed && !((changed[k >> 3] ?? 0) & (1 << (k & 7)))) continue;
      for (let i = 0; i < 3; i++) units[3 * k + i] = (units[3 * k + i] ?? 0) + r.zigzag();
      units[3 * k + 2] = wrapped(units[3 * k + 2] ?? 0);
      flags[k] = r.byte();
    }
    const contacts: [number, number][] = [];
    for (let n = r.varint(); n > 0; n--) contacts.push([r.zigzag() * LENGTH, r.zigzag() * LENGTH]);
    this.bodies = { serial: head.serial, units, flags };
    const rows = units.map((u, i) => u * (i % 3 === 2 ? ANGLE : LENGTH));
    return { ...head, kind: 'bodies', hash, count, rows, flags, contacts };
  }

  private readMarks(r: Reader, head: Head, base: number | null): MarksFrame | null {
    if (base !== null && this.marks?.serial !== base) return null;
    const before = base === null ? null : this.marks;
    const robots: { body: number; marks: RawMark[] }[] = [];
    const count = r.varint();
    for (let k = 0; k < count; k++) {
      const old = before?.robots[k];
      if (before && r.byte() === 0) {
        if (!old) throw new Error('a frame builds on a robot that is not there');
        for (const { numbers, mark } of old.marks) {
          for (let i = 0; i < numbers.length; i++) numbers[i] = (numbers[i] ?? 0) + r.zigzag();
          reshape(mark, numbers);
        }
        robots.push(old);
      } else {
        const body = r.varint();
        robots.push({ body, marks: Array.from({ length: r.varint() }, () => rawMark(r)) });
      }
    }
    this.marks = { serial: head.serial, robots };
    return {
      ...head,
      kind: 'marks',
      robots: robots.map(({ body, marks }) => ({ body, marks: marks.map((m) => m.mark) })),
    };
  }
}

function rawMark(r: Reader): RawMark {
  const shape = r.byte();
  const of = { part: r.varint(), channel: r.varint(), index: r.varint() };
  const length = [2 * (shape === 0 ? r.varint() : 0), 3, 5, 2][shape];
  if (length === undefined) throw new Error(`unknown shape of mark ${shape}`);
  const numbers: number[] = [];
  for (let i = 0; i < length; i++) numbers.push(r.zigzag());
  const text = shape === 3 ? new TextDecoder().decode(r.take(r.varint())) : '';
  const mark = blank(shape, length / 2, text, of);
  reshape(mark, numbers);
  return { numbers, mark };
}

/** A mark whose numbers are still to be filled in. */
function blank(
  shape: number,
  points: number,
  text: string,
  of: { part: number; channel: number; index: number },
): Mark {
  if (shape === 0)
    return { shape: 'line', points: Array.from({ length: points }, (): [number, number] => [0, 0]), ...of };
  if (shape === 1) return { shape: 'circle', x: 0, y: 0, radius: 0, ...of };
  if (shape === 2) return { shape: 'arc', x: 0, y: 0, radius: 0, from: 0, to: 0, ...of };
  return { shape: 'text', x: 0, y: 0, text, ...of };
}

function reshape(mark: Mark, numbers: readonly number[]): void {
  const n = (i: number): number => (numbers[i] ?? 0) * LENGTH;
  if (mark.shape === 'line') {
    mark.points.forEach((point, k) => {
      point[0] = n(2 * k);
      point[1] = n(2 * k + 1);
    });
    return;
  }
  mark.x = n(0);
  mark.y = n(1);
  if (mark.shape === 'text') return;
  mark.radius = n(2);
  if (mark.shape === 'circle') return;
  mark.from = (numbers[3] ?? 0) * ANGLE;
  mark.to = (numbers[4] ?? 0) * ANGLE;
}

function readGrid(r: Reader, head: Head): GridFrame {
  const body = r.varint();
  const [x, y, cell] = [r.zigzag() * LENGTH, r.zigzag() * LENGTH, r.zigzag() * LENGTH];
  const [columns, rows] = [r.varint(), r.varint()];
  return { ...head, kind: 'grid', body, x, y, cell, columns, rows, cells: r.take(columns * rows).slice() };
}

/** An angle in units, from −π to π. */
function wrapped(units: number): number {
  return units - TURN * Math.round(units / TURN);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
