//! Types the hunks of a file as a developer does: with a rhythm, corrections, undo, pastes, jumps, accepted suggestions and a
//! formatter.

use mining::history::FileChange;
use text::{Edit, SplitMix64};

use super::hunks::{TypedHunk, typed_hunks};
use super::session::{EditorSession, Expected};

/// Larger files are left out: each request holds the text of the file.
const MAX_FILE_BYTES: usize = 100 << 10;
/// Larger hunks are pasted.
const MAX_TYPED_BYTES: usize = 1_200;
/// Hunks of one file, from the top.
const MAX_HUNKS: usize = 6;
/// Share of the files whose hunks are typed with blanks at the ends of lines, which a formatter removes when the file is saved.
const FORMATTED_PERCENT: usize = 20;
/// Share of the files that are replaced by a checkout after they were saved.
const CHECKED_OUT_PERCENT: usize = 10;
/// Share of the hunks of several lines that are pasted.
const PASTED_PERCENT: usize = 10;
/// Share of the keys that are wrong at first.
const MISTYPED_PERCENT: usize = 2;
/// Share of the words that are undone and redone.
const UNDONE_PERCENT: usize = 2;
/// Share of the lines after which the developer looks at another place, for longer than a region needs to settle.
const JUMP_PERCENT: usize = 10;
/// Share of the requests with a right suggestion, and with a wrong one.
const RIGHT_PERCENT: usize = 6;
const WRONG_PERCENT: usize = 20;
/// Share of the right suggestions that are accepted.
const ACCEPTED_PERCENT: usize = 60;
/// Blanks that a formatter removes.
const STRAY_BLANKS: &str = "  ";

/// Types the changes of a file, saves and closes it.
pub(crate) fn develop(session: &mut EditorSession, random: &mut SplitMix64, commit: &str, file: &FileChange) {
    let before = file.before.as_deref().unwrap_or_default();
    let Some(after) = file.after.as_deref().filter(|after| after.len().max(before.len()) <= MAX_FILE_BYTES)
    else {
        return;
    };
    let hunks = typed_hunks(before, after);
    if hunks.is_empty() {
        return;
    }
    // A path is another document in each commit, so that expected texts are never those of another commit.
    session.open(format!("{commit}/{}", file.path).into(), file.language, before);
    let is_formatted = is_drawn(random, FORMATTED_PERCENT);
    let mut typist = Typist { session, random, is_formatted, stray: Vec::new() };
    for hunk in hunks.iter().take(MAX_HUNKS) {
        typist.pause(1_500, 20_000);
        typist.write(hunk, after);
    }
    typist.pause(500, 3_000);
    typist.format();
    session.save();
    if is_drawn(random, CHECKED_OUT_PERCENT) {
        session.wait(1_000);
        session.check_out(before);
    }
    session.wait(1_000 + random.below(40_000) as u64);
    session.close();
}

fn is_drawn(random: &mut SplitMix64, percent: usize) -> bool {
    random.below(100) < percent
}

/// A developer at the keyboard.
struct Typist<'a> {
    session: &'a mut EditorSession,
    random: &'a mut SplitMix64,
    is_formatted: bool,
    /// Offsets of the blanks that the formatter will remove, in order.
    stray: Vec<usize>,
}

/// A text that is being written, and the cursor in it.
struct Writing<'t> {
    text: &'t str,
    /// Bytes of the text that are written.
    done: usize,
    /// Offset of the cursor in the document.
    cursor: usize,
}

impl<'t> Writing<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.done..]
    }

    fn advance(&mut self, bytes: usize) {
        self.done += bytes;
        self.cursor += bytes;
    }
}

