/** The settings of the page: theme, pointing device, motion. */

import type { App } from '../app';
import { openDialog } from '../dialog';
import { h } from '../dom';
import type { Settings } from '../settings';
import { t } from '../strings';

export function openSettings(app: App): void {
  const choice = <K extends keyof Settings>(
    name: K,
    title: string,
    values: [Settings[K], string][],
  ): HTMLElement =>
    h(
      'fieldset',
      {},
      h('legend', {}, title),
      ...values.map(([value, words]) =>
        h(
          'label',
          { class: 'choice' },
          h('input', {
            type: 'radio',
            name,
            value,
            checked: app.store.settings[name] === value,
            on: { change: () => app.store.setSettings({ [name]: value } as Partial<Settings>) },
          }),
          words,
        ),
      ),
    );
  openDialog(
    t.settings,
    { class: 'small', test: 'settings' },
    choice('theme', t.theme, [
      ['system', t.asSystem],
      ['light', t.light],
      ['dark', t.dark],
    ]),
    choice('pointing', t.pointing, [
      ['mouse', t.mouse],
      ['trackpad', t.trackpad],
    ]),
    choice('motion', t.motion, [
      ['system', t.asSystem],
      ['reduced', t.reduced],
    ]),
  );
}
