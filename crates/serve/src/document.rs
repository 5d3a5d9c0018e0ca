//! The document: the scenario's text, and every step back and forth through it.
//!
//! In: whole new texts, each with a name for the step. Out: the text, and what undo and redo would do.
//! Steps are kept as splices (what was taken out, what was put in, where), so a text of a megabyte with
//! five hundred small edits costs little more than a megabyte.

use std::collections::VecDeque;

/// Most steps that can be undone.
const MOST_STEPS: usize = 500;
/// Most bytes of all steps together.
const MOST_BYTES: usize = 64 << 20;

/// One step: `old` at `at` became `new`.
struct Splice {
    label: String,
    at: usize,
    old: String,
    new: String,
}

impl Splice {
    fn between(label: String, before: &str, after: &str) -> Splice {
        let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let mut start = same;
        while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
            start -= 1;
        }
        let most = before.len().min(after.len()) - start;
        let same =
            before.bytes().rev().zip(after.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
        let mut end = same;
        while !before.is_char_boundary(before.len() - end) || !after.is_char_boundary(after.len() - end) {
            end -= 1;
        }
        let (old, new) = (&before[start..before.len() - end], &after[start..after.len() - end]);
        Splice { label, at: start, old: old.to_owned(), new: new.to_owned() }
    }

    fn bytes(&self) -> usize {
        self.label.len() + self.old.len() + self.new.len() + std::mem::size_of::<Splice>()
    }

    fn forth(&self, text: &str) -> String {
        [&text[..self.at], &self.new, &text[self.at + self.old.len()..]].concat()
    }

    fn back(&self, text: &str) -> String {
        [&text[..self.at], &self.old, &text[self.at + self.new.len()..]].concat()
    }
}

/// The scenario's text.
pub(crate) struct Document {
    /// Path in the project; none for a text that was never saved.
    file: Option<String>,
    /// What it is called.
    name: String,
    text: String,
    /// Steps done, oldest first.
    done: VecDeque<Splice>,
    /// Steps undone, the next one to redo last.
    undone: Vec<Splice>,
    bytes: usize,
    /// The text as it is in the file.
    saved: Option<String>,
}

impl Document {
    /// A document that was read from a file of the project.
    pub(crate) fn opened(file: String, text: String) -> Document {
        Document { saved: Some(text.clone()), file: Some(file.clone()), ..Document::unsaved(file, text) }
    }

    /// A document that is in no file.
    pub(crate) fn unsaved(name: String, text: String) -> Document {
        Document { file: None, name, text, done: VecDeque::new(), undone: Vec::new(), bytes: 0, saved: None }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file holds something else.
    pub(crate) fn is_dirty(&self) -> bool {
        self.saved.as_deref() != Some(&self.text)
    }

    /// Names of the steps that undo and redo would take.
    pub(crate) fn next_steps(&self) -> (Option<&str>, Option<&str>) {
        (self.done.back().map(|s| s.label.as_str()), self.undone.last().map(|s| s.label.as_str()))
    }

    pub(crate) fn undo_depth(&self) -> usize {
        self.done.len()
    }

    /// What the text would be after undo.
    pub(crate) fn before(&self) -> Option<String> {
        Some(self.done.back()?.back(&self.text))
    }

    /// What the text would be after redo.
    pub(crate) fn after(&self) -> Option<String> {
        Some(self.undone.last()?.forth(&self.text))
    }

    /// Takes a step to another text.
    pub(crate) fn change(&mut self, label: String, text: String) {
        let splice = Splice::between(label, &self.text, &text);
        self.bytes -= self.undone.drain(..).map(|s| s.bytes()).sum::<usize>();
        self.bytes += splice.bytes();
        self.done.push_back(splice);
        self.text = text;
        while self.done.len() > MOST_STEPS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.done.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Takes the last step back.
    pub(crate) fn undo(&mut self) {
        if let Some(splice) = self.done.pop_back() {
            self.text = splice.back(&self.text);
            self.undone.push(splice);
        }
    }

    /// Takes the step again that was taken back last.
    pub(crate) fn redo(&mut self) {
        if let Some(splice) = self.undone.pop() {
            self.text = splice.forth(&self.text);
            self.done.push_back(splice);
        }
    }

    /// It is in a file now.
    pub(crate) fn saved_as(&mut self, file: String) {
        self.name.clone_from(&file);
        self.file = Some(file);
        self.saved = Some(self.text.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_and_redo_give_every_text_back_to_the_byte() {
        let texts = ["", "a", "äb", "ab", "äöb", "x\r\ny", "x\ny", "äöüä", "ä", "aaa", "aaaa", "aa"];
        let mut document = Document::unsaved("d".into(), texts[0].into());
        for (k, text) in texts.iter().enumerate().skip(1) {
            document.change(format!("step {k}"), (*text).into());
        }
        for text in texts.iter().rev().skip(1) {
            assert_eq!(document.before().as_deref(), Some(*text));
            document.undo();
            assert_eq!(document.text(), *text);
        }
        assert_eq!(document.next_steps(), (None, Some("step 1")));
        for text in &texts[1..] {
            assert_eq!(document.after().as_deref(), Some(*text));
            document.redo();
            assert_eq!(document.text(), *text);
        }
        assert_eq!(document.next_steps(), (Some("step 11"), None));
    }

    #[test]
    fn a_new_step_forgets_what_was_undone() {
        let mut document = Document::unsaved("d".into(), "a".into());
        document.change("one".into(), "b".into());
        document.undo();
        document.change("two".into(), "c".into());
        assert_eq!((document.next_steps(), document.undo_depth()), ((Some("two"), None), 1));
    }

    #[test]
    fn steps_are_bounded_in_number_and_bytes() {
        let mut document = Document::unsaved("d".into(), String::new());
        for k in 0..MOST_STEPS + 20 {
            document.change("x".into(), k.to_string());
        }
        assert_eq!(document.undo_depth(), MOST_STEPS);
        for k in 0..5_u8 {
            document.change("big".into(), String::from(char::from(b'a' + k)).repeat(MOST_BYTES / 4));
        }
        assert!(document.undo_depth() < 5 && document.bytes <= MOST_BYTES, "{}", document.undo_depth());
        while document.before().is_some() {
            document.undo();
        }
    }

    #[test]
    fn a_document_is_dirty_until_its_text_is_that_of_the_file() {
        let mut document = Document::opened("a.toml".into(), "a".into());
        document.change("x".into(), "b".into());
        assert!(document.is_dirty());
        document.undo();
        assert!(!document.is_dirty());
        document.redo();
        document.saved_as("b.toml".into());
        assert!(!document.is_dirty() && document.file() == Some("b.toml"));
        document.undo();
        assert!(document.is_dirty());
        assert!(Document::unsaved("d".into(), String::new()).is_dirty());
    }
}
