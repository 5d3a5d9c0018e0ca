/** What the tests of the panels have in common: typing commands, waiting for moments, worlds made for a test. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, type Server } from './harness';

/** Types a line into the console's command line. */
export async function type(page: Page, line: string): Promise<void> {
  await page.getByRole('tab', { name: 'Console' }).click();
  const input = page.getByTestId('command-line');
  await input.fill(line);
  await input.press('Enter');
}

export const tick = (page: Page): Promise<number> => page.evaluate(() => window.__sim?.tick() ?? -1);
export const hash = (page: Page): Promise<string> => page.evaluate(() => window.__sim?.hash() ?? '');

/** Waits until the run is in a state. */
export async function state(page: Page, wanted: string): Promise<void> {
  await expect(page.locator('body')).toHaveAttribute('data-run-state', wanted);
}

/** Steps to a tick from an earlier one, by one request. */
export async function stepTo(page: Page, wanted: number): Promise<void> {
  const from = await tick(page);
  if (wanted > from) await type(page, `step ${wanted - from}`);
  await expect.poll(() => tick(page), { timeout: 60_000 }).toBe(wanted);
}

/** Two robots, `good` and `bad`, each with a Python program of its own; opened in the page. */
export async function openPair(page: Page, server: Server, bad: string, more = ''): Promise<void> {
  const head =
    '#!/usr/bin/env python3\nimport sys\nprint("rio 1", flush=True)\nfor line in sys.stdin:\n    words = line.split()\n';
  const loop = '    if words[0] == "tick":\n        TICK = int(words[1])\n';
  const done = '        print("done", words[1], flush=True)\n';
  const program = (body: string): string => head + loop + body + done;
  writeFileSync(join(server.folder, 'worlds', 'good.py'), program(''), { mode: 0o755 });
  writeFileSync(join(server.folder, 'worlds', 'bad.py'), program(bad), { mode: 0o755 });
  const type = (name: string): string =>
    `[type.${name}]\nfile = "parts/vehicle.robot"\n[type.${name}.controller]\nclass = "process"\nsource = "${name}.py"\n` +
    `patience = 0\n${name === 'bad' ? more : ''}\n[[robot]]\nname = "${name}"\ntype = "${name}"\nat = [${name === 'bad' ? 1 : -1}, 0]\n`;
  const world = `format = 1\ntitle = "A pair"\n[run]\nquantum = "50ms"\n[world]\nmin = [-3, -2]\nmax = [3, 2]\n`;
  writeFileSync(join(server.folder, 'worlds', 'pair.toml'), world + type('good') + type('bad'));
  await openWorld(page, 'worlds/pair.toml');
}

/** Opens a world of the project and waits until it is shown. */
export async function openWorld(page: Page, path: string): Promise<void> {
  await openAny(page, path);
  await expect.poll(() => page.evaluate(() => window.__sim?.world()?.file)).toBe(path);
  await expect.poll(() => tick(page)).toBe(0);
}

/** Asks for something to be opened. */
export function openAny(page: Page, path: string): Promise<void> {
  return type(page, `open ${path}`);
}
