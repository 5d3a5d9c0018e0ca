/** The page of a chain of modules: its scene in space, and the control panel at the head of the chain. */

import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type {} from '../src/modules/page';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COMMAND = process.env['SWARMYARD_BIN'] ?? join(ROOT, 'target', 'debug', 'swarmyard');
const EXAMPLES = join(ROOT, 'examples', 'modules');

/** Source, interpolator, arm and obstacles, and the page that shows them. */
const test = base.extend<{ chain: Page }>({
  chain: async ({ page }, use, testInfo) => {
    const points = testInfo.outputPath('points.txt');
    writeFileSync(points, '4 0 0 0 0\n');
    const modules = [
      // One point, and then it has ended: the chain can be steered all the same.
      ...['local', `trajectory '${points}'`],
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

/** A thing as it is drawn. */
const drawn = async (page: Page, name: string) => (await view(page)).things.find((t) => t.name === name);

/** Sends a line to the head of the chain. */
const send = async (page: Page, text: string): Promise<void> => {
  await page.getByTestId('line').fill(text);
  await page.getByTestId('send').click();
  await expect(page.getByTestId('answer')).toHaveText(`Sent: ${text}`);
};

/** Numbers with three decimals, so that they can be compared. */
const rounded = (numbers: readonly number[] | undefined) =>
  numbers?.map((x) => Math.round(x * 1000) / 1000 + 0);

/** The direction from one point to another, of length 1. */
const from_to = (a: readonly number[], b: readonly number[]): number[] => {
  const along = b.map((x, i) => x - a[i]!);
  return along.map((x) => x / Math.hypot(...along));
};

/** The lowest and the highest corner of what a thing fills. */
const corners = async (page: Page, name: string) => {
  const thing = await drawn(page, name);
  return rounded(thing && [...thing.low, ...thing.high]);
};

/** The middle of a thing. */
const middle = async (page: Page, name: string) => {
  const thing = await drawn(page, name);
  return rounded(thing?.low.map((x, i) => (x + thing.high[i]!) / 2));
};

/** Red, green and blue in the middle of where a thing is on the screen. */
const colour_of = async (page: Page, name: string): Promise<number[]> => {
  const { pixel } = (await drawn(page, name))!;
  const picture = (await page.locator('canvas.view').screenshot()).toString('base64');
  return page.evaluate(
    async ({ picture, pixel: [x, y] }) => {
      const image = new Image();
      image.src = `data:image/png;base64,${picture}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const pen = canvas.getContext('2d')!;
      pen.drawImage(image, 0, 0);
      return [...pen.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)];
    },
    { picture, pixel },
  );
};

test('the scene of the chain is shown: arm, obstacles, objects, each in its place', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const scene = (await scenery(chain))!;
  expect(Object.keys(scene.boxes)).toEqual(['1', '2']);
  expect(Object.keys(scene.objects)).toEqual(['1', '7']);
  expect(scene.arm!.points[4][0]).toBeCloseTo(19.3, 9);
  await expect(chain.getByTestId('facts')).toContainText('tip (19.30, 0.00, 1.00) m · 2 obstacles');
  // The universe, two boxes, two objects, and the eight pieces of the arm.
  const arm = ['platform', 'column', 'upper arm', 'forearm', 'hand', 'shoulder', 'elbow', 'wrist'];
  const names = ['universe', 'box 1', 'box 2', 'object 1', 'object 7', ...arm];
  await expect.poll(async () => (await view(chain)).things.map((t) => t.name)).toEqual(names);
  expect(await corners(chain, 'box 1')).toEqual([4, -8, 0, 8, -5, 3]);
  expect(await corners(chain, 'box 2')).toEqual([14, 6, 0, 18, 9, 6]);
  // The arm is stretched along x: links of 6.4, 7 and 1.9 m from 4 m on, 1 m up, as thick as they are drawn.
  expect(await corners(chain, 'upper arm')).toEqual([4, -0.25, 0.75, 10.4, 0.25, 1.25]);
  expect(await corners(chain, 'forearm')).toEqual([10.4, -0.22, 0.78, 17.4, 0.22, 1.22]);
  expect(await corners(chain, 'hand')).toEqual([17.4, -0.15, 0.85, 19.3, 0.15, 1.15]);
  expect(await corners(chain, 'column')).toEqual([3.6, -0.4, 0, 4.4, 0.4, 1]);
  expect(await middle(chain, 'object 7')).toEqual([9, 12, 2]);
  expect(await middle(chain, 'object 1')).toEqual([19.3, 0, 1]);
  expect(await middle(chain, 'elbow')).toEqual([10.4, 0, 1]);
  await expect(chain.getByTestId('events')).toContainText('module 2 (smooth), 0 s: started');
});

test('an arm with other lengths is drawn with them, stretched and bent, until the next reset', async ({
  chain,
}) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const [upper, fore, hand, height] = [3, 4.5, 0.8, 2.5];
  await chain.getByLabel('Number').fill('3');
  for (const [k, length] of [upper, fore, hand, height].entries()) {
    await chain.getByLabel('Parameter').fill(String(k + 1));
    await chain.getByLabel('Value').fill(String(length));
    await chain.getByTestId('set').click();
    await expect(chain.getByTestId('answer')).toHaveText(`Sent: 0 3 65531 ${k + 1} ${length}`);
  }
  // Stretched along x from 4 m on, 2.5 m up: the elbow is at 7 m, the wrist at 11.5 m, the tip at 12.3 m.
  await expect.poll(() => middle(chain, 'object 1')).toEqual([12.3, 0, 2.5]);
  expect(await corners(chain, 'column')).toEqual([3.6, -0.4, 0, 4.4, 0.4, 2.5]);
  expect(await corners(chain, 'upper arm')).toEqual([4, -0.25, 2.25, 7, 0.25, 2.75]);
  expect(await corners(chain, 'forearm')).toEqual([7, -0.22, 2.28, 11.5, 0.22, 2.72]);
  expect(await corners(chain, 'hand')).toEqual([11.5, -0.15, 2.35, 12.3, 0.15, 2.65]);
  expect(await middle(chain, 'elbow')).toEqual([7, 0, 2.5]);
  expect(await middle(chain, 'wrist')).toEqual([11.5, 0, 2.5]);
  await expect(chain.getByTestId('facts')).toContainText('tip (12.30, 0.00, 2.50) m');
  // Turned and bent: each link goes on from the one before, as long as it is, pitched by the sum of the joints.
  const [base, turn, joints] = [6, 0.5, [0.25, 0.125, -0.25]];
  await send(chain, `0 3 10 ${base} ${turn} ${joints.join(' ')}`);
  await expect.poll(() => base_m(chain)).toBe(base);
  const joint_at: number[][] = [[base, 0, height]];
  let pitch = 0;
  for (const [k, length] of [upper, fore, hand].entries()) {
    const [x, y, z] = joint_at[k] as [number, number, number];
    pitch += joints[k]!;
    const out = length * Math.cos(pitch);
    joint_at.push([x + out * Math.cos(turn), y + out * Math.sin(turn), z + length * Math.sin(pitch)]);
  }
  const [shoulder, elbow, wrist, tip] = joint_at as [number[], number[], number[], number[]];
  const between = (a: number[], b: number[]) => rounded(a.map((x, i) => (x + b[i]!) / 2));
  await expect.poll(() => middle(chain, 'object 1')).toEqual(rounded(tip));
  expect(await middle(chain, 'shoulder')).toEqual(rounded(shoulder));
  expect(await middle(chain, 'elbow')).toEqual(rounded(elbow));
  expect(await middle(chain, 'wrist')).toEqual(rounded(wrist));
  expect(await middle(chain, 'upper arm')).toEqual(between(shoulder, elbow));
  expect(await middle(chain, 'forearm')).toEqual(between(elbow, wrist));
  expect(await middle(chain, 'hand')).toEqual(between(wrist, tip));
  await chain.getByTestId('reset').click();
  await expect.poll(() => corners(chain, 'upper arm')).toEqual([4, -0.25, 0.75, 10.4, 0.25, 1.25]);
  expect(await corners(chain, 'forearm')).toEqual([10.4, -0.22, 0.78, 17.4, 0.22, 1.22]);
});

test('what is shown is painted where it is on the screen', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  // From above, so that nothing stands before anything.
  await send(chain, '0 9 1 10 0.5 60 10 0 0');
  await expect.poll(async () => (await view(chain)).eye).toEqual([10, 0.5, 60]);
  const looks = async (name: string) => {
    const [red, green, blue] = (await colour_of(chain, name)) as [number, number, number];
    return { red, green, blue };
  };
  for (const name of ['box 1', 'box 2']) {
    const { red, green, blue } = await looks(name);
    expect(red, name).toBeGreaterThan(green + 20);
    expect(blue, name).toBeGreaterThan(green + 10);
  }
  const { red, green, blue } = await looks('forearm');
  expect(red).toBeGreaterThan(green + 20);
  expect(green).toBeGreaterThan(blue + 40);
});

test('view commands enter at the head of the chain and come out at its end', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  await chain.getByLabel('Eye x').fill('3');
  await chain.getByLabel('Eye y').fill('-40');
  await chain.getByLabel('Towards x').fill('-6');
  await chain.getByLabel('Towards y').fill('7');
  await chain.getByLabel('Towards z').fill('1');
  await chain.getByTestId('look').click();
  await expect.poll(async () => (await view(chain)).eye).toEqual([3, -40, 18]);
  expect(rounded((await view(chain)).direction)).toEqual(rounded(from_to([3, -40, 18], [-6, 7, 1])));
  await chain.getByLabel('Field of view').fill('70');
  await chain.getByTestId('field').click();
  await expect.poll(async () => (await view(chain)).field).toBe(70);
  await chain.getByTestId('object').selectOption('7');
  await chain.getByTestId('attach').click();
  await expect.poll(async () => (await view(chain)).eye).toEqual([9, 12, 2]);
  // From there it looks to where it looked; the object takes it along.
  expect(rounded((await view(chain)).direction)).toEqual(rounded(from_to([9, 12, 2], [-6, 7, 1])));
  await send(chain, '0 4 12 7 9 13 4');
  await expect.poll(async () => (await view(chain)).eye).toEqual([9, 13, 4]);
  // Let go, the eye is back where command 1 had put it.
  await chain.getByTestId('object').selectOption('0');
  await chain.getByTestId('attach').click();
  await expect(chain.getByTestId('answer')).toHaveText('Sent: 0 65534 13 0');
  await expect.poll(async () => (await view(chain)).eye).toEqual([3, -40, 18]);
});

test('both forms of a move, obstacles and objects reach the display from the panel', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  const pose = async () => (await scenery(chain))!.arm!.pose;
  await send(chain, '0 9 10 0 0 7 0 0.5 0.25 0.125 -0.25');
  await expect.poll(pose).toEqual({ base_m: 7, turn_rad: 0.5, joints_rad: [0.25, 0.125, -0.25] });
  const eight = (await scenery(chain))!.arm!.points;
  await send(chain, '0 9 10 2 0 0 0 0');
  await expect.poll(pose).toEqual({ base_m: 2, turn_rad: 0, joints_rad: [0, 0, 0] });
  await send(chain, '0 9 10 7 0.5 0.25 0.125 -0.25');
  await expect.poll(() => base_m(chain)).toBe(7);
  expect((await scenery(chain))!.arm!.points).toEqual(eight);
  // An obstacle and an object of the display itself, and one that goes through the module of obstacles.
  await send(chain, '0 9 11 5 -3 -3 0 -1 -2 1');
  await send(chain, '0 4 11 1 4 -9 0 8 -7 2');
  await send(chain, '0 9 12 8 1 2 3');
  await expect.poll(async () => rounded((await drawn(chain, 'box 5'))?.low)).toEqual([-3, -3, 0]);
  expect(rounded((await drawn(chain, 'box 5'))?.high)).toEqual([-1, -2, 1]);
  await expect.poll(async () => rounded((await drawn(chain, 'box 1'))?.high)).toEqual([8, -7, 2]);
  await expect.poll(async () => (await scenery(chain))!.objects['8']).toEqual([1, 2, 3]);
  await expect(chain.getByTestId('object').locator('option')).toHaveText([/.*/, /1/, /7/, /8/]);
});

test('End ends the chain in order, its last scene stays, and nothing is taken any more', async ({
  chain,
}) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  await chain.getByTestId('end').click();
  await expect(chain.getByTestId('answer')).toHaveText('Sent: 0 0 65534');
  for (const module of ['2 (smooth)', '3 (arm)', '4 (obstacles)'])
    await expect(chain.getByTestId('events')).toContainText(`module ${module}, 0 s: ended: `);
  await expect(chain.locator('[data-kind=ended]')).toHaveCount(4);
  await expect(chain.locator('.modules-events .bad')).toHaveCount(0);
  await chain.getByTestId('line').fill('0 9 2 60');
  await chain.getByTestId('send').click();
  await expect(chain.getByTestId('answer')).toHaveText('the chain has ended');
  expect(await base_m(chain)).toBe(4);
  expect((await view(chain)).field).toBe(45);
});

test('reset, parameters, on and off steer the modules', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  // A step of half a metre ends a sweep at 5.5; one of a metre would end it at 5.
  await chain.getByLabel('Value').fill('0.5');
  await chain.getByTestId('set').click();
  await send(chain, '0 2 10 5.5 0 0 0 0');
  await expect.poll(() => base_m(chain)).toBe(5.5);
  await chain.getByTestId('off').click();
  await send(chain, '0 2 10 9 0 0 0 0');
  await chain.getByTestId('on').click();
  await expect(chain.getByTestId('events')).toContainText('switched off');
  await expect(chain.getByTestId('events')).toContainText('lines for it were dropped');
  expect(await base_m(chain)).toBe(5.5);
  // The fields of the reset hold the box that is; another one is asked for here.
  await expect(chain.locator('[data-kind=ended]')).toHaveCount(1);
  await expect(chain.getByLabel('Low corner x')).toHaveValue('-100');
  await chain.getByLabel('Low corner x').fill('-20');
  await chain.getByLabel('High corner z').fill('25');
  await chain.getByTestId('reset').click();
  await expect.poll(async () => (await scenery(chain))!.universe.low).toEqual([-20, -100, -100]);
  // A reset starts the source anew, though it has ended, so its point comes again; and the box stays.
  await expect.poll(() => base_m(chain)).toBe(4);
  await expect(chain.locator('[data-kind=ended]')).toHaveCount(2);
  expect((await scenery(chain))!.universe.high).toEqual([100, 100, 25]);
  await expect(chain.getByLabel('High corner z')).toHaveValue('25');
});

test('what the display does not understand is told on the page', async ({ chain }) => {
  await expect.poll(() => base_m(chain)).toBe(4);
  await send(chain, '0 9 2 500');
  await expect(chain.locator('.modules-events .bad')).toContainText(
    'a field of view lies between 0 and 180 degrees: `0 9 2 500`',
  );
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
