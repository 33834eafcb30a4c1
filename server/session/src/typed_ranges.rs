//! The ranges that were typed in a document recently, moved along with later edits.
//!
//! A range is text that was written at one position without interruption: a line, or an accepted suggestion, which editors insert
//! like typed text. Deleted text is removed. The ranges are never written to disk and are dropped with the document.

use std::ops::Range;
use std::sync::Arc;

use completion::TypedPassage;
use text::{Edit, EditLog, TrackedRange};

/// Maximum number of ranges, per document and in total over all other documents: a screenful of lines.
pub(crate) const MAX_PIECES: usize = 32;
/// Maximum length of a typed edit, in bytes. Larger edits are pasted or inserted by a tool.
const MAX_PIECE_BYTES: usize = 4096;
/// Lines of context before a range.
const CONTEXT_LINES: usize = 3;

/// The last ranges, the latest last.
#[derive(Clone)]
pub(crate) struct TypedRanges {
    pieces: Vec<TypedRange>,
    /// Revision of the text.
    revision: u64,
}

#[derive(Clone)]
struct TypedRange {
    span: TrackedRange,
    /// Revision that last changed it.
    changed: u64,
}

impl TypedRanges {
    /// For a document that was opened at `revision`.
    pub(crate) fn new(revision: u64) -> TypedRanges {
        TypedRanges { pieces: Vec::new(), revision }
    }

    /// Follows the edits in the log.
    pub(crate) fn follow_edits(&mut self, log: &EditLog) {
        match log.since(self.revision) {
            Some(revisions) => revisions.for_each(|revision| {
                revision.edits.iter().for_each(|edit| self.apply_edit(edit, revision.number));
            }),
            None => self.pieces.clear(),
        }
        self.revision = log.revision();
    }

    fn apply_edit(&mut self, edit: &Edit, revision: u64) {
        self.pieces.iter_mut().for_each(|piece| piece.apply_edit(edit));
        self.pieces.retain(|piece| (1..=MAX_PIECE_BYTES).contains(&piece.span.range().len()));
        if !edit.text.trim().is_empty() && edit.text.len() <= MAX_PIECE_BYTES {
            self.add(edit.inserted_range(), revision);
        }
    }

    /// Adds a typed range, merged with the range it continues.
    fn add(&mut self, range: Range<usize>, revision: u64) {
        let around = self.pieces.iter().position(|piece| piece.span.contains(&range));
        let span = around.map(|index| self.pieces.remove(index).span);
        let span = span.unwrap_or_else(|| TrackedRange::inclusive(range, revision));
        self.pieces.push(TypedRange { span, changed: revision });
        if self.pieces.len() > MAX_PIECES {
            self.pieces.remove(0);
        }
    }

    /// The typed ranges in bytes of `asked`, which is the document's `text` with or without a popup item.
    pub(crate) fn ranges(&self, text: &Arc<str>, asked: &Arc<str>) -> Vec<Range<usize>> {
        let differs = !Arc::ptr_eq(text, asked);
        let edit = if differs { Edit::between(text, asked) } else { None };
        let mut pieces = self.pieces.clone();
        pieces.iter_mut().for_each(|piece| edit.iter().for_each(|edit| piece.apply_edit(edit)));
        pieces.iter().map(|piece| piece.span.range()).collect()
    }

    /// The typed ranges as whole lines, each with the revision that last changed it.
    pub(crate) fn passages(&self, path: &Arc<str>, text: &str) -> Vec<(u64, TypedPassage)> {
        self.pieces
            .iter()
            .filter_map(|piece| Some((piece.changed, passage(path, text, piece.span.range())?)))
            .collect()
    }
}

impl TypedRange {
    fn apply_edit(&mut self, edit: &Edit) {
        // Other lines are other ranges.
        if edit.text.starts_with(['\n', '\r']) {
            self.span.exclude_ends();
        }
        self.span.apply(edit);
    }
}

