/** The commands of the run: start, pause, step, reset, speed, control. Keys that are more than a press are here too. */

import type { App } from '../app';
import { register, run } from '../commands';
import { confirmDialog } from '../dialog';
import { isTyping } from '../dom';
import { t } from '../strings';
import { formatFactor } from './numbers';
import { chordFactor } from './speed';

const CHORD_MS = 500;
const TAP_MS = 300;

export function registerRunCommands(app: App): void {
  const { store } = app;
  const refused = (): string | null =>
    store.link !== 'open' ? t.noConnection : store.isConsole ? null : t.needControl;
  const running = (): boolean => store.status?.state === 'running' || store.status?.state === 'waiting';
  const group = 'Run' as const;
  const setSpeed = (factor: number | null): void => void app.do('speed', { factor });
  register(
    {
      id: 'run.toggle',
      title: t.startOrPause,
      group,
      hint: t.spaceKey,
      refused,
      run: () => void app.do(running() ? 'pause' : 'start'),
    },
    { id: 'run.start', title: t.start, group, refused, run: () => void app.do('start') },
    { id: 'run.pause', title: t.pause, group, refused, run: () => void app.do('pause') },
    { id: 'run.step', title: t.step, group, keys: ['.'], refused, run: () => stepForward(app) },
    {
      id: 'run.back',
      title: t.back,
      group,
      keys: [','],
      refused: () => refused() ?? ((store.status?.stop ?? 0) > 0 ? null : t.atTheStart),
      run: () => void app.do('seek', { stop: (store.status?.stop ?? 1) - 1 }),
    },
    { id: 'run.reset', title: t.reset, group, refused, run: () => void app.do('reset') },
    { id: 'run.exit', title: t.exit, group, refused, run: () => void exit(app) },
    { id: 'run.speed.half', title: t.slower, group, refused, run: () => setSpeed(changed(app, 0.5)) },
    {
      id: 'run.speed.double',
      title: t.faster,
      group,
      hint: t.digitKeys,
      refused,
      run: () => setSpeed(changed(app, 2)),
    },
    { id: 'run.speed.real', title: t.realTime, group, refused, run: () => setSpeed(1) },
    { id: 'run.speed.max', title: t.asFastAsPossible, group, refused, run: () => setSpeed(null) },
    {
      id: 'control.ask',
      title: t.askControl,
      group,
      refused: () => (store.isConsole ? t.youHaveControl : null),
      run: () => void askControl(app),
    },
    {
      id: 'control.take',
      title: t.takeControl,
      group,
      refused: () => (store.isConsole ? t.youHaveControl : null),
      run: () => void app.do('control.take'),
    },
    {
      id: 'control.release',
      title: t.releaseControl,
      group,
      refused,
      run: () => void app.do('control.give', { to: null }),
    },
  );
  listenToSpace();
  listenToDigits(app);
}

/** While an earlier moment is shown, a step goes on in what was; otherwise the run takes one. */
function stepForward(app: App): void {
  const s = app.store.status;
  if (s?.looking_back && s.stop < s.newest) void app.do('seek', { stop: s.stop + 1 });
  else void app.do('step');
}

function changed(app: App, by: number): number | null {
  const now = app.store.status?.speed ?? null;
  if (now === null) return by < 1 ? 100 : null;
  return Math.min(1000, Math.max(0.1, now * by));
}

async function askControl(app: App): Promise<void> {
  if ((await app.do('control.ask')) && !app.store.isConsole) app.toast(t.asked);
}

async function exit(app: App): Promise<void> {
  if (await confirmDialog(t.exit, t.exitAsks, t.exitYes)) void app.do('exit');
}

/** Whether a key belongs to the element it was pressed on, such as Space on a button. */
function belongsTo(target: EventTarget | null): boolean {
  if (isTyping(target)) return true;
  return (
    target instanceof Element &&
    target.closest('button, a, summary, input, select, [role="tab"], [role="slider"], dialog, [popover]') !==
      null
  );
}

/** A tap of Space starts and pauses. Space held while the pointer drags pans, and is not a tap. */
function listenToSpace(): void {
  let since = 0;
  let spoiled = true;
  addEventListener('keydown', (event) => {
    if (event.key !== ' ') {
      spoiled = true;
      return;
    }
    if (event.repeat) return;
    since = event.timeStamp;
    spoiled = belongsTo(event.target) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
    if (!spoiled) event.preventDefault();
  });
  addEventListener('pointerdown', () => (spoiled = true), { capture: true });
  addEventListener('keyup', (event) => {
    if (event.key !== ' ' || spoiled) return;
    spoiled = true;
    if (event.timeStamp - since <= TAP_MS) run('run.toggle');
  });
}

/** Digits typed in a row within half a second set the speed: `2`, `05`, `50`. */
function listenToDigits(app: App): void {
  let digits = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const done = (): void => {
    const factor = chordFactor(digits);
    digits = '';
    if (!app.store.isConsole) {
      app.toast(`${t.speed}: ${t.needControl}`, 'error');
      return;
    }
    app.announce(`${t.speed} ${formatFactor(factor, t.max)}`);
    void app.do('speed', { factor });
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.defaultPrevented || !/^[0-9]$/.test(event.key) || isTyping(event.target)) return;
    if (event.target instanceof Element && event.target.closest('dialog, [popover]')) return;
    digits = (digits + event.key).slice(-4);
    clearTimeout(timer);
    timer = setTimeout(done, CHORD_MS);
  });
}
