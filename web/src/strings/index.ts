/** Every word a person reads on the page, in one catalogue: one file per room of the page. */

import { editor } from './editor';
import { panels } from './panels';
import { view } from './view';

export const t = {
  close: 'Close',
  needControl: 'another console holds control; ask for it',
  replayOnly: 'a recording cannot be edited',
  ...view,
  ...editor,
  ...panels,
};
