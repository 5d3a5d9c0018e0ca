/**
 * The page of a chain of modules (`#/modules`): its scene in space, and a control panel whose commands enter at the
 * head of the chain.
 */

import '../styles/modules.css';
import { fill, h, type Child } from '../dom';
import { t } from '../strings';
import { ModulesLink } from './link';
import * as lines from './scenery';
import type { ModuleEvent, ModuleMessage, Scenery } from './scenery';
import { ModuleSpace } from './space';

/** Events that are shown. */
const MOST_EVENTS = 200;

declare global {
  interface Window {
    /** For tests: the scene that was told last, and what the camera sees. */
    __modules?: { scenery(): Scenery | null; view(): ReturnType<ModuleSpace['view']> };
  }
}

export function showModules(): void {
  const page = new ModulesPage();
  document.title = t.modulesTitle;
  document.body.append(page.root);
  page.start();
}

class ModulesPage {
  private readonly stage = h('div', { class: 'modules-stage' });
  private readonly facts = h('p', { class: 'modules-facts', data: { test: 'facts' } });
  private readonly answer = h('p', { role: 'status', class: 'modules-answer', data: { test: 'answer' } });
  private readonly events = h('ul', {
    class: 'modules-events',
    tabIndex: 0,
    aria: { label: t.modulesEvents },
    data: { test: 'events' },
  });
  private readonly objects = h('select', { aria: { label: t.modulesObject }, data: { test: 'object' } });
  private readonly link = new ModulesLink(
    (message) => this.take(message),
    (isOpen) => (document.body.dataset['link'] = isOpen ? 'open' : 'lost'),
  );
  private readonly low = numbers(t.modulesLow, [-100, -100, -100]);
  private readonly high = numbers(t.modulesHigh, [100, 100, 100]);
  private scenery: Scenery | null = null;
  /** The box that the fields of the reset were filled with. */
  private universe = '';
  private offered: string | null = null;
  private space: ModuleSpace | null = null;
  readonly root = h(
    'main',
    { class: 'modules' },
    h('h1', { class: 'unseen' }, t.modulesTitle),
    this.stage,
    h(
      'aside',
      { class: 'modules-panel', aria: { label: t.modulesPanel } },
      this.facts,
      this.chainGroup(),
      this.moduleGroup(),
      this.viewGroup(),
      this.lineGroup(),
      this.answer,
      h('h2', {}, t.modulesEvents),
      this.events,
    ),
  );

  start(): void {
    this.space = new ModuleSpace(this.stage);
    const space = this.space;
    window.__modules = { scenery: () => this.scenery, view: () => space.view() };
    this.link.connect();
  }

  private take(message: ModuleMessage): void {
    if (message.is === 'scenery') this.show(message);
    else if (message.is === 'events') this.tell(message.lines);
  }

  private show(scenery: Scenery): void {
    this.scenery = scenery;
    this.space?.show(scenery);
    const tip = scenery.arm?.points[4].map((x) => x.toFixed(2)).join(', ');
    fill(this.facts, t.modulesFacts(scenery.at / 1e9, tip ?? null, Object.keys(scenery.boxes).length));
    const { low, high } = scenery.universe;
    // Only when there is another one: what somebody is about to write stays.
    if (this.universe !== [low, high].join()) {
      this.universe = [low, high].join();
      this.low.fill(low);
      this.high.fill(high);
    }
    const offered = Object.keys(scenery.objects).join();
    if (offered === this.offered) return;
    this.offered = offered;
    const choices = ['0', ...Object.keys(scenery.objects)];
    fill(
      this.objects,
      ...choices.map((n) => h('option', { value: n }, n === '0' ? t.modulesNoObject : t.modulesObjectN(n))),
    );
  }

  private tell(events: ModuleEvent[]): void {
    for (const event of events)
      this.events.append(
        h('li', { class: event.is_fine ? '' : 'bad', data: { kind: event.kind } }, event.text),
      );
    while (this.events.childElementCount > MOST_EVENTS) this.events.firstElementChild?.remove();
    this.events.scrollTop = this.events.scrollHeight;
  }

