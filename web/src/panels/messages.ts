/**
 * The panel *Messages*: who told what to whom, as a message-sequence chart. One upright line per robot, time
 * downwards; the window follows the moment that is shown, until somebody scrolls.
 */

import type { App } from '../app';
import type { Arrow } from '../comms';
import { fill, h } from '../dom';
import { svgElement } from '../icons';
import { shortName } from '../names';
import { t } from '../strings';
import { iconButton } from './buttons';
import { formatTime } from './numbers';
import { drawSequence } from './sequence-chart';
import {
  following,
  layOut,
  neighbour,
  robotsOf,
  TICKS,
  ticks,
  zoomed,
  type Frame,
  type Sequence,
  type TimeWindow,
} from './sequence';

/** The chart is drawn anew at most so often. */
const REDRAW_MS = 66;
/** Seconds from the upper edge to the lower one, at first. */
const SPAN = 4;
const ZOOM = 1.5;
/** Share of the window that a key or a notch of the wheel scrolls. */
const LINE = 0.1;
const PAGE = 0.8;

export interface MessagesPanel {
  element: HTMLElement;
  /** The pane has come into sight, or gone. */
  shown(isShown: boolean): void;
}

export function mountMessages(app: App): MessagesPanel {
  const panel = new Messages(app);
  return { element: panel.element, shown: (isShown) => panel.setShown(isShown) };
}

class Messages {
  readonly element: HTMLElement;
  private readonly names = h('div', { class: 'names', aria: { hidden: 'true' } });
  private readonly axis = h('div', { class: 'axis', aria: { hidden: 'true' } });
  private readonly svg = svgElement('svg', { role: 'img' });
  private readonly empty = h('p', { class: 'empty' });
  private readonly chart: HTMLElement;
  private readonly details = h('div', {
    class: 'details',
    tabIndex: 0,
    role: 'region',
    aria: { label: t.messageDetails, live: 'polite' },
    data: { test: 'message-details' },
  });
  private readonly protocol = h('select', { aria: { label: t.protocolFilter } });
  private readonly follow: HTMLButtonElement;
  private readonly left = h('span', { class: 'faint', data: { test: 'messages-left' } });
  private isShown = false;
  private isFollowing = true;
  private window: TimeWindow = following(0, SPAN);
  private sequence: Sequence = { lines: [], arrows: [], left: { others: 0, more: 0 } };
  private chosen: Arrow | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private shownProtocols = '';
  private shownDetails = '';

  constructor(private readonly app: App) {
    this.follow = h('button', { on: { click: () => this.setFollowing(true) } }, t.followTime);
    this.chart = h(
      'div',
      {
        class: 'sequence',
        tabIndex: 0,
        role: 'group',
        aria: { label: t.sequenceChart },
        data: { test: 'sequence' },
      },
      this.svg,
      this.empty,
    );
    this.element = h(
      'div',
      { class: 'messages', data: { test: 'messages' } },
      h(
        'div',
        { class: 'pane-tools' },
        this.protocol,
        this.follow,
        iconButton(t.shorterTime, 'plus', () => this.zoom(ZOOM)),
        iconButton(t.longerTime, 'minus', () => this.zoom(1 / ZOOM)),
        this.left,
      ),
      h(
        'div',
        { class: 'board' },
        h('div', { class: 'corner' }),
        this.names,
        this.axis,
        this.chart,
        this.details,
      ),
    );
    this.protocol.addEventListener('change', () => this.draw());
    this.listen();
    const { store } = app;
    store.on(['comms', 'frame', 'selection', 'world', 'settings'], () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.chart);
  }

  setShown(isShown: boolean): void {
    this.isShown = isShown;
    this.app.store.setChartOpen(isShown);
    if (isShown) this.draw();
  }

  private get now(): number {
    return this.app.store.frame?.time ?? 0;
  }

  private setFollowing(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    this.draw();
  }

  private zoom(factor: number, share?: number): void {
    this.window = zoomed(this.window, factor, share);
    this.draw();
  }

  private scroll(share: number): void {
    this.isFollowing = false;
    const from = this.window.from + share * this.window.span;
    const newest = this.app.store.status?.newest_time ?? 0;
    const least = Math.min(0, this.window.from) - 0.5 * this.window.span;
    this.window = { ...this.window, from: Math.max(least, Math.min(newest, from)) };
    this.draw();
  }

