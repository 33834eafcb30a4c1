//! Types a hunk as a developer does: with a rhythm, corrections, undo, pastes, pauses, accepted suggestions, brackets that the editor
//! closes, and blanks that a formatter removes.

use std::ops::Range;

use cases::Provenance;
use text::{Edit, SplitMix64};

use crate::editor::{Editor, EngineAnswers, ExpectedTruth, Suggestion};
use crate::error::SimulationError;
use crate::hunks::TypedHunk;

/// Shorter texts are not pasted: an editor cannot tell them from keys.
const MIN_PASTED_BYTES: usize = 16;
/// Larger hunks are pasted.
const MAX_TYPED_BYTES: usize = 1_200;
/// Share of the hunks of several lines that are pasted.
const PASTED_PERCENT: usize = 10;
/// Share of the opening brackets and quotes that the editor closes.
const CLOSED_PERCENT: usize = 70;
/// Share of the keys that are wrong at first.
const MISTYPED_PERCENT: usize = 2;
/// Share of the words that are undone and redone.
const UNDONE_PERCENT: usize = 2;
/// Share of the lines after which the developer thinks, for longer than a region needs to settle.
const THINKING_PERCENT: usize = 10;
/// Share of the requests after which the developer types on before they are answered.
const HASTY_PERCENT: usize = 10;
/// Share of the requests with a right suggestion, and with a wrong one.
const RIGHT_PERCENT: usize = 6;
const WRONG_PERCENT: usize = 20;
/// Share of the right suggestions that are accepted, and of these the share of which only a word is accepted.
const ACCEPTED_PERCENT: usize = 60;
const PARTIAL_PERCENT: usize = 30;
/// Share of the answers of the rival that are right, and a wrong one.
const RIVAL_PERCENT: usize = 40;
const RIVAL_SUGGESTION: &str = "value";
/// A wrong suggestion.
const WRONG_SUGGESTION: &str = "something_else()";
/// Blanks that a formatter removes.
pub(crate) const STRAY_BLANKS: &str = "  ";
/// A key that is not in the text.
const WRONG_KEY: &str = "\u{a7}";
/// Brackets and quotes that the editor closes.
const PAIRS: [(char, char); 5] = [('(', ')'), ('[', ']'), ('{', '}'), ('"', '"'), ('\'', '\'')];

/// Returns whether something with this probability happens.
pub(crate) fn is_drawn(random: &mut SplitMix64, percent: usize) -> bool {
    random.below(100) < percent
}

/// The editor and the chance of a developer.
pub(crate) struct Keyboard<'a> {
    pub(crate) editor: &'a mut Editor,
    pub(crate) random: &'a mut SplitMix64,
}

impl Keyboard<'_> {
    /// Lets a random time in ms pass.
    pub(crate) fn pause(&mut self, least: usize, most: usize) -> Result<(), SimulationError> {
        self.editor.wait((least + self.random.below(most - least)) as u64)
    }

    fn is_drawn(&mut self, percent: usize) -> bool {
        is_drawn(self.random, percent)
    }
}

/// A developer who writes in one file, from the top.
pub(crate) struct Typist {
    pub(crate) path: String,
    is_formatted: bool,
    /// Offsets of the blanks that the formatter will remove, in order.
    stray: Vec<usize>,
}

/// A text that is being written, and the cursor in it.
struct UnfinishedText<'t> {
    text: &'t str,
    /// Offset of the text in the file after the commit.
    origin: usize,
    /// Bytes of the text that are written.
    done: usize,
    /// Offset of the cursor in the document.
    cursor: usize,
    /// Brackets that the editor has closed, the innermost last; they follow the cursor in the document.
    closers: Vec<Closer>,
}

/// A part of the text that is in the document already.
#[derive(Clone, Copy)]
struct Closer {
    at: usize,
    len: usize,
}

impl<'t> UnfinishedText<'t> {
    fn new(text: &'t str, origin: usize, cursor: usize) -> UnfinishedText<'t> {
        UnfinishedText { text, origin, done: 0, cursor, closers: Vec::new() }
    }

    /// The text up to the next closer, which the developer writes at the cursor.
    fn rest(&self) -> &'t str {
        let end = self.closers.last().map_or(self.text.len(), |closer| closer.at);
        &self.text[self.done..end]
    }

    fn is_finished(&self) -> bool {
        self.done == self.text.len()
    }

