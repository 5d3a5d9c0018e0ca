/** Values over time: any number of plots with any number of lines; a value comes by drag, by its button or from the picker. */

import type { App } from '../app';
import { fill, h } from '../dom';
import { download } from '../download';
import { shortName } from '../names';
import type { Probe } from '../protocol';
import { t } from '../strings';
import { iconButton } from './buttons';
import { droppedProbe, PROBE_TYPE } from './desk';
import { keyOf, labelOf, PlotData, toCsv, toSvg } from './plot-data';
import type { Chart } from './plot-chart';
import { probePicker } from './plot-picker';

/** Most values a display may follow at once. */
const MAX_PROBES = 64;
const REDRAW_MS = 100;
/** Told apart without colour vision as well (and by their dashes). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b08a00', '#56a0d3'];

export interface Plots {
  element: HTMLElement;
  /** Adds a line to the last plot, or makes the first one. */
  add(probe: Probe): void;
  /** The pane has come into sight. */
  shown(): void;
}

interface Plot {
  probes: Probe[];
  chart: Chart | null;
  element: HTMLElement;
}

export function mountPlots(app: App): Plots {
  const pane = new PlotsPane(app);
  return { element: pane.element, add: (probe) => pane.add(probe), shown: () => pane.draw() };
}

class PlotsPane {
  readonly element: HTMLElement;
  private readonly data = new PlotData();
  private readonly plots: Plot[] = [];
  private readonly board = h('div', { class: 'plot-board' });
  private readonly empty = h('p', { class: 'empty' }, t.noPlots);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    const picker = probePicker(app, (probe) => this.add(probe));
    const more = h('button', { on: { click: () => this.newPlot([]) } }, t.newPlot);
    this.element = h(
      'div',
      { class: 'plots', data: { test: 'plots' } },
      h('div', { class: 'pane-tools' }, picker, more),
      this.board,
    );
    this.acceptDrops(this.board, (probe) => this.newPlot([probe]));
    this.board.append(this.empty);
    const { store } = app;
    store.on('samples', () => {
      if (store.samples) this.data.add(store.samples);
      this.drawSoon();
    });
    store.on(['status', 'settings'], () => this.drawSoon());
  }

  add(probe: Probe): void {
    const last = this.plots.at(-1);
    if (last) this.addTo(last, probe);
    else this.newPlot([probe]);
  }

  private newPlot(probes: Probe[]): void {
    const plot: Plot = { probes: [], chart: null, element: h('section', { class: 'plot' }) };
    this.plots.push(plot);
    this.board.append(plot.element);
    this.empty.remove();
    this.acceptDrops(plot.element, (probe) => this.addTo(plot, probe));
    plot.probes = probes;
    this.changed(plot);
  }

  private addTo(plot: Plot, probe: Probe): void {
    if (plot.probes.some((p) => keyOf(p) === keyOf(probe))) return;
    if (this.all().length >= MAX_PROBES) {
      this.app.toast(t.tooManyProbes(MAX_PROBES), 'error');
      return;
    }
    plot.probes.push(probe);
    this.changed(plot);
  }

  private remove(plot: Plot): void {
    plot.chart?.destroy();
    plot.element.remove();
    this.plots.splice(this.plots.indexOf(plot), 1);
    if (this.plots.length === 0) this.board.append(this.empty);
    this.follow();
  }

  private all(): Probe[] {
    return [...new Map(this.plots.flatMap((p) => p.probes).map((p) => [keyOf(p), p])).values()];
  }

  /** Tells the server which values are followed. */
  private follow(): void {
    const all = this.all();
    this.data.keepOnly(all);
    for (const probe of all) this.data.column(probe);
    this.app.store.setProbes(all);
  }

  private changed(plot: Plot): void {
    this.follow();
    plot.chart?.destroy();
    plot.chart = null;
    const place = h('div', { class: 'chart-place' });
    fill(plot.element, this.head(plot), place);
    plot.element.dataset['lines'] = String(plot.probes.length);
    if (plot.probes.length === 0) {
      place.append(h('p', { class: 'empty' }, t.emptyPlot));
      return;
    }
    const probes = plot.probes.slice();
    void import('./plot-chart').then(({ makeChart }) => {
      // Meanwhile another line may have been added.
      if (!place.isConnected || probes.length !== plot.probes.length) return;
      plot.chart = makeChart(probes.map(labelOf), COLOURS);
      place.append(plot.chart.element);
      this.draw();
    });
  }

  private head(plot: Plot): HTMLElement {
    const lines = plot.probes.map((probe, k) => {
      const swatch = h('i', { class: `swatch dash-${k % 3}` });
      swatch.style.setProperty('--line-colour', COLOURS[k % COLOURS.length] ?? '');
      const drop = iconButton(t.removeLine(labelOf(probe)), 'close', () => {
        plot.probes.splice(plot.probes.indexOf(probe), 1);
        this.changed(plot);
      });
      return h('span', { class: 'line-name', data: { probe: keyOf(probe) } }, swatch, labelOf(probe), drop);
    });
    const name = plot.probes[0] ? shortName(labelOf(plot.probes[0]).replaceAll(/[^\w.]+/g, '-')) : 'plot';
    const save = (title: string, make: () => void): HTMLElement =>
      h(
        'button',
        {
          class: 'plain',
          disabled: plot.probes.length === 0,
          aria: { label: t.exportAs(title) },
          on: { click: make },
        },
        title,
      );
    return h(
      'header',
      {},
      h('div', { class: 'line-names' }, ...lines),
      h('div', { class: 'spring' }),
      save('CSV', () =>
        download(`${name}.csv`, new Blob([toCsv(this.data, plot.probes)], { type: 'text/csv' })),
      ),
      save('SVG', () =>
        download(
          `${name}.svg`,
          new Blob([toSvg(this.data, plot.probes, COLOURS)], { type: 'image/svg+xml' }),
        ),
      ),
      save('PNG', () => plot.chart?.picture().toBlob((blob) => blob && download(`${name}.png`, blob))),
      iconButton(t.removePlot, 'close', () => this.remove(plot)),
    );
  }

  private acceptDrops(target: HTMLElement, take: (probe: Probe) => void): void {
    const isProbe = (event: DragEvent): boolean => event.dataTransfer?.types.includes(PROBE_TYPE) ?? false;
    target.addEventListener('dragover', (event) => {
      if (!isProbe(event)) return;
      event.preventDefault();
      event.stopPropagation();
      target.classList.add('drop');
    });
    target.addEventListener('dragleave', () => target.classList.remove('drop'));
    target.addEventListener('drop', (event) => {
      target.classList.remove('drop');
      if (!isProbe(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const probe = droppedProbe(event.dataTransfer);
      if (probe) take(probe);
    });
  }

  private drawSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, REDRAW_MS);
  }

  draw(): void {
    this.element.dataset['rows'] = String(this.data.times.length);
    if (!this.element.isConnected || this.element.clientWidth === 0) return;
    const s = this.app.store.status;
    const now = s?.looking_back ? s.time : null;
    for (const { chart, probes } of this.plots)
      chart?.draw(
        this.data.times,
        probes.map((p) => this.data.column(p)),
        now,
      );
  }
}
