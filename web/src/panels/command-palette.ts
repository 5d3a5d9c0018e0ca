/** The command palette: every command, found by a few letters. */

import { all, run, type Command } from '../commands';
import { openDialog } from '../dialog';
import { fill, h } from '../dom';
import { t } from '../strings';
import { shownKeys } from './buttons';
import { search } from './fuzzy';

export function openCommandPalette(): void {
  if (document.querySelector('dialog[open]')) return;
  const input = h('input', {
    type: 'text',
    placeholder: t.typeACommand,
    autocomplete: 'off',
    spellcheck: false,
    role: 'combobox',
    aria: { label: t.typeACommand, controls: 'palette-list', expanded: 'true', autocomplete: 'list' },
  });
  const list = h('ul', { id: 'palette-list', role: 'listbox', tabIndex: -1, aria: { label: t.commands } });
  const none = h('p', { class: 'empty', hidden: true }, t.noCommand);
  let found: Command[] = [];
  let chosen = 0;
  const dialog = openDialog(
    t.commandPalette,
    { class: 'command-palette', test: 'palette' },
    input,
    list,
    none,
  );

  const choose = (c: Command | undefined): void => {
    if (!c) return;
    dialog.close();
    run(c.id);
  };
  const mark = (): void => {
    [...list.children].forEach((row, k) => row.setAttribute('aria-selected', String(k === chosen)));
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
    if (found.length > 0) input.setAttribute('aria-activedescendant', `command-${chosen}`);
    else input.removeAttribute('aria-activedescendant');
  };
  const show = (): void => {
    found = search(input.value, all(), (c) => `${c.title} ${c.group}`);
    chosen = 0;
    none.hidden = found.length > 0;
    list.hidden = found.length === 0;
    fill(
      list,
      ...found.map((c, k) => {
        const why = c.refused?.() ?? null;
        return h(
          'li',
          {
            id: `command-${k}`,
            role: 'option',
            class: why ? 'refused' : '',
            aria: { selected: 'false', ...(why ? { disabled: 'true' } : {}) },
            data: { command: c.id },
            on: { click: () => choose(c) },
          },
          h('span', { class: 'faint group-name' }, c.group),
          h(
            'span',
            { class: 'title' },
            c.title,
            c.pressed?.() === true && h('span', { class: 'faint' }, ` · ${t.on}`),
          ),
          h('span', { class: 'faint' }, why ?? ''),
          h('kbd', {}, shownKeys(c)),
        );
      }),
    );
    mark();
  };
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && found.length > 0) {
      event.preventDefault();
      chosen = (chosen + by + found.length) % found.length;
      mark();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[chosen]);
    }
  });
  show();
  input.focus();
}
