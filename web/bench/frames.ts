/**
 * Prints how often the page draws with many robots: `npm run bench` or `node bench/frames.ts 1000`.
 *
 * The world is a crowd of small robots with fans of twelve rays each that spread out on a plane, run in
 * real time, drawn by the processor alone. A printed figure, not a test: it depends on the machine.
 */

import { chromium } from '@playwright/test';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROBOTS = Number(process.argv[2] ?? 1000);
const SECONDS = 10;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COMMAND = process.env['SWARMYARD_BIN'] ?? join(ROOT, 'target', 'release', 'swarmyard');

const half = Math.ceil(Math.sqrt(ROBOTS)) / 2 + 1;
const WORLD = `format = 1
title = "${ROBOTS} robots with fans"

[run]
quantum = "50ms"
duration = "1000s"

[world]
min = [${-half}, ${-half}]
max = [${half}, ${half}]

[type.bot]
size = [0.1, 0.1]

[[type.bot.part]]
name = "drive"
class = "diff-drive"

[[type.bot.part]]
name = "rays"
class = "range-rays"
rays = 12
range = 2

[type.bot.controller]
class = "wander"
clearance = 0.3

[[robot]]
name = "r"
type = "bot"
count = ${ROBOTS}
layout = { class = "grid", spacing = 1 }
`;

const folder = mkdtempSync(join(tmpdir(), 'swarmyard-frames-'));
writeFileSync(join(folder, 'crowd.toml'), WORLD);
writeFileSync(join(folder, 'swarmyard.project'), '');
const options = ['serve', 'crowd.toml', '--port', '0', '--web', join(ROOT, 'web', 'dist')];
const server = spawn(COMMAND, options, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise<string>((resolve, reject) => {
  server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  createInterface({ input: server.stdout }).on('line', (line) => {
    const found = /listening on (http:\S+)/.exec(line)?.[1];
    if (found) resolve(found);
  });
});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  await page.waitForFunction(() => window.__sim?.tick() != null);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForFunction(() => window.__sim!.tick()! > 20 && window.__sim!.marks().length > 0);
  const found = await page.evaluate(async (seconds) => {
    const sim = window.__sim!;
    const [draws, tick, start] = [sim.draws(), sim.tick()!, performance.now()];
    let longest = 0;
    let last = start;
    while (performance.now() - start < seconds * 1000) {
      await new Promise(requestAnimationFrame);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    const took = (last - start) / 1000;
    return {
      draws: (sim.draws() - draws) / took,
      steps: (sim.tick()! - tick) / took,
      longest,
      marks: sim.marks().length,
    };
  }, SECONDS);
  console.log(
    `${ROBOTS} robots, ${found.marks} marks: ${found.draws.toFixed(1)} pictures per second, ` +
      `${found.steps.toFixed(1)} steps per second, the longest pause ${found.longest.toFixed(0)} ms`,
  );
} finally {
  await browser.close();
  server.removeAllListeners('exit');
  server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
