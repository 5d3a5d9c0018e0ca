/** Texts that are open in the code pane: what the server has, what was typed, and whether both have moved. Pure. */

export interface Buffer {
  /** Path in the project; `null` is the scenario itself. */
  file: string | null;
  /** The text the typing began from. */
  base: string;
  /** The text the server has now. */
  theirs: string;
  /** The text in the editor. */
  mine: string;
}

export function openBuffer(file: string | null, text: string): Buffer {
  return { file, base: text, theirs: text, mine: text };
}

export function isDirty(buffer: Buffer): boolean {
  return buffer.mine !== buffer.base;
}

/** Whether the text changed elsewhere while it was being changed here. */
export function isDisputed(buffer: Buffer): boolean {
  return isDirty(buffer) && buffer.theirs !== buffer.base && buffer.theirs !== buffer.mine;
}

/** The server has another text now. Answers whether the editor shall show it: it does when nothing was typed. */
export function arrive(buffer: Buffer, text: string): boolean {
  buffer.theirs = text;
  if (isDirty(buffer) && buffer.mine !== text) return false;
  const changed = buffer.mine !== text;
  buffer.base = buffer.mine = text;
  return changed;
}

/** Takes what the server has, or keeps what was typed as a change of it. */
export function settle(buffer: Buffer, take: 'theirs' | 'mine'): void {
  buffer.base = buffer.theirs;
  if (take === 'theirs') buffer.mine = buffer.theirs;
}
