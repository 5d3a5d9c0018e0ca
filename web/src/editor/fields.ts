/**
 * One field per parameter of a sheet: label, value, unit, description. Typing and Enter (or leaving the
 * field) writes the value for all entries shown; Escape takes the typing back.
 */

import type { App } from '../app';
import { fill, h } from '../dom';
import type { SheetParam } from '../protocol';
import type { Entry } from '../store';
import { t } from '../strings';
import { degrees, short, typedNumber } from './numbers';
import { setPlaces } from './places';
import { previewOf } from './preview';
import { scrub } from './scrub';
import { settle } from './settle';
import { defaultText, fieldOf, typeNames } from './subject';
import { parseValue, plain } from './toml';

export interface Field {
  element: HTMLElement;
  /** Shows the values of these entries. */
  update(entries: readonly Entry[]): void;
}

let serial = 0;

export function makeField(app: App, param: SheetParam, first: readonly Entry[]): Field {
  const id = `field-${++serial}`;
  const message = h('p', { class: 'field-message', id: `${id}-message`, hidden: true });
  let entries = first;
  const say = (problem: string | null, input: HTMLElement): void => {
    message.hidden = problem === null;
    message.textContent = problem ?? '';
    if (problem === null) {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-describedby');
    } else {
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', message.id);
    }
  };
  const write = async (typed: string, input: HTMLElement): Promise<void> => {
    say(await settle(app, entries, param, typed), input);
  };
  const control = controlOf(app, param, id, write, say);
  const label = h('label', { htmlFor: id, title: param.summary }, titleOf(param), param.required ? ' *' : '');
  if (control.scrub) scrub(label, control.scrub);
  const element = h(
    'div',
    { class: `field field-${param.kind}`, data: { param: param.name } },
    label,
    h(
      'div',
      { class: 'field-value' },
      control.element,
      control.unit && h('span', { class: 'unit' }, control.unit),
    ),
    message,
  );
  const update = (now: readonly Entry[]): void => {
    entries = now;
    control.show(now);
  };
  update(first);
  return { element, update };
}

