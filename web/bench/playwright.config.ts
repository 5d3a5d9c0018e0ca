import base from '../playwright.config';

/** Figures instead of tests: `npm run bench`. */
export default {
  ...base,
  testDir: '.',
  testMatch: 'frames.ts',
  outputDir: '../test-results',
  timeout: 300_000,
};
