/** The bar above: what is open, the run controls, speed and time, who holds control, and ways to everything else. */

import type { App } from '../app';
import { command, run } from '../commands';
import { h } from '../dom';
import { mountEditButtons } from '../editor/edit-buttons';
import { icon } from '../icons';
import { t } from '../strings';
import { commandButton, titleWithKeys } from './buttons';
import { controlChip } from './control-chip';
import { attachPopover } from './popover';
import { formatFactor, formatTime } from './numbers';
import { runOptions } from './run-options';
import { SLIDER_MAX, factorAt, placeOf } from './speed';

export function mountRunBar(app: App): HTMLElement {
  return h(
    'div',
    { class: 'run-bar', role: 'toolbar', aria: { label: t.runBar } },
    commandButton('panel.left', 'left'),
    heading(app),
    h(
      'div',
      { class: 'group', data: { tour: 'run' } },
      toggleButton(app),
      commandButton('run.back', 'back'),
      commandButton('run.step', 'step'),
      commandButton('run.reset', 'reset'),
    ),
    h('div', { class: 'group speed-group' }, speedSlider(app), optionsButton(app)),
    clock(app),
    h('div', { class: 'spring' }),
    h('div', { class: 'group' }, mountEditButtons(app)),
    h('div', { class: 'group' }, controlChip(app), connection(app)),
    h(
      'div',
      { class: 'group tools' },
      commandButton('help.palette', 'search'),
      commandButton('help.shortcuts', 'help'),
      commandButton('view.theme', 'theme'),
      moreButton(),
    ),
    commandButton('panel.right', 'right'),
  );
}

/** Title, file, the mark of unsaved changes and the badge of a recording; a click opens the gallery. */
function heading(app: App): HTMLElement {
  const { store } = app;
  const title = h('strong', {});
  const file = h('span', { class: 'file' });
  const dirty = h(
    'span',
    { class: 'dirty', title: t.unsaved, hidden: true, data: { test: 'dirty' } },
    '●',
    h('span', { class: 'unseen' }, t.unsaved),
  );
  const badge = h('span', { class: 'badge', hidden: true, data: { test: 'replay' } }, t.replay);
  const show = (): void => {
    const s = store.status;
    const name = s?.title || s?.file || t.untitled;
    title.textContent = name;
    file.textContent = s?.file ?? t.notSaved;
    dirty.hidden = !s?.dirty;
    badge.hidden = s?.mode !== 'replay';
    const mode = s?.mode === 'replay' ? ` (${t.replay.toLowerCase()})` : '';
    document.title = s ? `${s.dirty ? '● ' : ''}${name}${mode} · Swarmyard` : 'Swarmyard';
  };
  store.on('status', show);
  show();
  const gallery = commandButton('file.gallery', 'gallery', ' ');
  gallery.replaceChildren(icon('gallery'), h('span', { class: 'names' }, title, file));
  gallery.classList.add('heading');
  return h('div', { class: 'group heading-group' }, gallery, dirty, badge);
}

/** One button that starts and pauses. */
function toggleButton(app: App): HTMLElement {
  const { store } = app;
  const button = commandButton('run.toggle', 'play', t.start);
  button.classList.add('primary', 'toggle');
  let shown = '';
  store.on('status', () => {
    const state = store.status?.state;
    const running = state === 'running' || state === 'waiting';
    const words = running ? t.pause : t.start;
    if (shown === words) return;
    shown = words;
    button.replaceChildren(icon(running ? 'pause' : 'play'), words);
    button.title = `${words} (${command('run.toggle').hint ?? ''})`;
  });
  announceStates(app);
  return button;
}

/** Says the state of the run to screen readers when it has changed. */
function announceStates(app: App): void {
  let known: string | undefined;
  app.store.on('status', () => {
    const s = app.store.status;
    if (!s || s.state === known) return;
    if (known !== undefined) app.announce(t.stateAt(s.state, s.stop));
    known = s.state;
  });
}