/** A parameter's name for people: `cone_angle` → `Cone angle`. */
export function titleOf(param: SheetParam): string {
  const own: Record<string, string> = t.paramTitles;
  const words = own[param.name] ?? param.name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Control {
  element: HTMLElement;
  unit?: string;
  /** Called with what is typed while its label is dragged. */
  scrub?: HTMLInputElement;
  show(entries: readonly Entry[]): void;
}

type Write = (typed: string, input: HTMLElement) => Promise<void>;
type Say = (problem: string | null, input: HTMLElement) => void;

function controlOf(app: App, param: SheetParam, id: string, write: Write, say: Say): Control {
  switch (param.kind) {
    case 'bool':
      return checkbox(param, id, write);
    case 'choice':
      return select(param, id, write, () => param.choices);
    case 'name':
      return select(param, id, write, () => namesOf(app, param.of ?? ''));
    case 'pose':
      return place(app, param, id, write, say, ['x', 'y', 'heading']);
    case 'point':
      return place(app, param, id, write, say, ['x', 'y']);
    case 'points':
    case 'rows':
    case 'inline':
      return area(param, id, write);
    default:
      return param.name === 'colour' ? colour(param, id, write) : line(app, param, id, write);
  }
}

/** The text of a parameter that all entries share; `mixed` when they differ. */
function shared(entries: readonly Entry[], key: string): { text: string | null; mixed: boolean } {
  const texts = new Set(entries.map((e) => (key === 'name' ? e.name : fieldOf(e, key))));
  const [text] = texts;
  return texts.size > 1 ? { text: null, mixed: true } : { text: text ?? null, mixed: false };
}

function namesOf(app: App, of: string): string[] {
  if (of === 'type') return typeNames(app.store);
  const entries = app.store.world?.entries ?? [];
  return entries.filter((e) => e.section === of).flatMap((e) => e.name ?? []);
}

function line(app: App, param: SheetParam, id: string, write: Write): Control {
  const input = h('input', { type: 'text', id, autocomplete: 'off', spellcheck: false });
  if (['number', 'int', 'period'].includes(param.kind)) input.classList.add('number');
  const keep = commits(input, (typed) => write(typed, input));
  const isNumber = param.kind === 'number' || param.kind === 'int';
  input.addEventListener('input', () => previewOf(app).typed(param.name, input.value));
  return {
    element: input,
    unit: param.unit,
    ...(isNumber ? { scrub: input } : {}),
    show: (entries) => {
      const { text, mixed } = shared(entries, param.name);
      input.placeholder = mixed ? t.mixed : defaultText(param);
      input.dataset['mixed'] = String(mixed);
      keep(text === null ? '' : plain(text));
    },
  };
}

function colour(param: SheetParam, id: string, write: Write): Control {
  const input = h('input', {
    type: 'text',
    id,
    autocomplete: 'off',
    spellcheck: false,
    placeholder: '#rrggbb',
  });
  const swatch = h('input', { type: 'color', aria: { label: t.chooseColour }, value: '#888888' });
  const keep = commits(input, (typed) => write(typed, input));
  swatch.addEventListener('change', () => void write(swatch.value, input));
  return {
    element: h('div', { class: 'joined' }, input, swatch),
    show: (entries) => {
      const { text, mixed } = shared(entries, param.name);
      input.placeholder = mixed ? t.mixed : '#rrggbb';
      const value = text === null ? '' : plain(text);
      if (/^#[0-9a-f]{6}$/i.test(value)) swatch.value = value;
      keep(value);
    },
  };
}

function area(param: SheetParam, id: string, write: Write): Control {
  const input = h('textarea', { id, rows: 1, spellcheck: false });
  const grow = (): void => void (input.rows = Math.min(6, Math.max(1, Math.ceil(input.value.length / 24))));
  input.addEventListener('input', grow);
  const keep = commits(input, (typed) => write(typed, input));
  return {
    element: input,
    unit: param.unit,
    show: (entries) => {
      const { text, mixed } = shared(entries, param.name);
      input.placeholder = mixed ? t.mixed : (param.default ?? '');
      keep(text?.trim() ?? '');
      grow();
    },
  };
}

function checkbox(param: SheetParam, id: string, write: Write): Control {
  const input = h('input', { type: 'checkbox', id });
  input.addEventListener('change', () => void write(String(input.checked), input));
  return {
    element: input,
    show: (entries) => {
      const { text, mixed } = shared(entries, param.name);
      input.indeterminate = mixed;
      input.checked = (text ?? param.default) === 'true';
    },
  };
}

function select(param: SheetParam, id: string, write: Write, choices: () => string[]): Control {
  const input = h('select', { id });
  input.addEventListener('change', () => void write(input.value, input));
  return {
    element: input,
    show: (entries) => {
      const { text, mixed } = shared(entries, param.name);
      const value = text === null ? '' : plain(text);
      const none = mixed ? t.mixed : param.default === null ? '–' : t.byDefault(plain(param.default));
      const names = choices();
      if (value !== '' && !names.includes(value)) names.push(value);
      const first = param.required && value !== '' ? [] : [h('option', { value: '' }, none)];
      fill(input, ...first, ...names.map((n) => h('option', { value: n }, n)));
      input.value = value;
    },
  };
}

/** The numbers of a place, each a field of its own. */
function place(app: App, param: SheetParam, id: string, write: Write, say: Say, names: string[]): Control {
  let entries: readonly Entry[] = [];
  const parts = (entry: Entry): string[] => {
    const value = parseValue(fieldOf(entry, param.name) ?? param.default ?? '');
    return names.map((_, k) => (Array.isArray(value) ? String(value[k] ?? 0) : ''));
  };
  const inputs = names.map((name, k) => {
    const input = h('input', {
      type: 'text',
      class: 'number',
      autocomplete: 'off',
      spellcheck: false,
      aria: { label: `${titleOf(param)} ${name}` },
    });
    if (k === 0) input.id = id;
    const quantity = name === 'heading' ? 'angle' : 'length';
    const keep = commits(input, async (typed) => {
      const value = typed.trim() === '' ? '0' : typedNumber(typed, quantity);
      if (value === null) return say(t.notANumber(typed), input);
      const first = entries[0];
      if (!first) return;
      if (entries.length > 1) return writeEach(app, entries, param, k, value, input, say);
      const own = parts(first).map((p, n) => (n === k ? value : written(p)));
      await write(`[${own.join(', ')}]`, input);
    });
    return { input, keep, name };
  });
  const element = h(
    'div',
    { class: `place place-${names.length}`, role: 'group', aria: { label: titleOf(param) } },
    ...inputs.map(({ input, name }) => h('span', { class: 'joined', data: { of: name } }, input)),
  );
  if (param.name === 'at') previewOf(app).on(element, () => showPreview(app, entries, inputs));
  return {
    element,
    show: (now) => {
      entries = now;
      const texts = now.map(parts);
      inputs.forEach(({ input, keep }, k) => {
        const own = new Set(texts.map((p) => p[k]));
        const [only] = own;
        input.placeholder = own.size > 1 ? t.mixed : '0';
        input.dataset['mixed'] = String(own.size > 1);
        keep(own.size > 1 ? '' : (only ?? ''));
      });
    },
  };
}

function written(part: string): string {
  return part === '' ? '0' : /^[-+.\d]+(e[-+]?\d+)?$/i.test(part) ? part : `"${part}"`;
}

/** Sets one number of the places of several entries, each keeping its others. */
async function writeEach(
  app: App,
  entries: readonly Entry[],
  param: SheetParam,
  k: number,
  value: string,
  input: HTMLElement,
  say: Say,
): Promise<void> {
  say(await setPlaces(app, entries, param, k, value), input);
}

/** While something is dragged or turned, the fields follow. */
function showPreview(
  app: App,
  entries: readonly Entry[],
  inputs: { input: HTMLInputElement; keep(text: string): void; name: string }[],
): void {
  const path = entries.length === 1 ? entries[0]?.paths[0] : undefined;
  const pose = path === undefined ? null : previewOf(app).poseOf(path);
  if (!pose) return;
  for (const { input, keep, name } of inputs) {
    if (document.activeElement === input) continue;
    keep(
      name === 'x'
        ? short(pose.x)
        : name === 'y'
          ? short(pose.y)
          : `${short(Math.round(degrees(pose.heading) * 100) / 100)}deg`,
    );
  }
}

/** Enter or leaving writes, Escape takes back. Answers how to show a value without disturbing typing. */
function commits(
  input: HTMLInputElement | HTMLTextAreaElement,
  write: (typed: string) => Promise<void> | void,
): (text: string) => void {
  let shown = '';
  const commit = (): void => {
    if (input.value === shown) return;
    shown = input.value;
    void write(input.value);
  };
  input.addEventListener('change', commit);
  input.addEventListener('keydown', (event) => {
    const key = (event as KeyboardEvent).key;
    if (key === 'Enter' && !(event as KeyboardEvent).shiftKey) {
      event.preventDefault();
      commit();
    } else if (key === 'Escape' && input.value !== shown) {
      event.preventDefault();
      event.stopPropagation();
      input.value = shown;
    }
  });
  return (text) => {
    const isTyping = document.activeElement === input && input.value !== shown;
    shown = text;
    if (!isTyping && input.getAttribute('aria-invalid') !== 'true') input.value = text;
    if (input.getAttribute('aria-invalid') === 'true' && input.value === text)
      input.removeAttribute('aria-invalid');
  };
}
