/** Builds the page and connects it. */

import './styles/base.css';
import { App } from './app';
import { handleKey } from './commands';
import { layout } from './layout';

const app = new App();
document.body.append(layout(app), app.toasts, app.live);
addEventListener('keydown', (event) => handleKey(event));
app.link.connect();
