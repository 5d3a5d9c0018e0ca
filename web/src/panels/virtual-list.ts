/** A long list of rows of equal height of which only those in sight are elements; they are used again. */

import { h } from '../dom';

export interface Rows {
  count(): number;
  /** Writes row `k` into an element. */
  write(row: HTMLElement, k: number): void;
}

export class VirtualList {
  readonly element: HTMLElement;
  private readonly space = h('div', { class: 'space' });
  private readonly pool: HTMLElement[] = [];
  private pending = false;
  /** Whether the end is in sight, and shall stay so. */
  private following = true;

  constructor(
    private readonly rows: Rows,
    private readonly height: number,
    label: string,
  ) {
    this.element = h(
      'div',
      { class: 'virtual-list', tabIndex: 0, role: 'log', aria: { label, live: 'off' } },
      this.space,
    );
    this.element.addEventListener('scroll', () => {
      const { scrollTop, scrollHeight, clientHeight } = this.element;
      this.following = scrollTop + clientHeight >= scrollHeight - this.height;
      this.draw();
    });
    new ResizeObserver(() => this.changed()).observe(this.element);
  }

  /** Draws again soon: something has been added or filtered. */
  changed(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.space.style.height = `${this.rows.count() * this.height}px`;
      if (this.following) this.element.scrollTop = this.element.scrollHeight;
      this.draw();
    });
  }

  /** Goes to the end and stays there. */
  follow(): void {
    this.following = true;
    this.changed();
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - 4);
    const last = Math.min(this.rows.count(), Math.ceil((scrollTop + clientHeight) / this.height) + 4);
    while (this.pool.length < last - first) {
      const row = h('div', { class: 'row' });
      row.style.height = `${this.height}px`;
      this.pool.push(row);
      this.space.append(row);
    }
    this.pool.forEach((row, k) => {
      const number = first + k;
      row.hidden = number >= last;
      if (row.hidden) return;
      row.style.transform = `translateY(${number * this.height}px)`;
      row.dataset['row'] = String(number);
      this.rows.write(row, number);
    });
  }
}
