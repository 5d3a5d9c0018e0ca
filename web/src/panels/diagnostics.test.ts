import { expect, test } from 'vitest';
import type { Diagnostic } from '../protocol';
import { beside, placed } from './diagnostics';

const said = (message: string): Diagnostic => ({
  code: 'bad-program',
  severity: 'error',
  message,
  help: null,
  path: null,
  file: null,
  line: null,
  column: null,
  end_line: null,
  end_column: null,
});

test('what a compiler said stands at its lines in the project’s files', () => {
  const text = '../examples/a.c:1:25: error: use of x\n  int y;\n../examples/a.h:7: warning: odd';
  expect(
    placed([said(text)], 'worlds/w.toml').map((d) => [d.file, d.line, d.column, d.severity, d.message]),
  ).toEqual([
    ['examples/a.c', 1, 25, 'error', 'use of x'],
    ['examples/a.h', 7, null, 'warning', 'odd'],
  ]);
});
test('what has no place in it stays as it is', () => {
  const odd = said('the compiler was not found');
  expect(placed([odd], null)).toEqual([odd]);
});
test('a path beside the scenario is one in the project', () => {
  expect([beside('worlds/w.toml', 'a.py'), beside('w.toml', './b/c.c'), beside(null, 'd.c')]).toEqual([
    'worlds/a.py',
    'b/c.c',
    'd.c',
  ]);
});
