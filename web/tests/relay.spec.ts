/** Pages on a relay: they show what the server shows, steer through it, and come back with it. */

import type { Page } from '@playwright/test';
import { expect, open, relay, serveIn, test } from './harness';

// One after the other: three pages that draw at once are much for a small machine.
test.describe.configure({ mode: 'serial' });

const tick = (page: Page) => page.evaluate(() => window.__sim!.tick()!);

/** What a server or a relay says at an address of its own. */
async function said(url: string, path: string): Promise<Record<string, unknown>> {
  return (await (await fetch(new URL(path, url))).json()) as Record<string, unknown>;
}

test('two pages on a relay show the same step as the server, and one steers', async ({ server, browser }) => {
  const host = await relay(server);
  // In windows of their own: a page behind another one sleeps.
  const pages = [await browser.newContext(), await browser.newContext()].map((c) => c.newPage());
  const [first, second] = (await Promise.all(pages)) as [Page, Page];
  for (const page of [first, second]) await open(page, host.url);
  await first.getByRole('button', { name: 'Start', exact: true }).click();
  for (const page of [first, second]) await page.waitForFunction(() => window.__sim!.tick()! > 20);
  await first.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(second.locator('body')).toHaveAttribute('data-run-state', 'paused');
  const status = await said(server.url, '/v1/status');
  for (const page of [first, second]) await expect.poll(() => tick(page)).toBe(status['stop']);
  expect((await said(host.url, '/v1/status'))['hash']).toBe(status['hash']);
  const carried = await said(host.url, '/v1/relay');
  expect((carried['displays'] as unknown[]).length).toBe(2);
  expect(carried['out'] as number).toBeGreaterThan(carried['in'] as number);
  for (const page of [first, second]) await page.close();
  await host.stop();
});

test('pages on a relay come back when the server does', async ({ server, context }) => {
  const host = await relay(server);
  const page = await context.newPage();
  await open(page, host.url);
  const ended = new Promise((resolve) => server.process.on('exit', resolve));
  server.process.kill('SIGTERM');
  await ended;
  await expect(page.locator('body')).not.toHaveAttribute('data-link', 'open');
  const port = new URL(server.url).port;
  const again = await serveIn(server.folder, 'worlds/fig-7-2.toml', '--port', port);
  await expect(page.locator('body')).toHaveAttribute('data-link', 'open');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForFunction(() => window.__sim!.tick()! > 5);
  await page.close();
  await host.stop();
  await again.stop();
});
