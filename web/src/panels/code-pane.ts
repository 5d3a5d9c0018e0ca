/** The code pane: the scenario's text and the programs of its robots, to read and to change while the run goes on. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { icon } from '../icons';
import { shortName } from '../names';
import type { Diagnostic } from '../protocol';
import { t } from '../strings';
import { arrive, isDirty, isDisputed, openBuffer, settle, type Buffer } from './code-buffers';
import type { CodeEditor } from './code-editor';
import { placed } from './diagnostics';
import { EventFeed } from './event-feed';

const SCENARIO = '';

export class CodePane {
  readonly element: HTMLElement;
  private readonly list = h('ul', { class: 'sources', aria: { label: t.sources } });
  private readonly notice = h('div', {
    class: 'banner warning',
    hidden: true,
    role: 'status',
    data: { test: 'disputed' },
  });
  private readonly place = h('div', { class: 'editor-place' }, h('p', { class: 'empty' }, t.loadingEditor));
  private readonly save = h(
    'button',
    { title: `${t.saveCode} (Ctrl+S)`, on: { click: () => void this.write() } },
    icon('save'),
    t.saveCode,
  );
  private readonly name = h('code', { data: { test: 'source-name' } });
  private readonly why = h('span', { class: 'faint' });
  private readonly buffers = new Map<string, Buffer>();
  private readonly feed = new EventFeed();
  private editor: CodeEditor | null = null;
  private loading: Promise<void> | null = null;
  private current = SCENARIO;

  constructor(private readonly app: App) {
    const own = h('button', { on: { click: () => this.openSelected() } }, t.openSelected);
    this.element = h(
      'div',
      { class: 'code-pane', data: { test: 'code' } },
      this.list,
      h(
        'div',
        { class: 'code-main' },
        h('div', { class: 'pane-tools' }, this.name, this.why, h('div', { class: 'spring' }), own, this.save),
        this.notice,
        this.place,
      ),
    );
    const { store } = app;
    store.on('world', () => this.worldChanged());
    store.on('problems', () => this.markProblems());
    store.on(['control', 'link'], () => this.show());
    store.on('events', () => {
      const { lines } = this.feed.take(store.events);
      if (lines.some((line) => line.kind === 'code')) void this.refresh();
    });
    addEventListener('focus', () => void this.refresh());
    this.worldChanged();
  }

  /** The pane has come into sight. */
  shown(): void {
    this.loading ??= this.load();
    void this.loading.then(() => this.select(this.current));
  }

  /** Opens a source at a line; `null` is the scenario. */
  open(file: string | null, line?: number | null, column?: number | null): void {
    this.loading ??= this.load();
    void this.loading
      .then(() => this.select(file ?? SCENARIO))
      .then(() => {
        if (line !== null && line !== undefined) this.editor?.goTo(line, column ?? 1);
      });
  }

  private async load(): Promise<void> {
    const { makeEditor } = await import('./code-editor');
    this.editor = makeEditor(
      (text) => {
        const buffer = this.buffers.get(this.current);
        if (buffer) buffer.mine = text;
        this.show();
      },
      () => void this.write(),
    );
    fill(this.place, this.editor.element);
  }

  /** The sources of the world, each once: the scenario, then the programs. */
  private sources(): string[] {
    const { world } = this.app.store;
    const programs = (world?.types ?? []).flatMap((type) => type.controllers.map((c) => c.source));
    return [SCENARIO, ...new Set(programs.filter((source) => source !== null))];
  }

  private openSelected(): void {
    const { store } = this.app;
    const path = [...store.selection].find((id) => store.world?.bodyOf.has(id));
    const body = store.world?.bodies[store.world.bodyOf.get(path ?? '') ?? -1];
    const source = body && store.world?.types[body.type]?.controllers.find((c) => c.source !== null)?.source;
    if (source) void this.select(source);
    else this.app.toast(path === undefined ? t.selectARobot : t.noSource(shortName(path)));
  }

  private async select(file: string): Promise<void> {
    if (!this.buffers.has(file)) {
      const text = file === SCENARIO ? (this.app.store.world?.text ?? '') : await this.fetch(file);
      if (text === null) return;
      this.buffers.set(file, openBuffer(file === SCENARIO ? null : file, text));
    }
    const buffer = this.buffers.get(file);
    if (!buffer) return;
    const name = file === SCENARIO ? (this.app.store.world?.file ?? 'scenario.toml') : file;
    this.editor?.show(file, buffer.mine, file === SCENARIO ? 'scenario.toml' : name);
    this.current = file;
    this.show();
    this.markProblems();
  }

  private async fetch(file: string): Promise<string | null> {
    const answer = await this.app.do('read', { path: file });
    return typeof answer?.['text'] === 'string' ? answer['text'] : null;
  }

  private worldChanged(): void {
    const text = this.app.store.world?.text;
    const scenario = this.buffers.get(SCENARIO);
    if (scenario && text !== undefined && arrive(scenario, text) && this.current === SCENARIO)
      this.editor?.setText(text);
    this.show();
  }

  /** Looks whether the program that is shown has changed on the server. */
  private async refresh(): Promise<void> {
    const buffer = this.buffers.get(this.current);
    if (!buffer || buffer.file === null || this.app.store.link !== 'open') return;
    const text = await this.fetch(buffer.file);
    if (text === null) return;
    if (arrive(buffer, text) && buffer.file === this.current) this.editor?.setText(text);
    this.show();
  }

  private async write(): Promise<void> {
    const { app } = this;
    const buffer = this.buffers.get(this.current);
    const why = this.refused();
    if (!buffer) return;
    if (why) return app.toast(`${t.saveCode}: ${why}`, 'error');
    if (isDisputed(buffer)) return this.show();
    const text = buffer.mine;
    const done =
      buffer.file === null
        ? await app.do('replace', { label: t.editText, text, revision: app.store.world?.revision ?? 0 })
        : await app.do('write', { path: buffer.file, text });
    if (!done) return;
    buffer.base = buffer.theirs = text;
    const list = (name: string): unknown[] => (Array.isArray(done[name]) ? done[name] : []);
    const [reloaded, wrong] = [list('reloaded'), list('problems')];
    if (buffer.file === null) app.toast(t.textTaken);
    else if (wrong.length > 0) app.toast(t.notCompiled(buffer.file, wrong.length), 'error');
    else app.toast(reloaded.length > 0 ? t.reloaded(reloaded.join(', ')) : t.written(buffer.file));
    this.show();
  }

  private refused(): string | null {
    const { store } = this.app;
    if (store.link !== 'open') return t.noConnection;
    if (store.world?.mode === 'replay') return t.replayOnly;
    return store.isConsole ? null : t.needControl;
  }

  private problemsOf(file: string): Diagnostic[] {
    const { problems, world } = this.app.store;
    const all = placed([...problems.document, ...problems.code, ...problems.open], world?.file ?? null);
    if (file === SCENARIO)
      return all.filter((d) => d.line !== null && (d.file === null || d.file === world?.file));
    return all.filter((d) => d.file === file && d.line !== null);
  }

  private markProblems(): void {
    this.editor?.mark(this.problemsOf(this.current));
    this.show();
  }

  private show(): void {
    const buffer = this.buffers.get(this.current);
    const why = this.refused();
    this.name.textContent =
      this.current === SCENARIO ? (this.app.store.world?.file ?? t.scenario) : this.current;
    this.why.textContent = why ?? '';
    this.save.disabled = why !== null || !buffer || !isDirty(buffer);
    this.editor?.setReadOnly(why !== null);
    this.element.dataset['dirty'] = String(buffer !== undefined && isDirty(buffer));
    this.showNotice(buffer);
    const sources = this.sources();
    fill(
      this.list,
      ...sources.map((file) => {
        const open = this.buffers.get(file);
        const bad = this.problemsOf(file).length;
        return h(
          'li',
          {},
          h(
            'button',
            {
              class: 'plain',
              title: file || t.scenario,
              aria: { current: String(file === this.current) },
              data: { source: file },
              on: { click: () => void this.select(file) },
            },
            file === SCENARIO ? t.scenario : shortName(file),
            open && isDirty(open) && h('span', { class: 'dirty', title: t.unsaved }, '●'),
            bad > 0 && h('span', { class: 'count error' }, bad),
          ),
        );
      }),
    );
  }

  private showNotice(buffer: Buffer | undefined): void {
    const disputed = buffer !== undefined && isDisputed(buffer);
    this.notice.hidden = !disputed;
    if (!disputed) return;
    const choose = (take: 'theirs' | 'mine') => (): void => {
      settle(buffer, take);
      if (take === 'theirs') this.editor?.setText(buffer.mine);
      this.show();
    };
    fill(
      this.notice,
      icon('warning'),
      h('span', {}, t.changedElsewhere),
      h('button', { on: { click: choose('theirs') } }, t.takeTheirs),
      h('button', { on: { click: choose('mine') } }, t.keepMine),
    );
  }
}
