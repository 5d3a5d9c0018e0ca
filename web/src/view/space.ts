/** Switches between the top view and the 3-D view, which is loaded when it is first wanted. */

import { t } from '../strings';
import type { SpaceView } from './three';
import type { View } from './view';

export function attachSpaceView(view: View, stage: HTMLElement): void {
  const { store, app } = view;
  let space: SpaceView | null = null;
  let isLoading = false;

  const leave = (why?: string): void => {
    space?.dispose();
    space = null;
    view.project3d = null;
    view.isRobotsEye = false;
    if (store.view === '3d') {
      store.view = '2d';
      store.changed('view');
    }
    if (why) app.toast(why, 'error');
  };

  const enter = async (): Promise<void> => {
    isLoading = true;
    try {
      const { SpaceView } = await import('./three');
      // Switched back while the code was on its way.
      if (store.view === '3d') space = new SpaceView(view, stage, () => leave(t.lostSpace));
    } catch (why) {
      console.warn(why);
      leave(t.brokenSpace);
    } finally {
      isLoading = false;
    }
  };

  const follow = (): void => {
    stage.dataset['view'] = store.view;
    if (store.view === '3d' && !space && !isLoading) void enter();
    if (store.view === '2d' && space) leave();
  };
  store.on('view', follow);
  follow();
}
