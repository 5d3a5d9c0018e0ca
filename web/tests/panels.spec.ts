/** Run controls, timeline, inspector and plots: what happens when somebody uses them. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hash, openAny, openPair, openWorld, state, stepTo, tick, type } from './panels-desk';
import { expect, open, serveIn, test, type Server } from './harness';

test.use({ testIdAttribute: 'data-test' });

test('1 a fresh page shows the world within two seconds, without errors and without foreign requests', async ({
  page,
  server,
}) => {
  const wrong: string[] = [];
  page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
  page.on('pageerror', (e) => wrong.push(e.message));
  page.on(
    'request',
    (r) => !r.url().startsWith(server.url) && !/^(data|blob|ws):/.test(r.url()) && wrong.push(r.url()),
  );
  const shown = async (): Promise<number> => {
    await page.goto(server.url, { waitUntil: 'load' });
    const after = await page.waitForFunction(() => {
      if (window.__sim?.tick() !== 0) return null;
      const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      return performance.now() - (load?.loadEventEnd ?? 0);
    });
    return (await after.jsonValue()) ?? Infinity;
  };
  // The best of some: the machine may be busy with other things.
  await expect.poll(shown).toBeLessThan(2000);
  await expect(page.getByTestId('welcome')).toBeVisible();
  expect(wrong).toEqual([]);
});

test('8 a lost connection is said within two seconds, and the page resumes when the server returns', async ({
  page,
  server,
}) => {
  await open(page, server.url);
  const before = await page.evaluate(() => window.__sim?.world()?.bodies.length);
  await page.evaluate(() => ((window as unknown as { mine: number }).mine = 7));
  /** Kills a server; answers the milliseconds until the page says so. */
  const lost = async (killed: Server): Promise<number> => {
    const gone = new Promise((resolve) => killed.process.on('exit', resolve));
    killed.process.kill('SIGKILL');
    await gone;
    const since = Date.now();
    await expect(page.getByTestId('lost')).toContainText('Connection lost, retrying');
    return Date.now() - since;
  };
  const returned = async (): Promise<Server> => {
    const port = new URL(server.url).port;
    const again = await serveIn(server.folder, 'worlds/fig-7-2.toml', '--port', port);
    await expect(page.getByTestId('lost')).toBeHidden();
    await expect(page.locator('body')).toHaveAttribute('data-link', 'open');
    return again;
  };
  let took = await lost(server);
  let again = await returned();
  try {
    // The best of some: the machine may be busy with other things.
    for (let k = 0; k < 4 && took >= 2000; k++) {
      took = await lost(again);
      again = await returned();
    }
    expect(took).toBeLessThan(2000);
    await page.keyboard.press('.');
    await expect.poll(() => tick(page)).toBe(1);
    expect(await page.evaluate(() => (window as unknown as { mine: number }).mine)).toBe(7);
    expect(await page.evaluate(() => window.__sim?.world()?.bodies.length)).toBe(before);
  } finally {
    await again.stop();
  }
});

test('42 start, pause, step and reset do what they say', async ({ sim }) => {
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  await state(sim, 'running');
  await expect.poll(() => tick(sim)).toBeGreaterThan(3);
  await sim.getByRole('button', { name: 'Pause', exact: true }).click();
  await state(sim, 'paused');
  const at = Number(await sim.getByTestId('tick').textContent());
  await sim.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(sim.getByTestId('tick')).toHaveText(String(at + 1));
  await sim.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect(sim.getByTestId('tick')).toHaveText('0');
});

test('43 reset gives the first hash again, and the same run gives the same hash', async ({ sim }) => {
  const first = await hash(sim);
  await stepTo(sim, 40);
  const then = await hash(sim);
  expect(then).not.toBe(first);
  await sim.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect.poll(() => tick(sim)).toBe(0);
  expect(await hash(sim)).toBe(first);
  await stepTo(sim, 40);
  expect(await hash(sim)).toBe(then);
});

