import { defineConfig } from '@playwright/test';

/** Real pages in Debian's Chromium, against real servers that the tests start themselves. */
export default defineConfig({
  testDir: 'tests',
  testMatch: '*.spec.ts',
  outputDir: 'test-results',
  workers: 2,
  fullyParallel: true,
  timeout: 180_000,
  // A loaded machine may starve a browser; what passes only the second time is reported as flaky. Waits are long for the
  // same reason: what comes is not waited for any longer than it takes.
  retries: 1,
  expect: { timeout: 60_000 },
  reporter: [['line']],
  use: {
    testIdAttribute: 'data-test',
    actionTimeout: 60_000,
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--disable-dev-shm-usage',
        '--use-gl=angle',
        '--use-angle=swiftshader',
        '--enable-unsafe-swiftshader',
        '--disable-accelerated-2d-canvas',
        '--disable-gpu-rasterization',
        '--disable-gpu-compositing',
      ],
    },
  },
});
