import base from '../playwright.config';

/** The pictures of docs/browser.md: `npm run pictures`. */
export default {
  ...base,
  testDir: '.',
  testMatch: 'pictures.ts',
  outputDir: '../test-results',
  workers: 1,
  timeout: 180_000,
};
