/**
 * What part of the world is seen, as plain arithmetic: the camera is the world point at the middle of the
 * canvas and the pixels per metre. Pixels are CSS pixels from the canvas' top left corner.
 */

import type { Camera } from '../store';
import { isEmpty, type Box } from './geometry';

export interface Size {
  width: number;
  height: number;
}

/** One metre is never less nor more than this many pixels. */
export const MIN_SCALE = 2;
export const MAX_SCALE = 5000;
/** 100 %: a metre is a hundred pixels. */
export const FULL_SCALE = 100;

export function clampScale(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}

export function toPixels(camera: Camera, size: Size, x: number, y: number): { x: number; y: number } {
  return {
    x: size.width / 2 + (x - camera.x) * camera.scale,
    y: size.height / 2 - (y - camera.y) * camera.scale,
  };
}

export function toMetres(camera: Camera, size: Size, px: number, py: number): { x: number; y: number } {
  return {
    x: camera.x + (px - size.width / 2) / camera.scale,
    y: camera.y - (py - size.height / 2) / camera.scale,
  };
}

/** Zooms by a factor; the world point under (px, py) stays there. */
export function zoomedAt(camera: Camera, size: Size, px: number, py: number, factor: number): Camera {
  const scale = clampScale(camera.scale * factor);
  const under = toMetres(camera, size, px, py);
  const [dx, dy] = [px - size.width / 2, py - size.height / 2];
  return { x: under.x - dx / scale, y: under.y + dy / scale, scale };
}

/** Moves the picture by pixels, as a hand would. */
export function pannedBy(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y + dy / camera.scale };
}

/** The camera that shows a whole box, with a margin for what lies on the canvas above and below. */
export function fitted(box: Box, size: Size): Camera | null {
  if (isEmpty(box) || size.width <= 0 || size.height <= 0) return null;
  const room = (length: number, margin: number): number => Math.max(length - 2 * margin, length / 2);
  const scale = Math.min(
    room(size.width, 28) / Math.max(box.maxX - box.minX, 1e-3),
    room(size.height, 50) / Math.max(box.maxY - box.minY, 1e-3),
  );
  return { x: (box.minX + box.maxX) / 2, y: (box.minY + box.maxY) / 2, scale: clampScale(scale) };
}

/** The part of the world that is seen. */
export function seen(camera: Camera, size: Size): Box {
  const [w, h] = [size.width / 2 / camera.scale, size.height / 2 / camera.scale];
  return { minX: camera.x - w, minY: camera.y - h, maxX: camera.x + w, maxY: camera.y + h };
}

/** A camera between two others; scales go evenly for the eye. */
export function between(a: Camera, b: Camera, share: number): Camera {
  const mix = (p: number, q: number): number => p + (q - p) * share;
  const scale = a.scale * Math.pow(b.scale / a.scale, share);
  return { x: mix(a.x, b.x), y: mix(a.y, b.y), scale };
}

/** A round length of about `pixels` on the screen, for the scale bar. */
export function barLength(scale: number, pixels: number): number {
  const want = pixels / scale;
  const ten = Math.pow(10, Math.floor(Math.log10(want)));
  return ([5, 2, 1].find((n) => n * ten <= want * 1.0001) ?? 1) * ten;
}

/** A length as people write it: `2 m`, `50 cm`, `5 mm`. */
export function lengthText(metres: number): string {
  const tidy = (n: number): string => String(Number(n.toPrecision(6)));
  if (metres >= 1000) return `${tidy(metres / 1000)} km`;
  if (metres >= 1) return `${tidy(metres)} m`;
  return metres >= 0.01 ? `${tidy(metres * 100)} cm` : `${tidy(metres * 1000)} mm`;
}
