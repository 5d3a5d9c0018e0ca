/** The line of time: everything from the start to the newest moment, with what happened on it; drag to look back. */

import type { App } from '../app';
import { register } from '../commands';
import { fill, h } from '../dom';
import { shortName } from '../names';
import type { EventLine } from '../protocol';
import { t } from '../strings';
import { commandButton } from './buttons';
import { EventFeed } from './event-feed';
import { formatTime } from './numbers';
import { Seeker } from './seeker';
import { isMarked, pixels, placeOfStop, stopAt, thin } from './timeline-marks';

/** Marks are drawn anew at most so often while a run goes on. */
const REDRAW_MS = 200;
const MARK_ROOM = 24;
/** Stops of contacts that are kept; older ones are thinned by the pixels anyway. */
const MAX_CONTACTS = 200_000;

export function mountTimeline(app: App): HTMLElement {
  return new Timeline(app).element;
}

class Timeline {
  readonly element: HTMLElement;
  private readonly app: App;
  private readonly seeker: Seeker;
  private readonly feed = new EventFeed();
  private readonly marksBox = h('div', { class: 'marks' });
  private readonly contactsCanvas = h('canvas', { class: 'contacts', aria: { hidden: 'true' } });
  private readonly fillBar = h('div', { class: 'played' });
  private readonly thumb = h('div', { class: 'thumb' });
  private readonly now = h('output', { class: 'now', data: { test: 'shown-time' } });
  private readonly end = h('span', { class: 'end faint' });
  private readonly track: HTMLElement;
  private contacts: number[] = [];
  private marked: EventLine[] = [];
  private run: number | null = null;
  private redraw: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App) {
    this.app = app;
    this.seeker = new Seeker((stop) => app.do('seek', { stop }));
    this.registerCommands();
    this.track = h(
      'div',
      {
        class: 'track',
        tabIndex: 0,
        role: 'slider',
        aria: { label: t.timeline, valuemin: '0', valuemax: '0', valuenow: '0' },
        data: { test: 'scrubber' },
      },
      this.contactsCanvas,
      this.fillBar,
      this.thumb,
    );
    this.listen();
    this.element = h(
      'div',
      { class: 'timeline', data: { tour: 'timeline' } },
      this.now,
      h('div', { class: 'line' }, this.marksBox, this.track),
      this.end,
      commandButton('time.live', 'live', t.live),
      commandButton('time.branch', 'branch', t.branch),
    );
    const { store } = app;
    store.on('events', () => this.takeEvents());
    store.on('status', () => this.seeker.told());
    store.on(['status', 'control', 'link'], () => this.show());
    new ResizeObserver(() => this.drawMarks()).observe(this.track);
  }

  private registerCommands(): void {
    const { app } = this;
    const { store } = app;
    const refused = (): string | null => this.refused();
    const group = 'Run' as const;
    const looking = (): string | null => refused() ?? (store.status?.looking_back ? null : t.isNewest);
    register(
      {
        id: 'time.live',
        title: t.backToLive,
        group,
        keys: ['L'],
        refused: looking,
        run: () => void app.do('live'),
      },
      {
        id: 'time.branch',
        title: t.branchFromHere,
        group,
        refused: () => (store.world?.mode === 'replay' ? t.replayOnly : looking()),
        run: () => void app.do('branch'),
      },
      { id: 'time.next', title: t.nextEvent, group, keys: ['>'], refused, run: () => this.toEvent(1) },
      {
        id: 'time.previous',
        title: t.previousEvent,
        group,
        keys: ['<'],
        refused,
        run: () => this.toEvent(-1),
      },
      { id: 'time.start', title: t.toStart, group, hint: t.homeKey, refused, run: () => this.seek(0) },
    );
  }

  private refused(): string | null {
    const { store } = this.app;
    return store.link !== 'open' ? t.noConnection : store.isConsole ? null : t.needControl;
  }

  private seek(stop: number): void {
    const why = this.refused();
    if (why) {
      this.app.toast(`${t.timeline}: ${why}`, 'error');
      return;
    }
    const newest = this.app.store.status?.newest ?? 0;
    void this.seeker.seek(Math.max(0, Math.min(newest, Math.round(stop))));
    this.show();
  }

  /** The stop that is shown, or is on its way. */
  private get stop(): number {
    return this.seeker.wanted ?? this.app.store.status?.stop ?? 0;
  }

  private listen(): void {
    const { track } = this;
    const at = (event: PointerEvent): number => {
      const box = track.getBoundingClientRect();
      const newest = this.app.store.status?.newest ?? 0;
      const x = event.clientX - box.left;
      // Near a contact the hand means the contact.
      const near = event.type === 'pointerdown' ? this.contactNear(x, box.width, newest) : null;
      return near ?? stopAt(x, newest, box.width);
    };
    track.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      track.setPointerCapture(event.pointerId);
      this.seek(at(event));
    });
    track.addEventListener('pointermove', (event) => {
      if (track.hasPointerCapture(event.pointerId)) this.seek(at(event));
      else track.title = this.tip(event);
    });
    track.addEventListener('keydown', (event) => this.key(event));
  }

  private contactNear(x: number, width: number, newest: number): number | null {
    let best: number | null = null;
    let distance = 3;
    for (const stop of this.contacts) {
      const d = Math.abs(placeOfStop(stop, newest, width) - x);
      if (d < distance) [best, distance] = [stop, d];
    }
    return best;
  }

  private tip(event: PointerEvent): string {
    const box = this.track.getBoundingClientRect();
    const s = this.app.store.status;
    if (!s) return '';
    const x = event.clientX - box.left;
    const contact = this.contactNear(x, box.width, s.newest);
    const stop = contact ?? stopAt(x, s.newest, box.width);
    const time = s.newest > 0 ? (stop / s.newest) * s.newest_time : 0;
    return `${t.tick} ${stop} · ${formatTime(time)}${contact === null ? '' : ` · ${t.contact}`}`;
  }

  private key(event: KeyboardEvent): void {
    const s = this.app.store.status;
    if (!s || event.altKey) return;
    const second = s.quantum > 0 ? Math.max(1, Math.round(1 / s.quantum)) : 1;
    const by = event.ctrlKey || event.metaKey ? 1 : event.shiftKey ? 10 * second : second;
    const to: Partial<Record<string, number>> = {
      ArrowLeft: this.stop - by,
      ArrowDown: this.stop - by,
      ArrowRight: this.stop + by,
      ArrowUp: this.stop + by,
      PageUp: this.stop + 10 * second,
      PageDown: this.stop - 10 * second,
      Home: 0,
      End: s.newest,
    };
    const stop = to[event.key];
    if (stop === undefined) return;
    event.preventDefault();
    this.seek(stop);
  }

  private toEvent(direction: 1 | -1): void {
    const stops = [...this.contacts, ...this.marked.map((m) => m.stop)].sort((a, b) => a - b);
    const next = direction > 0 ? stops.find((s) => s > this.stop) : stops.findLast((s) => s < this.stop);
    if (next === undefined) this.app.toast(t.noMoreEvents);
    else this.seek(next);
  }

  private takeEvents(): void {
    const { lines, anew } = this.feed.take(this.app.store.events);
    if (anew) {
      this.contacts = [];
      this.marked = [];
    }
    for (const line of lines) {
      if (line.kind === 'contact') {
        if (this.contacts.at(-1) !== line.stop) this.contacts.push(line.stop);
      } else if (isMarked(line)) this.marked.push(line);
    }
    if (this.contacts.length > MAX_CONTACTS) this.contacts.splice(0, this.contacts.length - MAX_CONTACTS);
    this.drawSoon();
  }

  private drawSoon(): void {
    this.redraw ??= setTimeout(() => {
      this.redraw = undefined;
      this.drawMarks();
    }, REDRAW_MS);
  }

  private newestDrawn = -1;

  private show(): void {
    const s = this.app.store.status;
    if (!s) return;
    if (this.run !== null && this.run !== s.run) {
      // A new run keeps only what had happened up to where it begins.
      this.contacts = this.contacts.filter((stop) => stop <= s.stop);
      this.marked = this.marked.filter((m) => m.stop <= s.stop);
      this.drawSoon();
    }
    this.run = s.run;
    const { stop } = this;
    const share = s.newest > 0 ? Math.min(1, stop / s.newest) : 0;
    this.fillBar.style.width = this.thumb.style.left = `${(100 * share).toFixed(3)}%`;
    const time = stop === s.stop ? s.time : s.newest > 0 ? (stop / s.newest) * s.newest_time : 0;
    this.now.textContent = `${stop} · ${formatTime(time)}`;
    this.end.textContent = formatTime(s.newest_time);
    this.end.title = `${t.newestTick} ${s.newest}`;
    this.track.setAttribute('aria-valuemax', String(s.newest));
    this.track.setAttribute('aria-valuenow', String(stop));
    this.track.setAttribute('aria-valuetext', `${t.tick} ${stop}, ${formatTime(time)}`);
    this.element.dataset['lookingBack'] = String(s.looking_back);
    for (const button of this.element.querySelectorAll('button[data-command]'))
      (button as HTMLButtonElement).disabled = !s.looking_back || !this.app.store.isConsole;
    if (s.newest !== this.newestDrawn) this.drawSoon();
  }

  private drawMarks(): void {
    const { store } = this.app;
    const newest = store.status?.newest ?? 0;
    this.newestDrawn = newest;
    const width = this.track.clientWidth;
    const marks = thin(this.marked, newest, width, MARK_ROOM);
    fill(
      this.marksBox,
      ...marks.map((mark) => {
        const first = mark.lines[0];
        const who = first?.robot ? `${shortName(first.robot)}: ` : '';
        const more = mark.lines.length > 1 ? ` (+${mark.lines.length - 1})` : '';
        const label = `${t.marks[mark.kind]} · ${t.tick} ${mark.stop} · ${who}${first?.text ?? ''}${more}`;
        const button = h('button', {
          class: `mark mark-${mark.kind}`,
          title: label,
          aria: { label },
          data: { stop: String(mark.stop), kind: mark.kind },
          on: {
            click: () => {
              this.seek(mark.stop);
              if (first?.robot && store.exists(first.robot)) store.select([first.robot]);
            },
          },
        });
        button.style.left = `${mark.x}px`;
        return button;
      }),
    );
    this.drawContacts(newest, width);
  }

  private drawContacts(newest: number, width: number): void {
    const canvas = this.contactsCanvas;
    const ratio = devicePixelRatio;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    const context = canvas.getContext('2d');
    if (!context) return;
    context.fillStyle = getComputedStyle(canvas).color;
    const places = pixels(this.contacts, newest, width);
    canvas.dataset['contacts'] = String(places.length);
    for (const x of places) context.fillRect(x * ratio, 0, Math.max(1, ratio), canvas.height);
  }
}
