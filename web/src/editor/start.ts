/** Starts the editor once: its commands, its hold on the canvas, drops, drafts and shared links. */

import type { App } from '../app';
import { isTyping } from '../dom';
import { registerActions } from './actions';
import { startClipboard } from './clipboard';
import { startDrafts } from './draft';
import { followLink, startDrops } from './files';
import { startModes } from './modes';
import { startNudges } from './nudge';
import { SelectTool } from './select-tool';

const started = new WeakSet<App>();

export function startEditor(app: App): void {
  if (started.has(app)) return;
  started.add(app);
  registerActions(app);
  new SelectTool(app);
  startModes(app);
  startNudges(app);
  startClipboard(app, isTyping);
  startDrops(app);
  startDrafts(app);
  // The view keeps the address up to date, so it is read before that.
  const address = new URLSearchParams(location.hash.slice(1));
  const stop = app.store.on('frame', () => {
    // Everything has been said by now.
    stop();
    void followLink(app, address);
  });
}
