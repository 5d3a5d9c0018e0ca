/** Messages of robots: on the canvas and in the message-sequence chart. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { RADIO, SLOW, writeRollCall } from './comms-desk';
import { expect, test, type Server } from './harness';
import { openWorld, stepTo, tick, type } from './panels-desk';

test.use({ testIdAttribute: 'data-test' });

async function opened(page: Page, server: Server, network = SLOW): Promise<void> {
  const welcome = page.getByTestId('welcome').getByRole('button', { name: 'Do not show this again' });
  if (await welcome.isVisible()) await welcome.click();
  await openWorld(page, writeRollCall(server, network));
}

async function chart(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Messages' }).click();
  await expect(page.getByTestId('messages')).toBeVisible();
}

/** The middle of an arrow that is wholly in view. */
function arrowInView(page: Page): Promise<{ x: number; y: number }> {
  return page.evaluate(() => {
    const chart = document.querySelector('.sequence')!.getBoundingClientRect();
    const boxes = [...document.querySelectorAll('.sequence .arrow.received .shaft')].map((line) =>
      line.getBoundingClientRect(),
    );
    const inside = boxes.find((box) => box.top > chart.top + 8 && box.bottom < chart.bottom - 8);
    if (!inside) throw new Error('no arrow is wholly in view');
    return { x: inside.left + inside.width / 2, y: inside.top + inside.height / 2 };
  });
}

const drawn = (page: Page): Promise<{ serial: number; fate: string; x: number; y: number }[]> =>
  page.evaluate(() => window.__sim!.messages());
const data = async (page: Page, name: string): Promise<number> =>
  Number(await page.getByTestId('messages').getAttribute(`data-${name}`));

test('a message under way is a dot between its sender and its receiver, and moves with the time', async ({
  sim,
  server,
}) => {
  await opened(sim, server);
  await stepTo(sim, 20);
  await expect.poll(async () => (await drawn(sim)).some((m) => m.fate !== 'lost')).toBe(true);
  const before = await drawn(sim);
  const between = await sim.evaluate(() =>
    window.__sim!.messages().every(({ from, to, x, y }) => {
      const [a, b] = [window.__sim!.toScreen(from)!, window.__sim!.toScreen(to)!];
      const way = Math.hypot(b.x - a.x, b.y - a.y);
      return Math.abs(Math.hypot(x - a.x, y - a.y) + Math.hypot(x - b.x, y - b.y) - way) < 0.5;
    }),
  );
  expect(between).toBe(true);
  await stepTo(sim, 21);
  await expect
    .poll(async () => {
      const after = await drawn(sim);
      return before.some((m) => after.some((n) => n.serial === m.serial && (n.x !== m.x || n.y !== m.y)));
    })
    .toBe(true);
});

test('an earlier moment shows the messages of that moment', async ({ sim, server }) => {
  await opened(sim, server);
  await stepTo(sim, 20);
  await expect.poll(async () => (await drawn(sim)).length).toBeGreaterThan(0);
  const at20 = (await drawn(sim)).map((m) => m.serial);
  await stepTo(sim, 50);
  await expect.poll(async () => (await drawn(sim)).map((m) => m.serial)).not.toEqual(at20);
  await type(sim, 'seek 20');
  await expect.poll(() => tick(sim)).toBe(20);
  await expect.poll(async () => (await drawn(sim)).map((m) => m.serial)).toEqual(at20);
});

test('messages and links are layers with keys, and the sheet of keys names them', async ({ sim, server }) => {
  await opened(sim, server, RADIO);
  await expect.poll(() => sim.evaluate(() => window.__sim!.linkCount())).toBe(7);
  await sim.locator('canvas.view').focus();
  await sim.keyboard.press('Shift+M');
  await expect.poll(() => sim.evaluate(() => window.__sim!.linkCount())).toBe(0);
  await sim.keyboard.press('m');
  expect(await sim.evaluate(() => window.__sim!.layers())).toMatchObject({ messages: false, links: false });
  await sim.keyboard.press('Shift+M');
  await expect.poll(() => sim.evaluate(() => window.__sim!.linkCount())).toBe(7);
  await sim.getByRole('button', { name: 'Layers' }).click();
  await expect(sim.getByRole('checkbox', { name: 'Messages under way' })).not.toBeChecked();
  await expect(sim.getByRole('checkbox', { name: 'Links: who can hear whom' })).toBeChecked();
  await sim.keyboard.press('Escape');
  await sim.locator('canvas.view').focus();
  await sim.keyboard.press('?');
  const sheet = sim.getByTestId('shortcuts');
  await expect(sheet.locator('div', { hasText: /^Messages under wayM$/ })).toBeVisible();
  await expect(sheet.locator('div', { hasText: /^Links: who can hear whomShift\+M$/ })).toBeVisible();
});

