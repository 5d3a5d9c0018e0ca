/** The console: everything that happened, line by line, and a line to type commands. Errors never clear it. */

import type { App } from '../app';
import { h } from '../dom';
import { icon } from '../icons';
import { Refused } from '../link';
import { shortName } from '../names';
import type { EventLine } from '../protocol';
import { t } from '../strings';
import { complete, read, WORDS, type Names } from './command-line';
import { CommandInput } from './command-input';
import { asText, knownPrefix, Lines, linesOf, type Line } from './console-lines';
import { EventFeed } from './event-feed';
import { formatTime } from './numbers';
import { VirtualList } from './virtual-list';

const ROW = 22;

export class ConsolePane {
  readonly element: HTMLElement;
  private readonly lines = new Lines();
  private readonly list: VirtualList;
  private readonly feed = new EventFeed();
  /** Events of this connection's run that are in `lines`. */
  private known: EventLine[] = [];
  private readonly robots = h('select', { aria: { label: t.filterRobot } });
  private picked: [number, number] | null = null;

  constructor(private readonly app: App) {
    this.list = new VirtualList(
      { count: () => this.lines.shown.length, write: (row, k) => this.write(row, k) },
      ROW,
      t.console,
    );
    this.list.element.dataset['test'] = 'console-lines';
    const input = new CommandInput(
      (line) => complete(line, this.names()),
      (line) => void this.obey(line),
    );
    this.element = h('div', { class: 'console' }, this.tools(), this.list.element, input.element);
    this.listenToRows();
    app.store.on('events', () => this.takeEvents());
    app.store.on('world', () => this.listRobots());
    this.listRobots();
  }

  private tools(): HTMLElement {
    const level = h(
      'select',
      { aria: { label: t.filterLevel } },
      h('option', { value: '' }, t.allLevels),
      h('option', { value: 'warning' }, t.warningsAndErrors),
      h('option', { value: 'error' }, t.errorsOnly),
    );
    const text = h('input', { type: 'search', placeholder: t.filterText, aria: { label: t.filterText } });
    const count = h('span', { class: 'faint', data: { test: 'line-count' } });
    this.showCount = () => {
      const { all, shown } = this.lines;
      count.textContent =
        shown.length === all.length ? t.linesCount(all.length) : t.linesOf(shown.length, all.length);
    };
    const filter = (): void => {
      this.lines.setFilter({
        robot: this.robots.value,
        level: level.value as '' | 'warning' | 'error',
        text: text.value,
      });
      this.picked = null;
      this.changed();
    };
    for (const control of [this.robots, level, text]) control.addEventListener('input', filter);
    const copy = h(
      'button',
      {
        title: t.copyLines,
        aria: { label: t.copyLines },
        class: 'only-icon',
        on: { click: () => void this.copy() },
      },
      icon('copy'),
    );
    return h(
      'div',
      { class: 'pane-tools' },
      this.robots,
      level,
      text,
      count,
      h('div', { class: 'spring' }),
      copy,
    );
  }

  private showCount: () => void = () => undefined;

  private changed(): void {
    this.list.changed();
    this.showCount();
  }

  private add(lines: Line[]): void {
    this.lines.add(lines);
    this.changed();
  }

  private takeEvents(): void {
    const { lines, anew } = this.feed.take(this.app.store.events);
    let fresh = lines;
    if (anew) {
      const known = knownPrefix(this.known, lines);
      fresh = lines.slice(known);
      if (known === 0) {
        this.known = [];
        this.say('info', t.connectedAgain);
      }
    }
    this.known.push(...fresh);
    if (this.known.length > 120_000) this.known.splice(0, 20_000);
    this.add(fresh.flatMap(linesOf));
  }

  private say(level: Line['level'], text: string, kind = 'answer'): void {
    this.add(text.split('\n').map((piece) => ({ time: null, robot: null, level, kind, text: piece })));
  }

  private write(row: HTMLElement, k: number): void {
    const line = this.lines.all[this.lines.shown[k] ?? -1];
    if (!line) return;
    if (row.childElementCount === 0)
      row.append(
        h('span', { class: 'time' }),
        h('span', { class: 'robot' }),
        h('span', { class: 'level' }),
        h('span', { class: 'text' }),
      );
    const [time, robot, level, text] = row.children as unknown as [
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
    ];
    time.textContent = line.time === null ? '' : formatTime(line.time);
    robot.textContent = line.robot ? shortName(line.robot) : '';
    level.textContent = line.kind === 'input' ? '›' : line.level === 'info' ? '' : t.levelNames[line.level];
    text.textContent = line.text;
    row.title = line.text.length > 80 ? line.text : '';
    row.className = `row ${line.level} ${line.kind}`;
    const [from, to] = this.picked ?? [-1, -2];
    row.classList.toggle('picked', k >= from && k <= to);
  }

