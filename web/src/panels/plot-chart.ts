/** One chart, drawn by uPlot. Loaded when the first plot is made. */

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h } from '../dom';
import type { Column } from './plot-data';

export interface Chart {
  element: HTMLElement;
  /** Draws these values; `now` is the moment that is shown elsewhere, or `null`. */
  draw(times: number[], columns: Column[], now: number | null): void;
  /** What is drawn, on a plain ground. */
  picture(): HTMLCanvasElement;
  destroy(): void;
}

export function makeChart(labels: string[], colours: string[]): Chart {
  const element = h('div', { class: 'chart' });
  let now: number | null = null;
  let plot: uPlot | null = null;
  const ink = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim() || '#888';
  const axis = (): uPlot.Axis => ({
    stroke: () => ink('--plot-ink'),
    grid: { stroke: () => ink('--plot-grid'), width: 1 },
    ticks: { stroke: () => ink('--plot-grid'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  });
  const cursorLine = (u: uPlot): void => {
    if (now === null) return;
    const x = u.valToPos(now, 'x', true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    u.ctx.save();
    u.ctx.strokeStyle = ink('--plot-now');
    u.ctx.setLineDash([4, 4]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  };
  const size = (): { width: number; height: number } => ({
    width: Math.max(160, element.clientWidth),
    height: Math.max(80, element.clientHeight),
  });
  const build = (data: uPlot.AlignedData): uPlot =>
    new uPlot(
      {
        ...size(),
        legend: { show: false },
        cursor: { y: false, drag: { x: true, y: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis(), size: 30 },
          { ...axis(), size: 52 },
        ],
        series: [
          {},
          ...labels.map((label, k) => ({
            label,
            stroke: colours[k % colours.length] ?? '#888',
            width: 1.5,
            points: { show: false },
            // Lines differ in their dashes as well as in their colours.
            ...(k % 3 === 0 ? {} : { dash: k % 3 === 1 ? [8, 4] : [2, 3] }),
          })),
        ],
        hooks: { draw: [cursorLine] },
      },
      data,
      element,
    );
  const resize = new ResizeObserver(() => plot?.setSize(size()));
  resize.observe(element);
  return {
    element,
    draw(times, columns, shown) {
      now = shown;
      const data = [times, ...columns] as uPlot.AlignedData;
      if (plot) plot.setData(data);
      else if (element.clientWidth > 0) plot = build(data);
    },
    picture() {
      const copy = document.createElement('canvas');
      const source = plot?.ctx.canvas;
      copy.width = source?.width ?? 1;
      copy.height = (source?.height ?? 1) + 20 * labels.length * devicePixelRatio;
      const context = copy.getContext('2d');
      if (!context || !source) return copy;
      context.fillStyle = ink('--ground');
      context.fillRect(0, 0, copy.width, copy.height);
      context.drawImage(source, 0, 0);
      context.scale(devicePixelRatio, devicePixelRatio);
      context.font = '12px system-ui, sans-serif';
      labels.forEach((label, k) => {
        context.fillStyle = colours[k % colours.length] ?? '#888';
        context.fillText(`— ${label}`, 56, source.height / devicePixelRatio + 14 + 20 * k);
      });
      return copy;
    },
    destroy() {
      resize.disconnect();
      plot?.destroy();
    },
  };
}