test('44 the speed slider sets the factor, and what is measured agrees within a tenth', async ({ sim }) => {
  const slider = sim.getByRole('slider', { name: 'Speed' });
  await slider.press('End');
  await expect(sim.getByTestId('factor')).toHaveText('max');
  await slider.press('Home');
  await expect(sim.getByTestId('factor')).toHaveText('0.1×');
  for (let k = 0; k < 26; k++) await slider.press('ArrowRight');
  await expect(sim.getByTestId('factor')).toHaveText('2×');
  await slider.blur();
  await sim.keyboard.press('Space');
  await state(sim, 'running');
  const measured = async (): Promise<number> => Number(await sim.getByTestId('rtf').getAttribute('data-rtf'));
  const isTwice = (factor: number): boolean => Math.abs(factor - 2) < 0.2;
  await expect.poll(async () => isTwice(await measured())).toBe(true);
  // The same by this test's own clock; a machine with other things to do gets more than one look.
  const timed = async (): Promise<boolean> => {
    const [from, begun] = [await tick(sim), Date.now()];
    await expect.poll(() => tick(sim)).toBeGreaterThan(from + 80);
    return isTwice((((await tick(sim)) - from) * 0.05) / ((Date.now() - begun) / 1000));
  };
  await expect.poll(timed, { timeout: 90_000 }).toBe(true);
});

test('45 a robot that is waited for is named, and can be skipped', async ({ sim, server }) => {
  await openPair(sim, server, '        import time\n        while TICK == 3: time.sleep(1)\n');
  await sim.getByRole('button', { name: 'Start', exact: true }).click();
  const banner = sim.getByTestId('waiting');
  await expect(banner).toContainText(/Waiting for bad \(\d+ s\)/);
  await state(sim, 'waiting');
  for (const name of ['Skip', 'Restart', 'Stop'])
    await expect(banner.getByRole('button', { name })).toBeEnabled();
  const at = await tick(sim);
  await banner.getByRole('button', { name: 'Skip' }).click();
  await expect.poll(() => tick(sim)).toBeGreaterThan(at);
});

test('46 when one program crashes its robot is marked, the log has what it said, and the others go on', async ({
  sim,
  server,
}) => {
  const bad =
    '        if TICK == 5:\n            print("last words", file=sys.stderr, flush=True)\n            sys.exit(3)\n';
  await openPair(sim, server, bad, 'on_crash = "halt"');
  await type(sim, 'step 20');
  await expect.poll(() => tick(sim)).toBe(20);
  const lines = sim.getByTestId('console-lines');
  await expect(lines).toContainText('last words');
  await expect(lines.locator('.row.error').first()).toContainText('bad');
  await expect(sim.locator('.timeline .mark-fault')).toHaveCount(1);
  await type(sim, 'select bad');
  await expect(sim.getByTestId('inspector').locator('.badge')).toBeVisible();
});

test('48 a tap of Space starts and pauses, digits set the speed, full stop and comma step', async ({
  sim,
}) => {
  await sim.keyboard.press('Space');
  await state(sim, 'running');
  await sim.keyboard.press('Space');
  await state(sim, 'paused');
  const at = Number(await sim.getByTestId('tick').textContent());
  await sim.keyboard.press('.');
  await expect(sim.getByTestId('tick')).toHaveText(String(at + 1));
  await sim.keyboard.press(',');
  await expect(sim.getByTestId('tick')).toHaveText(String(at));
  await sim.keyboard.type('05');
  await expect(sim.getByTestId('factor')).toHaveText('0.5×');
  await sim.keyboard.press('2');
  await expect(sim.getByTestId('factor')).toHaveText('2×');
});

test('51 the inspector shows pose, channels and registers of the selected robot, and they change', async ({
  sim,
}) => {
  await type(sim, 'select essex');
  const inspector = sim.getByTestId('inspector');
  await expect(inspector.getByTestId('pose').locator('output').first()).toHaveText('2.7000');
  await expect(inspector.locator('[data-channel]').first()).toBeVisible();
  await expect(inspector.locator('[data-register] code').first()).toHaveText(/^0x[0-9A-F]{4}$/);
  const x = inspector.getByTestId('pose').locator('output').first();
  const element = await x.elementHandle();
  await type(sim, 'step 20');
  await expect(x).not.toHaveText('2.7000');
  expect(await element?.evaluate((e) => e.isConnected), 'the same element, written anew').toBe(true);
});

