/** Copy, cut, paste and duplicate. On the clipboard is a piece of TOML, so it works between tabs and editors. */

import type { App } from '../app';
import type { Point } from '../protocol';
import { t } from '../strings';
import { editsOf } from './edits';
import { robotText } from './kinds';
import { remove } from './moves';
import { headingText, short } from './numbers';
import { describe, entriesOf, poseOf, nameOf, typeOf, whyNotEdit } from './subject';

/** What was copied last, for browsers that do not let pages read the clipboard; and how often it was pasted. */
let kept = { fragment: '', times: 0 };

export async function copy(app: App): Promise<boolean> {
  const ids = [...app.store.selection];
  const fragment = await fragmentOf(app, ids);
  if (fragment === null) return false;
  kept = { fragment, times: 0 };
  await toClipboard(fragment);
  app.announce(t.saidCopied(describe(app.store, ids)));
  return true;
}

export async function cut(app: App): Promise<void> {
  if (await copy(app)) await remove(app, [...app.store.selection]);
}

/** Pastes a text, or what is on the clipboard. */
export async function paste(app: App, text?: string): Promise<void> {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  const fragment = text ?? (await fromClipboard());
  if (!/^\s*\[/m.test(fragment)) {
    app.toast(t.nothingToPaste);
    return;
  }
  if (fragment !== kept.fragment) kept = { fragment, times: 0 };
  kept.times += 1;
  const done = await editsOf(app).paste(fragment, ...waysFrom(app, kept.times));
  if (done) app.announce(t.saidPasted(describe(app.store, done.paths)));
}

/** Ever longer ways, in grid steps, so that a copy stands beside what was copied and not in it. */
function waysFrom(app: App, times: number): Point[] {
  return [0, 1, 2, 3, 4, 6, 9, 14, 20].map((more) => {
    const far = (times + more) * app.store.step;
    return [far, -far];
  });
}

/** The same things again, moved by a vector or a little aside; they are selected then. */
export async function duplicate(app: App, ids: readonly string[], by?: Point): Promise<void> {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  const fragment = await fragmentOf(app, ids);
  if (fragment === null) return;
  const done = await editsOf(app).paste(fragment, ...(by ? [by] : waysFrom(app, 1)));
  if (done) app.announce(t.saidPasted(describe(app.store, done.paths)));
}

/** Objects as a piece of TOML. Single robots out of an entry that makes many are written one by one. */
async function fragmentOf(app: App, ids: readonly string[]): Promise<string | null> {
  const { store } = app;
  const chosen = new Set(ids);
  const entries = entriesOf(store, ids);
  const isPartly = (e: { section: string; count: number; paths: string[] }): boolean =>
    e.section === 'robot' && e.count > 1 && !e.paths.every((p) => chosen.has(p));
  const whole = entries.filter((e) => !isPartly(e));
  const why = whole.find((e) => e.fixed !== null)?.fixed;
  if (entries.length === 0 || why) {
    app.toast(why ? t.fixed(why) : t.nothingSelected, 'error');
    return null;
  }
  const pieces: string[] = [];
  if (whole.length > 0) {
    const answer = await app.do('copy', { entries: whole.map((e) => e.key) });
    if (!answer) return null;
    pieces.push(String(answer['fragment'] ?? ''));
  }
  for (const entry of entries.filter(isPartly))
    for (const id of ids.filter((i) => entry.paths.includes(i))) {
      const [pose, type] = [poseOf(store, id), typeOf(store, id)];
      if (!pose || type === null) continue;
      const place = `[${short(pose.x)}, ${short(pose.y)}, ${headingText(pose.heading)}]`;
      pieces.push(robotText(type, place, nameOf(store, id)));
    }
  return pieces.join('\n');
}

/** Puts a text on the clipboard, also where the page has no right to the newer way. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

async function fromClipboard(): Promise<string> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return kept.fragment;
  }
}

/** Ctrl+V comes as an event that carries the text: no permission is needed for that. */
export function startClipboard(app: App, isTyping: (target: EventTarget | null) => boolean): void {
  document.addEventListener('paste', (event) => {
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    const text = event.clipboardData?.getData('text/plain') ?? '';
    void paste(app, text || kept.fragment);
  });
}
