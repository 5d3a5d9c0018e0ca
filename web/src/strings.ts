/** Every word a person reads on the page, in one place. */

export const t = {
  close: 'Close',
  start: 'Start',
  pause: 'Pause',
  step: 'Step',
  reset: 'Reset',
  connectionLost: 'Connection lost, retrying…',
  needControl: 'another console holds control; ask for it',
  replayOnly: 'a recording cannot be edited',
};
