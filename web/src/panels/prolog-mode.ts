/** Highlighting of Prolog: comments, strings, variables, numbers and the operators of clauses. */

import type { StreamParser } from '@codemirror/language';

interface State {
  inComment: boolean;
}

export const prolog: StreamParser<State> = {
  name: 'prolog',
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment) {
      state.inComment = !stream.skipTo('*/');
      if (state.inComment) stream.skipToEnd();
      else stream.match('*/');
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('/*')) {
      state.inComment = true;
      return 'comment';
    }
    if (stream.match('%')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.|'')*'?/)) return 'string';
    if (stream.match(/^(?:0[xob][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/)) return 'number';
    if (stream.match(/^[A-Z_]\w*/)) return 'variableName.definition';
    if (stream.match(/^(?::-|-->|\?-|->|\\\+|!)/) || stream.match(/^(?:is|mod|rem|dynamic|module)\b/))
      return 'keyword';
    if (stream.match(/^[a-z]\w*/)) return null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '%', block: { open: '/*', close: '*/' } } },
};
