//! Everything that the index derives from one file alone: immutable, shared, and storable without the text.
//!
//! Nothing here depends on another file, so a file is looked at once per content; what spans files is put together from these by
//! [`crate::segment`].

use std::iter::repeat_n;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use syntax::{Language, Mention, Outline, SourceFile, Tree};

use crate::ContentHash;
use crate::bags::Bags;
use crate::cceval::FileChunks;
use crate::terms::Term;

mod derive;
mod stored;

pub use stored::DecodeError;

/// Lines of a block. A window is two blocks that follow each other, so the second half of a window is the first of the next one.
pub const BLOCK_LINES: usize = 3;
/// Blocks of a window.
pub const WINDOW_BLOCKS: usize = 2;

/// What one file holds.
#[derive(Debug, PartialEq)]
pub struct FileIndex {
    file: SourceFile,
    hash: ContentHash,
    lines: Box<[CodeLine]>,
    /// A bag of terms for every block.
    blocks: Bags,
    /// Functions with a body, outer before inner, in bytes.
    functions: Box<[Range<u32>]>,
    /// A bag of words for every function.
    function_words: Bags,
    outline: Outline,
    is_too_complex: bool,
    chunks: Lazy<Arc<FileChunks>>,
    /// Where literals and comments go over a line end, in bytes.
    spanning: Lazy<Box<[Range<u32>]>>,
}

/// What is derived when it is first asked for. It follows from the rest, so it takes no part in comparisons.
#[derive(Debug)]
struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy(OnceLock::new())
    }
}

impl<T> PartialEq for Lazy<T> {
    fn eq(&self, _: &Lazy<T>) -> bool {
        true
    }
}

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Its number in the file, 0-based; only line feeds end a line.
    pub number: u32,
    /// Its bytes, without the line end.
    pub range: Range<u32>,
}

impl FileIndex {
    /// Parses `file` and derives everything from it.
    pub fn new(file: SourceFile) -> FileIndex {
        let tree = syntax::parse(file.language, &file.text);
        FileIndex::with_tree(file, &tree)
    }

    /// Derives everything from `file`, whose text was parsed to `tree`.
    pub fn with_tree(file: SourceFile, tree: &Tree) -> FileIndex {
        derive::derive(file, tree)
    }

    /// The file.
    pub fn file(&self) -> &SourceFile {
        &self.file
    }

    /// Path relative to the workspace root.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// Language of the file.
    pub fn language(&self) -> Language {
        self.file.language
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// Hash of its text and language.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// What it defines and imports.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Whether it could not be parsed within the budget: it has lines and words, but neither functions nor names.
    pub fn is_too_complex(&self) -> bool {
        self.is_too_complex
    }

    /// Its lines that are not blank, in order.
    pub fn lines(&self) -> &[CodeLine] {
        &self.lines
    }

    /// The text of one of its lines.
    pub fn line_text(&self, line: &CodeLine) -> &str {
        self.file.text.get(line.range.start as usize..line.range.end as usize).unwrap_or_default()
    }

    /// How one of its lines mentions `name`, outside of literals and comments.
    pub(crate) fn mentions(&self, line: &CodeLine, name: &str) -> Vec<Mention> {
        // Few lines do, and what spans lines is found by reading the whole file.
        if !self.line_text(line).contains(name) {
            return Vec::new();
        }
        let spanning = self.spanning.0.get_or_init(|| {
            let ranges = syntax::spanning(self.language(), self.text()).into_iter();
            ranges.map(|range| range.start as u32..range.end as u32).collect()
        });
        let before = spanning.partition_point(|range| range.start < line.range.start);
        let code = before.checked_sub(1).map_or(0, |last| spanning[last].end).max(line.range.start);
        let code = self.file.text.get(code as usize..line.range.end as usize).unwrap_or_default();
        syntax::mentions(self.language(), code, name)
    }

    /// How many blocks of lines it has.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The lines of a block; the last block may have fewer than others.
    pub fn block_lines(&self, block: u32) -> &[CodeLine] {
        self.lines_of(block, 1)
    }

    /// Its chunks for CrossCodeEval's retriever, made when they are first asked for.
    pub(crate) fn chunks(&self) -> Arc<FileChunks> {
        let read = || Arc::new(FileChunks::new(self.file.path.clone(), &self.file.text));
        Arc::clone(self.chunks.0.get_or_init(read))
    }

    /// How many windows it has: one for every block but the last one, which has its own only if it is alone. A window goes by the
    /// number of its first block.
    pub fn windows(&self) -> usize {
        windows(self.blocks())
    }

    /// The lines of a window.
    pub fn window_lines(&self, window: u32) -> &[CodeLine] {
        self.lines_of(window, WINDOW_BLOCKS)
    }

    /// The terms of a window, repeats included.
    pub fn window_terms(&self, window: u32) -> impl Iterator<Item = Term> {
        let window = window as usize;
        let terms = self.blocks.terms();
        (window..window + WINDOW_BLOCKS)
            .flat_map(|block| self.blocks.bag(block))
            .flat_map(|entry| repeat_n(terms[entry.term as usize], entry.count.into()))
    }

    fn lines_of(&self, block: u32, blocks: usize) -> &[CodeLine] {
        let start = self.lines.len().min(block as usize * BLOCK_LINES);
        let end = self.lines.len().min(start + blocks * BLOCK_LINES);
        &self.lines[start..end]
    }

    /// A bag of terms for every block.
    pub(crate) fn block_terms(&self) -> &Bags {
        &self.blocks
    }

    /// Its functions with a body, outer before inner.
    pub(crate) fn functions(&self) -> &[Range<u32>] {
        &self.functions
    }

    /// A bag of words for every function.
    pub(crate) fn function_words(&self) -> &Bags {
        &self.function_words
    }
}

/// Windows of a file with so many blocks.
pub(crate) fn windows(blocks: usize) -> usize {
    blocks.min(1).max(blocks.saturating_sub(1))
}

#[cfg(test)]
mod tests;
