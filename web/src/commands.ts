/**
 * Every command of the page, once: buttons, keys, the command palette, context menus and the shortcut
 * sheet are readings of this list.
 */

import { isTyping } from './dom';

export interface Command {
  id: string;
  title: string;
  group: 'File' | 'Edit' | 'View' | 'Run' | 'Insert' | 'Layers' | 'Help';
  /** Keys as people write them: `Ctrl+Shift+Z`, `Shift+1`, `?`. `Ctrl` stands for Cmd on a Mac as well. */
  keys?: string[];
  /** Keys that somebody else listens to (a tap of Space, chords of digits), as they are shown to people. */
  hint?: string;
  /** Also in the context menu of a selection. */
  menu?: boolean;
  /** Whether its keys mean it now; they are left to others when not. */
  when?: () => boolean;
  /** Why it cannot be done now, or `null`. */
  refused?: () => string | null;
  /** For switches: whether it is on. */
  pressed?: () => boolean;
  run: () => void;
}

const commands = new Map<string, Command>();

export function register(...list: Command[]): void {
  for (const command of list) {
    if (commands.has(command.id)) throw new Error(`two commands are called ${command.id}`);
    commands.set(command.id, command);
  }
}

export function all(): Command[] {
  return [...commands.values()];
}

export function command(id: string): Command {
  const found = commands.get(id);
  if (!found) throw new Error(`there is no command ${id}`);
  return found;
}

/** Called with the reason when a command cannot be done. */
let tell: (why: string) => void = () => undefined;
export function onRefused(listener: (why: string) => void): void {
  tell = listener;
}

export function run(id: string): void {
  const found = command(id);
  const why = found.refused?.() ?? null;
  if (why) tell(`${found.title}: ${why}`);
  else found.run();
}

/** The name of a key press as commands write it, from `event.key`, so that every keyboard layout works. */
export function keyName(event: KeyboardEvent): string {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  // Characters that need Shift on some layouts (`?`, `'`) are named by themselves.
  const isLetterOrLong = key.length > 1 || /[A-Z0-9]/.test(key);
  if (event.shiftKey && isLetterOrLong) parts.push('Shift');
  parts.push(key);
  return parts.join('+');
}

/** The names a key press may have: with Shift, digits give other characters on most layouts. */
function namesOf(event: KeyboardEvent): string[] {
  const names = [keyName(event)];
  const digit = /^Digit(\d)$/.exec(event.code);
  if (event.shiftKey && digit) {
    const mods = `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}`;
    names.push(`${mods}Shift+${digit[1]}`);
  }
  return names;
}

/** Runs the command of a key press, if there is one. Plain keys are left to text fields. */
export function handleKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented) return false;
  // While a dialog asks something, keys are its own; so is Escape, which closes a pop-over.
  const own = event.key === 'Escape' ? 'dialog:modal, :popover-open' : 'dialog:modal';
  if (document.querySelector(own)) return false;
  const typing = isTyping(event.target);
  if (typing && !event.ctrlKey && !event.metaKey) return false;
  const names = namesOf(event);
  for (const c of commands.values()) {
    if (!c.keys?.some((k) => names.includes(k)) || c.when?.() === false) continue;
    // A text field has its own undo, clipboard and selection.
    if (typing && ['Z', 'Y', 'C', 'X', 'V', 'A'].some((k) => c.keys?.includes(`Ctrl+${k}`))) return false;
    event.preventDefault();
    run(c.id);
    return true;
  }
  return false;
}
