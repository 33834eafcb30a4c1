//! Fields of a file that are computed on first use, and dropped once no request needs them.
//!
//! They are beside the file, not in it, so that dropping them replaces no file: thousands of files that were replaced one by one would lie
//! all over the heap, and each would keep a page of freed memory from the system.

use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use syntax::{Definition, Extension, Import, Mention};

use super::stored_outline::{MISSING, OutlineHead};
use super::{CodeLine, FileIndex};
use crate::cceval::FileChunks;

/// Bytes that are lexed again for each question about a line, which is faster than lexing and keeping the whole file once.
const NEAR_BYTES: u32 = 16 * 1024;

/// Place for the fields of one file. A copy shares those that are computed when it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyFields(OnceLock<Arc<ComputedFields>>);

/// All of them follow from the file.
#[derive(Debug, Default)]
struct ComputedFields {
    outline_head: OnceLock<OutlineHead>,
    /// By position; most of them are never decoded.
    definitions: OnceLock<Box<[OnceLock<Box<Definition>>]>>,
    /// Byte ranges of literals and comments with line ends, if a line far behind the start of a function was asked for.
    multiline_tokens: OnceLock<Box<[Range<u32>]>>,
    chunks: OnceLock<Arc<FileChunks>>,
    /// Whether one was asked for since the last look.
    are_used: AtomicBool,
}

impl LazyFields {
    /// Whether there are any, and none was asked for since the last call.
    pub(crate) fn are_out_of_use(&self) -> bool {
        self.0.get().is_some_and(|fields| !fields.are_used.swap(false, Ordering::Relaxed))
    }

    /// Returns the fields to read or compute one.
    fn fields(&self) -> &ComputedFields {
        let fields = self.0.get_or_init(Arc::default);
        // Other threads read the same memory: it is written once between two looks.
        if !fields.are_used.load(Ordering::Relaxed) {
            fields.are_used.store(true, Ordering::Relaxed);
        }
        fields
    }
}

/// A file of a segment with its lazily computed fields. Otherwise it is read as the [`FileIndex`].
#[derive(Clone, Copy, Debug)]
pub struct SegmentFile<'a> {
    /// The file.
    pub index: &'a Arc<FileIndex>,
    pub(crate) lazy: &'a LazyFields,
}

impl Deref for SegmentFile<'_> {
    type Target = Arc<FileIndex>;

    fn deref(&self) -> &Arc<FileIndex> {
        self.index
    }
}

impl<'a> SegmentFile<'a> {
    /// Returns the definition at a position, which is decoded once and kept. The bytes were written by this version, so an error is
    /// impossible; with an empty definition it would lead to fewer hits.
    pub(crate) fn definition(self, position: u32) -> &'a Definition {
        let outline = &self.index.outline;
        let none_yet = || (0..outline.definition_count()).map(|_| OnceLock::new()).collect();
        let all = self.lazy.fields().definitions.get_or_init(none_yet);
        let Some(place) = all.get(position as usize) else { return &MISSING };
        place.get_or_init(|| Box::new(outline.decode_definition(position)))
    }

    /// Returns its imports.
    pub(crate) fn imports(self) -> &'a [Import] {
        &self.outline_head().imports
    }

    /// Returns the packages and namespaces that it declares.
    pub(crate) fn namespaces(self) -> &'a [Box<str>] {
        &self.outline_head().namespaces
    }

    /// Returns its extensions of types.
    pub(crate) fn extensions(self) -> &'a [Extension] {
        &self.outline_head().extensions
    }

    fn outline_head(self) -> &'a OutlineHead {
        self.lazy.fields().outline_head.get_or_init(|| self.index.outline.read_head())
    }

    /// Returns its chunks for CrossCodeEval's retriever.
    pub(crate) fn chunks(self) -> Arc<FileChunks> {
        let chunks = || Arc::new(FileChunks::new(self.file().path.clone(), self.text()));
        Arc::clone(self.lazy.fields().chunks.get_or_init(chunks))
    }

    /// Returns the mentions of `name` in one of its lines, outside of literals and comments.
    pub(crate) fn mentions(self, line: &CodeLine, name: &str) -> Vec<Mention> {
        // Few lines contain it, and finding multi-line tokens requires reading the lines before.
        if !self.line_text(line).contains(name) {
            return Vec::new();
        }
        let Range { start, end } = self.line_range(line);
        let code = self.multiline_token_end(start).max(start);
        let code = self.text().get(code as usize..end as usize).unwrap_or_default();
        syntax::mentions(self.language(), code, name)
    }

    /// Returns the end of the last literal or comment with a line end that begins before `offset`; 0 if there is none.
    fn multiline_token_end(self, offset: u32) -> u32 {
        let functions = self.functions();
        let before = functions.partition_point(|function| function.start <= offset);
        let function = before.checked_sub(1).map_or(0, |last| functions[last].start);
        if offset - function <= NEAR_BYTES {
            // A function never begins inside of a literal.
            let rest = self.text().get(function as usize..).unwrap_or_default();
            let last =
                syntax::multiline_tokens_before(self.language(), rest, (offset - function) as usize).pop();
            return last.map_or(0, |range| function + range.end as u32);
        }
        let all = self.lazy.fields().multiline_tokens.get_or_init(|| {
            let ranges = syntax::multiline_tokens(self.language(), self.text()).into_iter();
            ranges.map(|range| range.start as u32..range.end as u32).collect()
        });
        let before = all.partition_point(|range| range.start < offset);
        before.checked_sub(1).map_or(0, |last| all[last].end)
    }

    /// Returns how many of its definitions are decoded.
    #[cfg(test)]
    pub(crate) fn decoded_definitions(self) -> usize {
        let all = self.lazy.fields().definitions.get();
        all.map_or(0, |all| all.iter().filter(|place| place.get().is_some()).count())
    }
}