test('52 a value comes to a plot by its button, by drag and from the picker, and leaves as CSV', async ({
  sim,
}) => {
  await type(sim, 'select essex');
  const inspector = sim.getByTestId('inspector');
  const channel = inspector.locator('[data-channel]').first();
  await channel.getByRole('button').click();
  const plots = sim.getByTestId('plots');
  await expect(plots.locator('.plot')).toHaveCount(1);
  await expect(plots.locator('canvas')).toBeVisible();
  const lines = await plots.locator('.line-name').count();
  await inspector.getByTestId('pose').locator('output').first().dragTo(plots.locator('.plot').first());
  await expect(plots.locator('.line-name')).toHaveCount(lines + 1);
  await sim.getByRole('button', { name: 'New plot' }).click();
  await sim.getByLabel('Channel', { exact: true }).selectOption('heading');
  await sim.getByRole('button', { name: 'Add line' }).click();
  await expect(plots.locator('.plot').nth(1).locator('.line-name')).toHaveCount(1);
  await sim.keyboard.press('Escape');
  for (let k = 0; k < 5; k++) await sim.getByRole('button', { name: 'Step', exact: true }).click();
  await expect.poll(async () => Number(await plots.getAttribute('data-rows'))).toBeGreaterThanOrEqual(5);
  const saved = sim.waitForEvent('download');
  await plots.locator('.plot').first().getByRole('button', { name: 'Export as CSV' }).click();
  const text = readFileSync((await (await saved).path())!, 'utf8');
  expect(text).toMatch(/^time_s,essex /);
  expect(text.trim().split('\n').length).toBeGreaterThanOrEqual(6);
});

test('54 looking back pauses and stays paused; live goes on', async ({ sim }) => {
  await sim.keyboard.press('Space');
  await expect.poll(() => tick(sim)).toBeGreaterThan(30);
  const line = sim.getByRole('slider', { name: 'Timeline' });
  const box = (await line.boundingBox())!;
  await sim.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
  await sim.mouse.down();
  await sim.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 8 });
  await sim.mouse.up();
  await state(sim, 'paused');
  const newest = Number(await line.getAttribute('aria-valuemax'));
  await expect.poll(() => tick(sim)).toBeLessThan(newest);
  await sim.getByRole('button', { name: 'Live' }).click();
  await state(sim, 'running');
  await expect.poll(() => tick(sim)).toBeGreaterThan(newest);
});

test('55 arrows, Home and End move along the timeline, and events are marks to click', async ({ sim }) => {
  await stepTo(sim, 100);
  const line = sim.getByRole('slider', { name: 'Timeline' });
  await line.focus();
  const shows = (wanted: number): Promise<void> => expect.poll(() => tick(sim)).toBe(wanted);
  await line.press('ArrowLeft');
  await shows(80);
  await line.press('Control+ArrowLeft');
  await shows(79);
  await line.press('Home');
  await shows(0);
  await line.press('ArrowRight');
  await shows(20);
  await line.press('End');
  await shows(100);
  await expect(sim.getByTestId('shown-time')).toHaveText('100 · 5.00 s');
  await line.press('Home');
  await shows(0);
  await sim.getByRole('button', { name: 'Live' }).click();
  await shows(100);
  await type(sim, 'set essex.at [2.6, 2.0, "200deg"]');
  const mark = sim.locator('.timeline .mark-edit');
  await expect(mark).toHaveCount(1);
  await stepTo(sim, 140);
  await mark.click();
  await shows(Number(await mark.getAttribute('data-stop')));
});

test('56 a recording says replay, starts no programs and cannot be edited', async ({ sim, server }) => {
  const made = spawnSync(
    server.process.spawnfile,
    ['run', 'worlds/python.toml', '--until', 'tick:60', '--record', 'pair.mcap', '-q'],
    { cwd: server.folder },
  );
  // So early, the world's assertions are not met yet: 4.
  expect(made.status, String(made.stderr)).toBe(4);
  await openAny(sim, 'pair.mcap');
  await expect(sim.getByTestId('replay')).toBeVisible();
  await expect(sim).toHaveTitle(/replay/);
  await sim.getByRole('tab', { name: 'Code' }).click();
  await expect(sim.getByTestId('code')).toContainText('a recording cannot be edited');
  await type(sim, 'set a.at [0, 0]');
  await expect(sim.getByTestId('console-lines').locator('.row.error').last()).toBeVisible();
  const running = spawnSync('pgrep', ['-f', `${server.folder}.*wander.py`]);
  expect(String(running.stdout)).toBe('');
  await sim.getByRole('slider', { name: 'Timeline' }).press('End');
  await expect.poll(() => tick(sim)).toBe(60);
});

