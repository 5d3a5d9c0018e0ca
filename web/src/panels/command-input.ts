/** A line to type commands: completion with Tab, earlier lines with the arrows, what may follow in a list above. */

import { fill, h } from '../dom';
import { recall, remember } from '../settings';
import { t } from '../strings';

const MAX_HISTORY = 100;

export class CommandInput {
  readonly element: HTMLElement;
  private readonly list = h('ul', {
    class: 'completions',
    id: 'completions',
    role: 'listbox',
    hidden: true,
    aria: { label: t.completions },
  });
  private readonly input = h('input', {
    type: 'text',
    autocomplete: 'off',
    spellcheck: false,
    placeholder: t.commandLine,
    role: 'combobox',
    aria: { label: t.commandLine, controls: 'completions', expanded: 'false', autocomplete: 'list' },
    data: { test: 'command-line' },
  });
  private readonly history: string[];
  /** Place in the history, from its end; 0 is the line being typed. */
  private back = 0;
  private options: string[] = [];
  private chosen = -1;

  constructor(
    private readonly complete: (line: string) => string[],
    private readonly obey: (line: string) => void,
  ) {
    const kept = recall('commands');
    this.history = Array.isArray(kept) ? kept.filter((line) => typeof line === 'string') : [];
    this.element = h(
      'div',
      { class: 'command-line' },
      h('span', { aria: { hidden: 'true' } }, '›'),
      this.input,
      this.list,
    );
    this.input.addEventListener('input', () => this.offer());
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.input.addEventListener('blur', () => this.hide());
  }

  private offer(): void {
    this.back = 0;
    this.options = this.input.value === '' ? [] : this.complete(this.input.value);
    this.chosen = -1;
    this.show();
  }

  private show(): void {
    fill(
      this.list,
      ...this.options.map((option, k) =>
        h(
          'li',
          {
            id: `completion-${k}`,
            role: 'option',
            aria: { selected: String(k === this.chosen) },
            on: {
              // Before the field loses its focus.
              pointerdown: (event) => {
                event.preventDefault();
                this.take(option);
              },
            },
          },
          option,
        ),
      ),
    );
    this.list.hidden = this.options.length === 0;
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    if (this.chosen >= 0) this.input.setAttribute('aria-activedescendant', `completion-${this.chosen}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  private hide(): void {
    this.options = [];
    this.chosen = -1;
    this.show();
  }

  private take(option: string): void {
    this.input.value = option;
    this.offer();
  }

  private key(event: KeyboardEvent): void {
    const open = this.options.length > 0;
    const done: Partial<Record<string, () => void>> = {
      Enter: () => (this.chosen >= 0 ? this.take(this.options[this.chosen] ?? '') : this.enter()),
      ArrowUp: () => (open && this.chosen >= 0 ? this.choose(-1) : this.recall(1)),
      ArrowDown: () => (open && this.back === 0 ? this.choose(1) : this.recall(-1)),
    };
    if (open) {
      done['Tab'] = () => this.take(this.options[Math.max(0, this.chosen)] ?? '');
      done['Escape'] = () => this.hide();
    }
    const act = done[event.key];
    if (!act || event.shiftKey) return;
    event.preventDefault();
    act();
  }

  private choose(by: number): void {
    this.chosen = (this.chosen + by + this.options.length) % this.options.length;
    this.show();
  }

  private recall(by: number): void {
    this.back = Math.max(0, Math.min(this.history.length, this.back + by));
    this.input.value = this.back === 0 ? '' : (this.history.at(-this.back) ?? '');
    this.hide();
  }

  private enter(): void {
    const line = this.input.value.trim();
    if (!line) return;
    if (this.history.at(-1) !== line) this.history.push(line);
    if (this.history.length > MAX_HISTORY) this.history.shift();
    remember('commands', this.history);
    this.back = 0;
    this.input.value = '';
    this.hide();
    this.obey(line);
  }
}
