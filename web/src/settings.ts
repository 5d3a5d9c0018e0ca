/** What a person has chosen about the page itself; kept in this browser, never sent to the server. */

export interface Settings {
  theme: 'system' | 'light' | 'dark';
  /** With a mouse the wheel zooms; on a trackpad two fingers pan. */
  pointing: 'mouse' | 'trackpad';
  motion: 'system' | 'reduced';
}

const DEFAULTS: Settings = { theme: 'system', pointing: 'mouse', motion: 'system' };
const CHOICES: { [K in keyof Settings]: readonly Settings[K][] } = {
  theme: ['system', 'light', 'dark'],
  pointing: ['mouse', 'trackpad'],
  motion: ['system', 'reduced'],
};

/** Reads something kept in this browser; `null` when it is not there or not readable. */
export function recall(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(`swarmyard.${name}`) ?? 'null');
  } catch {
    return null;
  }
}

/** Keeps something in this browser; where that is forbidden, the page works without it. */
export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(`swarmyard.${name}`, JSON.stringify(value));
  } catch {
    // Private windows may refuse; nothing else depends on it.
  }
}

export function readSettings(): Settings {
  return sane(recall('settings'));
}

/** The settings among what was found; what is unknown takes its default. */
export function sane(found: unknown): Settings {
  const given = (typeof found === 'object' && found !== null ? found : {}) as Record<string, unknown>;
  const pick = <K extends keyof Settings>(name: K): Settings[K] =>
    CHOICES[name].find((choice) => choice === given[name]) ?? DEFAULTS[name];
  return { theme: pick('theme'), pointing: pick('pointing'), motion: pick('motion') };
}

/** Shows the settings on the page: the theme, and whether things may move. */
export function applySettings(settings: Settings): void {
  const { dataset } = document.documentElement;
  if (settings.theme === 'system') delete dataset['theme'];
  else dataset['theme'] = settings.theme;
  dataset['motion'] = calm(settings) ? 'reduced' : 'full';
  dataset['pointing'] = settings.pointing;
}

/** Whether nothing should move by itself. */
export function calm(settings: Settings): boolean {
  return settings.motion === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;
}