/// The whole lines around `typed`.
fn passage(path: &Arc<str>, text: &str, typed: Range<usize>) -> Option<TypedPassage> {
    let (before, after) = (text.get(..typed.start)?, text.get(typed.end..)?);
    let start = before.rmatch_indices('\n').nth(CONTEXT_LINES).map_or(0, |(line_end, _)| line_end + 1);
    let end = typed.end + after.find('\n').unwrap_or(after.len());
    let typed = typed.start - start..typed.end - start;
    Some(TypedPassage { path: Arc::clone(path), text: text[start..end].to_owned(), typed })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use text::Revision;

    use super::*;

    /// A text and the ranges typed in it.
    struct TypedDocument {
        text: String,
        log: EditLog,
        typed: TypedRanges,
    }

    impl TypedDocument {
        fn new(text: &str) -> TypedDocument {
            TypedDocument { text: text.to_owned(), log: EditLog::new(0), typed: TypedRanges::new(0) }
        }

        fn edit(&mut self, range: Range<usize>, text: &str) {
            self.text.replace_range(range.clone(), text);
            let edits = vec![Edit { range, text: text.to_owned() }];
            let number = self.log.revision() + 1;
            self.log.push(Revision { number, time: Instant::now(), edits });
            self.typed.follow_edits(&self.log);
        }

        /// Types before the first `at`, character by character.
        fn type_before(&mut self, at: &str, text: &str) {
            let start = self.text.find(at).expect("it is there");
            for (index, character) in text.char_indices() {
                self.edit(start + index..start + index, &character.to_string());
            }
        }

        fn pieces(&self) -> Vec<&str> {
            self.typed.pieces.iter().map(|piece| &self.text[piece.span.range()]).collect()
        }
    }

    #[test]
    fn consecutive_typing_is_one_piece_that_follows_edits() {
        let mut page = TypedDocument::new("one\nend\n");
        page.type_before("end", "two");
        assert_eq!(page.pieces(), ["two"]);
        page.type_before("one", "zero");
        page.edit(0..0, "\n\n");
        assert_eq!(page.pieces(), ["two", "zero"]);
        page.type_before("woend", "ow");
        assert_eq!(page.pieces(), ["zero", "towwo"], "the latest is last");
    }

    #[test]
    fn typing_on_a_new_line_starts_a_new_piece() {
        let mut page = TypedDocument::new("|");
        page.type_before("|", "a = 1");
        page.edit(5..5, "\n    ");
        page.type_before("|", "b = 2");
        assert_eq!(page.pieces(), ["a = 1", "b = 2"]);
        page.edit(15..15, "\nc()\nd()");
        assert_eq!(page.pieces(), ["a = 1", "b = 2", "\nc()\nd()"]);
    }

    #[test]
    fn deleted_pasted_and_blank_text_is_not_a_typed_piece() {
        let mut page = TypedDocument::new("one\nend\n");
        page.type_before("end", "two");
        page.edit(4..7, "");
        page.edit(0..0, &"x".repeat(MAX_PIECE_BYTES + 1));
        page.edit(0..0, "  \n");
        assert!(page.pieces().is_empty(), "{:?}", page.pieces());
    }

    #[test]
    fn only_the_latest_pieces_are_kept() {
        let mut page = TypedDocument::new("");
        for number in 0..=MAX_PIECES {
            page.edit(0..0, &format!("{number}\n"));
            page.edit(0..0, "\n\n");
        }
        let pieces = page.pieces();
        assert_eq!((pieces.len(), pieces[0], pieces[MAX_PIECES - 1]), (MAX_PIECES, "1\n", "32\n"));
    }

    #[test]
    fn passage_includes_preceding_lines() {
        let mut page = TypedDocument::new("1\n2\n3\n4\nword end\n6\n");
        page.type_before("end", "new");
        let passages = page.typed.passages(&"a.py".into(), &page.text);
        let [(3, TypedPassage { path, text, typed })] = &passages[..] else { panic!("{passages:?}") };
        assert_eq!((&**path, &**text, &text[typed.clone()]), ("a.py", "2\n3\n4\nword newend", "new"));
    }

    #[test]
    fn ranges_are_mapped_to_the_text_with_a_popup_item() {
        let mut page = TypedDocument::new("ab end\n");
        page.type_before("end", "new");
        let text: Arc<str> = page.text.as_str().into();
        let asked: Arc<str> = "about newend\n".into();
        let typed = |asked| -> Vec<&str> {
            page.typed.ranges(&text, asked).into_iter().map(|range| &asked[range]).collect()
        };
        assert_eq!([typed(&text), typed(&asked)], [["new"], ["new"]]);
    }
}
