/** Speed factors: where they stand on the slider, and what digits typed in a row mean. Pure. */

/** The last place of the slider is "as fast as possible"; the ones before go from 0.1× to 100× in equal ratios. */
export const SLIDER_MAX = 61;
const LOWEST = 0.1;
const PLACES = SLIDER_MAX - 1;
const RATIO = 1000;

export function factorAt(place: number): number | null {
  if (place >= SLIDER_MAX) return null;
  const exact = LOWEST * RATIO ** (Math.max(0, place) / PLACES);
  return Number(exact.toPrecision(2));
}

export function placeOf(factor: number | null): number {
  if (factor === null) return SLIDER_MAX;
  const place = (Math.log(factor / LOWEST) / Math.log(RATIO)) * PLACES;
  return Math.min(PLACES, Math.max(0, Math.round(place)));
}

/** Digits typed in a row: `2` is 2×, `50` is 50×, `05` is 0.5×, a single `0` is as fast as possible (`null`). */
export function chordFactor(digits: string): number | null {
  if (digits === '0') return null;
  const factor = digits.startsWith('0') ? Number(`0.${digits.slice(1)}`) : Number(digits);
  return Math.min(1000, Math.max(LOWEST, factor));
}
