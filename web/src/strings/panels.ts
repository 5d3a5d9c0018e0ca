/** Words of the run controls, the timeline, the tabs below and the dialogs. */
export const panels = {
  start: 'Start',
  pause: 'Pause',
  step: 'Step',
  reset: 'Reset',
  connectionLost: 'Connection lost, retrying…',
  bottom: 'Timeline and panels',
};
