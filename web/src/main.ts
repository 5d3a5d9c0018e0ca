/** Builds the page and connects it. */

import './styles/base.css';
import { App } from './app';
import { handleKey } from './commands';
import { layout } from './layout';
import { applySettings } from './settings';

const app = new App();
applySettings(app.store.settings);
document.body.append(layout(app), app.toasts, app.live);
addEventListener('keydown', (event) => handleKey(event));
app.link.connect();
