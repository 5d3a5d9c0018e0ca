/** Small line drawings, made of one path each, in the colour of the text around them. */

const PATHS = {
  robot: 'M5 10a5 5 0 0 1 10 0v5H5zM10 5V2.5M8 10.5h.01M12 10.5h.01M3 11v3M17 11v3M8 15v2M12 15v2',
  beacon: 'M8 7h4l1.5 10h-7zM8 7V4.5L10 3l2 1.5V7M7.5 11h5M5.5 5 2.5 4M14.5 5l3-1',
  box: 'M3.5 5.5h13v9h-13z',
  disc: 'M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z',
  polygon: 'M4 7l7-4 6 5-2 8-9 1z',
  movable: 'M10 6a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 1v3M10 16v3M1 10h3M16 10h3',
  wall: 'M2.5 15.5V7h15v8.5M2.5 7V4.5h15V7M7.5 4.5V7M12.5 7v4M7.5 11v4M2.5 11h15',
  track: 'M3 17c0-6 3-6 6-7s7-2 7-7M6 17c0-4 2-4.5 5-5.5',
  sensor: 'M4 10h2M8 10a2 2 0 1 1 .01 0M12 6a6 6 0 0 1 0 8M15 3.500a9.5 9.5 0 0 1 0 13',
  actuator:
    'M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM10 8.500a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zM10 1.500V4M10 16v2.500M1.5 10H4M16 10h2.5',
  controller: 'M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3',
  type: 'M5 4h10v12H5zM8 8h4M8 12h4',
  world: 'M3 4h14v12H3zM3 10h14M10 4v12',
  run: 'M6 4l10 6-10 6z',
  undo: 'M7 4 3 8l4 4M3 8h8a5 5 0 0 1 0 10H8',
  redo: 'M13 4l4 4-4 4M17 8H9a5 5 0 0 0 0 10h3',
  lock: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3',
  unlock: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 5.6-1.5',
  eye: 'M2 10c4-6.5 12-6.5 16 0-4 6.5-12 6.5-16 0zM10 7.500a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  hidden: 'M2 10c4-6.5 12-6.5 16 0-4 6.5-12 6.5-16 0zM3 17 17 3',
  open: 'M7 5l6 5-6 5',
  shut: 'M5 7l5 6 5-6',
  snap: 'M4 3v8a6 6 0 0 0 12 0V3h-3.500v8a2.5 2.5 0 0 1-5 0V3zM4 6.500h3.500M12.5 6.500H16',
  remove: 'M5 5l10 10M15 5 5 15',
  file: 'M5 2.500h7l3.5 3.500v11.500H5zM12 2.500V6h3.5',
  save: 'M3.5 3.500h11l2 2v11h-13zM6.5 3.500v4h6v-4M6 16.500v-5h8v5',
  link: 'M8.5 11.500a3 3 0 0 0 4.5 0l3-3a3 3 0 0 0-4.5-4.500L10 5.500M11.5 8.500a3 3 0 0 0-4.5 0l-3 3a3 3 0 0 0 4.5 4.500l1.5-1.5',
  plus: 'M10 4v12M4 10h12',
} as const;

export type IconName = keyof typeof PATHS;

const SVG = 'http://www.w3.org/2000/svg';

/** An icon, hidden from screen readers: what carries it has a name of its own. */
export function icon(name: IconName, size = 18): SVGSVGElement {
  const svg = svgElement('svg', {
    viewBox: '0 0 20 20',
    width: String(size),
    height: String(size),
    class: 'icon',
  });
  svg.setAttribute('aria-hidden', 'true');
  svg.append(svgElement('path', { d: PATHS[name] }));
  return svg;
}

/** An SVG element with attributes. */
export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
