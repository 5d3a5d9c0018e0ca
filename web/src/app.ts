/**
 * The page as a whole: the store, the connection between it and the server, and the few ways in which
 * the page speaks to the person in front of it (toasts and announcements).
 */

import { CommsFeed } from './comms-feed';
import { h } from './dom';
import { Link, Refused } from './link';
import type { Change } from './protocol';
import { readSheets } from './sheets';
import { Store } from './store';
import { t } from './strings';

export class App {
  readonly store = new Store();
  readonly link: Link;
  readonly comms: CommsFeed;
  readonly toasts = h('div', { class: 'toasts', role: 'status', aria: { live: 'polite' } });
  readonly live = h('div', { class: 'unseen', aria: { live: 'polite' }, data: { test: 'announcer' } });
  private wishesSent = '';

  constructor() {
    const { store } = this;
    const token = new URLSearchParams(location.search).get('token');
    this.link = new Link(
      {
        message: (m) => {
          switch (m.is) {
            case 'welcome':
              Object.assign(store, { me: m.you, key: m.key, build: m.build, project: m.project });
              store.events = [];
              void this.fetchSheets();
              break;
            case 'status':
              document.body.dataset['runState'] = m.state;
              store.setStatus(m);
              break;
            case 'control':
              store.control = m;
              store.changed('control');
              break;
            case 'world':
              store.setWorld(m);
              break;
            case 'inspect':
              store.inspect = m;
              store.changed('inspect');
              break;
            case 'samples':
              store.samples = m;
              store.changed('samples');
              break;
            case 'events':
              store.addEvents(m.lines);
              break;
            case 'comms':
              this.comms.take(m);
              break;
            case 'links':
              store.links = m;
              store.changed('links');
              break;
            case 'workers':
              store.workers = m;
              store.changed('workers');
              break;
            case 'problems':
              store.problems = { ...store.problems, [m.from]: m.list };
              store.changed('problems');
              break;
          }
        },
        frame: (f) => {
          // A frame of a world that this page has not been told about yet cannot be drawn.
          if (f.revision !== store.world?.revision) return;
          if (f.kind === 'bodies') store.frame = f;
          else if (f.kind === 'marks') store.marks = f;
          else store.grid = f;
          store.changed(f.kind === 'bodies' ? 'frame' : f.kind);
        },
        state: (state, why) => {
          store.link = state;
          store.linkWhy = why;
          document.body.dataset['link'] = state;
          store.changed('link');
        },
      },
      token,
    );
    // Before the feed, so that the server knows what is wanted when the feed asks what was before.
    store.on(['selection', 'layers', 'world', 'wishes'], () => this.sendWishes());
    this.comms = new CommsFeed(this);
  }

  /** Does something that the server may refuse; the reason is shown. Answers whether it was done. */
  async do(what: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown> | null> {
    try {
      return await this.link.ask(what, more);
    } catch (why) {
      this.fail(why);
      return null;
    }
  }

  /** Changes the document: one undo step, named `label`. */
  edit(label: string, changes: Change[]): Promise<Record<string, unknown> | null> {
    return this.do('edit', { label, changes, revision: this.store.world?.revision ?? 0 });
  }

  /** Shows why something was refused. */
  fail(why: unknown): void {
    if (!(why instanceof Refused)) throw why;
    const { message, help, problems } = why.failure;
    if (problems?.length) {
      this.store.problems = { ...this.store.problems, document: problems };
      this.store.changed('problems');
    }
    this.toast([message, help].filter(Boolean).join(' · '), 'error');
  }

  /** Shows a short message for a while; `action` offers something, such as undoing. */
  toast(text: string, kind: 'info' | 'error' = 'info', action?: { title: string; run(): void }): void {
    const close = (): void => toast.remove();
    const toast = h(
      'div',
      { class: `toast ${kind}`, data: { test: 'toast' } },
      h('span', {}, text),
      action &&
        h(
          'button',
          {
            on: {
              click: () => {
                action.run();
                close();
              },
            },
          },
          action.title,
        ),
      h('button', { class: 'plain', aria: { label: t.close }, on: { click: close } }, '×'),
    );
    while (this.toasts.childElementCount >= 4) this.toasts.firstElementChild?.remove();
    this.toasts.append(toast);
    setTimeout(close, kind === 'error' ? 12_000 : 6_000);
  }

  /** Says something to screen readers. */
  announce(text: string): void {
    this.live.textContent = text;
  }

  private async fetchSheets(): Promise<void> {
    const answer = await this.do('sheets');
    this.store.sheets = readSheets(answer?.['sheets']);
    this.store.changed('sheets');
  }

  private sendWishes(): void {
    const wishes = this.store.wishes();
    const text = JSON.stringify(wishes);
    if (text === this.wishesSent) return;
    this.wishesSent = text;
    this.link.watch(wishes);
  }
}
