/**
 * Everything in the world as a tree, beside the canvas: the canvas for those who cannot see or point. It
 * mirrors the selection both ways. Long lists are drawn only where they are seen.
 */

import '../styles/editor.css';
import type { App } from '../app';
import { run } from '../commands';
import { fill, h } from '../dom';
import { icon } from '../icons';
import { t } from '../strings';
import { flagsOf } from './flags';
import { above, rows, tree, type Node, type Row } from './outline-rows';

const ROW = 26;
/** Above this many rows only those in sight are drawn. */
const MANY = 1000;

export function mountOutline(app: App): HTMLElement {
  const outline = new Outline(app);
  return h(
    'section',
    { class: 'outline', aria: { label: t.outline } },
    h('h2', {}, t.outline),
    outline.empty,
    outline.element,
  );
}

class Outline {
  readonly element = h('div', { class: 'tree', role: 'tree', tabIndex: 0 });
  readonly empty = h('p', { class: 'nothing', hidden: true }, t.nothingYet);
  private readonly inside = h('div', { class: 'tree-rows', role: 'presentation' });
  private nodes: Node[] = [];
  private list: Row[] = [];
  private readonly shut = new Set<string>();
  private active: string | null = null;
  private typed = { text: '', at: 0 };
  private drawn = '';

