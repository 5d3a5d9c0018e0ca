/** What can be put into the world: how it is drawn while it is dragged, and how it is written. Pure. */

import type { IconName } from '../icons';
import type { Change, Point, Shape } from '../protocol';
import type { World } from '../store';
import { short } from './numbers';
import { quoted, writePoints } from './toml';

export interface Kind {
  id: string;
  icon: IconName;
  /** Placed by one click or drop. */
  shape: Shape;
  /** Lines instead of a body: wall and track; the points are around the place of the drop. */
  line?: Point[];
  /** Drawn point by point when it is clicked instead of dragged. */
  drawn?: 'wall' | 'track' | 'polygon';
}

const box = (length: number, width: number): Shape => ({
  corners: [
    [length / 2, width / 2],
    [-length / 2, width / 2],
    [-length / 2, -width / 2],
    [length / 2, -width / 2],
  ],
  round: 0,
});

const disc = (radius: number): Shape => ({ corners: [[0, 0]], round: radius });

const PENTAGON: Point[] = [
  [0.3, 0],
  [0.09, 0.29],
  [-0.24, 0.18],
  [-0.24, -0.18],
  [0.09, -0.29],
];

const LINE: Point[] = [
  [-0.5, 0],
  [0.5, 0],
];

export const KINDS: Kind[] = [
  { id: 'robot', icon: 'robot', shape: disc(0.12) },
  { id: 'beacon', icon: 'beacon', shape: disc(0.08) },
  { id: 'box', icon: 'box', shape: box(0.4, 0.3) },
  { id: 'disc', icon: 'disc', shape: disc(0.2) },
  { id: 'polygon', icon: 'polygon', shape: { corners: PENTAGON, round: 0 }, drawn: 'polygon' },
  { id: 'movable', icon: 'movable', shape: disc(0.12) },
  { id: 'wall', icon: 'wall', shape: disc(0), line: LINE, drawn: 'wall' },
  { id: 'track', icon: 'track', shape: disc(0), line: LINE, drawn: 'track' },
];

/** A place as the document writes it. */
export function at(p: Point, heading = '"0deg"'): string {
  return `[${short(p[0])}, ${short(p[1])}, ${heading}]`;
}

/** The change that puts one of a kind at a point; robots of a type: `type.NAME`. */
export function added(world: World, id: string, p: Point): Change | null {
  const add = (section: string, fields: [string, string][]): Change => ({ op: 'add', section, fields });
  if (id.startsWith('type.')) {
    return add('robot', [
      ['type', quoted(id.slice('type.'.length))],
      ['at', at(p)],
    ]);
  }
  switch (id) {
    case 'beacon':
      return add('beacon', [
        ['id', String(freeCode(world))],
        ['at', at(p)],
        ['aperture', '"90deg"'],
        ['range', '"3m"'],
      ]);
    case 'box':
      return add('obstacle', [
        ['at', at(p)],
        ['size', '[0.4, 0.3]'],
      ]);
    case 'disc':
      return add('obstacle', [
        ['at', at(p)],
        ['radius', '0.2'],
      ]);
    case 'polygon':
      return add('obstacle', [
        ['at', at(p)],
        ['polygon', writePoints(PENTAGON)],
      ]);
    case 'movable':
      return add('obstacle', [
        ['at', at(p)],
        ['radius', '0.12'],
        ['movable', 'true'],
      ]);
    case 'wall':
    case 'track':
      return polyline(
        id,
        LINE.map(([x, y]): Point => [p[0] + x, p[1] + y]),
      );
    default:
      return null;
  }
}

/** The change that adds a wall, a track or a polygon from points of the world. */
export function polyline(kind: 'wall' | 'track' | 'polygon', points: readonly Point[]): Change {
  if (kind === 'polygon') {
    const [x, y] = centre(points);
    const own = points.map(([px, py]): Point => [px - x, py - y]);
    return {
      op: 'add',
      section: 'obstacle',
      fields: [
        ['at', at([x, y])],
        ['polygon', writePoints(own)],
      ],
    };
  }
  const fields: [string, string][] = [['points', writePoints(points)]];
  if (kind === 'track') fields.push(['width', '"4cm"']);
  return { op: 'add', section: kind, fields };
}

/** The middle of the box around points. */
export function centre(points: readonly Point[]): Point {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  return [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
}

/** The lowest code that no beacon shines with. */
export function freeCode(world: World): number {
  const used = new Set((world.drawing.beacons ?? []).map((b) => b.id));
  let code = 1;
  while (used.has(code)) code += 1;
  return code;
}

/** A new kind of robot that works at once: it drives, sees and wanders. */
export function newType(name: string): string {
  const n = /^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name);
  return [
    `[type.${n}]`,
    'radius = "12cm"',
    'colour = "#2a78b5"',
    '',
    `[[type.${n}.part]]`,
    'name = "drive"',
    'class = "diff-drive"',
    '',
    `[[type.${n}.part]]`,
    'name = "rays"',
    'class = "range-rays"',
    'rays = 8',
    'start = "12cm"',
    'range = "1.5m"',
    '',
    `[type.${n}.controller]`,
    'class = "wander"',
    'speed = "30cm/s"',
    '',
  ].join('\n');
}

/** A type that a robot's own file describes. */
export function typeFromFile(name: string, file: string): string {
  return `[type.${/^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name)}]\nfile = ${quoted(file)}\n`;
}

/** One robot, as a piece of TOML. */
export function robotText(type: string, place: string, name?: string): string {
  return `[[robot]]\n${name === undefined ? '' : `name = ${quoted(name)}\n`}type = ${quoted(type)}\nat = ${place}\n`;
}

/** A file's path as seen from the folder of another file: `../parts/a.robot`. */
export function relative(from: string | null, to: string): string {
  const folder = (from ?? '').split('/').slice(0, -1);
  const way = to.split('/');
  let same = 0;
  while (same < folder.length && same < way.length - 1 && folder[same] === way[same]) same += 1;
  return [...folder.slice(same).map(() => '..'), ...way.slice(same)].join('/');
}