  private async send(line: string): Promise<void> {
    const why = await this.link.send(line, t.noConnection);
    fill(this.answer, why ?? t.modulesSent(line));
    this.answer.classList.toggle('bad', why !== null);
  }

  private toDisplay(command: number, values: readonly number[]): Promise<void> {
    return this.send(lines.command(this.scenery?.display ?? 3, command, values));
  }

  private chainGroup(): HTMLElement {
    return group(
      t.modulesChain,
      row(...this.low.fields),
      row(...this.high.fields),
      row(
        button(t.modulesReset, 'reset', () =>
          this.send(lines.command(0, lines.RESET, [...this.low.values(), ...this.high.values()])),
        ),
        button(t.modulesEnd, 'end', () => this.send(lines.command(0, lines.END))),
      ),
    );
  }

  private moduleGroup(): HTMLElement {
    const [which, parameter, value] = [
      numbers(t.modulesNumber, [2]),
      numbers(t.modulesParameter, [1]),
      numbers(t.modulesValue, [1]),
    ];
    const to = (): number => which.values()[0] ?? 0;
    return group(
      t.modulesModule,
      row(
        ...which.fields,
        button(t.modulesOn, 'on', () => this.send(lines.command(to(), lines.ON))),
        button(t.modulesOff, 'off', () => this.send(lines.command(to(), lines.OFF))),
      ),
      row(
        ...parameter.fields,
        ...value.fields,
        button(t.modulesSet, 'set', () =>
          this.send(lines.command(to(), lines.SET, [...parameter.values(), ...value.values()])),
        ),
      ),
    );
  }

  private viewGroup(): HTMLElement {
    const eye = numbers(t.modulesEye, [25, -25, 18]);
    const towards = numbers(t.modulesTowards, [5, 0, 3]);
    const field = numbers(t.modulesField, [45]);
    return group(
      t.modulesView,
      row(...eye.fields),
      row(
        ...towards.fields,
        button(t.modulesLook, 'look', () =>
          this.toDisplay(lines.VIEW, [...eye.values(), ...towards.values()]),
        ),
      ),
      row(
        ...field.fields,
        button(t.modulesSetField, 'field', () => this.toDisplay(lines.FIELD, field.values())),
      ),
      row(
        this.objects,
        button(t.modulesAttach, 'attach', () => this.toDisplay(lines.ATTACH, [Number(this.objects.value)])),
      ),
    );
  }

  private lineGroup(): HTMLElement {
    const text = h('input', {
      type: 'text',
      value: '0 0 65535 1 0',
      aria: { label: t.modulesLine },
      data: { test: 'line' },
    });
    const form = h(
      'form',
      {
        class: 'modules-row',
        on: {
          submit: (event) => {
            event.preventDefault();
            void this.send(text.value);
          },
        },
      },
      text,
      h('button', { type: 'submit', data: { test: 'send' } }, t.modulesSend),
    );
    return group(t.modulesAnyLine, form);
  }
}

function group(title: string, ...rows: Child[]): HTMLElement {
  return h('fieldset', {}, h('legend', {}, title), ...rows);
}

function row(...children: Child[]): HTMLElement {
  return h('div', { class: 'modules-row' }, ...children);
}

function button(title: string, name: string, act: () => Promise<void>): HTMLElement {
  return h('button', { type: 'button', data: { test: name }, on: { click: () => void act() } }, title);
}

interface Numbers {
  fields: Child[];
  values(): number[];
  fill(values: readonly number[]): void;
}

/** Fields for numbers under one name; a field that holds none counts as 0. */
function numbers(name: string, start: number[]): Numbers {
  const fields = start.map((value, i) =>
    h('input', {
      type: 'number',
      step: 'any',
      value: String(value),
      aria: { label: start.length > 1 ? `${name} ${'xyz'[i] ?? i}` : name },
    }),
  );
  const label = h('span', { class: 'faint' }, name);
  const read = (): number[] => fields.map((f) => (Number.isFinite(f.valueAsNumber) ? f.valueAsNumber : 0));
  const write = (values: readonly number[]): void =>
    fields.forEach((field, i) => (field.value = String(values[i] ?? 0)));
  return { fields: [label, ...fields], values: read, fill: write };
}
