/** A run that is spread over two worker processes: the panel *Workers*, and the regions on the canvas. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, serve, test as base } from './harness';
import { hash, state, stepTo, tick, type } from './panels-desk';

const test = base.extend({});
test.use({ world: 'worlds/forty-wander.toml', options: ['--workers', '2', '--lease', '20'] });

/** Opens the panel when the run has come to a checkpoint, so that everything was measured. */
async function measured(page: Page): Promise<void> {
  await stepTo(page, 70);
  await page.getByRole('tab', { name: 'Workers' }).click();
  await expect(page.getByTestId('heaviest').locator('tbody tr')).toHaveCount(10);
}

test('a spread run shows its workers, their links and the heaviest robots', async ({ sim }) => {
  await sim.getByRole('tab', { name: 'Workers' }).click();
  await expect(sim.getByTestId('workers-summary')).toContainText('have not begun');
  await measured(sim);
  await expect(sim.getByTestId('workers-summary')).toContainText('2 workers, none lost');
  const rows = sim.getByTestId('worker-table').locator('tbody tr');
  await expect(rows).toHaveCount(2);
  const bodies = await rows.locator('td:nth-child(3)').allTextContents();
  // Forty robots, and obstacles that move.
  const all = await sim.evaluate(() => window.__sim?.world()?.bodies.length ?? 0);
  expect(all).toBeGreaterThanOrEqual(40);
  expect(bodies.map(Number).reduce((a, b) => a + b)).toBe(all);
  await expect(rows.first()).toContainText('here, process');
  await expect(sim.getByTestId('worker-links').locator('tbody tr')).toHaveCount(2);
  const heaviest = sim.getByTestId('heaviest').locator('tbody tr').first().locator('td');
  const [whole, ...kinds] = (await heaviest.allTextContents()).slice(2).map(Number);
  expect(kinds).toHaveLength(4);
  expect(kinds.reduce((a, b) => a + b) / (whole ?? 0)).toBeCloseTo(1, 1);
  const robot = sim.getByTestId('heaviest').getByRole('button').first();
  const name = await robot.textContent();
  await robot.click();
  expect((await sim.evaluate(() => window.__sim?.selection()))?.[0]).toMatch(new RegExp(`/${name}$`));
  await type(sim, 'speed max');
  await type(sim, 'start');
  await sim.getByRole('tab', { name: 'Workers' }).click();
  await expect(rows.first().locator('td:nth-child(4)')).toContainText('%');
  await expect(rows.first().locator('td:nth-child(6)')).toContainText('B/s');
});

test('its hash is that of a run in one process, also after it was paused and reset', async ({
  sim,
  page,
}) => {
  test.slow();
  await stepTo(sim, 40);
  const spread = await hash(sim);
  await type(sim, 'reset');
  await expect.poll(() => tick(sim)).toBe(0);
  await stepTo(sim, 40);
  expect(await hash(sim)).toBe(spread);
  await state(sim, 'paused');
  const one = await serve('worlds/forty-wander.toml');
  const other = await page.context().newPage();
  await other.goto(one.url);
  await expect(other.locator('body')).toHaveAttribute('data-link', 'open');
  await other.waitForFunction(() => window.__sim?.tick() === 0);
  await expect(other.getByRole('tab', { name: 'Workers' })).toBeHidden();
  await stepTo(other, 40);
  expect(await hash(other)).toBe(spread);
  await other.close();
  await one.stop();
});

test('regions are drawn, and a layer switches them', async ({ sim }) => {
  await measured(sim);
  const picture = (): Promise<string> =>
    sim.locator('canvas.flat').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const withRegions = await picture();
  await sim.keyboard.press('Control+k');
  await sim.getByTestId('palette').getByRole('combobox').fill('Regions of workers');
  await sim.keyboard.press('Enter');
  expect(await sim.evaluate(() => window.__sim?.layers().regions)).toBe(false);
  await expect.poll(picture).not.toBe(withRegions);
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`axe finds nothing serious in the panel of workers (${colorScheme})`, async ({ sim }) => {
    await sim.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await measured(sim);
    const { violations } = await new AxeBuilder({ page: sim }).include('.workers').analyze();
    expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`)).toEqual([]);
    if (process.env['SHOTS'])
      await sim.screenshot({ path: `${process.env['SHOTS']}/workers-${colorScheme}.png` });
  });
