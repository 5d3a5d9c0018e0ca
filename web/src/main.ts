/** Builds the page and connects it. */

import './styles/base.css';
import { App } from './app';
import { handleKey } from './commands';
import { layout } from './layout';
import { applySettings } from './settings';

if (location.hash.startsWith('#/modules')) {
  // A server of a chain of modules has no run: its page is another one.
  void import('./modules/page').then(({ showModules }) => showModules());
} else {
  const app = new App();
  applySettings(app.store.settings);
  document.body.append(layout(app), app.toasts, app.live);
  addEventListener('keydown', (event) => handleKey(event));
  app.link.connect();
}
