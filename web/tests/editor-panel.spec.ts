/** The editor beside the canvas: properties, undo, large worlds, keyboard and fingers. */

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
import { expect, open } from './harness';

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

  test('38 opened before the page knows what can be set, it shows that when it comes', async ({
    page,
    server,
  }) => {
    let come = (): void => undefined;
    const sheets = new Promise<void>((resolve) => (come = resolve));
    await page.routeWebSocket(/\/v1\/link$/, (here) => {
      const there = here.connectToServer();
      there.onMessage(async (message) => {
        if (typeof message === 'string' && message.includes('"sheets":')) await sheets;
        here.send(message);
      });
    });
    await open(page, server.url);
    await click(page, '/beacons/dock', { clickCount: 2 });
    const dialog = page.getByRole('dialog', { name: 'Goal parameters' });
    await expect(dialog).toBeVisible();
    await expect(dialog.locator('[data-param]')).toHaveCount(0);
    come();
    await expect(dialog.locator('[data-param]')).toHaveCount(3);
    await page.close();
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
    const scale = (): Promise<number | undefined> => sim.evaluate(() => window.__sim?.camera().scale);
    const before = await scale();
    await sim.mouse.wheel(0, -300);
    await expect.poll(scale).not.toBe(before);
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