  constructor(private readonly app: App) {
    const { store } = app;
    this.element.setAttribute('aria-label', t.outline);
    this.element.setAttribute('aria-multiselectable', 'true');
    this.element.append(this.inside);
    store.on('world', () => this.rebuild());
    store.on('selection', () => this.showSelection());
    store.on('settings', () => this.draw(true));
    this.element.addEventListener('scroll', () => this.draw());
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('click', (event) => this.click(event));
    this.element.addEventListener('dblclick', (event) => {
      if (this.rowAt(event)?.id) run('edit.parameters');
    });
    this.element.addEventListener('contextmenu', (event) => {
      const row = this.rowAt(event);
      if (row?.id && !store.selection.has(row.id)) this.pick(row);
    });
    if ('ResizeObserver' in window) new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private rebuild(): void {
    const { world } = this.app.store;
    this.nodes = world ? tree(world, t.groups) : [];
    this.spread();
  }

  /** The rows anew, after something was opened or shut. */
  private spread(): void {
    this.list = rows(this.nodes, (key) => !this.shut.has(key));
    this.empty.hidden = this.list.length > 0;
    if (!this.list.some((r) => r.key === this.active)) this.active = this.list[0]?.key ?? null;
    this.draw(true);
  }

  private showSelection(): void {
    const ids = [...this.app.store.selection];
    const [only] = ids;
    if (only !== undefined && ids.length === 1) {
      const way = above(this.nodes, only);
      const hidden = way?.filter((key) => this.shut.delete(key)) ?? [];
      if (hidden.length > 0) this.spread();
      if (way) this.reveal(this.list.find((r) => r.id === only)?.key ?? this.active);
    }
    this.draw(true);
  }

  private reveal(key: string | null): void {
    this.active = key;
    const at = this.list.findIndex((r) => r.key === key) * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (at < scrollTop) this.element.scrollTop = at;
    else if (at + ROW > scrollTop + clientHeight && clientHeight > 0)
      this.element.scrollTop = at + ROW - clientHeight;
  }

  private draw(anew = false): void {
    const total = this.list.length;
    const many = total > MANY;
    const first = many ? Math.max(0, Math.floor(this.element.scrollTop / ROW) - 10) : 0;
    const last = many ? Math.min(total, first + Math.ceil(this.element.clientHeight / ROW) + 20) : total;
    const now = `${first} ${last}`;
    if (!anew && now === this.drawn) return;
    this.drawn = now;
    const shown = this.list.slice(first, last).map((row, k) => this.row(row, first + k));
    const current = this.list.findIndex((r) => r.key === this.active);
    if (many && current >= 0 && (current < first || current >= last))
      shown.push(this.row(this.list[current] as Row, current));
    this.inside.style.height = `${total * ROW}px`;
    fill(this.inside, ...shown);
    if (current >= 0) this.element.setAttribute('aria-activedescendant', `row-${current}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  private row(row: Row, number: number): HTMLElement {
    const { store } = this.app;
    const flags = flagsOf(this.app);
    const isSelected = row.id !== null && store.selection.has(row.id);
    const isObject = row.id?.startsWith('/') === true && !row.id.startsWith('/types/');
    const element = h(
      'div',
      {
        class: `tree-row${row.key === this.active ? ' active' : ''}${row.fixed ? ' fixed' : ''}`,
        role: 'treeitem',
        id: `row-${number}`,
        data: { row: String(number), key: row.key },
        aria: {
          level: String(row.level),
          selected: String(isSelected),
          posinset: String(row.place),
          setsize: String(row.of),
          label: row.label,
        },
      },
      row.children > 0
        ? h(
            'span',
            { class: 'twist', data: { twist: '' } },
            icon(this.shut.has(row.key) ? 'open' : 'shut', 12),
          )
        : h('span', { class: 'twist' }),
      icon(row.icon, 15),
      h('span', { class: 'name' }, row.label),
      row.id === null ? h('span', { class: 'tree-count' }, row.children) : null,
      row.id !== null && isObject && this.flag(row.id, row.label, 'locked', flags.isLocked(row.id)),
      row.id !== null && isObject && this.flag(row.id, row.label, 'hidden', flags.isHidden(row.id)),
    );
    element.style.top = `${number * ROW}px`;
    element.style.paddingLeft = `${4 + 12 * (row.level - 1)}px`;
    if (row.children > 0) element.setAttribute('aria-expanded', String(!this.shut.has(row.key)));
    return element;
  }

  private flag(id: string, label: string, what: 'locked' | 'hidden', on: boolean): HTMLElement {
    const title = what === 'locked' ? t.lockOne(label) : t.hideOne(label);
    return h(
      'button',
      {
        class: `flag plain${on ? ' on' : ''}`,
        type: 'button',
        tabIndex: -1,
        title,
        aria: { label: title, pressed: String(on) },
        on: {
          click: (event) => {
            event.stopPropagation();
            flagsOf(this.app).toggle(what, [id]);
          },
        },
      },
      icon(what === 'locked' ? (on ? 'lock' : 'unlock') : on ? 'hidden' : 'shown', 14),
    );
  }

  private rowAt(event: Event): Row | null {
    const element = event.target instanceof Element ? event.target.closest('[data-row]') : null;
    return element instanceof HTMLElement ? (this.list[Number(element.dataset['row'])] ?? null) : null;
  }

  private click(event: MouseEvent): void {
    const row = this.rowAt(event);
    if (!row) return;
    const twisted = event.target instanceof Element && event.target.closest('[data-twist]') !== null;
    if (twisted || (row.id === null && row.key === this.active)) {
      this.active = row.key;
      this.toggle(row);
    } else if (event.shiftKey) this.pickRange(row);
    else if (event.ctrlKey || event.metaKey) this.pick(row, true);
    else this.pick(row);
  }

  private toggle(row: Row): void {
    if (!this.shut.delete(row.key)) this.shut.add(row.key);
    this.spread();
  }

  private pick(row: Row, add = false): void {
    const { store } = this.app;
    this.active = row.key;
    if (row.id === null) {
      this.reveal(row.key);
      this.draw(true);
      return;
    }
    const ids = new Set(add ? store.selection : []);
    if (!ids.delete(row.id)) ids.add(row.id);
    store.select(ids);
    this.reveal(row.key);
  }

  private pickRange(row: Row): void {
    const from = this.list.findIndex((r) => r.key === this.active);
    const to = this.list.indexOf(row);
    const ids = this.list.slice(Math.min(from, to), Math.max(from, to) + 1).flatMap((r) => r.id ?? []);
    this.app.store.select(ids);
  }

  private key(event: KeyboardEvent): void {
    const at = this.list.findIndex((r) => r.key === this.active);
    const row = this.list[at];
    if (!row || event.altKey) return;
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: this.list.length - 1,
      PageDown: at + 10,
      PageUp: at - 10,
    };
    const to = moves[event.key];
    const isPlain = !event.ctrlKey && !event.metaKey;
    if (to !== undefined) this.go(Math.min(this.list.length - 1, Math.max(0, to)), event);
    else if (event.key === 'ArrowRight' && isPlain) this.right(row, at);
    else if (event.key === 'ArrowLeft' && isPlain) this.left(row);
    else if (event.key === 'Enter' && row.id !== null) run('edit.parameters');
    else if (event.key === ' ') this.pick(row, true);
    else if (isPlain && event.key.length === 1 && /[\p{L}\p{N}_-]/u.test(event.key)) this.find(event.key, at);
    else return;
    event.preventDefault();
  }

  private go(to: number, event: KeyboardEvent): void {
    const row = this.list[to];
    if (!row) return;
    if (event.ctrlKey || event.metaKey || row.id === null) {
      this.reveal(row.key);
      this.draw(true);
    } else if (event.shiftKey) this.pick(row, true);
    else this.pick(row);
  }

  private right(row: Row, at: number): void {
    if (row.children === 0) return;
    if (this.shut.has(row.key)) this.toggle(row);
    else this.go(at + 1, new KeyboardEvent('keydown'));
  }

  private left(row: Row): void {
    if (row.children > 0 && !this.shut.has(row.key)) this.toggle(row);
    else if (row.parent !== null) {
      this.reveal(row.parent);
      this.draw(true);
    }
  }

  /** Type-ahead: the next row whose name begins with what was typed within a second. */
  private find(key: string, at: number): void {
    const now = performance.now();
    this.typed = { text: (now - this.typed.at < 1000 ? this.typed.text : '') + key.toLowerCase(), at: now };
    const from = this.typed.text.length > 1 ? at : at + 1;
    const order = [...this.list.slice(from), ...this.list.slice(0, from)];
    const found = order.find((r) => r.label.toLowerCase().startsWith(this.typed.text));
    if (found) this.pick(found);
  }
}
