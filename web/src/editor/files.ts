/** Opening, dropping, saving and sharing: what the page does with files. */

import type { App } from '../app';
import { ask, closeDialogOf, row } from '../dialog';
import { h } from '../dom';
import { download } from '../download';
import { Refused } from '../link';
import type { Diagnostic } from '../protocol';
import { t } from '../strings';
import { toClipboard } from './clipboard';
import { projectFiles } from './project-files';

/** A world to begin with: a floor with a border, and nothing on it. */
const FRESH = `format = 1
title = "Untitled"

[run]
quantum = "50ms"
duration = "120s"

[world]
min = [-3, -2]
max = [3, 2]
`;

/** Opens a text as a new document. When it is broken, what is open stays, and the problems are shown. */
export async function openText(app: App, name: string, text: string): Promise<boolean> {
  try {
    await app.link.ask('open.text', { name, text });
    return true;
  } catch (why) {
    await showProblems(app, name, why);
    return false;
  }
}

/** Opens a file of the project. */
export async function openPath(app: App, path: string): Promise<boolean> {
  try {
    await app.link.ask('open', { path });
    return true;
  } catch (why) {
    await showProblems(app, path, why);
    return false;
  }
}

async function showProblems(app: App, name: string, why: unknown): Promise<void> {
  if (!(why instanceof Refused)) throw why;
  const problems = why.failure.problems ?? [];
  app.store.problems = { ...app.store.problems, open: problems };
  app.store.changed('problems');
  if (problems.length === 0) return app.fail(why);
  await ask(
    t.notOpened(name),
    [
      h('p', {}, t.worldStays),
      h(
        'ul',
        { class: 'problem-list', data: { test: 'problem-list' } },
        ...problems.map((p) => problem(name, p)),
      ),
    ],
    [{ title: t.done, value: 'done', primary: true }],
    'problems',
  );
}

function problem(name: string, p: Diagnostic): HTMLElement {
  const where = `${p.file ?? name}:${p.line ?? 1}:${p.column ?? 1}`;
  return h('li', {}, h('code', {}, where), ' ', p.message, p.help ? h('small', {}, p.help) : null);
}

/** A file of this computer: a scenario, or a recording. */
export async function openFile(app: App, file: File): Promise<void> {
  if (!app.store.isConsole) {
    app.toast(t.needControl, 'error');
    return;
  }
  if (!(await mayLeave(app))) return;
  if (!file.name.endsWith('.mcap')) {
    await openText(app, file.name, await file.text());
    return;
  }
  const token = new URLSearchParams(location.search).get('token');
  const url = new URL('v1/recording', location.href.split('#')[0]);
  url.searchParams.set('key', app.store.key);
  if (token) url.searchParams.set('token', token);
  const answer = await fetch(url, { method: 'POST', body: file });
  if (!answer.ok) app.toast(t.notOpened(file.name) + ' · ' + (await answer.text()).slice(0, 200), 'error');
}

/** Whether unsaved changes may be left behind. */
async function mayLeave(app: App): Promise<boolean> {
  if (!app.store.status?.dirty) return true;
  const answer = await ask(
    t.unsavedTitle,
    [t.unsavedWords],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.discard, value: 'discard' },
      { title: t.saveFirst, value: 'save', primary: true },
    ],
    'unsaved',
  );
  if (answer === 'save') return save(app);
  return answer === 'discard';
}

export async function newDocument(app: App): Promise<void> {
  if (await mayLeave(app)) await openText(app, 'untitled.toml', FRESH);
}

/** The project's files to choose from, and those of this computer. */
export async function openDialog(app: App): Promise<void> {
  const wanted = await projectFiles(app, ['.toml', '.mcap']);
  let chosen: string | null = null;
  const list = h('ul', { class: 'file-list', aria: { label: t.projectFiles } });
  const find = h('input', {
    type: 'search',
    placeholder: t.findFile,
    aria: { label: t.findFile },
    data: { first: '' },
  });
  const show = (): void => {
    const text = find.value.trim().toLowerCase();
    const rows = wanted
      .filter((f) => f.path.toLowerCase().includes(text))
      .map((f) => {
        const pick = (event: Event): void => {
          chosen = f.path;
          closeDialogOf(event.target as Element);
        };
        return h(
          'li',
          {},
          h(
            'button',
            { type: 'button', class: 'link', on: { click: pick } },
            h('span', {}, f.path),
            h('span', { class: 'faint' }, f.kind),
          ),
        );
      });
    list.replaceChildren(...(rows.length > 0 ? rows : [h('li', { class: 'faint' }, t.noFiles)]));
  };
  find.addEventListener('input', show);
  show();
  const own = h('input', { type: 'file', accept: '.toml,.mcap', hidden: true });
  let file: File | undefined;
  own.addEventListener('change', () => {
    file = own.files?.[0];
    closeDialogOf(own);
  });
  const said = await ask(
    t.openTitle,
    [find, list, own, h('button', { type: 'button', on: { click: () => own.click() } }, t.fromComputer)],
    [{ title: t.open, value: 'first', primary: true, check: () => list.querySelector('button') !== null }],
    'open',
  );
  if (said === 'first') chosen = list.querySelector('button span')?.textContent ?? null;
  if (file) await openFile(app, file);
  else if (chosen !== null && (await mayLeave(app))) await openPath(app, chosen);
}

