/**
 * Prints how often the page draws with many robots: `npm run bench`, or `ROBOTS=200 npm run bench`.
 *
 * The world is a crowd of small robots with a fan of twelve rays each that wander on a plane, run in real
 * time and drawn by the processor alone. Printed figures, not a test: they depend on the machine. The
 * command should be a release build (SWARMYARD_BIN).
 */

import { test } from '@playwright/test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, serveIn } from '../tests/harness';

const ROBOTS = Number(process.env['ROBOTS'] ?? 1000);
const SECONDS = 10;

const half = Math.ceil(Math.sqrt(ROBOTS)) / 2 + 1;
const WORLD = `format = 1
title = "${ROBOTS} robots with fans"

[run]
quantum = "25ms"
duration = "1h"

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

test(`pictures per second with ${ROBOTS} robots`, async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'swarmyard-frames-'));
  writeFileSync(join(folder, 'crowd.toml'), WORLD);
  writeFileSync(join(folder, 'swarmyard.project'), '');
  const server = await serveIn(folder, 'crowd.toml');
  await open(page, server.url);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForFunction(() => window.__sim!.tick()! > 20 && window.__sim!.marks().length > 0);
  const found = await page.evaluate(async (seconds) => {
    const sim = window.__sim!;
    const [draws, tick, start] = [sim.draws(), sim.tick()!, performance.now()];
    let longest = 0;
    let last = start;
    while (last - start < seconds * 1000) {
      await new Promise(requestAnimationFrame);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    const took = (last - start) / 1000;
    const marks = sim.marks().length;
    return { draws: (sim.draws() - draws) / took, steps: (sim.tick()! - tick) / took, longest, marks };
  }, SECONDS);
  console.log(
    `${ROBOTS} robots, ${found.marks} marks: ${found.draws.toFixed(1)} pictures per second, ` +
      `${found.steps.toFixed(1)} steps per second, the longest pause ${found.longest.toFixed(0)} ms`,
  );
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