    fn advance(&mut self, bytes: usize) {
        self.done += bytes;
        self.cursor += bytes;
    }

    /// Returns the closer of the bracket or quote that is typed next, if the editor may write it: on the same line, or first on its line
    /// after a bracket at the end of one.
    fn closer(&self) -> Option<Closer> {
        let rest = self.rest();
        let opening = rest.chars().next()?;
        let (_, closing) = PAIRS.into_iter().find(|(open, _)| *open == opening)?;
        let len = matching(rest, opening, closing)?;
        let between = &rest[1..len];
        let is_first_on_line = between.rsplit_once('\n').is_some_and(|(_, blanks)| blanks.trim().is_empty());
        let is_block = opening != closing && between.starts_with('\n') && is_first_on_line;
        (is_block || !between.contains('\n')).then_some(Closer { at: self.done + len, len: 1 })
    }
}

/// Returns the offset of the closing character that belongs to the opening one at the start of a text.
fn matching(text: &str, opening: char, closing: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, character) in text.char_indices() {
        if offset > 0 && character == closing {
            depth -= 1;
            if depth == 0 {
                return Some(offset);
            }
        } else if character == opening {
            depth += 1;
        }
    }
    None
}

impl Typist {
    pub(crate) fn new(path: String, is_formatted: bool) -> Typist {
        Typist { path, is_formatted, stray: Vec::new() }
    }

    /// Removes the old lines of a hunk and writes the new ones.
    pub(crate) fn write(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        hunk: &TypedHunk,
        after: &str,
    ) -> Result<(), SimulationError> {
        let start = hunk.start + self.stray.len() * STRAY_BLANKS.len();
        if hunk.removed > 0 {
            keyboard.editor.edit(&self.path, start..start + hunk.removed, "")?;
            keyboard.pause(200, 900)?;
        }
        let lines = &after[hunk.added.clone()];
        if lines.is_empty() {
            return self.request(keyboard, &mut UnfinishedText::new("", hunk.start, start));
        }
        // As with the Enter key at the end of the line before, or at the start of the first line.
        let (cursor, text) = match lines.strip_suffix('\n') {
            Some(lines) if start > 0 => (start - 1, format!("\n{lines}")),
            Some(lines) => {
                keyboard.editor.edit(&self.path, 0..0, "\n")?;
                (0, lines.to_owned())
            }
            None => (start, lines.to_owned()),
        };
        let origin = if lines.ends_with('\n') { hunk.start.saturating_sub(1) } else { hunk.start };
        let mut writing = UnfinishedText::new(&text, origin, cursor);
        self.request(keyboard, &mut writing)?;
        let is_pasted = text.lines().count() > 2
            && writing.rest().trim().len() >= MIN_PASTED_BYTES
            && keyboard.is_drawn(PASTED_PERCENT);
        if is_pasted || text.len() > MAX_TYPED_BYTES {
            keyboard.pause(300, 2_000)?;
            let at = writing.cursor;
            self.note(keyboard, &writing, writing.done..text.len(), Provenance::Pasted);
            return keyboard.editor.edit(&self.path, at..at, writing.rest());
        }
        while !writing.is_finished() {
            self.key(keyboard, &mut writing)?;
        }
        Ok(())
    }

    /// Types the next key, after mistakes and pauses.
    fn key(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &mut UnfinishedText<'_>,
    ) -> Result<(), SimulationError> {
        if writing.rest().is_empty()
            && let Some(closer) = writing.closers.pop()
        {
            return self.type_over(keyboard, writing, closer);
        }
        let rest = writing.rest();
        let key = match rest.strip_prefix('\n') {
            // Editors indent the new line.
            Some(line) => &rest[..rest.len() - line.trim_start_matches([' ', '\t']).len()],
            None => &rest[..rest.chars().next().map_or(0, char::len_utf8)],
        };
        if key.starts_with('\n') {
            self.end_line(keyboard, writing)?;
        } else if keyboard.is_drawn(MISTYPED_PERCENT) {
            self.mistype(keyboard, writing.cursor)?;
        }
        keyboard.pause(50, 260)?;
        self.note(keyboard, writing, writing.done..writing.done + key.len(), Provenance::Typed);
        let is_closed = keyboard.is_drawn(CLOSED_PERCENT);
        if let Some(closer) = writing.closer().filter(|_| is_closed) {
            let pair = [key, &writing.text[closer.at..closer.at + closer.len]].concat();
            self.note(keyboard, writing, closer.at..closer.at + closer.len, Provenance::Typed);
            keyboard.editor.edit(&self.path, writing.cursor..writing.cursor, &pair)?;
            writing.advance(key.len());
            writing.closers.push(closer);
        } else {
            let inserted = [key, self.new_line_of_closer(writing, key)].concat();
            keyboard.editor.edit(&self.path, writing.cursor..writing.cursor, &inserted)?;
            writing.advance(key.len());
        }
        if key.ends_with(' ') && keyboard.is_drawn(UNDONE_PERCENT) {
            self.undo_and_redo(keyboard, writing)?;
        }
        self.request(keyboard, writing)
    }