/** Writes the document to its file; one without a file is asked for a name. */
export async function save(app: App): Promise<boolean> {
  if (!app.store.status?.file) return saveAs(app);
  const done = await app.do('save');
  if (done) app.toast(t.saved(String(done['path'] ?? app.store.status.file)));
  return done !== null;
}

export async function saveAs(app: App): Promise<boolean> {
  const { status, world } = app.store;
  const input = h('input', {
    type: 'text',
    value: status?.file ?? 'worlds/untitled.toml',
    data: { first: '' },
    aria: { label: t.fileName },
    spellcheck: false,
  });
  const answer = await ask(
    t.saveAsTitle,
    [row(t.fileName, input, t.fileNameHint)],
    [
      { title: t.cancel, value: 'cancel' },
      { title: t.download, value: 'download' },
      { title: t.save, value: 'save', primary: true, check: () => input.value.trim() !== '' },
    ],
    'save-as',
  );
  const path = input.value.trim().replace(/(\.toml)?$/, '.toml');
  if (answer === 'download')
    download(
      path.split('/').pop() ?? 'world.toml',
      new Blob([world?.text ?? ''], { type: 'application/toml' }),
    );
  if (answer !== 'save') return answer === 'download';
  const done = await app.do('save', { path });
  if (done) app.toast(t.saved(String(done['path'] ?? path)));
  return done !== null;
}

/** A link that shows this world, moment and view. */
export function shareLink(app: App): string {
  const { status, camera, layers, frame } = app.store;
  const hash = new URLSearchParams(location.hash.slice(1));
  if (!hash.has('cam'))
    hash.set('cam', [camera.x, camera.y, camera.scale].map((v) => v.toFixed(3)).join(','));
  if (!hash.has('layers'))
    hash.set(
      'layers',
      Object.entries(layers)
        .filter(([, on]) => on === true)
        .map(([name]) => name)
        .join(','),
    );
  if (status?.file) hash.set('file', status.file);
  hash.set('tick', String(frame?.stop ?? status?.stop ?? 0));
  return `${location.href.split('#')[0]}#${hash}`;
}

export async function share(app: App): Promise<void> {
  const done = await toClipboard(shareLink(app));
  const words = done ? t.linkCopied : t.linkNotCopied;
  app.toast(app.store.status?.dirty ? `${words} ${t.linkWithoutChanges}` : words, done ? 'info' : 'error');
}

/** Follows a shared link: opens its file and goes to its moment, if this page may. */
export async function followLink(app: App, hash: URLSearchParams): Promise<void> {
  const [file, tick] = [hash.get('file'), hash.get('tick')];
  if (file === null && tick === null) return;
  const { store } = app;
  const isOther = file !== null && file !== store.status?.file;
  const stop = Number(tick ?? 0);
  const isLater = tick !== null && Number.isInteger(stop) && stop !== store.status?.stop;
  if (!isOther && !isLater) return;
  if (!store.isConsole) {
    app.toast(t.linkNeedsControl, 'error');
    return;
  }
  if (isOther && (!(await mayLeave(app)) || !(await openPath(app, file)))) return;
  if (!isLater) return;
  if (stop > (store.status?.newest ?? 0) || isOther) {
    const ahead = stop - (isOther ? 0 : (store.status?.newest ?? 0));
    if (ahead > 0) await app.do('step', { n: ahead });
  } else await app.do('seek', { stop });
}

/** Files dropped anywhere on the window are opened. */
export function startDrops(app: App): void {
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.dataset['dropping'] = '';
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) delete document.body.dataset['dropping'];
  });
  addEventListener('drop', (event) => {
    delete document.body.dataset['dropping'];
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    void openFile(app, file);
  });
}
