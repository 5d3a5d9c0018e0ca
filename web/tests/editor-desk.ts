/** What the tests of the editor have in common: a yard to edit, and the hands of a person. */

import type { Locator, Page } from '@playwright/test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, serveIn } from './harness';

export const YARD = `# A yard to edit: every comment in it stays.
format = 1
title = "Yard"

[run]
quantum = "50ms"
duration = "60s"

[world]
min = [-3, -2]
max = [3, 2]

[type.scout]
radius = 0.12 # as measured
colour = "#1f77b4"

[[type.scout.part]]
name = "drive"
class = "diff-drive"

[[type.scout.part]]
name = "sonar"
class = "sonar"
range = "1.5m"

[type.scout.controller]
class = "cruise"

[[robot]] # the first
name = "a"
type = "scout"
at = [-1, 0, "0deg"]

[[robot]]
name = "b"
type = "scout"
at = [0, 0, "90deg"]

[[robot]]
name = "c"
type = "scout"
at = [1, 0.4, "0deg"]

# Four of a kind.
[[robot]]
name = "swarm"
type = "scout"
at = [-2, -1.5]
count = 4
layout = { class = "row", step = [0.5, 0] }

[[obstacle]]
name = "crate"
at = [2, 1]
polygon = [[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]]

[[wall]]
name = "north"
points = [[-2, 1.5], [0, 1.5]]

[[track]]
name = "tape"
points = [[0.5, -1], [2.5, -1]]
width = "4cm"

[[beacon]]
name = "dock"
id = 7
at = [-2.5, 1, "-45deg"]
aperture = "90deg"
range = "2m"
`;

/** A server on the yard, in a folder of its own. */
export const test = base.extend<{ text: string }>({
  text: [YARD, { option: true }],
  server: async ({ text }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'swarmyard-editor-'));
    writeFileSync(join(folder, 'yard.toml'), text);
    writeFileSync(join(folder, 'mini.robot'), 'Robot = {\n    Radius = 8\n}\n');
    const server = await serveIn(folder, 'yard.toml');
    await use(server);
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  },
});

export type Spot = { x: number; y: number };

/** Where an object or a point of the world is on the page. */
export async function spot(page: Page, where: string | [number, number]): Promise<Spot> {
  const found = await page.evaluate(
    (w) =>
      (typeof w === 'string' ? window.__sim?.toScreen(w) : window.__sim?.pointToScreen(w[0], w[1])) ?? null,
    where,
  );
  if (!found) throw new Error(`${where} is not on the page`);
  return found;
}

export async function drag(page: Page, from: Spot, to: Spot, keys: string[] = []): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const key of keys) await page.keyboard.down(key);
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  for (const key of keys) await page.keyboard.up(key);
}

export async function click(
  page: Page,
  where: string | [number, number],
  options: Parameters<Page['mouse']['click']>[2] = {},
): Promise<void> {
  const { x, y } = await spot(page, where);
  await page.mouse.click(x, y, options);
}

/**
 * Looks at the page when no edit is under way. The world of an edit comes before the answer to it, so whoever looks in between
 * finds the new world with the old selection, or with the old steps to undo.
 */
async function look<A, T>(page: Page, what: (arg: A) => T, arg: A): Promise<T> {
  await expect(page.locator('body')).not.toHaveAttribute('data-edits');
  return page.evaluate(what as (arg: unknown) => T, arg);
}

export const selection = (page: Page): Promise<string[]> =>
  look(page, () => window.__sim?.selection() ?? [], null);
export const depth = (page: Page): Promise<number> => look(page, () => window.__sim?.undoDepth() ?? 0, null);
export const text = (page: Page): Promise<string> =>
  look(page, () => window.__sim?.world()?.text ?? '', null);
export const start = (page: Page, id: string): Promise<[number, number, number] | null> =>
  look(
    page,
    (i) => {
      const entry = window.__sim?.world()?.entryOf.get(i);
      return entry?.poses[Math.max(0, entry.paths.indexOf(i))] ?? null;
    },
    id,
  );
export const paths = (page: Page, prefix: string): Promise<string[]> =>
  look(
    page,
    (p) => [...(window.__sim?.world()?.entryOf.keys() ?? [])].filter((k) => k.startsWith(p)),
    prefix,
  );
/** A field of an entry as written. */
export const written = (page: Page, id: string, key: string): Promise<string | null> =>
  look(
    page,
    ([i, k]) =>
      window.__sim
        ?.world()
        ?.entryOf.get(i)
        ?.fields.find((f) => f.key === k)?.text ?? null,
    [id, key] as const,
  );

export const field = (page: Page, name: string): Locator =>
  page.locator(`.properties [data-param="${name}"]`);
export const row = (page: Page, name: string): Locator => page.getByRole('treeitem', { name, exact: true });
export const near = (value: number | undefined, digits = 2): number => Number((value ?? NaN).toFixed(digits));
