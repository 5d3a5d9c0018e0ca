/** The text editor, on CodeMirror. Loaded when the code pane is first shown. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import { python } from '@codemirror/lang-python';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  StreamLanguage,
  syntaxHighlighting,
  type LanguageSupport,
} from '@codemirror/language';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { h } from '../dom';
import type { Diagnostic } from '../protocol';
import { t } from '../strings';
import { prolog } from './prolog-mode';

export interface CodeEditor {
  element: HTMLElement;
  /** Shows a text; what was shown before keeps its undo steps under its key. */
  show(key: string, text: string, file: string): void;
  /** Replaces the text that is shown. */
  setText(text: string): void;
  mark(problems: readonly Diagnostic[]): void;
  goTo(line: number, column: number): void;
  setReadOnly(on: boolean): void;
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.character], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.comment, tags.meta], color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.typeName, tags.definition(tags.variableName)], color: 'var(--code-name)' },
]);

const looks = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--ground)', color: 'var(--ink)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '1.45' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--faint)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
  '.cm-panels, .cm-tooltip': {
    backgroundColor: 'var(--panel)',
    color: 'var(--ink)',
    borderColor: 'var(--line)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
});

function languageOf(file: string): LanguageSupport | StreamLanguage<unknown> | [] {
  if (/\.(c|h|cc|cpp|hpp|cxx)$/.test(file)) return cpp();
  if (/\.py$/.test(file)) return python();
  if (/\.(pl|pro|prolog)$/.test(file)) return StreamLanguage.define(prolog);
  if (/\.toml$/.test(file)) return StreamLanguage.define(toml);
  return [];
}

/** From outside, the target of a key typed in the editor is its host: no text field. So keys stay inside, but for a few. */
function keepKeys(host: HTMLElement): void {
  const outside = ['k', 'j', 'b'];
  const keep = (event: KeyboardEvent): void => {
    const command = event.ctrlKey || event.metaKey;
    if (!command || !outside.includes(event.key.toLowerCase())) event.stopPropagation();
  };
  host.addEventListener('keydown', keep);
  host.addEventListener('keyup', keep);
}

export function makeEditor(changed: (text: string) => void, save: () => void): CodeEditor {
  const states = new Map<string, EditorState>();
  let shown = '';
  let locked = false;
  let loading = false;
  const saveKey = {
    key: 'Mod-s',
    run: () => {
      save();
      return true;
    },
    stopPropagation: true,
  };
  const common: Extension[] = [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(colours),
    lintGutter(),
    keymap.of([saveKey, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
    looks,
    EditorView.contentAttributes.of({ 'aria-label': t.code, tabindex: '0' }),
    EditorState.readOnly.of(false),
    EditorState.changeFilter.of(() => !locked || loading),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !loading) changed(update.state.doc.toString());
    }),
  ];
  const host = h('div', { class: 'code-host' });
  // Within a shadow root the editor brings its styles as sheets, which the page's security policy allows.
  const root = host.attachShadow({ mode: 'open' });
  const view = new EditorView({ state: EditorState.create({ extensions: common }), parent: root, root });
  keepKeys(host);
  const setText = (text: string): void => {
    if (view.state.doc.toString() === text) return;
    loading = true;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    loading = false;
  };
  return {
    element: host,
    show(key, text, file) {
      if (shown) states.set(shown, view.state);
      shown = key;
      view.setState(
        states.get(key) ?? EditorState.create({ doc: text, extensions: [common, languageOf(file)] }),
      );
      setText(text);
    },
    setText,
    mark(problems) {
      const { doc } = view.state;
      const at = (line: number | null, column: number | null): number => {
        const found = doc.line(Math.min(doc.lines, Math.max(1, line ?? 1)));
        return Math.min(found.to, found.from + Math.max(0, (column ?? 1) - 1));
      };
      const list = problems.map((d) => {
        const from = at(d.line, d.column);
        const lineEnd = doc.lineAt(from).to;
        const to = d.end_line === null ? lineEnd : at(d.end_line, d.end_column);
        const severity = d.severity === 'note' ? ('info' as const) : d.severity;
        return {
          from,
          to: Math.max(from, to),
          severity,
          message: [d.message, d.help].filter(Boolean).join('\n'),
        };
      });
      view.dispatch(setDiagnostics(view.state, list));
    },
    goTo(line, column) {
      const found = view.state.doc.line(Math.min(view.state.doc.lines, Math.max(1, line)));
      const anchor = Math.min(found.to, found.from + Math.max(0, column - 1));
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    setReadOnly(on) {
      locked = on;
      view.contentDOM.setAttribute('aria-readonly', String(on));
    },
  };
}
