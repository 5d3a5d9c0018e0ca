/** Dragging a field's label sideways changes its number; letting go writes it once. */

/** Digits of the step by the size of the number: 0.01 for 0.25, 1 for 40. */
export function stepFor(value: number): number {
  const size = Math.abs(value);
  if (size === 0) return 0.01;
  return 10 ** Math.max(-4, Math.floor(Math.log10(size)) - 1);
}

/** A number with its unit, moved by steps: `25cm` by 3 is `28cm`. `null` when there is no number. */
export function moved(text: string, steps: number): string | null {
  const found = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)\s*$/i.exec(text);
  if (!found) return null;
  const value = Number(found[1]);
  const step = stepFor(value);
  const digits = Math.max(0, -Math.round(Math.log10(step)));
  return `${Number((value + steps * step).toFixed(digits))}${found[2] ?? ''}`;
}

const PIXELS_PER_STEP = 4;

export function scrub(label: HTMLElement, input: HTMLInputElement): void {
  label.classList.add('scrub');
  label.addEventListener('pointerdown', (down) => {
    const start = input.value || input.placeholder;
    if (down.button !== 0 || moved(start, 0) === null) return;
    let isDragging = false;
    const move = (event: PointerEvent): void => {
      const steps = Math.trunc((event.clientX - down.clientX) / PIXELS_PER_STEP);
      if (!isDragging && steps === 0) return;
      isDragging = true;
      input.value = moved(start, steps) ?? start;
      input.dispatchEvent(new Event('input'));
    };
    const end = (event: PointerEvent): void => {
      label.removeEventListener('pointermove', move);
      label.removeEventListener('pointerup', end);
      label.removeEventListener('pointercancel', end);
      if (!isDragging) return;
      if (event.type === 'pointerup') input.dispatchEvent(new Event('change'));
      label.addEventListener('click', (click) => click.preventDefault(), { once: true });
    };
    label.setPointerCapture(down.pointerId);
    label.addEventListener('pointermove', move);
    label.addEventListener('pointerup', end);
    label.addEventListener('pointercancel', end);
  });
}