function speedSlider(app: App): HTMLElement {
  const { store } = app;
  const shown = h('output', { class: 'factor', data: { test: 'factor' } });
  const slider = h('input', {
    type: 'range',
    min: '0',
    max: String(SLIDER_MAX),
    step: '1',
    title: `${t.speed} (${t.digitKeys})`,
    aria: { label: t.speed },
  });
  let dragging = false;
  let sending = false;
  let next: number | null | undefined;
  const send = async (factor: number | null): Promise<void> => {
    if (sending) {
      next = factor;
      return;
    }
    sending = true;
    await app.do('speed', { factor });
    sending = false;
    if (next !== undefined) {
      const again = next;
      next = undefined;
      void send(again);
    }
  };
  const write = (factor: number | null): void => {
    shown.textContent = formatFactor(factor, t.max);
    slider.setAttribute(
      'aria-valuetext',
      factor === null ? t.asFastAsPossible : `${formatFactor(factor, t.max)}`,
    );
  };
  slider.addEventListener('pointerdown', () => (dragging = true));
  slider.addEventListener('input', () => {
    const factor = factorAt(Number(slider.value));
    write(factor);
    void send(factor);
  });
  const released = (): void => {
    dragging = false;
    show();
  };
  slider.addEventListener('change', released);
  slider.addEventListener('pointerup', released);
  const show = (): void => {
    const s = store.status;
    slider.disabled = !store.isConsole;
    if (!s || dragging || sending) return;
    slider.value = String(placeOf(s.speed));
    write(s.speed);
  };
  store.on(['status', 'control', 'link'], show);
  show();
  return h('label', { class: 'speed' }, slider, shown);
}

function optionsButton(app: App): HTMLElement {
  const button = h(
    'button',
    { class: 'only-icon', title: t.runOptions, aria: { label: t.runOptions } },
    icon('gear'),
  );
  return h('span', {}, button, attachPopover(button, t.runOptions, runOptions(app)));
}

/** Tick, simulated time and the measured factor. */
function clock(app: App): HTMLElement {
  const { store } = app;
  const tick = h('b', { data: { test: 'tick' } }, '–');
  const time = h('span', { data: { test: 'time' } });
  const rtf = h('span', { class: 'rtf', title: t.rtfTitle, data: { test: 'rtf' } });
  store.on('status', () => {
    const s = store.status;
    if (!s) return;
    tick.textContent = String(s.stop);
    time.textContent = formatTime(s.time);
    rtf.textContent =
      s.state === 'running' ? `${formatFactor(s.rtf, t.max)} ${t.measured}` : t.runStates[s.state];
    rtf.dataset['rtf'] = String(s.rtf);
  });
  return h(
    'div',
    { class: 'clock' },
    h('span', { class: 'faint' }, t.tick),
    tick,
    h('span', { class: 'faint dot' }, '·'),
    time,
    h('span', { class: 'faint dot' }, '·'),
    rtf,
  );
}

function connection(app: App): HTMLElement {
  const { store } = app;
  const words = h('span', { class: 'chip-words' });
  const chip = h('span', { class: 'chip link', data: { test: 'link' } }, h('i', { class: 'lamp' }), words);
  const show = (): void => {
    chip.dataset['state'] = store.link;
    words.textContent = t.links[store.link];
    chip.title = store.build ? `${t.links[store.link]} · ${store.build}` : t.links[store.link];
  };
  store.on('link', show);
  show();
  return chip;
}

/** The commands that are rarely wanted. */
function moreButton(): HTMLElement {
  const button = h('button', { class: 'only-icon', title: t.more, aria: { label: t.more } }, icon('more'));
  const item = (id: string): HTMLElement => {
    const c = command(id);
    return h(
      'button',
      {
        class: 'plain',
        title: titleWithKeys(c),
        on: {
          click: () => {
            box.hidePopover();
            run(id);
          },
        },
      },
      c.title,
    );
  };
  const items = ['file.gallery', 'help.tour', 'help.settings', 'panel.bottom', 'run.exit'].map(item);
  const box = attachPopover(button, t.more, h('div', { class: 'menu' }, ...items));
  return h('span', {}, button, box);
}