  private listen(): void {
    this.chart.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const way = Math.sign(event.deltaY);
        const box = this.chart.getBoundingClientRect();
        const share = (event.clientY - box.top) / Math.max(1, box.height);
        if (event.ctrlKey || event.metaKey)
          this.zoom(way > 0 ? 1 / ZOOM : ZOOM, this.isFollowing ? undefined : share);
        else this.scroll(LINE * way);
      },
      { passive: false },
    );
    this.chart.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const keys: Partial<Record<string, () => void>> = {
        ArrowDown: () => this.chooseNext(1),
        ArrowUp: () => this.chooseNext(-1),
        PageDown: () => this.scroll(PAGE),
        PageUp: () => this.scroll(-PAGE),
        '+': () => this.zoom(ZOOM),
        '=': () => this.zoom(ZOOM),
        '-': () => this.zoom(1 / ZOOM),
        Home: () => this.setFollowing(true),
        Enter: () => this.goThere(),
        Escape: () => this.choose(null),
      };
      const found = keys[event.key];
      if (!found) return;
      event.preventDefault();
      found();
    });
  }

  private chooseNext(by: 1 | -1): void {
    this.choose(neighbour(this.sequence.arrows, this.chosen, by));
  }

  private choose(arrow: Arrow | null): void {
    this.chosen = arrow;
    this.draw();
  }

  /** Shows the moment at which the chosen message was sent. */
  private goThere(): void {
    const quantum = this.app.store.status?.quantum ?? 0;
    const { sent = null } = this.chosen ?? {};
    if (sent === null || quantum <= 0) return;
    this.isFollowing = true;
    void this.app.do('seek', { stop: Math.round(sent / quantum) });
  }

  private drawSoon(): void {
    if (!this.isShown) return;
    this.timer ??= setTimeout(() => this.draw(), REDRAW_MS);
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.isShown) return;
    const { comms } = this.app.store;
    if (this.isFollowing) this.window = following(this.now, this.window.span);
    this.app.comms.reach(this.window.from);
    this.showProtocols();
    const frame: Frame = {
      width: this.chart.clientWidth,
      height: this.chart.clientHeight,
      window: this.window,
    };
    const robots = this.robots();
    this.sequence = layOut(comms, robots, this.protocol.value || null, frame);
    this.svg.setAttribute('viewBox', `0 0 ${frame.width} ${frame.height}`);
    this.svg.setAttribute('aria-label', this.summary(robots.length));
    this.svg.replaceChildren(
      ...drawSequence(this.sequence, comms, frame, {
        now: this.now,
        chosen: this.chosen,
        choose: (arrow) => this.choose(arrow),
      }),
    );
    this.showFrame(robots, frame);
    this.showDetails();
  }

  /** Names above, times beside, and what the chart has no room for. */
  private showFrame(robots: readonly string[], frame: Frame): void {
    const { comms } = this.app.store;
    fill(
      this.names,
      ...this.sequence.lines.map(({ robot, x }) => {
        const name = h('span', { title: robot }, shortName(robot));
        name.style.left = `${x}px`;
        name.style.maxWidth = `${Math.max(24, frame.width / robots.length - 4)}px`;
        name.classList.toggle('crashed', comms.isCrashed(robot, this.now));
        return name;
      }),
    );
    fill(
      this.axis,
      ...ticks(frame, TICKS).map(({ t: time, y }) => {
        const tick = h('span', {}, `${time} s`);
        tick.style.top = `${y}px`;
        return tick;
      }),
    );
    const { others, more } = this.sequence.left;
    this.left.textContent = [others && t.messagesOfOthers(others), more && t.messagesMore(more)]
      .filter(Boolean)
      .join(' · ');
    this.follow.setAttribute('aria-pressed', String(this.isFollowing));
    this.empty.hidden = this.sequence.arrows.length > 0;
    this.empty.textContent = this.whyEmpty(frame.window);
    const { dataset } = this.element;
    dataset['from'] = this.window.from.toFixed(3);
    dataset['to'] = (this.window.from + this.window.span).toFixed(3);
    dataset['arrows'] = String(this.sequence.arrows.length);
    dataset['now'] = this.now.toFixed(3);
  }

  private whyEmpty({ from, span }: TimeWindow): string {
    const { comms } = this.app.store;
    if (comms.since > from + span) return t.messagesForgotten(formatTime(comms.since));
    return comms.arrows.length > 0 ? t.noMessagesHere : t.noMessages;
  }

  private robots(): string[] {
    const { world, selection, comms } = this.app.store;
    if (!world) return [];
    const all = world.bodies
      .filter((body) => world.drawing.types[body.type]?.kind === 'robot')
      .map((body) => body.path);
    const { from, span } = this.window;
    return robotsOf(all, [...selection], selection.size === 1 ? comms.between(from, from + span) : []);
  }

  private showProtocols(): void {
    const { protocols } = this.app.store.comms;
    if (protocols.join('\n') === this.shownProtocols) return;
    this.shownProtocols = protocols.join('\n');
    const was = this.protocol.value;
    fill(
      this.protocol,
      h('option', { value: '' }, t.allProtocols),
      ...protocols.map((name) => h('option', { value: name }, name)),
    );
    this.protocol.value = protocols.includes(was) ? was : '';
  }

  private summary(robots: number): string {
    const lost = this.sequence.arrows.filter(({ arrow }) => arrow.fate === 'lost').length;
    return t.sequenceSummary(this.sequence.arrows.length, lost, robots);
  }

  private showDetails(): void {
    const { chosen } = this;
    const text = JSON.stringify(chosen);
    if (text === this.shownDetails) return;
    this.shownDetails = text;
    if (!chosen) {
      fill(this.details, h('p', { class: 'faint' }, t.chooseMessage));
      return;
    }
    const row = (name: string, value: string): HTMLElement =>
      h('div', {}, h('dt', {}, name), h('dd', {}, value));
    const end =
      chosen.fate === 'lost'
        ? row(t.messageLost, `${formatTime(chosen.at ?? 0)} · ${t.losses[chosen.why] ?? chosen.why}`)
        : row(
            chosen.fate === 'received' ? t.messageReceived : t.messageExpected,
            chosen.at === null ? t.notKnownYet : formatTime(chosen.at),
          );
    fill(
      this.details,
      h('h3', {}, `${chosen.label} · ${shortName(chosen.from)} → ${shortName(chosen.to)}`),
      h(
        'dl',
        {},
        row(t.messageProtocol, chosen.protocol),
        row(t.messageSent, chosen.sent === null ? t.notKnownAnyMore : formatTime(chosen.sent)),
        end,
        row(t.messageSize, t.bytes(chosen.bytes)),
        row(t.messageContent, chosen.content),
      ),
      h('button', { on: { click: () => this.goThere() } }, t.showSending),
    );
  }
}
