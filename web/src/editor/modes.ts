/** What the pointer does on the canvas: selecting, or one mode that takes over (drawing, corners). */

import type { App } from '../app';
import { viewOf } from '../view/view';
import { say } from './hints';

export interface Mode {
  /** Its name, for the page's `data-mode` and for tests. */
  name: string;
  hint: string;
  /** Answers whether it used the event. */
  pointer(event: PointerEvent | MouseEvent): boolean;
  key(event: KeyboardEvent): boolean;
  draw(context: CanvasRenderingContext2D): void;
  /** Called when it ends, however that came. */
  end?(): void;
}

let mode: Mode | null = null;

export function currentMode(): Mode | null {
  return mode;
}

export function enter(app: App, next: Mode): void {
  leave(app);
  mode = next;
  document.body.dataset['mode'] = next.name;
  say(app, next.hint);
  const view = viewOf(app);
  view.canvas.focus();
  view.requestDraw();
}

export function leave(app: App): void {
  const ended = mode;
  mode = null;
  delete document.body.dataset['mode'];
  say(app, '');
  ended?.end?.();
  viewOf(app).requestDraw();
}

/** Keys of the mode come before those of commands. */
export function startModes(app: App): void {
  addEventListener(
    'keydown',
    (event) => {
      if (!mode || event.target instanceof HTMLInputElement || !mode.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  viewOf(app).overlay((context) => mode?.draw(context));
}
