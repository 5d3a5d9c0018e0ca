/** The editor, as a person uses it: with the pointer, with the keyboard, with fingers. */

import type { Locator, Page } from '@playwright/test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, open, serveIn } from './harness';

const YARD = `# A yard to edit: every comment in it stays.
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
const test = base.extend<{ text: string }>({
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

type Spot = { x: number; y: number };

/** Where an object or a point of the world is on the page. */
async function spot(page: Page, where: string | [number, number]): Promise<Spot> {
  const found = await page.evaluate(
    (w) =>
      (typeof w === 'string' ? window.__sim?.toScreen(w) : window.__sim?.pointToScreen(w[0], w[1])) ?? null,
    where,
  );
  if (!found) throw new Error(`${where} is not on the page`);
  return found;
}

async function drag(page: Page, from: Spot, to: Spot, keys: string[] = []): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const key of keys) await page.keyboard.down(key);
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  for (const key of keys) await page.keyboard.up(key);
}

async function click(
  page: Page,
  where: string | [number, number],
  options: Parameters<Page['mouse']['click']>[2] = {},
): Promise<void> {
  const { x, y } = await spot(page, where);
  await page.mouse.click(x, y, options);
}

const selection = (page: Page): Promise<string[]> => page.evaluate(() => window.__sim?.selection() ?? []);
const depth = (page: Page): Promise<number> => page.evaluate(() => window.__sim?.undoDepth() ?? 0);
const text = (page: Page): Promise<string> => page.evaluate(() => window.__sim?.world()?.text ?? '');
const start = (page: Page, id: string): Promise<[number, number, number] | null> =>
  page.evaluate((i) => {
    const entry = window.__sim?.world()?.entryOf.get(i);
    return entry?.poses[Math.max(0, entry.paths.indexOf(i))] ?? null;
  }, id);
const paths = (page: Page, prefix: string): Promise<string[]> =>
  page.evaluate(
    (p) => [...(window.__sim?.world()?.entryOf.keys() ?? [])].filter((k) => k.startsWith(p)),
    prefix,
  );
/** A field of an entry as written. */
const written = (page: Page, id: string, key: string): Promise<string | null> =>
  page.evaluate(
    ([i, k]) =>
      window.__sim
        ?.world()
        ?.entryOf.get(i)
        ?.fields.find((f) => f.key === k)?.text ?? null,
    [id, key] as const,
  );

const field = (page: Page, name: string): Locator => page.locator(`.properties [data-param="${name}"]`);
const row = (page: Page, name: string): Locator => page.getByRole('treeitem', { name, exact: true });
const near = (value: number | undefined, digits = 2): number => Number((value ?? NaN).toFixed(digits));

test.describe('files', () => {
  const drop = async (page: Page, name: string, content: string): Promise<void> => {
    await page.evaluate(
      ([n, c]) => {
        const data = new DataTransfer();
        data.items.add(new File([c], n));
        const event = (type: string): DragEvent =>
          new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
        document.body.dispatchEvent(event('dragover'));
        document.body.dispatchEvent(event('drop'));
      },
      [name, content] as const,
    );
  };

  test('2 a scenario dropped on the window opens; of a broken one the problems are shown and the world stays', async ({
    sim,
  }) => {
    await drop(sim, 'broken.toml', 'format = 1\n\n[[robot]\nname = !!\n');
    const problems = sim.locator('[data-test="problem-list"]');
    await expect(problems).toContainText(/broken\.toml:\d+:\d+/);
    expect(await text(sim)).toBe(YARD);
    await sim.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await drop(sim, 'other.toml', YARD.replace('name = "a"', 'name = "dropped"'));
    await expect.poll(() => paths(sim, '/robots/dropped')).toHaveLength(1);
  });

  test('3 unsaved edits are there after a reload, with a notice and something to undo', async ({
    sim,
    server,
  }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect.poll(async () => near((await start(sim, '/robots/b'))?.[1])).toBe(0.1);
    await sim.reload();
    await expect(sim.locator('[data-test="toast"]')).toContainText('restored');
    expect(near((await start(sim, '/robots/b'))?.[1])).toBe(0.1);
    expect(await depth(sim)).toBeGreaterThanOrEqual(1);
    expect(readFileSync(join(server.folder, 'yard.toml'), 'utf8')).toBe(YARD);
  });

  test('3 a draft is put back when the server has lost it', async ({ sim, server }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect.poll(async () => near((await start(sim, '/robots/b'))?.[1])).toBe(0.1);
    const port = new URL(server.url).port;
    const ended = new Promise((resolve) => server.process.on('exit', resolve));
    server.process.kill('SIGKILL');
    await ended;
    const again = await serveIn(server.folder, 'yard.toml', '--port', port);
    try {
      await expect(sim.locator('[data-test="toast"]').filter({ hasText: 'restored' })).toBeVisible();
      await expect.poll(async () => near((await start(sim, '/robots/b'))?.[1])).toBe(0.1);
      await expect.poll(() => depth(sim)).toBeGreaterThanOrEqual(1);
    } finally {
      await again.stop();
    }
  });

  test('4 Ctrl+S writes the file and the dirty mark goes', async ({ sim, server }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect(sim.locator('body')).toHaveAttribute('data-dirty', 'true');
    await sim.keyboard.press('Control+s');
    await expect(sim.locator('body')).toHaveAttribute('data-dirty', 'false');
    expect(readFileSync(join(server.folder, 'yard.toml'), 'utf8')).toContain('at = [0, 0.1, "90deg"]');
  });

  test('5 after a move and a save only the changed numbers differ', async ({ sim, server }) => {
    await drag(sim, await spot(sim, '/robots/a'), await spot(sim, [-1, 0.5]));
    await expect.poll(() => depth(sim)).toBe(1);
    await sim.keyboard.press('Control+s');
    await expect(sim.locator('body')).toHaveAttribute('data-dirty', 'false');
    const [before, after] = [
      YARD.split('\n'),
      readFileSync(join(server.folder, 'yard.toml'), 'utf8').split('\n'),
    ];
    expect(after).toHaveLength(before.length);
    const changed = after.filter((line, k) => line !== before[k]);
    expect(changed).toEqual(['at = [-1, 0.5, "0deg"]']);
  });

  test('6 a shared link opens the same world, tick and camera', async ({ sim, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    for (let k = 0; k < 3; k++) await sim.keyboard.press('.');
    await expect.poll(() => sim.evaluate(() => window.__sim?.tick())).toBe(3);
    await sim.mouse.move(600, 300);
    await sim.mouse.wheel(0, -200);
    const camera = await sim.evaluate(() => window.__sim?.camera());
    await sim.keyboard.press('Control+Shift+L');
    await expect(sim.locator('[data-test="toast"]')).toContainText('clipboard');
    const link = await sim.evaluate(() => navigator.clipboard.readText());
    expect(link).toContain('file=yard.toml');
    const other = await context.newPage();
    await open(other, link);
    expect(await other.evaluate(() => window.__sim?.tick())).toBe(3);
    await expect.poll(() => other.evaluate(() => window.__sim?.world()?.file)).toBe('yard.toml');
    const seen = await other.evaluate(() => window.__sim?.camera());
    expect(seen?.scale).toBeCloseTo(camera?.scale ?? 0, 0);
    expect(seen?.x).toBeCloseTo(camera?.x ?? 0, 2);
  });

  test('7 Ctrl+O lists the files of the project and opens the file picker', async ({ sim }) => {
    await sim.keyboard.press('Control+o');
    const dialog = sim.getByRole('dialog');
    await expect(dialog.getByRole('button', { name: /yard\.toml/ })).toBeVisible();
    const chooser = sim.waitForEvent('filechooser');
    await dialog.getByRole('button', { name: 'From this computer…' }).click();
    await (
      await chooser
    ).setFiles({
      name: 'mine.toml',
      mimeType: 'text/plain',
      buffer: Buffer.from(YARD.replace('"c"', '"mine"')),
    });
    await expect.poll(() => paths(sim, '/robots/mine')).toHaveLength(1);
  });

  test('a click beside a dialog closes it, but never one that asks for something', async ({ sim }) => {
    await sim.keyboard.press('Control+o');
    const question = sim.getByTestId('open');
    await expect(question).toBeVisible();
    await sim.mouse.click(5, 400);
    await expect(question).toBeVisible();
    await sim.keyboard.press('Escape');
    await expect(question).toBeHidden();
    await sim.locator('[data-command="help.shortcuts"]').first().click();
    const sheet = sim.getByTestId('shortcuts');
    await expect(sheet).toBeVisible();
    await sim.mouse.click(5, 400);
    await expect(sheet).toBeHidden();
  });

  test('7 Ctrl+N asks before unsaved edits are lost', async ({ sim }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect(sim.locator('body')).toHaveAttribute('data-dirty', 'true');
    await sim.keyboard.press('Alt+n');
    const dialog = sim.getByRole('dialog', { name: 'Unsaved changes' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await paths(sim, '/robots/b')).toHaveLength(1);
    await sim.keyboard.press('Alt+n');
    await dialog.getByRole('button', { name: 'Discard them' }).click();
    await expect.poll(() => paths(sim, '/robots/')).toHaveLength(0);
  });
});

test.describe('creating', () => {
  const item = (page: Page, name: string): Locator =>
    page.locator('.palette').getByRole('button', { name, exact: true });
  const middle = async (locator: Locator): Promise<Spot> => {
    await locator.scrollIntoViewIfNeeded();
    const box = await locator.boundingBox();
    if (!box) throw new Error('it is not on the page');
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };

  test('15 a palette item dragged onto the world makes one object there, selected, as one step', async ({
    sim,
  }) => {
    const before = await paths(sim, '/robots/');
    await drag(sim, await middle(item(sim, 'scout')), await spot(sim, [0.52, -0.49]));
    await expect.poll(() => paths(sim, '/robots/')).toHaveLength(before.length + 1);
    const [made] = await selection(sim);
    expect(before).not.toContain(made);
    expect((await start(sim, made ?? ''))?.slice(0, 2)).toEqual([0.5, -0.5]);
    expect(await depth(sim)).toBe(1);
  });

  test('15 without the grid it stands where it was dropped, to a pixel', async ({ sim }) => {
    await sim.keyboard.press("Control+'");
    const to = await spot(sim, [0.523, -0.487]);
    await drag(sim, await middle(item(sim, 'Disc')), to);
    await expect.poll(() => selection(sim)).toHaveLength(1);
    const there = await spot(sim, (await selection(sim))[0] ?? '');
    expect(Math.hypot(there.x - to.x, there.y - to.y)).toBeLessThan(1);
  });

  test('15 every kind can be placed: beacon, box, disc, polygon, movable, wall, track', async ({ sim }) => {
    test.slow();
    const places: [string, [number, number], string][] = [
      ['Beacon', [1, -0.4], '/beacons/'],
      ['Box', [-1, -0.7], '/obstacles/'],
      ['Disc', [0, -0.7], '/obstacles/'],
      ['Polygon', [2, -0.3], '/obstacles/'],
      ['Movable', [0.7, 1.1], '/obstacles/'],
      ['Wall', [1.2, 1.6], '/world/walls/'],
      ['Track', [-1, 0.8], '/world/tracks/'],
    ];
    for (const [name, where, prefix] of places) {
      const before = await paths(sim, prefix);
      await drag(sim, await middle(item(sim, name)), await spot(sim, where));
      await expect.poll(() => paths(sim, prefix), name).toHaveLength(before.length + 1);
    }
    expect(await depth(sim)).toBe(places.length);
  });

  test('15 the plain robot asks for its type: one of the document, a file, or a new one', async ({ sim }) => {
    await drag(sim, await middle(item(sim, 'Robot')), await spot(sim, [0, -1]));
    const dialog = sim.getByRole('dialog', { name: 'Which robot?' });
    await dialog.getByRole('listbox').selectOption({ label: 'New type' });
    await dialog.getByRole('textbox', { name: 'Name of the type' }).fill('rover');
    await dialog.getByRole('button', { name: 'Add robot' }).click();
    await expect.poll(() => paths(sim, 'type.rover')).not.toHaveLength(0);
    expect(await depth(sim)).toBe(1);
    await expect(item(sim, 'rover')).toBeVisible();
    await drag(sim, await middle(item(sim, 'Robot')), await spot(sim, [0.6, -0.6]));
    await expect(dialog.getByRole('option', { name: 'mini.robot' })).toBeAttached();
  });

  test('16 Escape during the drag creates nothing', async ({ sim }) => {
    const before = await paths(sim, '/');
    const from = await middle(item(sim, 'Disc'));
    const to = await spot(sim, [0, -0.7]);
    await sim.mouse.move(from.x, from.y);
    await sim.mouse.down();
    await sim.mouse.move(to.x, to.y, { steps: 4 });
    await expect(sim.locator('body')).toHaveAttribute('data-carrying', 'disc');
    await sim.keyboard.press('Escape');
    await sim.mouse.up();
    await expect(sim.locator('body')).not.toHaveAttribute('data-carrying');
    expect(await paths(sim, '/')).toEqual(before);
    expect(await depth(sim)).toBe(0);
  });

  test('17 Enter on a palette item creates at the middle of the view', async ({ sim }) => {
    await item(sim, 'Beacon').focus();
    await sim.keyboard.press('Enter');
    await expect.poll(() => paths(sim, '/beacons/')).toHaveLength(2);
    const [made] = await selection(sim);
    const there = await start(sim, made ?? '');
    const camera = await sim.evaluate(() => window.__sim?.camera());
    expect(
      Math.hypot((there?.[0] ?? 9) - (camera?.x ?? 0), (there?.[1] ?? 9) - (camera?.y ?? 0)),
    ).toBeLessThan(1);
  });

  test('29 wall and track: click, click, click, Enter; Backspace takes one back, Escape cancels', async ({
    sim,
  }) => {
    for (const [key, prefix] of [
      ['w', '/world/walls/'],
      ['t', '/world/tracks/'],
    ] as const) {
      await sim.keyboard.press('Escape');
      await sim.keyboard.press(key);
      for (const p of [
        [-0.5, -0.5],
        [0.5, -0.5],
        [0.5, -0.8],
        [1, -0.4],
      ] as [number, number][])
        await click(sim, p);
      await expect(sim.locator('body')).toHaveAttribute('data-points', '4');
      await sim.keyboard.press('Backspace');
      await expect(sim.locator('body')).toHaveAttribute('data-points', '3');
      await sim.keyboard.press('Enter');
      await expect.poll(() => paths(sim, prefix)).toHaveLength(2);
      const [made] = await selection(sim);
      expect(await written(sim, made ?? '', 'points')).toBe('[[-0.5, -0.5], [0.5, -0.5], [0.5, -0.8]]');
    }
    await sim.keyboard.press('w');
    await click(sim, [-0.5, 0.5]);
    await sim.keyboard.press('Escape');
    await expect(sim.locator('body')).not.toHaveAttribute('data-mode');
    expect(await depth(sim)).toBe(2);
  });

  test('a part of the kit dropped on a body is mounted there, and can be moved in the builder', async ({
    sim,
  }) => {
    await row(sim, 'scout').click();
    const kit = sim.locator('.kit');
    const b = await spot(sim, '/robots/b');
    const scale = await sim.evaluate(() => window.__sim?.camera().scale ?? 1);
    // Robot b looks up: its front is above its middle.
    await drag(sim, await middle(kit.getByRole('button', { name: 'range-rays' })), {
      x: b.x,
      y: b.y - 0.05 * scale,
    });
    // Its range is required; the class' own example is suggested.
    await sim
      .getByRole('dialog', { name: 'A range-rays needs' })
      .getByRole('button', { name: 'Add' })
      .click();
    await expect.poll(() => paths(sim, 'type.scout.part')).toHaveLength(3);
    const mount = JSON.parse((await written(sim, 'type.scout.part[2]', 'mount')) ?? '[]') as number[];
    expect(near(mount[0])).toBe(0.05);
    expect(near(mount[1])).toBe(0);
    await row(sim, 'scout').click();
    await sim.getByRole('button', { name: 'Build robot type…' }).click();
    const mark = sim.locator('.builder-body [data-part="rays"]');
    await mark.focus();
    await sim.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => written(sim, 'type.scout.part[2]', 'mount')).toContain('0.04');
    await sim.getByRole('dialog').getByRole('button', { name: 'Remove rays' }).click();
    await expect.poll(() => paths(sim, 'type.scout.part')).toHaveLength(2);
  });
});

test.describe('selecting and moving', () => {
  test('18 click, Shift+click, rubber band, and a click on nothing', async ({ sim }) => {
    await click(sim, '/robots/a');
    expect(await selection(sim)).toEqual(['/robots/a']);
    await sim.keyboard.down('Shift');
    await click(sim, '/robots/b');
    expect(await selection(sim)).toEqual(['/robots/a', '/robots/b']);
    await click(sim, '/robots/a');
    await sim.keyboard.up('Shift');
    expect(await selection(sim)).toEqual(['/robots/b']);
    await drag(sim, await spot(sim, [-1.4, -0.4]), await spot(sim, [0.4, 0.4]));
    expect((await selection(sim)).sort()).toEqual(['/robots/a', '/robots/b']);
    await click(sim, [0.5, -0.5]);
    expect(await selection(sim)).toEqual([]);
    expect(await depth(sim)).toBe(0);
  });

  test('18 the outline mirrors the selection both ways', async ({ sim }) => {
    await click(sim, '/robots/a');
    await expect(row(sim, 'a')).toHaveAttribute('aria-selected', 'true');
    await row(sim, 'tape').click();
    expect(await selection(sim)).toEqual(['/world/tracks/tape']);
    await sim.getByRole('tree').focus();
    await sim.keyboard.press('d');
    await expect.poll(() => selection(sim)).toEqual(['/beacons/dock']);
  });

  test('19 Ctrl+A selects everything that is not locked, Escape nothing', async ({ sim }) => {
    await click(sim, '/robots/a');
    await sim.keyboard.press('Shift+L');
    await sim.keyboard.press('Control+a');
    const all = await selection(sim);
    expect(all).toContain('/robots/b');
    expect(all).toContain('/world/walls/north');
    expect(all).not.toContain('/robots/a');
    expect(all).toHaveLength(10);
    await sim.keyboard.press('Escape');
    expect(await selection(sim)).toEqual([]);
  });

  test('20 dragging one of several moves all by the same vector, as one step', async ({ sim }) => {
    await click(sim, '/robots/a');
    await sim.keyboard.down('Shift');
    await click(sim, '/robots/b');
    await click(sim, '/world/walls/north').catch(() => undefined);
    await sim.keyboard.up('Shift');
    await drag(sim, await spot(sim, '/robots/a'), await spot(sim, [-0.8, -0.4]));
    await expect.poll(() => depth(sim)).toBe(1);
    const at = async (path: string): Promise<unknown> =>
      (await start(sim, path))?.slice(0, 2).map((v) => near(v));
    await expect.poll(() => at('/robots/a')).toEqual([-0.8, -0.4]);
    await expect.poll(() => at('/robots/b')).toEqual([0.2, -0.4]);
    expect(await sim.evaluate(() => window.__sim?.undoDepth())).toBe(1);
  });

  test('20 walls and tracks move by all their points', async ({ sim }) => {
    await drag(sim, await spot(sim, [-1, 1.5]), await spot(sim, [-1, 1.2]));
    await expect.poll(() => written(sim, '/world/walls/north', 'points')).toBe('[[-2, 1.2], [0, 1.2]]');
  });

  test('20 one robot of an entry with a count: split, or move all', async ({ sim }) => {
    await drag(sim, await spot(sim, '/robots/swarm2'), await spot(sim, [-1.5, -1]));
    const dialog = sim.getByRole('dialog', { name: 'One of many' });
    await dialog.getByRole('button', { name: 'Split into single robots' }).click();
    await expect.poll(async () => near((await start(sim, '/robots/swarm2'))?.[1])).toBe(-1);
    expect(near((await start(sim, '/robots/swarm1'))?.[1])).toBe(-1.5);
  });

  test('21 arrow keys move by a grid step, ten with Shift, a millimetre with Alt; not in text fields', async ({
    sim,
  }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowRight');
    await sim.keyboard.press('ArrowRight');
    await expect.poll(async () => (await start(sim, '/robots/b'))?.[0]).toBeCloseTo(0.2, 6);
    expect(await depth(sim)).toBe(1);
    await sim.keyboard.press('Shift+ArrowDown');
    await expect.poll(async () => (await start(sim, '/robots/b'))?.[1]).toBeCloseTo(-1, 6);
    await sim.keyboard.press('Alt+ArrowUp');
    await expect.poll(async () => (await start(sim, '/robots/b'))?.[1]).toBeCloseTo(-0.999, 6);
    const steps = await depth(sim);
    await field(sim, 'name').getByRole('textbox').focus();
    await sim.keyboard.press('ArrowLeft');
    await sim.keyboard.press('x');
    await sim.keyboard.press('Backspace');
    await sim.keyboard.press('Escape');
    expect(await depth(sim)).toBe(steps);
    expect(await paths(sim, '/robots/b')).toHaveLength(1);
  });

  test('22 the heading follows its handle, Shift in steps of 15°, and the panel shows it live', async ({
    sim,
  }) => {
    await click(sim, '/robots/a');
    const a = await spot(sim, '/robots/a');
    const scale = await sim.evaluate(() => window.__sim?.camera().scale ?? 1);
    const far = 0.12 * scale + 26;
    const heading = field(sim, 'at').getByRole('textbox', { name: /heading/ });
    await sim.mouse.move(a.x + far, a.y);
    await sim.mouse.down();
    await sim.mouse.move(a.x + 40, a.y - 40, { steps: 4 });
    await expect(heading).toHaveValue('45deg');
    await sim.mouse.move(a.x, a.y - 60, { steps: 3 });
    await sim.mouse.up();
    await expect.poll(async () => near((await start(sim, '/robots/a'))?.[2], 3)).toBe(1.571);
    expect(await depth(sim)).toBe(1);
    await drag(sim, { x: a.x, y: a.y - far }, { x: a.x + 60, y: a.y - 55 }, ['Shift']);
    await expect.poll(async () => near((await start(sim, '/robots/a'))?.[2], 3)).toBe(0.785);
    expect(await depth(sim)).toBe(2);
  });

  test('23 Delete removes, and undo brings back the same text', async ({ sim }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('Delete');
    await expect.poll(() => paths(sim, '/robots/b')).toHaveLength(0);
    expect(await selection(sim)).toEqual([]);
    await sim.keyboard.press('Control+z');
    await expect.poll(() => paths(sim, '/robots/b')).toHaveLength(1);
    expect(await text(sim)).toBe(YARD);
  });

  test('24 what is dragged onto the left panel is deleted, and a toast offers to undo', async ({ sim }) => {
    await drag(sim, await spot(sim, '/beacons/dock'), { x: 100, y: 400 });
    await expect.poll(() => paths(sim, '/beacons/')).toHaveLength(0);
    await sim.locator('[data-test="toast"]').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => paths(sim, '/beacons/')).toHaveLength(1);
  });

  test('25 copies have names of their own, one grid step away, and travel to another tab as TOML', async ({
    sim,
    context,
    server,
  }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await click(sim, '/robots/c');
    await sim.keyboard.press('Control+c');
    await expect.poll(() => sim.evaluate(() => navigator.clipboard.readText())).toContain('[[robot]]');
    await sim.keyboard.press('Escape');
    await sim.keyboard.press("Control+'");
    await sim.locator('.status-bar').getByRole('combobox').selectOption('0.5');
    await sim.locator('canvas.view').focus();
    await sim.keyboard.press('Control+v');
    await expect.poll(() => paths(sim, '/robots/')).toHaveLength(8);
    const [made] = await selection(sim);
    expect(made).not.toBe('/robots/c');
    expect((await start(sim, made ?? ''))?.slice(0, 2).map((v) => near(v))).toEqual([1.5, -0.1]);
    const fragment = await sim.evaluate(() => navigator.clipboard.readText());
    const folder = mkdtempSync(join(tmpdir(), 'swarmyard-editor-'));
    writeFileSync(join(folder, 'yard.toml'), YARD);
    const second = await serveIn(folder, 'yard.toml');
    const other = await context.newPage();
    await open(other, second.url);
    expect(server.url).not.toBe(second.url);
    expect(fragment).toContain('"c"');
    await other.locator('.status-bar').getByRole('combobox').selectOption('0.5');
    await other.locator('canvas.view').focus();
    await other.keyboard.press('Control+v');
    await expect.poll(() => paths(other, '/robots/')).toHaveLength(8);
    await second.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('25 cut removes and paste brings it back', async ({ sim, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await click(sim, '/world/walls/north').catch(() => undefined);
    await row(sim, 'north').click();
    await sim.locator('canvas.view').focus();
    await sim.keyboard.press('Control+x');
    await expect.poll(() => paths(sim, '/world/walls/')).toHaveLength(0);
    await sim.keyboard.press('Control+v');
    await expect.poll(() => paths(sim, '/world/walls/')).toHaveLength(1);
  });

  test('26 Ctrl+D and Alt+drag duplicate', async ({ sim }) => {
    await row(sim, 'dock').click();
    await sim.keyboard.press('Control+d');
    await expect.poll(() => paths(sim, '/beacons/')).toHaveLength(2);
    await drag(sim, await spot(sim, '/robots/c'), await spot(sim, [1, -0.4]), ['Alt']);
    await expect.poll(() => paths(sim, '/robots/')).toHaveLength(8);
    expect(near((await start(sim, '/robots/c'))?.[1])).toBe(0.4);
    expect(near((await start(sim, (await selection(sim))[0] ?? ''))?.[1])).toBe(-0.4);
  });

  test('26 "duplicate as grid" makes all of them in one step', async ({ sim }) => {
    await click(sim, '/robots/b');
    await click(sim, '/robots/b', { button: 'right' });
    await sim.getByRole('menuitem', { name: 'Duplicate as grid…' }).click();
    const dialog = sim.getByRole('dialog');
    await dialog.getByRole('spinbutton', { name: 'How many' }).fill('6');
    await dialog.getByRole('spinbutton', { name: 'Spacing' }).fill('0.3');
    await dialog.getByRole('button', { name: 'Duplicate', exact: true }).click();
    await expect.poll(() => paths(sim, '/robots/')).toHaveLength(12);
    expect(await depth(sim)).toBe(1);
    await sim.keyboard.press('Control+z');
    await expect.poll(() => text(sim)).toBe(YARD);
  });

  test('27 snap: on, places are multiples of the grid; Ctrl suspends it; its switch shows its state', async ({
    sim,
  }) => {
    const button = sim.getByRole('button', { name: 'Snap to grid' });
    await expect(button).toHaveAttribute('aria-pressed', 'true');
    await drag(sim, await spot(sim, '/robots/b'), await spot(sim, [0.337, -0.562]));
    await expect
      .poll(async () => (await start(sim, '/robots/b'))?.slice(0, 2).map((v) => near(v, 4)))
      .toEqual([0.3, -0.6]);
    await drag(sim, await spot(sim, '/robots/b'), await spot(sim, [0.337, -0.462]), ['Control']);
    await expect.poll(() => depth(sim)).toBe(2);
    const [x, y] = (await start(sim, '/robots/b')) ?? [0, 0];
    expect(Math.abs(x - 0.337)).toBeLessThan(0.02);
    expect(Math.abs(y + 0.462)).toBeLessThan(0.02);
    expect(near(x, 4) === 0.3).toBe(false);
    await sim.keyboard.press("Control+'");
    await expect(button).toHaveAttribute('aria-pressed', 'false');
  });

  test('28 alignment guides appear, and objects are aligned and distributed', async ({ sim }) => {
    const from = await spot(sim, '/robots/c');
    const to = await spot(sim, [1, 0]);
    await sim.mouse.move(from.x, from.y);
    await sim.mouse.down();
    await sim.mouse.move(to.x, to.y, { steps: 5 });
    await expect(sim.locator('body')).toHaveAttribute('data-guides', /[1-9]/);
    await sim.keyboard.press('Escape');
    await sim.mouse.up();
    await click(sim, '/robots/a');
    await sim.keyboard.down('Shift');
    await click(sim, '/robots/c');
    await sim.keyboard.up('Shift');
    await sim.keyboard.press('Control+Shift+ArrowUp');
    await expect.poll(async () => near((await start(sim, '/robots/a'))?.[1])).toBe(0.4);
    expect(near((await start(sim, '/robots/c'))?.[1])).toBe(0.4);
  });

  test('30 corners: a double click shows them; drag one, drag an edge, Delete one, never fewer than three', async ({
    sim,
  }) => {
    await click(sim, '/obstacles/crate', { clickCount: 2 });
    await expect(sim.locator('body')).toHaveAttribute('data-mode', 'corners');
    await expect(sim.locator('body')).toHaveAttribute('data-points', '4');
    await drag(sim, await spot(sim, [2.3, 1.2]), await spot(sim, [2.5, 1.4]));
    await expect.poll(() => written(sim, '/obstacles/crate', 'polygon')).toContain('[0.5, 0.4]');
    await drag(sim, await spot(sim, [1.7, 1]), await spot(sim, [1.5, 1]));
    await expect(sim.locator('body')).toHaveAttribute('data-points', '5');
    await expect.poll(() => depth(sim)).toBe(2);
    await sim.keyboard.press('Delete');
    await expect(sim.locator('body')).toHaveAttribute('data-points', '4');
    await expect.poll(() => depth(sim)).toBe(3);
    await click(sim, [2.3, 0.8]);
    await sim.keyboard.press('Delete');
    await expect.poll(() => depth(sim)).toBe(4);
    await click(sim, [1.7, 0.8]);
    await sim.keyboard.press('Delete');
    await expect(sim.locator('[data-test="toast"]')).toContainText('at least 3');
    await sim.keyboard.press('Escape');
    await expect(sim.locator('body')).not.toHaveAttribute('data-mode');
  });

  test('31 lock, hide and rename in the outline; what is locked is not picked on the canvas', async ({
    sim,
  }) => {
    await row(sim, 'b').hover();
    await row(sim, 'b').getByRole('button', { name: 'Lock b' }).click();
    await click(sim, '/robots/b');
    expect(await selection(sim)).toEqual([]);
    await row(sim, 'b').getByRole('button', { name: 'Hide b' }).click();
    await expect(row(sim, 'b').getByRole('button', { name: 'Hide b' })).toHaveAttribute(
      'aria-pressed',
      'true',
    );
    await row(sim, 'c').click();
    await sim.keyboard.press('F2');
    await sim.getByRole('dialog').getByRole('textbox').fill('carol');
    await sim.keyboard.press('Enter');
    await expect(row(sim, 'carol')).toHaveAttribute('aria-selected', 'true');
    expect(await paths(sim, '/robots/c')).toEqual(['/robots/carol']);
  });

  test('32 the context menu has the commands with their keys: right click and Shift+F10', async ({ sim }) => {
    await click(sim, '/robots/a', { button: 'right' });
    const menu = sim.getByRole('menu');
    await expect(menu.getByRole('menuitem', { name: /Delete/ })).toContainText('Delete');
    await expect(menu.getByRole('menuitem', { name: /^Copy/ })).toContainText('Ctrl+C');
    expect(await selection(sim)).toEqual(['/robots/a']);
    await sim.keyboard.press('Escape');
    await expect(menu).toHaveCount(0);
    await sim.keyboard.press('Shift+F10');
    await menu
      .getByRole('menuitem', { name: /^Duplicate Ctrl/ })
      .or(menu.locator('[data-command="edit.duplicate"]'))
      .first()
      .focus();
    await menu.locator('[data-command="edit.delete"]').click();
    await expect.poll(() => paths(sim, '/robots/a')).toHaveLength(0);
  });

  test('33 a robot dropped into another is refused: flashed, and the problem names both', async ({ sim }) => {
    await drag(sim, await spot(sim, '/robots/a'), await spot(sim, [0, 0]));
    await expect(sim.locator('body')).toHaveAttribute('data-refused', /\/robots\/a/);
    const toast = sim.locator('[data-test="toast"]');
    await expect(toast).toContainText('/robots/a');
    await expect(toast).toContainText('/robots/b');
    expect((await start(sim, '/robots/a'))?.[0]).toBe(-1);
    expect(await depth(sim)).toBe(0);
  });
});

test.describe('properties', () => {
  test('34 fields come from the sheet, with unit and description; a value and Enter is one step', async ({
    sim,
  }) => {
    await row(sim, 'sonar').click();
    const range = field(sim, 'range');
    await expect(range.locator('.unit')).toHaveText('m');
    await expect(range.locator('label')).toHaveAttribute('title', /\w+/);
    const input = range.getByRole('textbox');
    await expect(input).toHaveValue('1.5m');
    await input.fill('2');
    await input.press('Enter');
    await expect.poll(() => written(sim, 'type.scout.part[1]', 'range')).toBe('2');
    expect(await depth(sim)).toBe(1);
    await input.fill('');
    await input.press('Enter');
    await expect.poll(() => written(sim, 'type.scout.part[1]', 'range')).toBe(null);
    expect(await depth(sim)).toBe(2);
  });

  test('34 a robot links to its type, parts and controller', async ({ sim }) => {
    await click(sim, '/robots/a');
    await sim
      .locator('.properties')
      .getByRole('button', { name: /^drive/ })
      .click();
    expect(await selection(sim)).toEqual(['type.scout.part[0]']);
    await expect(sim.locator('[data-test="subject"]')).toHaveText('drive');
    await sim
      .locator('.properties')
      .getByRole('button', { name: /^scout/ })
      .click();
    expect(await selection(sim)).toEqual(['type.scout']);
  });

  test('35 an invalid value is marked, the range is named, the world stays', async ({ sim }) => {
    await row(sim, 'dock').click();
    const input = field(sim, 'id').getByRole('textbox');
    await input.fill('70000');
    await input.press('Enter');
    await expect(input).toHaveAttribute('aria-invalid', 'true');
    await expect(field(sim, 'id').locator('.field-message')).toContainText('65535');
    expect(await written(sim, '/beacons/dock', 'id')).toBe('7');
    expect(await depth(sim)).toBe(0);
    await input.fill('8');
    await input.press('Enter');
    await expect.poll(() => written(sim, '/beacons/dock', 'id')).toBe('8');
    await expect(input).not.toHaveAttribute('aria-invalid');
  });

  test('36 expressions are accepted; dragging a label changes the number', async ({ sim }) => {
    await row(sim, 'dock').click();
    const aperture = field(sim, 'aperture').getByRole('textbox');
    await aperture.fill('60deg');
    await aperture.press('Enter');
    await expect.poll(() => written(sim, '/beacons/dock', 'aperture')).toBe('"60deg"');
    const range = field(sim, 'range').getByRole('textbox');
    await range.fill('0.3*2');
    await range.press('Enter');
    await expect.poll(() => written(sim, '/beacons/dock', 'range')).toBe('0.6');
    const x = field(sim, 'at').getByRole('textbox', { name: /x$/ });
    await x.fill('25cm-3m');
    await x.press('Enter');
    await expect.poll(async () => (await start(sim, '/beacons/dock'))?.[0]).toBeCloseTo(-2.75, 6);
    const label = await field(sim, 'range').locator('label').boundingBox();
    const from = { x: (label?.x ?? 0) + 10, y: (label?.y ?? 0) + 8 };
    await drag(sim, from, { x: from.x + 40, y: from.y });
    await expect.poll(() => written(sim, '/beacons/dock', 'range')).toBe('0.7');
  });

  test('37 several: what differs is "mixed", typing sets all in one step', async ({ sim }) => {
    await click(sim, '/robots/a');
    await sim.keyboard.down('Shift');
    await click(sim, '/robots/c');
    await sim.keyboard.up('Shift');
    const y = field(sim, 'at').getByRole('textbox', { name: /y$/ });
    await expect(y).toHaveAttribute('placeholder', 'mixed');
    await y.fill('0.7');
    await y.press('Enter');
    await expect.poll(async () => (await start(sim, '/robots/a'))?.[1]).toBeCloseTo(0.7, 6);
    expect((await start(sim, '/robots/c'))?.[1]).toBeCloseTo(0.7, 6);
    expect((await start(sim, '/robots/c'))?.[0]).toBeCloseTo(1, 6);
    expect(await depth(sim)).toBe(1);
  });

  test('38 a double click on a beacon opens the goal parameters, and its cone changes', async ({ sim }) => {
    await click(sim, '/beacons/dock', { clickCount: 2 });
    const dialog = sim.getByRole('dialog', { name: 'Goal parameters' });
    const range = dialog.locator('[data-param="range"]').getByRole('textbox');
    await expect(dialog.locator('[data-param]')).toHaveCount(3);
    await range.fill('1m');
    await range.press('Enter');
    const cone = (): Promise<number | undefined> =>
      sim.evaluate(
        () => window.__sim?.world()?.drawing.beacons?.find((b) => b.path === '/beacons/dock')?.range,
      );
    await expect.poll(cone).toBe(1);
    await expect(dialog).toBeVisible();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect(dialog).toHaveCount(0);
  });
});

test.describe('undo', () => {
  test('39 as many undos as edits give back the text to the byte, and redos the other', async ({ sim }) => {
    test.slow();
    await click(sim, '/robots/b');
    for (const key of ['ArrowUp', 'r', 'Control+d', 'Delete']) {
      const before = await depth(sim);
      await sim.keyboard.press(key);
      await expect.poll(() => depth(sim), key).toBe(before + 1);
    }
    await row(sim, 'dock').click();
    await field(sim, 'range').getByRole('textbox').fill('1m');
    await field(sim, 'range').getByRole('textbox').press('Enter');
    await expect.poll(() => depth(sim)).toBe(5);
    const after = await text(sim);
    for (let k = 4; k >= 0; k--) {
      await sim.locator('canvas.view').focus();
      await sim.keyboard.press('Control+z');
      await expect.poll(() => depth(sim)).toBe(k);
    }
    expect(await text(sim)).toBe(YARD);
    for (let k = 1; k <= 5; k++) {
      await sim.keyboard.press(k % 2 ? 'Control+Shift+Z' : 'Control+y');
      await expect.poll(() => depth(sim)).toBe(k);
    }
    expect(await text(sim)).toBe(after);
  });

  test('40 the undo and redo buttons name their step and are off when there is none', async ({ sim }) => {
    const [undo, redo] = [
      sim.locator('[data-command="edit.undo"]'),
      sim.locator('[data-command="edit.redo"]'),
    ];
    await expect(undo).toBeDisabled();
    await expect(redo).toBeDisabled();
    await click(sim, '/robots/a');
    await sim.keyboard.down('Shift');
    await click(sim, '/robots/b');
    await sim.keyboard.up('Shift');
    await sim.keyboard.press('ArrowUp');
    await expect(undo).toHaveAttribute('title', /^Undo move 2 robots/);
    await undo.click();
    await expect(undo).toBeDisabled();
    await expect(redo).toHaveAttribute('title', /^Redo move 2 robots/);
    expect(await text(sim)).toBe(YARD);
    await redo.click();
    await expect(redo).toBeDisabled();
    await expect.poll(() => depth(sim)).toBe(1);
  });

  test('41 undo keeps the camera and brings back the selection of the step', async ({ sim }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect.poll(() => depth(sim)).toBe(1);
    await sim.mouse.move(640, 300);
    await sim.mouse.wheel(0, -300);
    const camera = await sim.evaluate(() => window.__sim?.camera());
    await sim.keyboard.press('Escape');
    await sim.keyboard.press('Control+z');
    await expect.poll(() => depth(sim)).toBe(0);
    await expect.poll(() => selection(sim)).toEqual(['/robots/b']);
    expect(await sim.evaluate(() => window.__sim?.camera())).toEqual(camera);
  });

  test('47 an edit while the run goes on takes effect and is still there after Reset', async ({ sim }) => {
    for (let k = 0; k < 5; k++) await sim.keyboard.press('.');
    await expect.poll(() => sim.evaluate(() => window.__sim?.tick())).toBe(5);
    await drag(sim, await spot(sim, '/robots/c'), await spot(sim, [1.5, -0.4]));
    await expect
      .poll(async () => (await start(sim, '/robots/c'))?.slice(0, 2).map((v) => near(v)))
      .toEqual([1.5, -0.4]);
    await sim.getByRole('button', { name: 'Reset' }).click();
    await expect.poll(() => sim.evaluate(() => window.__sim?.tick())).toBe(0);
    await expect.poll(() => sim.evaluate(() => window.__sim?.pose('/robots/c')?.x)).toBeCloseTo(1.5, 3);
    expect(await depth(sim)).toBe(1);
  });
});

test.describe('a large world', () => {
  test.use({
    text: YARD.replace(
      'count = 4\nlayout = { class = "row", step = [0.5, 0] }',
      'count = 1500\nlayout = { class = "grid", columns = 50, spacing = "50cm" }',
    )
      .replace('min = [-3, -2]\nmax = [3, 2]\n', '')
      .replace('at = [-2, -1.5]\n', 'at = [40, 40]\n'),
  });

  test('the outline draws only the rows in sight, and knows them all', async ({ sim }) => {
    await expect(row(sim, 'a')).toHaveAttribute('aria-setsize', '1503');
    expect(await sim.getByRole('treeitem').count()).toBeLessThan(200);
    await sim.getByRole('tree').focus();
    await sim.keyboard.press('End');
    await sim.keyboard.press('PageUp');
    await expect(row(sim, 'tape')).toBeVisible();
    expect(await sim.getByRole('treeitem').count()).toBeLessThan(200);
  });
});

test.describe('for everybody', () => {
  test('62 the whole cycle by keyboard: create, move, turn, set, delete, undo, run', async ({ sim }) => {
    await sim.locator('.palette').getByRole('button', { name: 'scout' }).focus();
    await sim.keyboard.press('Enter');
    await expect.poll(() => selection(sim)).toHaveLength(1);
    const [made = ''] = await selection(sim);
    const [x = 0] = (await start(sim, made)) ?? [];
    await sim.keyboard.press('ArrowRight');
    await expect.poll(async () => near((await start(sim, made))?.[0])).toBe(near(x + 0.1));
    await sim.keyboard.press('r');
    await expect.poll(async () => near((await start(sim, made))?.[2], 3)).toBe(0.262);
    await sim.getByRole('tree').focus();
    await sim.keyboard.press('Enter');
    const dialog = sim.getByRole('dialog');
    const y = dialog.getByRole('textbox', { name: /Place y/ });
    await y.focus();
    await sim.keyboard.press('Control+a');
    await sim.keyboard.type('-0.9');
    await sim.keyboard.press('Enter');
    await expect.poll(async () => near((await start(sim, made))?.[1])).toBe(-0.9);
    await sim.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await sim.keyboard.press('Delete');
    await expect.poll(() => paths(sim, made)).toHaveLength(0);
    await sim.keyboard.press('Control+z');
    await expect.poll(() => paths(sim, made)).toHaveLength(1);
    await sim.keyboard.press('.');
    await expect.poll(() => sim.evaluate(() => window.__sim?.tick())).toBe(1);
  });

  test('62 Tab goes from the bar to palette, outline, canvas and properties', async ({ sim }) => {
    const order = await sim.evaluate(() => {
      const places = ['.top', '.palette', '.outline', '.centre', '.right'];
      const found = places.map((p) => document.querySelector(p)).filter((e): e is Element => e !== null);
      return found.every(
        (e, k) =>
          k === 0 ||
          Boolean((found[k - 1] as Element).compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING),
      );
    });
    expect(order).toBe(true);
    await sim.locator('.palette-item').first().focus();
    await sim.keyboard.press('ArrowDown');
    const outline = await sim.getByRole('tree').evaluate((e) => getComputedStyle(e).outlineStyle);
    expect(outline).toBe('none');
    await sim.getByRole('tree').focus();
    await sim.keyboard.press('ArrowDown');
    expect(await sim.getByRole('tree').evaluate((e) => getComputedStyle(e).outlineStyle)).not.toBe('none');
  });

  test('63 moves are announced', async ({ sim }) => {
    await click(sim, '/robots/b');
    await sim.keyboard.press('ArrowUp');
    await expect(sim.locator('[data-test="announcer"]')).toHaveText('b moved to 0.00, 0.10');
  });

  test('a click shows the settings of the object in the status line', async ({ sim }) => {
    await click(sim, '/beacons/dock');
    await expect(sim.locator('[data-test="clicked"]')).toContainText('beacon dock');
    await expect(sim.locator('[data-test="clicked"]')).toContainText('range 2m');
  });
});

test.describe('with fingers', () => {
  test.use({ hasTouch: true });

  test('66 tap selects, drag moves, a long press opens the menu; targets are large enough', async ({
    sim,
  }) => {
    const client = await sim.context().newCDPSession(sim);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: Spot[]): Promise<unknown> =>
      client.send('Input.dispatchTouchEvent', { type, touchPoints: points });
    const c = await spot(sim, '/robots/c');
    await touch('touchStart', [c]);
    await touch('touchEnd', []);
    await expect.poll(() => selection(sim)).toEqual(['/robots/c']);
    const to = await spot(sim, [1, -0.4]);
    await touch('touchStart', [c]);
    for (let k = 1; k <= 4; k++)
      await touch('touchMove', [{ x: c.x + ((to.x - c.x) * k) / 4, y: c.y + ((to.y - c.y) * k) / 4 }]);
    await touch('touchEnd', []);
    await expect.poll(async () => near((await start(sim, '/robots/c'))?.[1])).toBe(-0.4);
    await touch('touchStart', [await spot(sim, '/robots/a')]);
    await expect(sim.getByRole('menu')).toBeVisible();
    await touch('touchEnd', []);
    expect(await selection(sim)).toEqual(['/robots/a']);
    await expect(sim.getByRole('menu')).toBeVisible();
    const small = await sim.evaluate(
      () =>
        [
          ...document.querySelectorAll<HTMLElement>(
            '.palette button, .status-bar button, .context-menu button, .tree-row button',
          ),
        ]
          .map((b) => b.getBoundingClientRect())
          .filter((r) => r.width > 0 && (r.width < 24 || r.height < 24)).length,
    );
    expect(small).toBe(0);
  });
});
