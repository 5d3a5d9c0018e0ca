/**
 * The console's command line: what a typed line asks for, and how it may go on. Pure: it knows the world's names
 * and answers what to do, and does nothing itself.
 */

import { shortName } from '../names';

/** What a line may speak of. */
export interface Names {
  /** Paths of robots. */
  robots: string[];
  /** Addresses of entries of the document, such as `robot[0]`, with the keys they have. */
  entries: Map<string, string[]>;
  /** The entry that made a path. */
  entryOf(path: string): string | null;
  /** Registers of a robot. */
  registers(robot: string): { name: string; address: number; bytes: number }[];
  /** Simulated seconds per step. */
  quantum: number;
}

export type Asked =
  | { do: string; with: Record<string, unknown> }
  | { set: { entry: string; key: string; value: string } }
  | { select: string }
  | { help: true }
  | { wrong: string };

interface Word {
  usage: string;
  summary: string;
  /** What its first argument names. */
  names?: 'robot' | 'entry' | 'level';
  read(rest: string, names: Names): Asked;
}

const simple = (what: string, summary: string): Word => ({
  usage: what,
  summary,
  read: (rest) => (rest ? { wrong: `\`${what}\` takes nothing more` } : { do: what, with: {} }),
});

const onRobot = (what: string, summary: string, more: Record<string, unknown> = {}, word = what): Word => ({
  usage: `${word} ROBOT`,
  summary,
  names: 'robot',
  read: (rest, names) => {
    const robot = findRobot(rest, names);
    return robot === null ? unknownRobot(rest) : { do: what, with: { robot, ...more } };
  },
});

export const WORDS: Record<string, Word> = {
  start: simple('start', 'lets the run go on'),
  pause: simple('pause', 'holds the run'),
  step: {
    usage: 'step [N]',
    summary: 'takes N steps, or one',
    read: (rest) => whole(rest || '1', 'step', (n) => ({ do: 'step', with: { n } }), 1),
  },
  reset: simple('reset', 'goes back to the start'),
  speed: {
    usage: 'speed FACTOR | max',
    summary: 'simulated seconds per second',
    read: (rest) => {
      if (rest === 'max') return { do: 'speed', with: { factor: null } };
      const factor = Number(rest.replace(/[×x]$/, ''));
      return rest && factor > 0
        ? { do: 'speed', with: { factor } }
        : { wrong: 'say `speed 2` or `speed max`' };
    },
  },
  seek: {
    usage: 'seek TICK | SECONDS s',
    summary: 'shows an earlier moment',
    read: (rest, names) => {
      const seconds = /^([\d.]+)\s*s$/.exec(rest)?.[1];
      const tick =
        seconds !== undefined && names.quantum > 0
          ? String(Math.round(Number(seconds) / names.quantum))
          : rest;
      return whole(tick, 'seek', (stop) => ({ do: 'seek', with: { stop } }), 0);
    },
  },
  live: simple('live', 'back to the newest moment'),
  branch: simple('branch', 'a new run goes on from the moment that is shown'),
  quantum: {
    usage: 'quantum 20ms',
    summary: 'length of a step',
    read: (rest) => (rest ? { do: 'quantum', with: { value: rest } } : { wrong: 'say `quantum 20ms`' }),
  },
  detail: {
    usage: 'detail coarse | normal | fine',
    summary: 'level of detail',
    names: 'level',
    read: (rest) =>
      ['coarse', 'normal', 'fine'].includes(rest)
        ? { do: 'detail', with: { level: rest } }
        : { wrong: 'say `detail coarse`, `detail normal` or `detail fine`' },
  },
  set: {
    usage: 'set ENTRY.KEY VALUE',
    summary: 'changes the document: set robot[0].at [1, 2]',
    names: 'entry',
    read: readSet,
  },
  poke: {
    usage: 'poke ROBOT ADDRESS VALUE',
    summary: 'writes to a register: poke r1 0x21 40',
    names: 'robot',
    read: readPoke,
  },
  halt: onRobot('halt', 'stops a robot for good', { on: true }),
  release: onRobot('halt', 'lets a halted robot go on', { on: false }, 'release'),
  skip: onRobot('skip', 'goes on without its commands'),
  restart: onRobot('restart', 'starts its program again'),
  select: {
    usage: 'select NAME',
    summary: 'selects an object',
    names: 'robot',
    read: (rest, names) => {
      const robot = findRobot(rest, names);
      if (robot !== null) return { select: robot };
      return names.entries.has(rest) ? { select: rest } : { wrong: `there is nothing called \`${rest}\`` };
    },
  },
  open: {
    usage: 'open PATH',
    summary: 'opens a scenario or a recording',
    read: (rest) => (rest ? { do: 'open', with: { path: rest } } : { wrong: 'say `open worlds/NAME.toml`' }),
  },
  save: {
    usage: 'save [PATH]',
    summary: 'writes the document',
    read: (rest) => ({ do: 'save', with: rest ? { path: rest } : {} }),
  },
  undo: simple('undo', 'takes the last change back'),
  redo: simple('redo', 'makes it again'),
  help: { usage: 'help', summary: 'lists these words', read: () => ({ help: true }) },
};

