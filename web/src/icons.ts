/** Small line icons, drawn on a grid of 16 × 16 in the colour of the text around them. */

const PATHS = {
  play: 'M5 3l8 5-8 5z',
  pause: 'M5 3v10M11 3v10',
  step: 'M4 3l6 5-6 5zM12.5 3v10',
  back: 'M12 3L6 8l6 5zM3.5 3v10',
  reset: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5.5h3',
  stop: 'M4 4h8v8H4z',
  undo: 'M6 3L3 6l3 3M3 6h6a4 4 0 0 1 0 8H7',
  redo: 'M10 3l3 3-3 3M13 6H7a4 4 0 0 0 0 8h2',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.6 8 9.1 8 10M8 12.6v.1',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  gallery: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  left: 'M2 3h12v10H2zM6 3v10',
  right: 'M2 3h12v10H2zM10 3v10',
  down: 'M3.5 6l4.5 4.5L12.5 6',
  up: 'M3.5 10.5L8 6l4.5 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  plot: 'M2.5 2.5v11h11M4.5 10.5l3-4 2.5 2 3.5-5',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  gear: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M8.5 4.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0zM4.5 11.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0z',
  branch: 'M4 3v10M4 10c0-3 8-2 8-6M2.5 13h3M10.5 4h3',
  live: 'M8 8h.1M4.5 4.5a5 5 0 0 0 0 7M11.5 4.5a5 5 0 0 1 0 7',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.1',
  error: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.5v3.5M8 5v.1',
  save: 'M3 3h8l2 2v8H3zM5.5 3v3.5h4V3M5.5 13V9.5h5V13',
  exit: 'M9 3H3v10h6M7 8h7M11.5 5.5L14 8l-2.5 2.5',
  pencil: 'M3 13l.7-3L11 2.7 13.3 5 6 12.3z',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  const attributes = {
    viewBox: '0 0 16 16',
    width: '16',
    height: '16',
    class: 'icon',
    'aria-hidden': 'true',
  };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  const path = document.createElementNS(ns, 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
