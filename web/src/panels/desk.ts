/** What other panels may ask of the tabs below: to plot a value, to open a source at a line. */

import type { Probe } from '../protocol';

export interface Desk {
  plot(probe: Probe): void;
  /** `null` is the scenario itself. */
  source(file: string | null, line?: number | null, column?: number | null): void;
}

let desk: Desk | null = null;

export function setDesk(tabs: Desk): void {
  desk = tabs;
}

export function theDesk(): Desk | null {
  return desk;
}

/** The kind of data under which a channel is dragged to a plot. */
export const PROBE_TYPE = 'application/x-swarmyard-probe';

/** The probe in what was dropped, if it is one. */
export function droppedProbe(data: DataTransfer | null): Probe | null {
  try {
    const found = JSON.parse(data?.getData(PROBE_TYPE) || 'null') as Partial<Probe> | null;
    if (typeof found?.path !== 'string' || typeof found.channel !== 'string') return null;
    return { path: found.path, channel: found.channel, index: Number(found.index) || 0 };
  } catch {
    return null;
  }
}
