/** Every word a person reads on the page, in one catalogue: one file per room of the page. */

import { editor } from './editor';
import { messages } from './messages';
import { modules } from './modules';
import { panels } from './panels';
import { view } from './view';
import { workers } from './workers';

export const t = {
  close: 'Close',
  cancel: 'Cancel',
  done: 'Done',
  name: 'Name',
  untitled: 'Not saved yet',
  unsaved: 'Unsaved changes',
  noConnection: 'there is no connection to the server',
  needControl: 'another console holds control; ask for it',
  replayOnly: 'a recording cannot be edited',
  ...view,
  ...editor,
  ...panels,
  ...messages,
  ...modules,
  ...workers,
};

/** No word is in two rooms: the later one would silently replace the earlier. */
type Twice =
  | (keyof typeof view & keyof typeof editor)
  | (keyof typeof view & keyof typeof panels)
  | (keyof typeof editor & keyof typeof panels)
  | (keyof typeof messages & (keyof typeof view | keyof typeof editor | keyof typeof panels))
  | (keyof typeof modules &
      (keyof typeof view | keyof typeof editor | keyof typeof panels | keyof typeof messages))
  | (keyof typeof workers &
      (
        | keyof typeof view
        | keyof typeof editor
        | keyof typeof panels
        | keyof typeof messages
        | keyof typeof modules
      ));
true satisfies [Twice] extends [never] ? true : Twice;
