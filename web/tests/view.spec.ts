/** The displays: camera, layers, hover, several displays at once, less motion, and the 3-D view. */

import type { Page } from '@playwright/test';
import { expect, open, serve, test } from './harness';

/** The middle of the canvas, and a point beside it, in pixels of the window. */
async function middle(page: Page): Promise<{ x: number; y: number }> {
  const box = await page.locator('canvas.view').first().boundingBox();
  if (!box) throw new Error('there is no canvas');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const camera = (page: Page) => page.evaluate(() => window.__sim!.camera());
const selection = (page: Page) => page.evaluate(() => window.__sim!.selection());
const tick = (page: Page) => page.evaluate(() => window.__sim!.tick()!);
const at = (page: Page, id: string) => page.evaluate((i) => window.__sim!.toScreen(i)!, id);
const robots = (page: Page) =>
  page.evaluate(() => {
    const world = window.__sim!.world()!;
    return world.bodies.filter((b) => world.drawing.types[b.type]!.kind === 'robot').map((b) => b.path);
  });

async function selectRobot(page: Page): Promise<string> {
  const id = (await robots(page))[0]!;
  const place = await at(page, id);
  await page.mouse.click(place.x, place.y);
  await expect.poll(() => selection(page)).toEqual([id]);
  return id;
}

/** Waits until the camera rests. */
async function rested(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        let last = '';
        let same = 0;
        const look = (): void => {
          const now = JSON.stringify(window.__sim!.camera());
          same = now === last ? same + 1 : 0;
          last = now;
          if (same > 5) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

test('9 the wheel zooms at the pointer', async ({ sim }) => {
  const m = await middle(sim);
  for (const [dx, dy, wheel] of [
    [120, -80, -100],
    [-90, 60, 240],
    [10, 130, -500],
  ] as const) {
    const p = { x: m.x + dx, y: m.y + dy };
    const world = await sim.evaluate(({ x, y }) => window.__sim!.toWorld(x, y), p);
    const before = (await camera(sim)).scale;
    await sim.mouse.move(p.x, p.y);
    await sim.mouse.wheel(0, wheel);
    await expect.poll(async () => (await camera(sim)).scale).not.toBe(before);
    expect((await camera(sim)).scale > before).toBe(wheel < 0);
    const now = await sim.evaluate(({ x, y }) => window.__sim!.pointToScreen(x, y), world);
    expect(Math.hypot(now.x - p.x, now.y - p.y)).toBeLessThan(1);
  }
});

test('9 on a trackpad the wheel moves the picture and a pinch zooms', async ({ sim }) => {
  await sim.evaluate(() => (document.documentElement.dataset['pointing'] = 'trackpad'));
  const m = await middle(sim);
  const before = await camera(sim);
  await sim.mouse.move(m.x, m.y);
  await sim.mouse.wheel(30, -20);
  await expect.poll(async () => (await camera(sim)).x).toBeCloseTo(before.x + 30 / before.scale, 6);
  const moved = await camera(sim);
  expect(moved.scale).toBe(before.scale);
  expect(moved.y).toBeCloseTo(before.y + 20 / before.scale, 6);
  await sim.keyboard.down('Control');
  await sim.mouse.wheel(0, -40);
  await sim.keyboard.up('Control');
  await expect.poll(async () => (await camera(sim)).scale).toBeGreaterThan(before.scale);
});

for (const way of ['Space', 'the middle button'])
  test(`10 dragging with ${way} moves the picture by exactly that and selects nothing`, async ({ sim }) => {
    const id = await selectRobot(sim);
    const from = await at(sim, id);
    const before = await camera(sim);
    await sim.mouse.move(from.x, from.y);
    if (way === 'Space') await sim.keyboard.down('Space');
    await sim.mouse.down({ button: way === 'Space' ? 'left' : 'middle' });
    await sim.mouse.move(from.x + 20, from.y + 5, { steps: 3 });
    await sim.mouse.move(from.x - 73, from.y + 41, { steps: 3 });
    await sim.mouse.up({ button: way === 'Space' ? 'left' : 'middle' });
    if (way === 'Space') await sim.keyboard.up('Space');
    const after = await camera(sim);
    expect((before.x - after.x) * before.scale).toBeCloseTo(-73, 3);
    expect((after.y - before.y) * before.scale).toBeCloseTo(41, 3);
    expect(after.scale).toBe(before.scale);
    expect(await selection(sim)).toEqual([id]);
  });

test('11 keys show everything, the selection, and 100 %', async ({ sim }) => {
  const id = await selectRobot(sim);
  const canvas = (await sim.locator('canvas.view').first().boundingBox())!;
  const isSeen = (p: { x: number; y: number }): boolean =>
    p.x > canvas.x && p.y > canvas.y && p.x < canvas.x + canvas.width && p.y < canvas.y + canvas.height;
  const corners = () =>
    sim.evaluate(() =>
      window.__sim!.world()!.drawing.bounds!.map(([x, y]) => window.__sim!.pointToScreen(x, y)),
    );

  await sim.keyboard.press('Shift+2');
  await rested(sim);
  const near = await camera(sim);
  expect(isSeen(await at(sim, id))).toBe(true);
  expect((await corners()).every(isSeen)).toBe(false);
  const pose = (await sim.evaluate((i) => window.__sim!.pose(i), id))!;
  expect(Math.hypot(near.x - pose.x, near.y - pose.y)).toBeLessThan(0.05);

  await sim.keyboard.press('Shift+1');
  await rested(sim);
  expect((await corners()).every(isSeen)).toBe(true);

  await sim.keyboard.press('Control+0');
  await rested(sim);
  expect((await camera(sim)).scale).toBe(100);
});

test('12 two fingers pinch and move the picture, never the page', async ({ browser, server }) => {
  const context = await browser.newContext({ hasTouch: true, viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  await open(page, server.url);
  const m = await middle(page);
  const before = await camera(page);
  const cdp = await context.newCDPSession(page);
  const touch = (type: string, apart: number, dx = 0): Promise<unknown> =>
    cdp.send('Input.dispatchTouchEvent', {
      type: type as 'touchStart',
      touchPoints:
        type === 'touchEnd'
          ? []
          : [
              { x: m.x - apart + dx, y: m.y, id: 1 },
              { x: m.x + apart + dx, y: m.y, id: 2 },
            ],
    });
  await touch('touchStart', 40);
  for (const apart of [50, 60, 70, 80]) await touch('touchMove', apart);
  await expect.poll(async () => (await camera(page)).scale / before.scale).toBeCloseTo(2, 1);
  const pinched = await camera(page);
  for (const dx of [10, 20, 30]) await touch('touchMove', 80, dx);
  await expect.poll(async () => (pinched.x - (await camera(page)).x) * pinched.scale).toBeCloseTo(30, 1);
  await touch('touchEnd', 0);
  expect(await page.evaluate(() => window.visualViewport!.scale)).toBe(1);
  await context.close();
});

test('13 a followed robot stays in the middle until the picture is moved', async ({ sim }) => {
  const id = await selectRobot(sim);
  await sim.keyboard.press('F');
  await expect.poll(() => sim.evaluate(() => window.__sim!.follow())).toBe(id);
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  const start = await tick(sim);
  const farthest = await sim.evaluate(
    ({ id, until }) =>
      new Promise<number>((done) => {
        const canvas = document.querySelector('canvas.view')!.getBoundingClientRect();
        let worst = 0;
        const look = (): void => {
          const p = window.__sim!.toScreen(id)!;
          const dx = p.x - canvas.left - canvas.width / 2;
          const dy = p.y - canvas.top - canvas.height / 2;
          worst = Math.max(worst, Math.hypot(dx, dy));
          if (window.__sim!.tick()! >= until) done(worst);
          else requestAnimationFrame(look);
        };
        look();
      }),
    { id, until: start + 100 },
  );
  expect(farthest).toBeLessThan(2);
  const m = await middle(sim);
  await sim.mouse.move(m.x, m.y);
  await sim.mouse.down({ button: 'middle' });
  await sim.mouse.move(m.x + 60, m.y, { steps: 3 });
  await sim.mouse.up({ button: 'middle' });
  expect(await sim.evaluate(() => window.__sim!.follow())).toBeNull();
});

test('14 a metre is never less than 2 nor more than 5000 pixels', async ({ sim }) => {
  const m = await middle(sim);
  await sim.mouse.move(m.x, m.y);
  for (const [direction, limit] of [
    [1000, 2],
    [-1000, 5000],
  ] as const) {
    for (let k = 0; k < 10; k++) await sim.mouse.wheel(0, direction);
    await expect.poll(async () => (await camera(sim)).scale).toBe(limit);
  }
});

test('14 a way back is offered when nothing is in sight', async ({ sim }) => {
  const back = sim.getByTestId('back-to-content').or(sim.locator('[data-test="back-to-content"]'));
  await expect(back).toBeHidden();
  const m = await middle(sim);
  for (let k = 0; k < 4; k++) {
    await sim.mouse.move(m.x + 250, m.y);
    await sim.mouse.down({ button: 'middle' });
    await sim.mouse.move(m.x - 300, m.y, { steps: 2 });
    await sim.mouse.up({ button: 'middle' });
  }
  await expect(back).toBeVisible();
  await back.click();
  await expect(back).toBeHidden();
});

test('49 every layer has a switch, and the address keeps it', async ({ sim }) => {
  await sim.getByRole('button', { name: 'Layers' }).click();
  const before = await sim.evaluate(() => window.__sim!.layers());
  const names = (Object.keys(before) as (keyof typeof before)[]).filter((n) => n !== 'trails');
  for (const name of names) await sim.locator(`[data-layer="${name}"]`).click();
  await sim.locator('[data-layer="trails-outline"]').click();
  const after = await sim.evaluate(() => window.__sim!.layers());
  for (const name of names) expect(after[name]).toBe(!before[name]);
  expect(after.trails).toBe('outline');
  await expect.poll(() => new URL(sim.url()).hash).toMatch(/layers=[^&]*outline/);
  await sim.reload();
  await sim.waitForFunction(() => window.__sim?.tick() != null);
  expect(await sim.evaluate(() => window.__sim!.layers())).toEqual(after);
});

test('49 the camera is in the address, and another page shows the same', async ({ sim, context }) => {
  const m = await middle(sim);
  await sim.mouse.move(m.x + 40, m.y + 40);
  const before = await camera(sim);
  await sim.mouse.wheel(0, -200);
  await expect.poll(async () => (await camera(sim)).scale).not.toBe(before.scale);
  await expect.poll(() => new URL(sim.url()).hash).toContain('cam=');
  const mine = await camera(sim);
  const other = await context.newPage();
  await open(other, sim.url());
  const theirs = await camera(other);
  expect(theirs.x).toBeCloseTo(mine.x, 3);
  expect(theirs.scale).toBeCloseTo(mine.scale, 2);
  await other.close();
});

test('49 switching sensors off hides their marks; trails and arcs gather, and are cleared', async ({
  sim,
}) => {
  await sim.waitForFunction(() => window.__sim!.marks().length > 0);
  await sim.getByRole('button', { name: 'Layers' }).click();
  await sim.locator('[data-layer="arcs"]').click();
  await sim.keyboard.press('Escape');
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  await sim.waitForFunction(() => window.__sim!.traces().places > 20 && window.__sim!.traces().arcs > 20);
  await sim.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(sim.locator('body')).toHaveAttribute('data-run-state', 'paused');
  await sim.getByRole('button', { name: 'Layers' }).click();
  await sim.locator('[data-layer="sensors"]').click();
  expect(await sim.evaluate(() => window.__sim!.marks().filter((m) => m.shape === 'arc').length)).toBe(0);
  await sim.getByRole('button', { name: 'Clear trails and arcs' }).click();
  expect(await sim.evaluate(() => window.__sim!.traces().places)).toBe(0);
});

test('49 a reset empties the trails', async ({ sim }) => {
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  await sim.waitForFunction(() => window.__sim!.traces().places > 10);
  await sim.getByRole('button', { name: 'Pause', exact: true }).click();
  await sim.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect.poll(() => tick(sim)).toBe(0);
  await expect.poll(() => sim.evaluate(() => window.__sim!.traces().places)).toBeLessThanOrEqual(1);
});

test('50 pointing at a sonar’s arc shows its value, unit and register', async ({ sim }) => {
  // Nothing is measured before the first step.
  await sim.getByRole('button', { name: 'Step', exact: true }).click();
  await expect.poll(() => tick(sim)).toBe(1);
  const found = await sim.waitForFunction(() => {
    const sim = window.__sim!;
    // One that is clear of the robot itself.
    return sim.marks().find((m) => m.shape === 'arc' && sim.objectAt(m.x, m.y) === null);
  });
  const mark = (await found.jsonValue())!;
  await sim.mouse.move(mark.x, mark.y);
  const box = sim.locator('[data-test="hover"]');
  await expect(box).toBeVisible();
  await expect(box).toContainText(`${mark.part}.${mark.channel}[${mark.index}]`);
  await expect(sim.locator('[data-test="hover-value"]')).toHaveText(/^\d[\d.e-]* m$/);
  await expect(sim.locator('[data-test="hover-register"]')).toHaveText(/0x[0-9a-f]{2}/);
});

test('50 pointing at a robot shows its name, type and pose', async ({ sim }) => {
  const id = (await robots(sim))[0]!;
  const place = await at(sim, id);
  await sim.mouse.move(place.x, place.y);
  const box = sim.locator('[data-test="hover"]');
  await expect(box).toContainText(id.split('/').pop()!);
  const pose = (await sim.evaluate((i) => window.__sim!.pose(i), id))!;
  await expect(box).toContainText(`${pose.x.toFixed(3)}, ${pose.y.toFixed(3)} m`);
});

test('53 three displays show the same step, and closing one changes nothing', async ({
  sim,
  browser,
  server,
}) => {
  const others = [];
  for (let k = 0; k < 2; k++) {
    const page = await (await browser.newContext()).newPage();
    await open(page, server.url);
    others.push(page);
  }
  const pages = [sim, ...others];
  const steps = () => Promise.all(pages.map(tick));
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  await Promise.all(pages.map((p) => p.waitForFunction(() => window.__sim!.tick()! > 10)));
  const quantum = 0.05;
  // Every look lasts a while itself, and pages share two processors with a server, so the best of many counts.
  const apart = async (): Promise<number> => {
    const now = await steps();
    return (Math.max(...now) - Math.min(...now)) * quantum;
  };
  await expect.poll(apart, { intervals: [0] }).toBeLessThanOrEqual(0.2);
  await others[1]!.context().close();
  pages.pop();
  const then = await tick(sim);
  await Promise.all(pages.map((p) => p.waitForFunction((t) => window.__sim!.tick()! > t + 10, then)));
  await sim.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(sim.locator('body')).toHaveAttribute('data-run-state', 'paused');
  await expect.poll(async () => new Set(await steps()).size).toBe(1);
  expect(new Set(await Promise.all(pages.map((p) => p.evaluate(() => window.__sim!.hash())))).size).toBe(1);
  await others[0]!.context().close();
});

test('67 for those who want less motion the camera jumps', async ({ browser, server }) => {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  await open(page, server.url);
  // Two cameras only: before and after, nothing in between.
  const seen = await page.evaluate(async () => {
    const scales = new Set<number>();
    const look = (): void => void scales.add(window.__sim!.camera().scale);
    look();
    document.querySelector<HTMLElement>('[aria-label="Zoom in"]')!.click();
    for (let k = 0; k < 20; k++) {
      look();
      await new Promise(requestAnimationFrame);
    }
    return scales.size;
  });
  expect(seen).toBe(2);
  await context.close();
});

test('67 a dark page has a dark floor', async ({ sim }) => {
  const brightness = () =>
    sim.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.view')!;
      const [r, g, b] = canvas.getContext('2d')!.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
      return r! + g! + b!;
    });
  await sim.emulateMedia({ colorScheme: 'light' });
  await expect.poll(brightness).toBeGreaterThan(400);
  await sim.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(brightness).toBeLessThan(300);
});

test('3-D: the world is drawn, a click selects, and the way back leaves nothing behind', async ({ sim }) => {
  const id = (await robots(sim))[0]!;
  await sim.keyboard.press('Shift+3');
  await expect(sim.locator('.stage')).toHaveAttribute('data-space-draws', /\d/, { timeout: 60_000 });
  const place = await at(sim, id);
  await sim.mouse.click(place.x, place.y);
  await expect.poll(() => selection(sim)).toEqual([id]);
  await sim.keyboard.press('Shift+4');
  await expect(sim.getByRole('button', { name: 'Look through the selected' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await sim.keyboard.press('Shift+3');
  await expect(sim.locator('canvas.space')).toHaveCount(0);
  await expect(sim.locator('.stage')).toHaveAttribute('data-view', '2d');
});

test('3-D: a lost graphics card leads back to the top view with a word about it', async ({ sim }) => {
  await sim.keyboard.press('Shift+3');
  await expect(sim.locator('.stage')).toHaveAttribute('data-space-draws', /\d/, { timeout: 60_000 });
  await sim.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('canvas.space')!;
    canvas.getContext('webgl2')!.getExtension('WEBGL_lose_context')!.loseContext();
  });
  await expect(sim.locator('.stage')).toHaveAttribute('data-view', '2d');
  await expect(sim.locator('.toast', { hasText: 'graphics card' })).toBeVisible();
});

test('69 a display that draws slowly loses frames, never steps', async ({ browser }) => {
  const server = await serve('worlds/forty-wander.toml');
  const page = await (await browser.newContext()).newPage();
  await open(page, server.url);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForFunction(() => window.__sim!.tick()! > 2);
  const busy = async (): Promise<{ steps: number; draws: number }> =>
    page.evaluate(async () => {
      const [tick, draws] = [window.__sim!.tick()!, window.__sim!.draws()];
      // A page that is busy nine tenths of the time.
      for (let k = 0; k < 10; k++) {
        const end = performance.now() + 180;
        while (performance.now() < end);
        await new Promise((done) => setTimeout(done, 20));
      }
      return { steps: window.__sim!.tick()! - tick, draws: window.__sim!.draws() - draws };
    });
  // Two seconds of a run in real time are twenty steps of 100 ms; the server may have to wait for a processor too, so the
  // best of some counts.
  let steps = 0;
  for (let k = 0; k < 5 && steps <= 10; k++) {
    const result = await busy();
    expect(result.draws).toBeLessThan(40);
    steps = result.steps;
  }
  expect(steps).toBeGreaterThan(10);
  await page.context().close();
  await server.stop();
});
