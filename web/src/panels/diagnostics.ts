/** Problems with their places: what a compiler said is a text, and its place is read from it. Pure. */

import type { Diagnostic } from '../protocol';

const SAID = /^(\S+?):(\d+)(?::(\d+))?: (?:fatal )?(error|warning|note): (.*)$/;

/** The problems, those of compilers one by one at their lines; `world` is the scenario's path in the project. */
export function placed(list: readonly Diagnostic[], world: string | null): Diagnostic[] {
  return list.flatMap((d) => {
    if (d.line !== null) return [d];
    const found = d.message.split('\n').flatMap((text) => {
      const [, file, line, column, severity, message] = SAID.exec(text.trim()) ?? [];
      if (file === undefined || line === undefined || message === undefined) return [];
      return [
        {
          ...d,
          severity: severity as Diagnostic['severity'],
          message,
          file: beside(world, file),
          line: Number(line),
          column: column === undefined ? null : Number(column),
        },
      ];
    });
    return found.length > 0 ? found : [d];
  });
}

/** A path that was written relative to the scenario, as a path in the project. */
export function beside(world: string | null, path: string): string {
  if (path.startsWith('/')) return path;
  const pieces = (world ?? '').split('/').slice(0, -1);
  for (const piece of path.split('/')) {
    if (piece === '..') pieces.pop();
    else if (piece !== '.' && piece !== '') pieces.push(piece);
  }
  return pieces.join('/');
}
