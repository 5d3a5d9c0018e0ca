/** The shortcut sheet: every key and gesture, with a search field. */

import { all, run } from '../commands';
import { openDialog } from '../dialog';
import { fill, h } from '../dom';
import { t } from '../strings';
import { shownKeys } from './buttons';

export function openShortcuts(): void {
  if (document.querySelector('dialog[open]')) return;
  const input = h('input', {
    type: 'text',
    role: 'searchbox',
    placeholder: t.searchShortcuts,
    aria: { label: t.searchShortcuts },
  });
  const sheet = h('div', { class: 'sheet', tabIndex: 0, role: 'region', aria: { label: t.shortcuts } });
  const rows = [
    ...all()
      .map((c) => ({ group: c.group as string, title: c.title, keys: shownKeys(c) }))
      .filter((row) => row.keys),
    ...t.gestures.map(([group, title, keys]) => ({ group, title, keys })),
  ];
  const show = (): void => {
    const wanted = input.value.trim().toLowerCase();
    const found = rows.filter((r) => `${r.title} ${r.keys} ${r.group}`.toLowerCase().includes(wanted));
    const groups = [...new Set(found.map((r) => r.group))];
    if (found.length === 0) return fill(sheet, h('p', { class: 'empty' }, t.noShortcut));
    fill(
      sheet,
      ...groups.map((group) =>
        h(
          'section',
          {},
          h('h3', {}, group),
          h(
            'dl',
            {},
            ...found
              .filter((r) => r.group === group)
              .map((r) => h('div', {}, h('dt', {}, r.title), h('dd', {}, h('kbd', {}, r.keys)))),
          ),
        ),
      ),
    );
  };
  input.addEventListener('input', show);
  show();
  const more = (title: string, id: string): HTMLElement =>
    h(
      'button',
      {
        on: {
          click: () => {
            dialog.close();
            run(id);
          },
        },
      },
      title,
    );
  const dialog = openDialog(
    t.shortcuts,
    { class: 'wide', test: 'shortcuts' },
    input,
    sheet,
    h('footer', {}, more(t.takeTour, 'help.tour'), more(t.commandPalette, 'help.palette')),
  );
  input.focus();
}
