/**
 * What is under the resting pointer, in a small box beside it: a robot's name, type and pose, or the
 * number behind a ray, arc or circle with its unit and register. Numbers are asked of the server, at
 * most five times a second, and asked again while the run goes on.
 */

import { h, fill, type Child } from '../dom';
import { CARRIED, FAILED, HALTED, TOUCHING, WAITED_FOR } from '../frames';
import { shortName } from '../names';
import { t } from '../strings';
import { isShown } from './marks';
import { markAt, type Picked, type PickedMark } from './pick';
import type { View } from './view';

const ASK_MS = 200;

interface Answer {
  key: string;
  value: number;
  unit: string;
  register: { address: number; bytes: number } | null;
}

export class Hover {
  readonly element = h('div', { class: 'hover', role: 'tooltip', hidden: true, data: { test: 'hover' } });
  private at: { clientX: number; clientY: number } | null = null;
  private mark: PickedMark | null = null;
  private object: Picked | null = null;
  private answer: Answer | null = null;
  private asked = 0;
  private timer = 0;

  constructor(private readonly view: View) {
    view.canvas.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'touch') return;
      this.at = { clientX: event.clientX, clientY: event.clientY };
      view.requestDraw();
    });
    view.canvas.addEventListener('pointerleave', () => this.leave());
    view.canvas.addEventListener('pointerdown', () => this.leave());
  }

  /** The point of the world under the pointer, or `null` when it is elsewhere. */
  get place(): { x: number; y: number } | null {
    return this.at && this.view.toWorld(this.at.clientX, this.at.clientY);
  }

  /** Looks again what is under the pointer; called with every picture, since things move under it. */
  update(): void {
    const { place, view } = this;
    if (!place || view.isPanning) {
      this.element.hidden = true;
      return;
    }
    const top = view.objectAt(place.x, place.y);
    this.mark = null;
    this.object = top;
    if (top?.kind !== 'robot' && top?.kind !== 'movable') {
      const accept = (body: number, mark: PickedMark['mark']): boolean => isShown(view.store, body, mark);
      this.mark = markAt(view.store, place.x, place.y, view.slack, accept);
    }
    if (this.mark) this.ask(this.mark);
    this.show();
  }

  private leave(): void {
    this.at = null;
    this.mark = null;
    this.object = null;
    this.element.hidden = true;
    this.view.requestDraw();
  }

  private show(): void {
    const lines = this.mark ? this.markLines(this.mark) : this.object ? this.objectLines(this.object) : [];
    this.element.hidden = lines.length === 0;
    if (lines.length === 0 || !this.at) return;
    fill(this.element, ...lines);
    const box = this.view.canvas.getBoundingClientRect();
    const [x, y] = [this.at.clientX - box.left, this.at.clientY - box.top];
    const { offsetWidth, offsetHeight } = this.element;
    // Beside the pointer, on whichever side there is room.
    const left = x + 16 + offsetWidth > box.width ? x - 12 - offsetWidth : x + 16;
    const top = y + 16 + offsetHeight > box.height ? y - 12 - offsetHeight : y + 16;
    this.element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  private objectLines({ id, kind, body }: Picked): Child[] {
    const { world, frame } = this.view.store;
    const pose = this.view.store.poseOf(id);
    const type = body === null ? undefined : world?.drawing.types[world.bodies[body]?.type ?? -1];
    const lines: Child[] = [
      h('strong', {}, shortName(id)),
      h('span', { class: 'of' }, kind === 'robot' ? (type?.name ?? '') : t.objectKinds[kind]),
    ];
    if (pose) {
      const degrees = ((pose.heading * 180) / Math.PI).toFixed(0);
      lines.push(h('div', {}, `${pose.x.toFixed(3)}, ${pose.y.toFixed(3)} m · ${degrees}°`));
    }
    const flags = body === null ? 0 : (frame?.flags[body] ?? 0);
    const words = STATES.filter(([flag]) => flags & flag).map(([, word]) => word);
    if (words.length > 0) lines.push(h('div', { class: 'state' }, words.join(', ')));
    const beacon = world?.drawing.beacons?.find((b) => b.path === id);
    if (beacon) {
      const aperture = ((beacon.aperture * 180) / Math.PI).toFixed(0);
      lines.push(h('div', {}, t.beaconText(beacon.id, aperture, beacon.range)));
    }
    return lines;
  }

  private markLines(picked: PickedMark): Child[] {
    const names = this.namesOf(picked);
    if (!names) return [];
    const { answer } = this;
    const isAnswered = answer?.key === names.key;
    const register = isAnswered ? answer.register : null;
    return [
      h(
        'strong',
        { data: { test: 'hover-value' } },
        isAnswered ? `${tidy(answer.value)} ${answer.unit}`.trim() : '…',
      ),
      h('span', { class: 'of' }, `${names.part}.${names.channel}[${names.index}]`),
      h('div', {}, shortName(names.robot)),
      register &&
        h('div', { data: { test: 'hover-register' } }, t.registerAt(hex(register.address), register.bytes)),
    ];
  }

  private namesOf({
    body,
    mark,
  }: PickedMark): { robot: string; part: string; channel: string; index: number; key: string } | null {
    const { world } = this.view.store;
    const found = world?.bodies[body];
    const part = found && world?.types[found.type]?.parts[mark.part];
    const channel = part?.channels[mark.channel];
    if (!found || !part || !channel) return null;
    const names = { robot: found.path, part: part.name, channel: channel.name, index: mark.index };
    return { ...names, key: Object.values(names).join(' ') };
  }

  private ask(picked: PickedMark): void {
    const names = this.namesOf(picked);
    if (!names || this.view.store.link !== 'open') return;
    const stop = this.view.store.frame?.stop ?? 0;
    const key = `${names.key} ${stop}`;
    const wait = this.asked + ASK_MS - performance.now();
    if (this.lastKey === key) return;
    if (wait > 0) {
      // The run may have stopped meanwhile, and then no picture would ask again.
      if (this.timer === 0)
        this.timer = window.setTimeout(() => {
          this.timer = 0;
          this.view.requestDraw();
        }, wait);
      return;
    }
    this.lastKey = key;
    this.asked = performance.now();
    const { robot, part, channel, index } = names;
    this.view.app.link.ask('value', { robot, part, channel, index }).then(
      (ok) => {
        const { value, unit, register } = ok as unknown as Answer;
        this.answer = { key: names.key, value, unit, register };
        this.view.requestDraw();
      },
      // A robot that has just gone has no value; the next picture has no mark either.
      () => (this.answer = null),
    );
  }

  private lastKey = '';
}

const STATES: [number, string][] = [
  [HALTED, t.bodyStates.halted],
  [FAILED, t.bodyStates.failed],
  [TOUCHING, t.bodyStates.touching],
  [CARRIED, t.bodyStates.carried],
  [WAITED_FOR, t.bodyStates.waitedFor],
];

function tidy(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}

function hex(address: number): string {
  return `0x${address.toString(16).padStart(2, '0')}`;
}
