import { describe, expect, test } from 'vitest';
import { FrameReader, type Frame, type MarksFrame } from './frames';

/** Writes numbers as the protocol has them. */
class Writer {
  private bytes: number[] = [];
  byte(...list: number[]): this {
    this.bytes.push(...list);
    return this;
  }
  varint(...list: number[]): this {
    for (let n of list) {
      for (; n >= 128; n = Math.floor(n / 128)) this.bytes.push((n % 128) + 128);
      this.bytes.push(n);
    }
    return this;
  }
  zigzag(...list: number[]): this {
    return this.varint(...list.map((n) => (n >= 0 ? 2 * n : -2 * n - 1)));
  }
  get buffer(): ArrayBuffer {
    return Uint8Array.from(this.bytes).buffer;
  }
}

const head = (kind: number, serial: number, base: number | null): Writer => {
  const w = new Writer().byte(kind).varint(serial);
  if (base !== null) w.varint(base);
  return w.varint(7, 300, 15_000_000_000);
};
const hash = [8, 7, 6, 5, 4, 3, 2, 1];
const marksOf = (frame: Frame | null): MarksFrame['robots'] => (frame as MarksFrame).robots;

describe('frames', () => {
  test('bodies, and then what changed of them', () => {
    const reader = new FrameReader();
    const whole = head(1, 1, null)
      .byte(...hash)
      .varint(2);
    whole.zigzag(10_000, -20_000, 31_000).byte(1).zigzag(0, 5, 0).byte(0).varint(0);
    const first = reader.read(whole.buffer);
    expect(first).toMatchObject({
      kind: 'bodies',
      stop: 300,
      time: 15,
      revision: 7,
      hash: '0102030405060708',
    });
    const since = head(2, 2, 1)
      .byte(...hash)
      .varint(2)
      .byte(0b01);
    since.zigzag(5, 0, 1_000).byte(4).varint(1).zigzag(100, -100);
    const next = reader.read(since.buffer);
    if (next?.kind !== 'bodies') throw new Error('not bodies');
    expect(next.rows[0]).toBeCloseTo(1.0005);
    // Past half a turn the heading goes on from the other side.
    expect(next.rows[2]).toBeCloseTo(3.2 - 2 * Math.PI, 3);
    expect([...next.flags]).toEqual([4, 0]);
    expect(next.contacts[0]?.[1]).toBeCloseTo(-0.01);
  });

  test('what builds on a message that was not seen is no frame', () => {
    expect(
      new FrameReader().read(
        head(2, 2, 1)
          .byte(...hash)
          .varint(0, 0).buffer,
      ),
    ).toBeNull();
    expect(new FrameReader().read(head(4, 2, 1).varint(0).buffer)).toBeNull();
  });

  test('marks of every shape, and then their differences', () => {
    const reader = new FrameReader();
    const whole = head(3, 1, null).varint(1, 5, 4);
    whole.byte(0).varint(1, 0, 3, 2).zigzag(0, 0, 10_000, -5_000);
    whole.byte(1).varint(2, 0, 0).zigzag(1_000, 0, 200);
    whole.byte(2).varint(1, 0, 4).zigzag(0, 0, 20_000, -2_000, 2_000);
    whole.byte(3).varint(2, 1, 0).zigzag(0, 0).varint(2).byte(49, 50);
    expect(marksOf(reader.read(whole.buffer))).toMatchObject([
      {
        body: 5,
        marks: [
          {
            shape: 'line',
            points: [
              [0, 0],
              [1, -0.5],
            ],
            part: 1,
            channel: 0,
            index: 3,
          },
          { shape: 'circle', x: 0.1, y: 0, radius: 0.02, part: 2, channel: 0, index: 0 },
          { shape: 'arc', radius: 2, from: -0.2, to: 0.2, part: 1, index: 4 },
          { shape: 'text', text: '12', channel: 1 },
        ],
      },
    ]);
    const since = head(4, 2, 1).varint(1).byte(0);
    since.zigzag(0, 0, 10_000, 0).zigzag(0, 0, 0).zigzag(0, 0, -10_000, 0, 0).zigzag(0, 0);
    const [robot] = marksOf(reader.read(since.buffer));
    expect(robot?.marks[0]).toMatchObject({
      points: [
        [0, 0],
        [2, -0.5],
      ],
    });
    expect(robot?.marks[2]).toMatchObject({ radius: 1, from: -0.2 });
    const anew = head(4, 3, 2).varint(1).byte(1).varint(6, 0);
    expect(marksOf(reader.read(anew.buffer))).toEqual([{ body: 6, marks: [] }]);
  });

  test('a grid, and a frame that ends too early', () => {
    const grid = head(5, 1, null).varint(3).zigzag(-10_000, 0, 500).varint(2, 1).byte(0, 255);
    const frame = new FrameReader().read(grid.buffer);
    expect(frame).toMatchObject({ kind: 'grid', body: 3, x: -1, cell: 0.05, columns: 2, rows: 1 });
    expect(() => new FrameReader().read(grid.buffer.slice(0, -1))).toThrow('too early');
  });
});