test('57 a branch goes on from the moment that is shown', async ({ sim }) => {
  await stepTo(sim, 60);
  const line = sim.getByRole('slider', { name: 'Timeline' });
  await line.press('ArrowLeft');
  await expect.poll(() => tick(sim)).toBe(40);
  await sim.getByRole('button', { name: 'Branch' }).click();
  await expect(line).toHaveAttribute('aria-valuemax', '40');
  await sim.keyboard.press('.');
  await expect.poll(() => tick(sim)).toBe(41);
});

test('a world is opened from the gallery', async ({ sim }) => {
  await sim.getByTestId('welcome').getByRole('button', { name: 'Browse worlds' }).click();
  const gallery = sim.getByTestId('gallery');
  await expect(gallery.locator('.world')).not.toHaveCount(0);
  await gallery.getByRole('searchbox').fill('one-robot');
  await gallery.locator('[data-world="worlds/one-robot.toml"]').click();
  await expect.poll(() => sim.evaluate(() => window.__sim?.world()?.file)).toBe('worlds/one-robot.toml');
  await expect(gallery).toBeHidden();
});

test('control is asked for, given and taken', async ({ sim, server, browser }) => {
  const other = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await open(other, server.url);
  await expect(other.locator('[data-test="control"]')).toContainText('controls');
  await other.keyboard.press('.');
  await expect(other.locator('[data-test="toast"]').first()).toContainText('another console holds control');
  await other.locator('[data-test="control"]').click();
  await other.getByRole('button', { name: 'Ask for control' }).click();
  await sim.getByTestId('toast').getByRole('button', { name: 'Give' }).click();
  await expect(other.locator('[data-test="control"]')).toContainText('You control');
  await expect(sim.getByTestId('control')).not.toContainText('You control');
  await other.close();
});

test('a program is changed in the code pane, reloaded, and its mistakes are marked at their lines', async ({
  sim,
}) => {
  await stepTo(sim, 5);
  await sim.getByRole('tab', { name: 'Code' }).click();
  await sim.locator('[data-source$="follow_track.c"]').click();
  await expect(sim.getByTestId('source-name')).toContainText('follow_track.c');
  const editor = sim.getByTestId('code').getByRole('textbox');
  await expect(editor).toContainText('follow');
  await editor.press('Control+Home');
  await sim.keyboard.type('#error broken\n');
  await sim.keyboard.press('Control+s');
  await expect(sim.getByTestId('problem-count')).toBeVisible();
  await expect(sim.locator('.cm-lint-marker-error').first()).toBeVisible();
  await editor.press('Control+Home');
  await editor.press('Shift+ArrowDown');
  await editor.press('Delete');
  await sim.keyboard.type('// a remark\n');
  await sim.keyboard.press('Control+s');
  await expect(sim.getByTestId('problem-count')).toBeHidden();
  await expect(sim.getByTestId('code')).toHaveAttribute('data-dirty', 'false');
  expect(await tick(sim)).toBe(5);
});

test('the scenario’s text is changed in the code pane', async ({ sim }) => {
  await openWorld(sim, 'worlds/one-robot.toml');
  await sim.getByRole('tab', { name: 'Code' }).click();
  const editor = sim.getByTestId('code').getByRole('textbox');
  await expect(editor).toContainText('format');
  await editor.press('Control+Home');
  await sim.keyboard.type('# a remark of mine\n');
  await expect(sim.getByTestId('code')).toHaveAttribute('data-dirty', 'true');
  await sim.keyboard.press('Control+s');
  await expect
    .poll(() => sim.evaluate(() => window.__sim?.world()?.text.startsWith('# a remark of mine')))
    .toBe(true);
  await expect(sim.getByTestId('dirty')).toBeVisible();
  await expect(sim.getByTestId('code')).toHaveAttribute('data-dirty', 'false');
});