  /** A click picks a line, one with Shift a stretch of lines; Ctrl+C copies them. */
  private listenToRows(): void {
    const { element } = this.list;
    element.addEventListener('click', (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.row') : null;
      if (!row) return;
      const k = Number(row.dataset['row']);
      const from = this.picked?.[0] ?? k;
      this.picked = event.shiftKey ? [Math.min(from, k), Math.max(from, k)] : [k, k];
      this.list.changed();
      const robot = this.lines.all[this.lines.shown[k] ?? -1]?.robot;
      if (robot && event.detail === 2 && this.app.store.exists(robot)) this.app.store.select([robot]);
    });
    element.addEventListener('keydown', (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'c') return;
      event.preventDefault();
      event.stopPropagation();
      void this.copy();
    });
  }

  private async copy(): Promise<void> {
    const [from, to] = this.picked ?? [0, this.lines.shown.length - 1];
    const lines = this.lines.shown.slice(from, to + 1).flatMap((k) => this.lines.all[k] ?? []);
    try {
      await navigator.clipboard.writeText(lines.map(asText).join('\n'));
      this.app.toast(t.copied(lines.length));
    } catch {
      this.app.toast(t.noClipboard, 'error');
    }
  }

  private listRobots(): void {
    const { world } = this.app.store;
    const robots = (world?.bodies ?? [])
      .filter((b) => world?.drawing.types[b.type]?.kind === 'robot')
      .slice(0, 2000);
    const wanted = ['', ...robots.map((b) => b.path)];
    const now = [...this.robots.options].map((o) => o.value);
    if (wanted.length === now.length && wanted.every((path, k) => path === now[k])) return;
    const chosen = this.robots.value;
    this.robots.replaceChildren(
      h('option', { value: '' }, t.allRobots),
      ...robots.map((b) => h('option', { value: b.path }, shortName(b.path))),
    );
    this.robots.value = wanted.includes(chosen) ? chosen : '';
  }

  private names(): Names {
    const { world, status } = this.app.store;
    const robots = (world?.bodies ?? []).filter((b) => world?.drawing.types[b.type]?.kind === 'robot');
    return {
      robots: robots.map((b) => b.path),
      entries: new Map((world?.entries ?? []).map((e) => [e.key, e.fields.map((f) => f.key)])),
      entryOf: (path) => world?.entryOf.get(path)?.key ?? null,
      registers: (robot) => {
        const body = world?.bodies[world.bodyOf.get(robot) ?? -1];
        return body ? (world?.types[body.type]?.registers ?? []) : [];
      },
      quantum: status?.quantum ?? 0,
    };
  }

  /** Does what a typed line asks for; the answer, or why not, is the next line. */
  private async obey(line: string): Promise<void> {
    const { app } = this;
    this.say('info', line, 'input');
    this.list.follow();
    const asked = read(line, this.names());
    if ('wrong' in asked) return this.say('error', asked.wrong);
    if ('help' in asked)
      return this.say(
        'info',
        Object.values(WORDS)
          .map((w) => `${w.usage.padEnd(30)} ${w.summary}`)
          .join('\n'),
      );
    if ('select' in asked) return app.store.select([asked.select]);
    try {
      const answer =
        'set' in asked
          ? await app.link.ask('edit', {
              label: t.setLabel(asked.set.entry, asked.set.key),
              changes: [{ op: 'set', ...asked.set }],
              revision: app.store.world?.revision ?? 0,
            })
          : await app.link.ask(asked.do, asked.with);
      const text = Object.keys(answer).length > 0 ? JSON.stringify(answer) : t.saidDone;
      this.say('info', text);
    } catch (why) {
      if (!(why instanceof Refused)) throw why;
      const { message, help, problems } = why.failure;
      if (problems?.length) {
        app.store.problems = { ...app.store.problems, open: problems };
        app.store.changed('problems');
      }
      this.say(
        'error',
        [message, help, ...(problems ?? []).map((p) => p.message)].filter(Boolean).join('\n'),
      );
    }
  }
}
