/** The gallery: every world of the project, with what it shows. */

import type { App } from '../app';
import { confirmDialog, openDialog } from '../dialog';
import { fill, h } from '../dom';
import type { WorldFile } from '../protocol';
import { t } from '../strings';

export async function openGallery(app: App): Promise<void> {
  if (document.querySelector('dialog[open]')) return;
  const input = h('input', {
    type: 'text',
    role: 'searchbox',
    placeholder: t.searchWorlds,
    aria: { label: t.searchWorlds },
  });
  const list = h(
    'ul',
    { class: 'worlds', aria: { label: t.gallery } },
    h('li', { class: 'empty' }, t.loading),
  );
  const why = h('p', { class: 'faint' });
  const dialog = openDialog(t.gallery, { class: 'wide', test: 'gallery' }, input, why, list);
  input.focus();
  const answer = await app.do('worlds');
  const worlds = (answer?.['worlds'] ?? []) as WorldFile[];
  const open = async (world: WorldFile): Promise<void> => {
    const { store } = app;
    if (!store.isConsole) return app.toast(`${world.title}: ${t.needControl}`, 'error');
    dialog.close();
    if (store.status?.dirty && !(await confirmDialog(t.openWorld, t.losesChanges, t.openAnyway))) return;
    if (await app.do('open', { path: world.path })) app.announce(t.opened(world.title));
  };
  const show = (): void => {
    const wanted = input.value.trim().toLowerCase();
    const found = worlds.filter((w) => `${w.title} ${w.about} ${w.path}`.toLowerCase().includes(wanted));
    why.textContent = t.needControl;
    why.hidden = app.store.isConsole;
    if (found.length === 0) return fill(list, h('li', { class: 'empty' }, t.noWorlds));
    fill(
      list,
      ...found.map((world) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              class: 'world',
              aria: { current: String(world.path === app.store.status?.file) },
              data: { world: world.path },
              on: { click: () => void open(world) },
            },
            h('strong', {}, world.title || world.path),
            h('span', {}, world.about),
            h('code', { class: 'faint' }, world.path),
          ),
        ),
      ),
    );
  };
  input.addEventListener('input', show);
  show();
}
