/** Rows of numbers of which only the newest so many are kept. */

export class Ring {
  private readonly data: Float32Array;
  /** Rows ever added: row `k` is there while `first <= k < end`. */
  end = 0;

  constructor(
    /** Numbers per row. */
    readonly width: number,
    /** Rows that are kept. */
    readonly capacity: number,
  ) {
    this.data = new Float32Array(width * capacity);
  }

  get first(): number {
    return Math.max(0, this.end - this.capacity);
  }

  get length(): number {
    return this.end - this.first;
  }

  push(...row: number[]): void {
    this.data.set(row, (this.end % this.capacity) * this.width);
    this.end += 1;
  }

  /** One number of a row. */
  at(row: number, column: number): number {
    return this.data[(row % this.capacity) * this.width + column] ?? 0;
  }

  clear(): void {
    this.end = 0;
  }
}