test('the chart has a line per robot and an arrow per message, and follows the moment that is shown', async ({
  sim,
  server,
}) => {
  await opened(sim, server);
  await stepTo(sim, 40);
  await chart(sim);
  await expect(sim.locator('.messages .names > span')).toHaveText(['r1', 'r2', 'r3', 'r4', 'r5']);
  await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(10);
  await expect(sim.locator('.sequence .arrow.lost .loss').first()).toBeVisible();
  await expect(sim.locator('.sequence .crash')).toHaveCount(1);
  expect(await data(sim, 'now')).toBe(8);
  const [from, to] = [await data(sim, 'from'), await data(sim, 'to')];
  expect(from).toBeLessThan(8);
  expect(to).toBeGreaterThan(8);
  await type(sim, 'seek 10');
  await chart(sim);
  await expect.poll(() => data(sim, 'now')).toBe(2);
  expect(await data(sim, 'to')).toBeCloseTo(to - 6, 3);
  await expect(sim.locator('.sequence .arrow.later').first()).toBeAttached();
});

test('the chart scrolls and zooms by wheel and keys, and comes back to the time', async ({ sim, server }) => {
  await opened(sim, server);
  await stepTo(sim, 60);
  await chart(sim);
  await expect.poll(() => data(sim, 'now')).toBe(12);
  const follow = sim.getByRole('button', { name: 'Follow the time' });
  await expect(follow).toHaveAttribute('aria-pressed', 'true');
  const start = await data(sim, 'from');
  await sim.getByTestId('sequence').focus();
  await sim.keyboard.press('PageUp');
  await expect.poll(() => data(sim, 'from')).toBeLessThan(start);
  await expect(follow).toHaveAttribute('aria-pressed', 'false');
  await sim.keyboard.press('+');
  await expect.poll(async () => (await data(sim, 'to')) - (await data(sim, 'from'))).toBeCloseTo(4 / 1.5, 2);
  const here = await data(sim, 'from');
  await sim.getByTestId('sequence').hover();
  await sim.mouse.wheel(0, 100);
  await expect.poll(() => data(sim, 'from')).toBeGreaterThan(here);
  await follow.click();
  await expect.poll(() => data(sim, 'to')).toBeGreaterThan(12);
});

test('a message is chosen by a click or by keys, and its content is shown', async ({ sim, server }) => {
  await opened(sim, server);
  await stepTo(sim, 40);
  await chart(sim);
  await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(10);
  const details = sim.getByTestId('message-details');
  const place = await arrowInView(sim);
  await sim.mouse.click(place.x, place.y);
  await expect(sim.locator('.sequence .arrow.chosen')).toHaveCount(1);
  await expect(details).toContainText(/(CALL|HERE) · r\d → r\d/);
  await expect(details).toContainText('algorithm');
  await expect(details).toContainText(/round \d/);
  const first = await details.textContent();
  await sim.getByTestId('sequence').focus();
  await sim.keyboard.press('ArrowDown');
  await expect.poll(() => details.textContent()).not.toBe(first);
  const time = /Sent\s*([\d.]+) s/.exec((await details.textContent()) ?? '')?.[1];
  await details.getByRole('button', { name: 'Show when it was sent' }).click();
  await expect.poll(() => tick(sim)).toBe(Math.round(Number(time) / 0.2));
  await sim.getByTestId('sequence').focus();
  await sim.keyboard.press('Escape');
  await expect(sim.locator('.sequence .arrow.chosen')).toHaveCount(0);
});

test('selected robots have the lines, and a protocol can be chosen alone', async ({ sim, server }) => {
  await opened(sim, server);
  await stepTo(sim, 40);
  await chart(sim);
  await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(10);
  const all = await data(sim, 'arrows');
  await sim.getByRole('treeitem', { name: 'r1', exact: true }).first().click();
  await sim
    .getByRole('treeitem', { name: 'r3', exact: true })
    .first()
    .click({ modifiers: ['ControlOrMeta'] });
  await expect(sim.locator('.messages .names > span')).toHaveText(['r1', 'r3']);
  await expect.poll(() => data(sim, 'arrows')).toBeLessThan(all);
  await expect(sim.getByTestId('messages-left')).toContainText('with robots that are not shown');
  const filter = sim.getByRole('combobox', { name: 'Protocol' });
  await filter.selectOption('algorithm');
  await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(0);
});

test('a branch forgets the messages that were not sent', async ({ sim, server }) => {
  await opened(sim, server);
  await stepTo(sim, 40);
  await chart(sim);
  await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(10);
  await type(sim, 'seek 15');
  await expect.poll(() => tick(sim)).toBe(15);
  await type(sim, 'branch');
  await chart(sim);
  await expect(sim.locator('.sequence .arrow.received.later')).toHaveCount(0);
  await expect.poll(() => data(sim, 'now')).toBe(3);
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`axe finds nothing serious in the chart (${colorScheme})`, async ({ sim, server }) => {
    await sim.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await opened(sim, server);
    await stepTo(sim, 40);
    await chart(sim);
    await expect.poll(() => data(sim, 'arrows')).toBeGreaterThan(10);
    await sim.getByTestId('sequence').focus();
    await sim.keyboard.press('ArrowDown');
    const { violations } = await new AxeBuilder({ page: sim }).include('.messages').analyze();
    expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`)).toEqual([]);
    if (process.env['SHOTS']) await sim.screenshot({ path: `${process.env['SHOTS']}/${colorScheme}.png` });
  });