    /// Enter between two brackets moves the closing one to its own line. Returns the text that the editor adds for that.
    fn new_line_of_closer<'t>(&self, writing: &mut UnfinishedText<'t>, key: &str) -> &'t str {
        let text = writing.text;
        let was_opened = text[..writing.done].ends_with(['(', '[', '{']);
        let Some(closer) = writing.closers.last_mut().filter(|_| key.starts_with('\n') && was_opened) else {
            return "";
        };
        let start = text[..closer.at].rfind('\n').unwrap_or(closer.at);
        let line = &text[start..closer.at];
        if closer.len > 1 || start < writing.done + key.len() || !line.trim().is_empty() {
            return "";
        }
        *closer = Closer { at: start, len: line.len() + closer.len };
        line
    }

    /// Types a character that the editor has written already, or goes behind the bracket on the next line.
    fn type_over(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &mut UnfinishedText<'_>,
        closer: Closer,
    ) -> Result<(), SimulationError> {
        keyboard.pause(50, 260)?;
        let text = &writing.text[closer.at..closer.at + closer.len];
        if closer.len == 1 {
            keyboard.editor.edit(&self.path, writing.cursor..writing.cursor + 1, text)?;
        }
        writing.advance(closer.len);
        self.request(keyboard, writing)
    }

    /// At the end of a line: stray blanks, and a long pause.
    fn end_line(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &mut UnfinishedText<'_>,
    ) -> Result<(), SimulationError> {
        if self.is_formatted && writing.done > 0 && keyboard.is_drawn(30) {
            keyboard.editor.edit(&self.path, writing.cursor..writing.cursor, STRAY_BLANKS)?;
            self.stray.push(writing.cursor);
            writing.cursor += STRAY_BLANKS.len();
        }
        if keyboard.is_drawn(THINKING_PERCENT) {
            keyboard.pause(3_000, 14_000)?;
        }
        Ok(())
    }

    /// Types a wrong key, sees the request for it, and deletes it.
    fn mistype(&mut self, keyboard: &mut Keyboard<'_>, cursor: usize) -> Result<(), SimulationError> {
        keyboard.pause(50, 260)?;
        keyboard.editor.edit(&self.path, cursor..cursor, WRONG_KEY)?;
        let end = cursor + WRONG_KEY.len();
        let is_patient = !keyboard.is_drawn(HASTY_PERCENT);
        let silence = EngineAnswers::default();
        keyboard.editor.request(&self.path, end, ExpectedTruth::Mistake, silence, is_patient)?;
        keyboard.pause(150, 600)?;
        keyboard.editor.edit(&self.path, cursor..end, "")
    }

    /// Undoes the last word, and redoes it.
    fn undo_and_redo(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &UnfinishedText<'_>,
    ) -> Result<(), SimulationError> {
        let written = &writing.text[..writing.done];
        let line = written.rfind('\n').map_or(0, |end| end + 1);
        let word = written[line..].trim_end().rfind(' ').map_or(line, |end| line + end + 1);
        if written[word..].contains(|character| PAIRS.iter().any(|pair| pair.0 == character)) {
            return Ok(());
        }
        let start = writing.cursor - (writing.done - word);
        keyboard.pause(200, 800)?;
        keyboard.editor.edit(&self.path, start..writing.cursor, "")?;
        keyboard.pause(200, 800)?;
        self.note(keyboard, writing, word..writing.done, Provenance::Undo);
        keyboard.editor.edit(&self.path, start..start, &written[word..])
    }

    /// Requests a completion at the cursor, and maybe accepts it.
    fn request(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &mut UnfinishedText<'_>,
    ) -> Result<(), SimulationError> {
        let rest = writing.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        let is_right = !line.is_empty() && keyboard.is_drawn(RIGHT_PERCENT);
        let answer = match is_right {
            true => line,
            false if keyboard.is_drawn(WRONG_PERCENT) => WRONG_SUGGESTION,
            false => "",
        };
        let is_patient = !answer.is_empty() || !keyboard.is_drawn(HASTY_PERCENT);
        let rival = if keyboard.is_drawn(RIVAL_PERCENT) { line } else { RIVAL_SUGGESTION };
        let answers = EngineAnswers { fast: answer.to_owned(), rival: rival.to_owned() };
        let expected = ExpectedTruth::Text { text: rest.to_owned(), at: writing.origin + writing.done };
        let shown = keyboard.editor.request(&self.path, writing.cursor, expected, answers, is_patient)?;
        let Some(shown) = shown else { return Ok(()) };
        let is_wanted = line.starts_with(&*shown.inserted) && keyboard.is_drawn(ACCEPTED_PERCENT);
        if is_wanted { self.accept(keyboard, writing, &shown) } else { Ok(()) }
    }

    /// Looks at a suggestion, and accepts it or its first word.
    fn accept(
        &mut self,
        keyboard: &mut Keyboard<'_>,
        writing: &mut UnfinishedText<'_>,
        shown: &Suggestion,
    ) -> Result<(), SimulationError> {
        keyboard.editor.show(shown)?;
        keyboard.pause(400, 1_500)?;
        let word = shown.inserted.trim_start().split_inclusive(' ').next().unwrap_or_default();
        let end = shown.inserted.len() - shown.inserted.trim_start().len() + word.len();
        let part = &shown.inserted[..end];
        if part.len() < shown.inserted.len() && keyboard.is_drawn(PARTIAL_PERCENT) {
            self.note(keyboard, writing, writing.done..writing.done + part.len(), Provenance::Accepted);
            keyboard.editor.accept_part(&self.path, shown, part)?;
            writing.advance(part.len());
        } else {
            let inserted = writing.done..writing.done + shown.inserted.len();
            self.note(keyboard, writing, inserted, Provenance::Accepted);
            keyboard.editor.accept(&self.path, shown)?;
            writing.advance(shown.inserted.len());
        }
        Ok(())
    }

    /// Notes how a part of the text is written.
    fn note(
        &self,
        keyboard: &mut Keyboard<'_>,
        writing: &UnfinishedText<'_>,
        part: Range<usize>,
        provenance: Provenance,
    ) {
        let range = writing.origin + part.start..writing.origin + part.end;
        keyboard.editor.note_provenance(&self.path, range, provenance);
    }

    /// Removes the stray blanks in one message, from the last one to the first.
    pub(crate) fn format(&mut self, keyboard: &mut Keyboard<'_>) -> Result<(), SimulationError> {
        let blanks = self.stray.drain(..).rev();
        let edits: Vec<Edit> = blanks
            .map(|offset| Edit { range: offset..offset + STRAY_BLANKS.len(), text: String::new() })
            .collect();
        if edits.is_empty() { Ok(()) } else { keyboard.editor.edits(&self.path, edits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_editor_closes_brackets_on_their_line_and_around_blocks() {
        let closer = |text| UnfinishedText::new(text, 0, 0).closer().map(|closer| closer.at);
        assert_eq!(closer("(a, (b)) + 1"), Some(7));
        assert_eq!(closer("\"a\" + \"b\""), Some(2));
        assert_eq!(closer("{\n    a();\n}"), Some(11));
        assert_eq!(closer("{\n    a(); }"), None);
        assert_eq!(closer("(a,\n b)"), None);
        assert_eq!(closer("(a"), None);
        assert_eq!(closer("a()"), None);
    }

    #[test]
    fn enter_between_brackets_moves_the_closing_one() {
        let text = "{\n    a();\n  } else";
        let mut writing = UnfinishedText::new(text, 0, 0);
        writing.closers.extend(writing.closer());
        writing.advance(1);
        let typist = Typist::new(String::new(), false);
        assert_eq!(typist.new_line_of_closer(&mut writing, "\n    "), "\n  ");
        writing.advance(5);
        assert_eq!(writing.rest(), "a();");
    }
}
