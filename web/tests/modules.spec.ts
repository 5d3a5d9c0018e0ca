/** The page of a chain of modules: its scene in space, and the control panel at the head of the chain. */

import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type {} from '../src/modules/page';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COMMAND = process.env['SWARMYARD_BIN'] ?? join(ROOT, 'target', 'debug', 'swarmyard');
const EXAMPLES = join(ROOT, 'examples', 'modules');

/** Source, interpolator, arm and obstacles, and the page that shows them. */
const test = base.extend<{ chain: Page }>({
  chain: async ({ page }, use) => {
    const modules = [
      // One point, and then it waits: the chain can be steered.
      ...['local', `sh -c "echo '1 2 10 0 0 4 0 0 0 0 0'; sleep 1000"`],
      ...['local', 'smooth'],
      ...['local', 'arm --to 9'],
      ...['local', `obstacles ${join(EXAMPLES, 'yard.txt')} --to 9`],
    ];
    const options = ['--serve=127.0.0.1:0', '--web', join(ROOT, 'web', 'dist')];
    const child = spawn(COMMAND, ['simulate', ...options, ...modules], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    try {
      const url = await new Promise<string>((resolve, reject) => {
        child.on('exit', (code) => reject(new Error(`the chain ended with ${code}`)));
        createInterface({ input: child.stderr }).on('line', (line) => {
          const found = /listening on (http:\S+)/.exec(line)?.[1];
          if (found) resolve(found);
        });
      });
      page.on('pageerror', (error) => {
        throw error;
      });
      await page.goto(url);
      await expect(page.locator('body')).toHaveAttribute('data-link', 'open');
      await use(page);
      await page.close();
    } finally {
      const isOver = child.exitCode !== null;
      const ended = new Promise((resolve) => (isOver ? resolve(0) : child.on('exit', resolve)));
      // Not gently: nothing may be left running all the same.
      child.kill('SIGKILL');
      await ended;
    }
  },
});

const scenery = (page: Page) => page.evaluate(() => window.__modules!.scenery());
const view = (page: Page) => page.evaluate(() => window.__modules!.view());
const base_m = async (page: Page) => (await scenery(page))?.arm?.pose.base_m;

test('the scene of the chain is shown: arm, obstacles, objects', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const scene = (await scenery(chain))!;
  expect(Object.keys(scene.boxes)).toEqual(['1', '2']);
  expect(Object.keys(scene.objects)).toEqual(['1', '7']);
  expect(scene.arm!.points[4][0]).toBeCloseTo(19.3, 9);
  await expect(chain.getByTestId('facts')).toContainText('tip (19.30, 0.00, 1.00) m · 2 obstacles');
  // The universe, two boxes, two objects, and the eight pieces of the arm.
  await expect.poll(async () => (await view(chain)).things).toBe(13);
  await expect(chain.getByTestId('events')).toContainText('module 2 (smooth), 0 s: started');
});

test('view commands enter at the head of the chain and come out at its end', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  await chain.getByLabel('Eye x').fill('3');
  await chain.getByLabel('Eye y').fill('-40');
  await chain.getByTestId('look').click();
  await expect.poll(async () => (await view(chain)).eye).toEqual([3, -40, 18]);
  await chain.getByLabel('Field of view').fill('70');
  await chain.getByTestId('field').click();
  await expect.poll(async () => (await view(chain)).field).toBe(70);
  await chain.getByTestId('object').selectOption('7');
  await chain.getByTestId('attach').click();
  await expect.poll(async () => (await view(chain)).eye).toEqual([9, 12, 2]);
});

test('reset, parameters, on and off steer the modules', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const line = chain.getByTestId('line');
  const send = async (text: string): Promise<void> => {
    await line.fill(text);
    await chain.getByTestId('send').click();
    await expect(chain.getByTestId('answer')).toHaveText(`Sent: ${text}`);
  };
  // A step of half a metre ends a sweep at 5.5; one of a metre would end it at 5.
  await chain.getByLabel('Value').fill('0.5');
  await chain.getByTestId('set').click();
  await send('0 2 10 5.5 0 0 0 0');
  await expect.poll(() => base_m(chain)).toBe(5.5);
  await chain.getByTestId('off').click();
  await send('0 2 10 9 0 0 0 0');
  await chain.getByTestId('on').click();
  await expect(chain.getByTestId('events')).toContainText('switched off');
  await expect(chain.getByTestId('events')).toContainText('lines for it were dropped');
  expect(await base_m(chain)).toBe(5.5);
  await chain.getByTestId('reset').click();
  await expect.poll(async () => (await scenery(chain))!.universe.low).toEqual([-20, -20, -5]);
  // A reset starts the source anew, so its point comes again.
  await expect.poll(() => base_m(chain)).toBe(4);
});

test('a line that is none is refused with its reason', async ({ chain }) => {
  await chain.getByTestId('line').fill('0 2 nonsense');
  await chain.getByTestId('send').click();
  await expect(chain.getByTestId('answer')).toHaveText(/column 5: the command is not a whole number/);
});

test('the page has no serious faults of accessibility', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const { violations } = await new AxeBuilder({ page: chain }).analyze();
  expect(violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')).toEqual([]);
});
