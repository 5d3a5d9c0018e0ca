/** The panel *Workers*: who takes the steps of a spread run, what they tell each other, which robots cost most, and what programs
    on other hosts cost. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { shortName } from '../names';
import type { WorkersMessage } from '../protocol';
import { t } from '../strings';
import {
  busiest,
  formatBytes,
  formatMicros,
  priceRows,
  workerRows,
  type PriceRow,
  type WorkerRow,
} from '../workers';

/** Links in the list: those that carried most. */
const MOST_LINKS = 24;

export interface WorkersPanel {
  element: HTMLElement;
  /** The pane has come into sight, or gone. */
  shown(isShown: boolean): void;
}

export function mountWorkers(app: App): WorkersPanel {
  const { store } = app;
  const summary = h('p', { class: 'summary', data: { test: 'workers-summary' } });
  const board = h('div', { class: 'board' });
  const element = h(
    'div',
    {
      class: 'workers',
      tabIndex: 0,
      role: 'region',
      aria: { label: t.workersScroll },
      data: { test: 'workers' },
    },
    summary,
    board,
  );
  let isShown = false;
  let [now, before]: [WorkersMessage | null, WorkersMessage | null] = [null, null];
  const draw = (): void => {
    if (!isShown) return;
    const spread = now?.spread;
    const prices = now ? priceRows(now) : [];
    const priceTables = prices.length > 0 ? [priceTable(prices)] : [];
    if (!now || !spread || spread.workers.length === 0) {
      summary.textContent = t.workersWaiting;
      fill(board, ...priceTables);
      return;
    }
    const words = t.workersSummary(spread.workers.length, spread.lost.length, spread.epochs, spread.again);
    summary.textContent = spread.undivided ? `${words}. ${t.workersUndivided(spread.undivided)}` : words;
    fill(
      board,
      workerTable(workerRows(now, before)),
      linkTable(now),
      robotTable(now, (path) => store.select([path])),
      ...priceTables,
    );
  };
  store.on('workers', () => {
    if (now === store.workers) return;
    [before, now] = [now, store.workers];
    draw();
  });
  return {
    element,
    shown: (is) => {
      isShown = is;
      store.setWorkersOpen(is);
      draw();
    },
  };
}

function table(name: string, caption: string, heads: string[], rows: (string | Node)[][]): HTMLElement {
  return h(
    'table',
    { data: { test: name } },
    h('caption', {}, caption),
    h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell))))),
  );
}

function workerTable(rows: WorkerRow[]): HTMLElement {
  const heads = t.workerColumns;
  return table(
    'worker-table',
    t.workers,
    [
      heads.worker,
      heads.host,
      heads.bodies,
      heads.working,
      heads.waiting,
      heads.rate,
      heads.widened,
      heads.askedAgain,
      heads.state,
    ],
    rows.map((r) => [
      String(r.worker),
      r.host === null ? t.workerHere(r.pid) : t.workerOn(r.host, r.pid),
      String(r.bodies),
      percent(r.working),
      percent(r.waiting),
      r.rate === null ? '–' : t.perSecond(formatBytes(r.rate)),
      String(r.widened),
      String(r.askedAgain),
      r.state,
    ]),
  );
}

function linkTable(message: WorkersMessage): HTMLElement {
  const heads = t.workerLinkColumns;
  return table(
    'worker-links',
    t.workerLinks,
    [heads.from, heads.to, heads.messages, heads.bytes],
    busiest(message.spread?.links ?? [], MOST_LINKS).map((l) => [
      String(l.from),
      String(l.to),
      String(l.messages),
      formatBytes(l.bytes),
    ]),
  );
}

function robotTable(message: WorkersMessage, select: (path: string) => void): HTMLElement {
  const heads = t.heaviestColumns;
  const robots = message.spread?.heaviest ?? [];
  if (robots.length === 0)
    return h('p', { class: 'empty', data: { test: 'heaviest' } }, `${t.heaviestRobots}: ${t.notMeasured}`);
  return table(
    'heaviest',
    t.heaviestRobots,
    [heads.robot, heads.worker, heads.cost, heads.sense, heads.think, heads.act, heads.contact],
    robots.map((r) => [
      h('button', { class: 'plain', on: { click: () => select(r.path) } }, shortName(r.path)),
      String(r.worker),
      ...[r.cost_us, r.sense_us, r.think_us, r.act_us, r.contact_us].map(formatMicros),
    ]),
  );
}

function priceTable(rows: PriceRow[]): HTMLElement {
  const heads = t.priceColumns;
  return table(
    'elsewhere',
    t.prices,
    [heads.place, heads.answers, heads.answer, heads.sent, heads.received],
    rows.map((r) => [
      r.place,
      String(r.answers),
      r.answerUs === null ? '–' : t.micros(formatMicros(r.answerUs)),
      formatBytes(r.sent),
      formatBytes(r.received),
    ]),
  );
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(100 * share)} %`;
}
