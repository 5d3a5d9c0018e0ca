/** The commands that open dialogs: gallery, palette, shortcuts, settings, tour, theme. */

import type { App } from '../app';
import { register } from '../commands';
import type { Settings } from '../settings';
import { t } from '../strings';
import { openCommandPalette } from './command-palette';
import { openGallery } from './gallery';
import { openSettings } from './settings-dialog';
import { openShortcuts } from './shortcuts';
import { startTour } from './tour';

export function registerHelpCommands(app: App): void {
  register(
    { id: 'file.gallery', title: t.gallery, group: 'File', run: () => void openGallery(app) },
    {
      id: 'help.palette',
      title: t.commandPalette,
      group: 'Help',
      keys: ['Ctrl+K'],
      run: () => openCommandPalette(),
    },
    { id: 'help.shortcuts', title: t.shortcuts, group: 'Help', keys: ['?'], run: () => openShortcuts() },
    { id: 'help.settings', title: t.settings, group: 'Help', run: () => openSettings(app) },
    { id: 'help.tour', title: t.tour, group: 'Help', run: () => startTour(app) },
    {
      id: 'view.theme',
      title: t.switchTheme,
      group: 'View',
      run: () => app.store.setSettings({ theme: otherTheme() }),
    },
  );
}

function otherTheme(): Settings['theme'] {
  const { theme } = document.documentElement.dataset;
  const dark = theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  return dark ? 'light' : 'dark';
}
