/** Draws a laid-out message-sequence chart as SVG: lines of robots, arrows, crosses, crashes, the time. */

import { colourNumber, type Arrow, type CommStore } from '../comms';
import { svgElement } from '../icons';
import { TICKS, ticks, type DrawnArrow, type Frame, type Lifeline, type Sequence } from './sequence';

/** Names of arrows are written when they have so many pixels each. */
const ROOM = 9;
const HEAD = 6;
/** Where the cross of a message stands that was lost as it was sent, as a share of the way. */
const LOST_AT = 0.6;

type Attributes = Record<string, string | number>;

function make<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes,
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const text = Object.entries(attributes).map(([name, value]) => [
    name,
    typeof value === 'number' ? value.toFixed(1) : value,
  ]);
  const element = svgElement(tag, Object.fromEntries(text) as Record<string, string>);
  element.append(...children);
  return element;
}

/** Everything in the chart for one window. `now` is the moment that is shown. */
export function drawSequence(
  sequence: Sequence,
  comms: CommStore,
  frame: Frame,
  { now, chosen, choose }: { now: number; chosen: Arrow | null; choose: (arrow: Arrow) => void },
): Node[] {
  const { height, width, window } = frame;
  const nowY = ((now - window.from) / window.span) * height;
  const hasNames = sequence.arrows.length * ROOM < height * 1.5;
  const arrows = sequence.arrows.map((drawn) => {
    const group = drawArrow(drawn, colourNumber(comms, drawn.arrow.protocol), hasNames);
    if (drawn.arrow === chosen) group.classList.add('chosen');
    // What comes after the moment that is shown has not happened there.
    if ((drawn.arrow.sent ?? 0) > now) group.classList.add('later');
    // Not `click`: while a run goes on the picture is drawn anew between press and release.
    group.addEventListener('pointerdown', () => choose(drawn.arrow));
    return group;
  });
  const last = arrows.findIndex((group) => group.classList.contains('chosen'));
  // The chosen one lies on top.
  if (last >= 0) arrows.push(...arrows.splice(last, 1));
  return [
    ...ticks(frame, TICKS).map(({ y }) => make('line', { class: 'tick', x1: 0, x2: width, y1: y, y2: y })),
    ...sequence.lines.flatMap(drawLine),
    make('line', { class: 'cursor', x1: 0, x2: width, y1: nowY, y2: nowY }),
    ...arrows,
  ];
}

function drawLine({ x, stretches, turns }: Lifeline): Node[] {
  return [
    ...stretches.map(({ y1, y2, isCrashed }) =>
      make('line', { class: isCrashed ? 'life crashed' : 'life', x1: x, x2: x, y1, y2 }),
    ),
    ...turns.map(({ y, what }) =>
      what === 'crashed'
        ? make('path', { class: 'crash', d: cross(x, y, 6) })
        : make('circle', { class: 'recovery', cx: x, cy: y, r: 5 }),
    ),
  ];
}

function drawArrow({ arrow, x1, y1, x2, y2 }: DrawnArrow, colour: number, hasName: boolean): SVGGElement {
  const isLost = arrow.fate === 'lost';
  // What was lost as it was sent ends on the way.
  const isShort = isLost && y2 - y1 < 0.5;
  const [endX, endY] = isShort ? [x1 + (x2 - x1) * LOST_AT, y2] : [x2, y2];
  const line: Attributes = { x1, y1, x2: endX, y2: endY };
  const group = make(
    'g',
    {
      class: `arrow ${arrow.fate === 'under way' ? 'under-way' : arrow.fate}`,
      'data-serial': String(arrow.serial),
      'data-to': arrow.to,
    },
    // Wide and unseen, for hands that are not that steady.
    make('line', { class: 'grip', ...line }),
    make('line', { class: 'shaft', ...line }),
  );
  if (isLost) group.append(make('path', { class: 'loss', d: cross(endX, endY, 4.5) }));
  else if (arrow.fate === 'received') group.append(make('path', { class: 'head', d: head(x1, y1, x2, y2) }));
  if (hasName) {
    const share = isShort ? 0.3 : 0.5;
    const [x, y] = [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
    group.append(make('text', { x, y: y - 3, 'text-anchor': 'middle' }, arrow.label));
  }
  group.style.setProperty('--arrow', `var(--view-comm-${colour})`);
  return group;
}

const cross = (x: number, y: number, r: number): string =>
  `M${(x - r).toFixed(1)} ${(y - r).toFixed(1)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;

function head(x1: number, y1: number, x2: number, y2: number): string {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [((x2 - x1) / length) * HEAD, ((y2 - y1) / length) * HEAD];
  const at = (x: number, y: number): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const [a, b] = [at(x2 - dx - dy / 2, y2 - dy + dx / 2), at(x2 - dx + dy / 2, y2 - dy - dx / 2)];
  return `M${at(x2, y2)}L${a}L${b}z`;
}
