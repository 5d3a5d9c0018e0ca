/** How numbers are written for people. Pure. */

/** A value with as many digits as help: at most five, no trailing noise. */
export function formatValue(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? '−∞' : 'none';
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value).replace('-', '−');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2).replace('-', '−');
  return value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : size >= 10 ? 3 : 4).replace('-', '−');
}

/** A speed factor: `0.5×`, `12×`, or `max`. */
export function formatFactor(factor: number | null, max: string): string {
  if (factor === null) return max;
  return `${factor >= 10 ? Math.round(factor) : Number(factor.toPrecision(2))}×`;
}

/** Seconds of simulated time: `12.34 s`, `3 min 05.0 s`. */
export function formatTime(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes} min ${(seconds - 60 * minutes).toFixed(1).padStart(4, '0')} s`;
}

/** A register's address: `0x0021`. */
export function hex(value: number, digits: number): string {
  return `0x${value.toString(16).toUpperCase().padStart(digits, '0')}`;
}
