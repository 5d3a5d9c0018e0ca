/** Takes the pictures of docs/browser.md, in the order of its walk through the page. */

import type { Page } from '@playwright/test';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SLOW, writeRollCall } from '../tests/comms-desk';
import { expect, test } from '../tests/harness';
import { openWorld, state, type } from '../tests/panels-desk';

const FOLDER = fileURLToPath(new URL('../../docs/pictures', import.meta.url));

async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(640, 790);
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}

/** Runs a command by its title, through the command palette. */
async function command(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Control+k');
  const palette = page.getByTestId('palette');
  await palette.getByRole('combobox').fill(title);
  await palette.getByRole('option', { name: title }).first().click();
}

/** Another address of the same page: camera, layers and view are in it. */
async function address(page: Page, words: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, words);
}

/** Runs to a tick, so that trails are seen to grow. */
async function runTo(page: Page, tick: number): Promise<void> {
  await type(page, 'speed 8');
  await type(page, 'start');
  await page.waitForFunction((wanted) => (window.__sim?.tick() ?? 0) >= wanted, tick, { timeout: 60_000 });
  await type(page, 'pause');
  await state(page, 'paused');
}

const LAYERS = 'sensors,rays,beacons,contacts,ids,links,messages';

test('the pictures of the walk through the page', async ({ sim: page }) => {
  await page.getByTestId('welcome').getByRole('button', { name: 'Do not show this again' }).click();
  await address(page, `layers=${LAYERS},outline`);
  await runTo(page, 760);
  await command(page, 'Show everything');
  await picture(page, 'start');

  await page.getByRole('treeitem', { name: 'essex', exact: true }).first().click();
  await page.getByTestId('registers').scrollIntoViewIfNeeded();
  await picture(page, 'inspector');

  await address(page, `layers=arcs,ids`);
  await runTo(page, 900);
  await picture(page, 'arcs');
  await address(page, `layers=grid,ids`);
  await runTo(page, 1100);
  await picture(page, 'map');

  await address(page, `layers=${LAYERS},dots`);
  await type(page, 'seek 520');
  await expect.poll(() => page.evaluate(() => window.__sim?.tick())).toBe(520);
  await picture(page, 'rewind');
  await command(page, 'Back to the newest moment');

  await page.getByRole('tab', { name: 'Code' }).click();
  await expect(page.locator('.cm-content')).toBeVisible();
  await picture(page, 'code');

  await openWorld(page, 'worlds/beacons.toml');
  await page.getByRole('tab', { name: 'Console' }).click();
  await command(page, 'Show everything');
  await page.getByRole('treeitem', { name: 'hidden', exact: true }).first().click();
  await picture(page, 'editor');
  await command(page, 'Parameters…');
  await expect(page.locator('dialog[open]')).toBeVisible();
  await picture(page, 'goal-parameters');
  await page.keyboard.press('Escape');

  await command(page, 'Build robot type…');
  await expect(page.locator('dialog[open]')).toBeVisible();
  await picture(page, 'builder');
  await page.keyboard.press('Escape');

  await openWorld(page, 'worlds/forty-wander.toml');
  await runTo(page, 200);
  await command(page, 'Show everything');
  await picture(page, 'swarm');
  await address(page, `layers=${LAYERS},dots&view=3d`);
  await expect(page.locator('canvas[data-engine^="three"]')).toBeVisible();
  await picture(page, 'space');
  await address(page, `layers=${LAYERS},dots`);

  await command(page, 'Worlds');
  await expect(page.locator('dialog[open]')).toBeVisible();
  await picture(page, 'worlds');
  await page.keyboard.press('Escape');

  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'dark');
});

test('the picture of messages', async ({ sim: page, server }) => {
  await page.getByTestId('welcome').getByRole('button', { name: 'Do not show this again' }).click();
  await openWorld(page, writeRollCall(server, SLOW));
  await command(page, 'Show everything');
  await type(page, 'step 40');
  await page.waitForFunction(() => window.__sim?.tick() === 40);
  await page.getByRole('tab', { name: 'Messages' }).click();
  // Room for the chart.
  await page.locator('.bottom-splitter').focus();
  for (let k = 0; k < 9; k++) await page.keyboard.press('ArrowUp');
  await page.getByTestId('sequence').focus();
  for (let k = 0; k < 4; k++) await page.keyboard.press('ArrowUp');
  await expect(page.getByTestId('message-details')).toContainText('Content');
  await command(page, 'Show everything');
  await picture(page, 'messages');
});
