/**
 * Messages on the canvas: a dot that moves from the sender to the receiver between the moments it was sent and
 * arrived, a cross where one was lost; and thin lines between robots that could hear each other.
 */

import { colourNumber, startOf, type Arrow } from '../comms';
import { DisplayClock } from './clock';
import { ink } from './ink';
import { poseAt } from './pick';
import { isCalm } from './settings';
import type { View } from './view';

const COLOURS = ['comm-0', 'comm-1', 'comm-2', 'comm-3', 'comm-4', 'comm-5', 'comm-6', 'comm-7'] as const;

type Context = CanvasRenderingContext2D;

/** Messages drawn at once. */
const MOST = 2000;
/** A loss, and the way of a message that has just come, stay so long, in seconds of the person's. */
const LINGER = 0.45;
/** Where the cross of a message stands that was lost on its way, as a share of the way. */
const LOST_AT = 0.6;

/** A message where it is drawn: metres of the world. */
export interface ShownMessage {
  arrow: Arrow;
  x: number;
  y: number;
  /** 1 while it is under way; less when it fades. */
  strength: number;
}

export class MessageLayer {
  private readonly clock = new DisplayClock();

  constructor(private readonly view: View) {
    const { store } = view;
    store.on('frame', () => {
      const isGoing = store.status?.state === 'running' && !isCalm();
      if (store.frame) this.clock.frame(store.frame.time, performance.now(), isGoing);
    });
    store.on('status', () => {
      if (store.status?.state !== 'running') this.clock.arrive();
    });
  }

  /** Pairs of bodies that are linked, in the world that is shown. */
  links(): readonly [number, number][] {
    const { store } = this.view;
    const { links, world, frame, layers } = store;
    if (!layers.links || !world || !frame || links?.revision !== world.revision) return [];
    return (links.pairs ?? []).filter(([a, b]) => a < frame.count && b < frame.count);
  }

  drawLinks(context: Context): void {
    const { frame } = this.view.store;
    const pairs = this.links();
    if (!frame || pairs.length === 0) return;
    context.beginPath();
    for (const [a, b] of pairs) {
      const [p, q] = [poseAt(frame.rows, a), poseAt(frame.rows, b)];
      const [from, to] = [this.view.toCanvas(p.x, p.y), this.view.toCanvas(q.x, q.y)];
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    }
    context.strokeStyle = ink().link;
    context.globalAlpha = 0.3;
    context.lineWidth = 1;
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The messages that are drawn now. */
  shown(wall = performance.now()): ShownMessage[] {
    const { store } = this.view;
    const { comms, layers, status } = store;
    if (!layers.messages || comms.arrows.length === 0) return [];
    const now = this.clock.at(wall);
    // At rest what was lost in the step that is shown is still to be seen.
    const lostFor = Math.max(this.clock.rate * LINGER, status?.quantum ?? 0);
    const cameFor = this.clock.rate * LINGER;
    const found: ShownMessage[] = [];
    for (const arrow of comms.between(now - Math.max(lostFor, cameFor), now, MOST)) {
      const from = store.poseOf(arrow.from);
      const to = store.poseOf(arrow.to);
      if (!from || !to) continue;
      const place = placeOf(arrow, now, arrow.fate === 'lost' ? lostFor : cameFor);
      if (!place) continue;
      const x = from.x + (to.x - from.x) * place.share;
      const y = from.y + (to.y - from.y) * place.share;
      found.push({ arrow, x, y, strength: place.strength });
    }
    return found;
  }

  drawMessages(context: Context): void {
    const wall = performance.now();
    const list = this.shown(wall);
    const { store } = this.view;
    for (const { arrow, x, y, strength } of list) {
      const at = this.view.toCanvas(x, y);
      const sender = store.poseOf(arrow.from);
      context.strokeStyle = context.fillStyle =
        ink()[COLOURS[colourNumber(store.comms, arrow.protocol)] ?? 'link'];
      if (sender) {
        // The way it has come, so that one sees whose it is.
        const from = this.view.toCanvas(sender.x, sender.y);
        context.globalAlpha = 0.35 * strength;
        context.lineWidth = 1.25;
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.lineTo(at.x, at.y);
        context.stroke();
      }
      context.globalAlpha = strength;
      if (arrow.fate === 'lost' && strength < 1) drawCross(context, at);
      else drawDot(context, at);
    }
    context.globalAlpha = 1;
    if (this.clock.isMoving(wall)) this.view.requestDraw();
  }
}

/** How far along its way a message is drawn at a moment, and how strongly; `null` when it is not drawn. */
export function placeOf(
  arrow: Arrow,
  now: number,
  linger: number,
): { share: number; strength: number } | null {
  const sent = startOf(arrow);
  if (now < sent) return null;
  const end = arrow.at;
  // Nobody knows yet when it comes: it has left.
  if (end === null) return { share: 0.1, strength: 1 };
  const isLost = arrow.fate === 'lost';
  // What was lost as it was sent never went all the way.
  const goal = isLost && end <= sent ? LOST_AT : 1;
  if (now < end) return { share: (goal * (now - sent)) / (end - sent), strength: 1 };
  const left = linger > 0 ? 1 - (now - end) / linger : 0;
  if (left <= 0) return null;
  return { share: goal, strength: Math.min(0.99, 0.25 + 0.75 * left) };
}

function drawDot(context: Context, { x, y }: { x: number; y: number }): void {
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = ink().halo;
  context.stroke();
}

function drawCross(context: Context, { x, y }: { x: number; y: number }): void {
  context.strokeStyle = ink().failed;
  context.lineWidth = 2.25;
  context.beginPath();
  context.moveTo(x - 5, y - 5);
  context.lineTo(x + 5, y + 5);
  context.moveTo(x + 5, y - 5);
  context.lineTo(x - 5, y + 5);
  context.stroke();
}
