/**
 * Starts a server of this tree for a test, in a copy of the project, and opens its page.
 *
 * The command is `target/debug/swarmyard`, or what SWARMYARD_BIN names; the page is `web/dist` as built.
 */

import { test as base, expect, type Page } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export { expect };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COMMAND = process.env['SWARMYARD_BIN'] ?? join(ROOT, 'target', 'debug', 'swarmyard');
const PAGE = join(ROOT, 'web', 'dist');

/** A running server and the project it serves. */
export interface Server {
  url: string;
  /** The project's folder: a copy that the test may change. */
  folder: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts `swarmyard serve WORLD` in a fresh copy of the worlds. */
export async function serve(world: string, ...options: string[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'swarmyard-page-'));
  for (const name of ['worlds', 'examples', 'sdk', 'swarmyard.project'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const server = await serveIn(folder, world, ...options);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a server in a folder that is there already. */
export async function serveIn(folder: string, world: string, ...options: string[]): Promise<Server> {
  return start(folder, 'serve', world, ...options);
}

/** Starts a relay of a server. */
export async function relay(server: Server, ...options: string[]): Promise<Server> {
  return start(server.folder, 'relay', server.url, ...options);
}

/** Starts a command that serves the page, and waits until it listens. */
async function start(folder: string, command: string, what: string, ...options: string[]): Promise<Server> {
  const port = options.includes('--port') ? [] : ['--port', '0'];
  const child = spawn(COMMAND, [command, what, ...port, '--web', PAGE, ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /listening on (http:\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  return { url, folder, process: child, stop };
}

/** Opens the page and waits until it shows the world. Fails the test on any console error or off-origin request. */
export async function open(page: Page, url: string): Promise<void> {
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(url);
  await expect(page.locator('body')).toHaveAttribute('data-link', 'open');
  await page.waitForFunction(() => window.__sim?.world() !== null && window.__sim?.tick() !== null);
  await settled(page);
}

/** Waits until the picture stands still: the page has found its layout, and the camera its place. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const next = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(done));
    const place = (): string =>
      JSON.stringify([window.__sim?.pointToScreen(0, 0), window.__sim?.pointToScreen(1, 1)]);
    for (let before = '', same = 0; same < 10; await next()) {
      const now = place();
      same = now === before ? same + 1 : 0;
      before = now;
    }
  });
}

/** A test with a server on a small world of one robot, and its page opened. */
export const test = base.extend<{ world: string; options: string[]; server: Server; sim: Page }>({
  world: ['worlds/fig-7-2.toml', { option: true }],
  options: [[], { option: true }],
  server: async ({ world, options }, use) => {
    const server = await serve(world, ...options);
    await use(server);
    await server.stop();
  },
  sim: async ({ page, server }, use) => {
    await open(page, server.url);
    await use(page);
    // A server says goodbye to its displays before it ends; without any it ends at once.
    await page.close();
  },
});