impl Typist<'_> {
    fn pause(&mut self, least: usize, most: usize) {
        let ms = least + self.random.below(most - least);
        self.session.wait(ms as u64);
    }

    /// Removes the old lines of a hunk and writes the new ones.
    fn write(&mut self, hunk: &TypedHunk, after: &str) {
        let start = hunk.start + self.stray.len() * STRAY_BLANKS.len();
        self.session.move_cursor(start);
        if hunk.removed > 0 {
            self.session.edit(start..start + hunk.removed, "");
            self.pause(200, 900);
        }
        let lines = &after[hunk.added.clone()];
        if lines.is_empty() {
            self.request(&mut Writing { text: "", done: 0, cursor: start });
            return;
        }
        // As with the Enter key at the end of the line before, or at the start of the first line.
        let (cursor, text) = match lines.strip_suffix('\n') {
            Some(lines) if start > 0 => (start - 1, format!("\n{lines}")),
            Some(lines) => {
                self.session.edit(0..0, "\n");
                (0, lines.to_owned())
            }
            None => (start, lines.to_owned()),
        };
        self.session.move_cursor(cursor);
        let mut writing = Writing { text: &text, done: 0, cursor };
        self.request(&mut writing);
        let is_pasted = text.lines().count() > 2 && is_drawn(self.random, PASTED_PERCENT);
        if is_pasted || text.len() > MAX_TYPED_BYTES {
            self.pause(300, 2_000);
            let at = writing.cursor;
            self.session.edit(at..at, writing.rest());
            return;
        }
        while !writing.rest().is_empty() {
            self.key(&mut writing);
        }
    }

    /// Types the next key, with what may happen before it.
    fn key(&mut self, writing: &mut Writing<'_>) {
        let rest = writing.rest();
        let key = match rest.strip_prefix('\n') {
            // Editors indent the new line.
            Some(line) => &rest[..rest.len() - line.trim_start_matches([' ', '\t']).len()],
            None => &rest[..rest.chars().next().map_or(0, char::len_utf8)],
        };
        if key.starts_with('\n') {
            self.end_line(writing);
        } else if is_drawn(self.random, MISTYPED_PERCENT) {
            self.mistype(writing.cursor);
        }
        self.pause(50, 260);
        self.session.edit(writing.cursor..writing.cursor, key);
        writing.advance(key.len());
        if key.ends_with(' ') && is_drawn(self.random, UNDONE_PERCENT) {
            self.undo_and_redo(writing);
        }
        self.request(writing);
    }

    /// At the end of a line: stray blanks, and a look at another place.
    fn end_line(&mut self, writing: &mut Writing<'_>) {
        if self.is_formatted && writing.done > 0 && is_drawn(self.random, 30) {
            self.session.edit(writing.cursor..writing.cursor, STRAY_BLANKS);
            self.stray.push(writing.cursor);
            writing.cursor += STRAY_BLANKS.len();
        }
        if is_drawn(self.random, JUMP_PERCENT) {
            self.session.move_cursor(0);
            self.pause(3_000, 14_000);
            self.session.move_cursor(writing.cursor);
        }
    }

    /// Types a wrong key, sees the request for it, and deletes it.
    fn mistype(&mut self, cursor: usize) {
        self.pause(50, 260);
        self.session.edit(cursor..cursor, "\u{a7}");
        let end = cursor + "\u{a7}".len();
        self.session.request(end, Expected::Mistake, "");
        self.pause(150, 600);
        self.session.edit(cursor..end, "");
    }

    /// Undoes the last word, and redoes it.
    fn undo_and_redo(&mut self, writing: &Writing<'_>) {
        let written = &writing.text[..writing.done];
        let line = written.rfind('\n').map_or(0, |end| end + 1);
        let word = written[line..].trim_end().rfind(' ').map_or(line, |end| line + end + 1);
        let start = writing.cursor - (writing.done - word);
        self.pause(200, 800);
        self.session.edit(start..writing.cursor, "");
        self.pause(200, 800);
        self.session.edit(start..start, &written[word..]);
    }

    /// Requests a completion at the cursor, and maybe accepts it.
    fn request(&mut self, writing: &mut Writing<'_>) {
        let rest = writing.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        let is_right = !line.is_empty() && is_drawn(self.random, RIGHT_PERCENT);
        let suggestion = match is_right {
            true => line,
            false if is_drawn(self.random, WRONG_PERCENT) => "something_else()",
            false => "",
        };
        let item = self.session.request(writing.cursor, Expected::Text(rest.to_owned()), suggestion);
        if let Some(item) = item.filter(|_| is_right && is_drawn(self.random, ACCEPTED_PERCENT)) {
            self.session.show(item);
            self.pause(400, 1_500);
            self.session.accept(item, writing.cursor, suggestion);
            writing.advance(suggestion.len());
        }
    }

    /// Removes the stray blanks in one message, from the last one to the first.
    fn format(&mut self) {
        let blanks = self.stray.drain(..).rev();
        let edits: Vec<Edit> = blanks
            .map(|offset| Edit { range: offset..offset + STRAY_BLANKS.len(), text: String::new() })
            .collect();
        if !edits.is_empty() {
            self.session.edits(edits);
        }
    }
}
