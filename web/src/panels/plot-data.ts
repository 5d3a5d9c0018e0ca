/** The numbers of the plots: one column of time and one per value that is followed, and their export. Pure. */

import { shortName } from '../names';
import type { Probe, Samples } from '../protocol';

/** Rows that are kept; the oldest go first, a piece at a time. */
const MAX_ROWS = 50_000;
const PIECE = 5_000;

export function keyOf(probe: Probe): string {
  return `${probe.path} ${probe.channel} ${probe.index}`;
}

/** A value's name as people read it: `r1 sonar.range[2]`. */
export function labelOf(probe: Probe): string {
  const [robot, part] = [probe.path.split('/').slice(0, 3).join('/'), probe.path.split('/')[3]];
  const name = part === undefined ? probe.channel : `${part}.${probe.channel}`;
  return `${shortName(robot)} ${name}${probe.index > 0 ? `[${probe.index}]` : ''}`;
}

export type Column = (number | null)[];

export class PlotData {
  times: number[] = [];
  private readonly columns = new Map<string, Column>();

  /** The values of a probe, one per time; `null` where there was none. */
  column(probe: Probe): Column {
    const key = keyOf(probe);
    let column = this.columns.get(key);
    if (!column) {
      column = new Array<number | null>(this.times.length).fill(null);
      this.columns.set(key, column);
    }
    return column;
  }

  /** Forgets values that nobody plots any more. */
  keepOnly(probes: readonly Probe[]): void {
    const wanted = new Set(probes.map(keyOf));
    for (const key of this.columns.keys()) if (!wanted.has(key)) this.columns.delete(key);
    if (this.columns.size === 0) this.times = [];
  }

  add(samples: Samples): void {
    const targets = new Map(samples.probes.map((probe, k) => [keyOf(probe), k]));
    for (const row of samples.rows) {
      const time = row[0];
      if (time === undefined || time === null) continue;
      // A run that was reset or branched writes its time anew.
      const last = this.times.at(-1);
      if (last !== undefined && time <= last) this.cut(time);
      this.times.push(time);
      for (const [key, column] of this.columns) {
        const at = targets.get(key);
        const value = at === undefined ? null : row[at + 1];
        column.push(value === undefined || value === null || !Number.isFinite(value) ? null : value);
      }
    }
    if (this.times.length > MAX_ROWS + PIECE) this.drop(this.times.length - MAX_ROWS);
  }

  private cut(time: number): void {
    let keep = this.times.length;
    while (keep > 0 && (this.times[keep - 1] ?? 0) >= time) keep--;
    this.times.length = keep;
    for (const column of this.columns.values()) column.length = keep;
  }

  private drop(count: number): void {
    this.times.splice(0, count);
    for (const column of this.columns.values()) column.splice(0, count);
  }
}

/** Comma-separated values: a line of names, then one line per time. */
export function toCsv(data: PlotData, probes: readonly Probe[]): string {
  const columns = probes.map((p) => data.column(p));
  const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [['time_s', ...probes.map((p) => quoted(labelOf(p)))].join(',')];
  data.times.forEach((time, k) => {
    if (columns.some((c) => c[k] !== null)) lines.push([time, ...columns.map((c) => c[k] ?? '')].join(','));
  });
  return `${lines.join('\n')}\n`;
}

/** Round numbers that divide a range into about `count` pieces. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10) * power;
  const list: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++)
    list.push(Number((k * step).toPrecision(12)));
  return list;
}

/** The plot as a drawing of its own, with axes and names. */
export function toSvg(data: PlotData, probes: readonly Probe[], colours: readonly string[]): string {
  const [width, height, left, top, right, bottom] = [800, 400, 60, 20 + 18 * probes.length, 20, 36];
  const columns = probes.map((p) => data.column(p));
  const values = columns.flatMap((c) => c.filter((v) => v !== null));
  const range = (list: number[]): [number, number] => {
    const [low, high] = list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    return low < high
      ? [low, high]
      : [(low === Infinity ? 0 : low) - 0.5, (low === Infinity ? 0 : low) + 0.5];
  };
  const [t0, t1] = range(data.times);
  const [v0, v1] = range(values);
  const x = (time: number): string => (left + ((time - t0) / (t1 - t0)) * (width - left - right)).toFixed(2);
  const y = (value: number): string =>
    (height - bottom - ((value - v0) / (v1 - v0)) * (height - top - bottom)).toFixed(2);
  const text = (s: string): string => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const out = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
  ];
  for (const time of ticks(t0, t1, 8))
    out.push(
      `<path d="M${x(time)} ${top}V${height - bottom}" stroke="#ddd"/><text x="${x(time)}" y="${height - bottom + 16}" text-anchor="middle">${time}</text>`,
    );
  for (const value of ticks(v0, v1, 6))
    out.push(
      `<path d="M${left} ${y(value)}H${width - right}" stroke="#ddd"/><text x="${left - 6}" y="${y(value)}" dy="4" text-anchor="end">${value}</text>`,
    );
  columns.forEach((column, k) => {
    let pen = false;
    const path = column.map((v, i) => {
      if (v === null) {
        pen = false;
        return '';
      }
      const piece = `${pen ? 'L' : 'M'}${x(data.times[i] ?? 0)} ${y(v)}`;
      pen = true;
      return piece;
    });
    const colour = colours[k % colours.length] ?? '#000';
    const probe = probes[k];
    out.push(`<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`);
    out.push(
      `<path d="M${left} ${14 + 18 * k}h18" stroke="${colour}" stroke-width="3"/><text x="${left + 24}" y="${18 + 18 * k}">${text(probe ? labelOf(probe) : '')}</text>`,
    );
  });
  out.push(`<text x="${width / 2}" y="${height - 4}" text-anchor="middle">time / s</text></svg>`);
  return out.join('\n');
}