/** What a line asks for. */
export function read(line: string, names: Names): Asked {
  const found = /^(\S+)\s*(.*)$/s.exec(line.trim());
  if (!found) return { wrong: 'say something; `help` lists the words' };
  const [, word = '', rest = ''] = found;
  const known = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (!known) return { wrong: `there is no \`${word}\`; \`help\` lists the words` };
  return known.read(rest.trim(), names);
}

/** How a line may go on: whole lines, best first, at most twelve. */
export function complete(line: string, names: Names): string[] {
  const space = line.indexOf(' ');
  if (space < 0) return Object.keys(WORDS).filter((w) => w.startsWith(line) && w !== line);
  const word = line.slice(0, space);
  const rest = line.slice(space + 1);
  const kind = Object.hasOwn(WORDS, word) ? WORDS[word]?.names : undefined;
  return candidates(word, kind, rest, names)
    .filter((c) => c.startsWith(rest) && c !== rest)
    .slice(0, 12)
    .map((c) => `${word} ${c}`);
}

function candidates(word: string, kind: Word['names'], rest: string, names: Names): string[] {
  if (kind === 'level') return ['coarse', 'normal', 'fine'];
  if (kind === 'entry') {
    const keys = [...names.entries].flatMap(([entry, all]) => all.map((key) => `${entry}.${key} `));
    return rest.includes('.') ? keys : [...names.entries.keys()].map((e) => `${e}.`);
  }
  if (kind !== 'robot') return [];
  const pieces = rest.split(' ');
  const robot = word === 'poke' && pieces.length > 1 ? findRobot(pieces[0] ?? '', names) : null;
  if (robot !== null)
    return names.registers(robot).map((r) => `${pieces[0]} 0x${r.address.toString(16).toUpperCase()} `);
  return names.robots.map(shortName);
}

function whole(text: string, word: string, then: (n: number) => Asked, least: number): Asked {
  const n = Number(text);
  if (text && Number.isSafeInteger(n) && n >= least) return then(n);
  return { wrong: `\`${word}\` needs a whole number from ${least} on, not \`${text}\`` };
}

function unknownRobot(name: string): Asked {
  return { wrong: name ? `there is no robot \`${name}\`` : 'name a robot' };
}

/** The path of a robot from its path or its last piece; `null` when none or several are meant. */
function findRobot(name: string, names: Names): string | null {
  if (names.robots.includes(name)) return name;
  const found = names.robots.filter((path) => shortName(path) === name);
  return found.length === 1 ? (found[0] ?? null) : null;
}

function readSet(rest: string, names: Names): Asked {
  const found = /^(\S+)\.([\w-]+)\s+(.+)$/s.exec(rest);
  if (!found) return { wrong: 'say `set ENTRY.KEY VALUE`, for example `set robot[0].at [1, 2]`' };
  const [, place = '', key = '', value = ''] = found;
  const robot = findRobot(place, names);
  const entry = names.entries.has(place) ? place : robot === null ? null : names.entryOf(robot);
  if (entry === null) return { wrong: `the document has no entry \`${place}\`` };
  return { set: { entry, key, value } };
}

function readPoke(rest: string, names: Names): Asked {
  const [name = '', at = '', typed = '', ...more] = rest.split(/\s+/);
  const robot = findRobot(name, names);
  if (robot === null) return unknownRobot(name);
  const registers = names.registers(robot);
  const register = registers.find((r) => r.name === at || r.address === Number(at));
  const address = register?.address ?? Number(at);
  const value = Number(typed);
  if (!at || !typed || more.length > 0 || !isU32(address)) return { wrong: 'say `poke ROBOT ADDRESS VALUE`' };
  if (!isU32(value)) return { wrong: `a register holds whole numbers from 0 on, not \`${typed}\`` };
  return { do: 'poke', with: { robot, address, bytes: register?.bytes ?? 1, value } };
}

function isU32(n: number): boolean {
  return Number.isInteger(n) && n >= 0 && n <= 0xffff_ffff;
}
