/**
 * Every small line drawing of the page: one path each, in the colour of the text around it.
 *
 * A name stands for one picture. What a world is made of is drawn on a finer grid than what is on other
 * buttons, because there is more in its pictures.
 */

/** The side of the grid an icon is drawn on, and its path. */
const ICONS = {
  play: [16, 'M5 3l8 5-8 5z'],
  pause: [16, 'M5 3v10M11 3v10'],
  step: [16, 'M4 3l6 5-6 5zM12.5 3v10'],
  back: [16, 'M12 3L6 8l6 5zM3.5 3v10'],
  reset: [16, 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5.5h3'],
  search: [16, 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14'],
  help: [16, 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.6 8 9.1 8 10M8 12.6v.1'],
  theme: [16, 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12'],
  more: [16, 'M3.5 8h.1M8 8h.1M12.5 8h.1'],
  gallery: [16, 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z'],
  left: [16, 'M2 3h12v10H2zM6 3v10'],
  right: [16, 'M2 3h12v10H2zM10 3v10'],
  down: [16, 'M3.5 6l4.5 4.5L12.5 6'],
  close: [16, 'M4 4l8 8M12 4l-8 8'],
  plus: [16, 'M8 3v10M3 8h10'],
  plot: [16, 'M2.5 2.5v11h11M4.5 10.5l3-4 2.5 2 3.5-5'],
  copy: [16, 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1'],
  gear: [
    16,
    'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M8.5 4.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0zM4.5 11.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0z',
  ],
  branch: [16, 'M4 3v10M4 10c0-3 8-2 8-6M2.5 13h3M10.5 4h3'],
  live: [16, 'M8 8h.1M4.5 4.5a5 5 0 0 0 0 7M11.5 4.5a5 5 0 0 1 0 7'],
  person: [16, 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4'],
  warning: [16, 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.1'],
  error: [16, 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4'],
  info: [16, 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.5v3.5M8 5v.1'],
  save: [16, 'M3 3h8l2 2v8H3zM5.5 3v3.5h4V3M5.5 13V9.5h5V13'],
  pencil: [16, 'M3 13l.7-3L11 2.7 13.3 5 6 12.3z'],
  minus: [16, 'M3 8h10'],
  fit: [16, 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4M5.5 5.5h5v5h-5z'],
  selection: [16, 'M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M8 5.5v5M5.5 8h5'],
  follow: [16, 'M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M8 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7'],
  layers: [16, 'M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3'],
  cube: [16, 'M8 1.5l5.5 3v7L8 14.5l-5.5-3v-7zM8 8v6.5M8 8l5.5-3.5M8 8L2.5 4.5'],
  'robots-eye': [
    16,
    'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4a2 2 0 1 0 0-4',
  ],
  return: [16, 'M6 3L2 7l4 4M2 7h7a4 4 0 0 1 0 8H7'],

  robot: [20, 'M5 10a5 5 0 0 1 10 0v5H5zM10 5V2.5M8 10.5h.01M12 10.5h.01M3 11v3M17 11v3M8 15v2M12 15v2'],
  beacon: [20, 'M8 7h4l1.5 10h-7zM8 7V4.5L10 3l2 1.5V7M7.5 11h5M5.5 5 2.5 4M14.5 5l3-1'],
  box: [20, 'M3.5 5.5h13v9h-13z'],
  disc: [20, 'M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z'],
  polygon: [20, 'M4 7l7-4 6 5-2 8-9 1z'],
  movable: [20, 'M10 6a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 1v3M10 16v3M1 10h3M16 10h3'],
  wall: [20, 'M2.5 15.5V7h15v8.5M2.5 7V4.5h15V7M7.5 4.5V7M12.5 7v4M7.5 11v4M2.5 11h15'],
  track: [20, 'M3 17c0-6 3-6 6-7s7-2 7-7M6 17c0-4 2-4.5 5-5.5'],
  sensor: [20, 'M4 10h2M8 10a2 2 0 1 1 .01 0M12 6a6 6 0 0 1 0 8M15 3.500a9.5 9.5 0 0 1 0 13'],
  actuator: [
    20,
    'M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM10 8.500a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zM10 1.500V4M10 16v2.500M1.5 10H4M16 10h2.5',
  ],
  controller: [20, 'M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3'],
  type: [20, 'M5 4h10v12H5zM8 8h4M8 12h4'],
  world: [20, 'M3 4h14v12H3zM3 10h14M10 4v12'],
  undo: [20, 'M7 4 3 8l4 4M3 8h8a5 5 0 0 1 0 10H8'],
  redo: [20, 'M13 4l4 4-4 4M17 8H9a5 5 0 0 0 0 10h3'],
  lock: [20, 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3'],
  unlock: [20, 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 5.6-1.5'],
  shown: [20, 'M2 10c4-6.5 12-6.5 16 0-4 6.5-12 6.5-16 0zM10 7.500a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z'],
  hidden: [20, 'M2 10c4-6.5 12-6.5 16 0-4 6.5-12 6.5-16 0zM3 17 17 3'],
  open: [20, 'M7 5l6 5-6 5'],
  shut: [20, 'M5 7l5 6 5-6'],
  snap: [20, 'M4 3v8a6 6 0 0 0 12 0V3h-3.500v8a2.5 2.5 0 0 1-5 0V3zM4 6.500h3.500M12.5 6.500H16'],
} as const;

export type IconName = keyof typeof ICONS;

/** The size of an icon that is given none, by the grid it is drawn on. */
const USUAL = { 16: 16, 20: 18 } as const;

/** An icon, hidden from screen readers: what carries it has a name of its own. */
export function icon(name: IconName, size?: number): SVGSVGElement {
  const [grid, path] = ICONS[name];
  const side = String(size ?? USUAL[grid]);
  const svg = svgElement('svg', {
    viewBox: `0 0 ${grid} ${grid}`,
    width: side,
    height: side,
    class: 'icon',
    'aria-hidden': 'true',
  });
  svg.append(svgElement('path', { d: path }));
  return svg;
}

/** An SVG element with attributes. */
export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
