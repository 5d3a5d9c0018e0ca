/** Draws the occupancy grid of one robot: dark where it believes an object to be, tinted where it knows the floor is free. */

import type { GridFrame } from '../frames';
import { ink } from './ink';
import type { View } from './view';

export class GridLayer {
  private picture: HTMLCanvasElement | null = null;
  private of: GridFrame | null = null;
  private colours = '';

  constructor(private readonly view: View) {}

  draw(context: CanvasRenderingContext2D): void {
    const { grid } = this.view.store;
    if (!grid || grid.columns === 0 || grid.rows === 0) return;
    const colours = `${ink().occupied} ${ink().free}`;
    if (grid !== this.of || colours !== this.colours) this.picture = paint(grid);
    this.of = grid;
    this.colours = colours;
    const { scale } = this.view.store.camera;
    const top = this.view.toCanvas(grid.x, grid.y + grid.rows * grid.cell);
    context.imageSmoothingEnabled = false;
    const [width, height] = [grid.columns * grid.cell * scale, grid.rows * grid.cell * scale];
    if (this.picture) context.drawImage(this.picture, top.x, top.y, width, height);
    context.imageSmoothingEnabled = true;
  }
}

/** One pixel per cell. */
function paint(grid: GridFrame): HTMLCanvasElement | null {
  const picture = document.createElement('canvas');
  picture.width = grid.columns;
  picture.height = grid.rows;
  const context = picture.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  const pixels = context.createImageData(grid.columns, grid.rows);
  const [occupied, free] = [rgb(ink().occupied), rgb(ink().free)];
  for (let row = 0; row < grid.rows; row++)
    for (let column = 0; column < grid.columns; column++) {
      const value = grid.cells[row * grid.columns + column] ?? 128;
      const colour = value > 128 ? occupied : free;
      const sure = value > 128 ? (value - 128) / 127 : (128 - value) / 128;
      // Rows come from below, pixels from above.
      const at = 4 * ((grid.rows - 1 - row) * grid.columns + column);
      pixels.data.set([...colour, Math.round(255 * sure * (value > 128 ? 0.75 : 0.3))], at);
    }
  context.putImageData(pixels, 0, 0);
  return picture;
}

/** Red, green and blue of a computed colour such as `rgb(1, 2, 3)`. */
function rgb(colour: string): [number, number, number] {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}
