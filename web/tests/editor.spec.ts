/** The editor on the canvas: files, creating, selecting and moving. */

import type { Locator, Page } from '@playwright/test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  test,
  type Spot,
  spot,
  drag,
  click,
  selection,
  depth,
  text,
  start,
  paths,
  written,
  field,
  row,
  near,
  YARD,
} from './editor-desk';
import { expect, open, serveIn } from './harness';

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
    const scale = (): Promise<number | undefined> => sim.evaluate(() => window.__sim?.camera().scale);
    const before = await scale();
    await sim.mouse.wheel(0, -200);
    await expect.poll(scale).not.toBe(before);
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
