//! Everything that the index derives from a single file: immutable, shared, and storable without the text.
//!
//! Independent of other files, so a file is analyzed once per content; [`crate::segment`] combines the data of several files.

use std::io;
use std::iter::repeat_n;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use stored::{BlockStore, PodArray, SharedText, StoredArray, StoredData, move_to_store};
use syntax::{Language, Outline, SourceFile, Tree};

use crate::ContentHash;
use crate::bags::Bags;
use crate::terms::Term;

mod derive;
mod encoding;
mod lazy_fields;
mod stored_outline;

pub use encoding::DecodeError;
pub(crate) use lazy_fields::LazyFields;
pub use lazy_fields::SegmentFile;
pub(crate) use stored_outline::DefinitionShape;
use stored_outline::StoredOutline;

/// Lines per block. A window has two consecutive blocks, so the second half of a window is the first half of the next one.
pub const BLOCK_LINES: usize = 3;
/// Blocks per window.
pub const WINDOW_BLOCKS: usize = 2;

/// Index data of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileIndex {
    file: SourceFile,
    hash: ContentHash,
    lines: PodArray<CodeLine>,
    /// One bag of terms per block.
    blocks: Bags,
    /// Byte ranges of functions with a body, outer before inner.
    functions: Box<[Range<u32>]>,
    /// One bag of words per function.
    function_words: Bags,
    outline: StoredOutline,
    is_too_complex: bool,
}

impl StoredData for FileIndex {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        visit(&mut self.lines)?;
        self.blocks.arrays(visit)?;
        self.function_words.arrays(visit)?;
        visit(&mut self.outline.encoded)
    }
}

/// A non-blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CodeLine {
    /// Line number in the file, 0-based; only line feeds end a line.
    pub number: u32,
    /// First byte, after a byte order mark. The text shows where the line ends.
    pub start: u32,
}

/// Returns the line at `start` without its line end.
fn line_at(text: &str, start: u32) -> &str {
    let rest = text.get(start as usize..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default().trim_end_matches('\r')
}

impl FileIndex {
    /// Parses `file` and derives everything from it.
    pub fn new(file: SourceFile) -> FileIndex {
        let declarations = syntax::parse_declarations(file.language, &file.text);
        derive::derive(file, &declarations)
    }

    /// Same as [`FileIndex::new`] with the file's syntax tree, which saves a parse in most languages.
    pub fn with_tree(file: SourceFile, tree: &Tree) -> FileIndex {
        let declarations = tree.declarations(&file.text);
        derive::derive(file, &declarations)
    }

    /// Returns the file.
    pub fn file(&self) -> &SourceFile {
        &self.file
    }

    /// Returns the path relative to the workspace root.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// Returns the file's language.
    pub fn language(&self) -> Language {
        self.file.language
    }

    /// Returns the whole text. Its length is known without reading it.
    pub fn text(&self) -> &SharedText {
        &self.file.text
    }

    /// Returns the hash of text and language.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Returns its definitions and imports without keeping them in memory, for a pass over all files.
    pub fn outline(&self) -> Outline {
        self.outline.read()
    }

    /// Returns the number of its definitions.
    pub(crate) fn definition_count(&self) -> usize {
        self.outline.definition_count()
    }

    /// Returns the shapes of its definitions in order. Faster than reading definitions.
    pub(crate) fn definition_shapes(&self) -> impl Iterator<Item = DefinitionShape> {
        self.outline.shapes()
    }

    /// Returns the shape of the definition at a position. Faster than reading the definition.
    pub(crate) fn definition_shape(&self, position: u32) -> DefinitionShape {
        self.outline.shape(position)
    }

    /// Returns the name of the definition at a position. Faster than reading the definition.
    pub(crate) fn definition_name(&self, position: u32) -> &str {
        self.outline.name(position)
    }

    /// Whether its arrays are in a store.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.outline.encoded, PodArray::Mapped { .. })
    }

    /// Moves the derived data of `files` into one block of a store, except for their texts. After an error some of it is still in
    /// memory, and the files are valid.
    pub fn store_all(files: &mut [FileIndex], store: &dyn BlockStore) -> io::Result<()> {
        move_to_store(store, files)
    }

    /// Creates a file whose arrays follow from a block.
    pub(crate) fn without_arrays(
        file: SourceFile,
        hash: ContentHash,
        functions: Box<[Range<u32>]>,
        is_too_complex: bool,
    ) -> FileIndex {
        FileIndex {
            file,
            hash,
            lines: PodArray::default(),
            blocks: Bags::default(),
            functions,
            function_words: Bags::default(),
            outline: StoredOutline::default(),
            is_too_complex,
        }
    }

    /// Whether the lengths of its parts fit together.
    pub(crate) fn has_sound_lengths(&self) -> bool {
        self.blocks.len() == self.lines.len().div_ceil(BLOCK_LINES)
            && self.function_words.len() == self.functions.len()
            && self.functions.iter().all(|function| {
                function.start <= function.end && function.end as usize <= self.file.text.len()
            })
    }

    /// Whether parsing exceeded the budget: the file then has lines and words, but no functions and names.
    pub fn is_too_complex(&self) -> bool {
        self.is_too_complex
    }

    /// Returns its non-blank lines in order.
    pub fn lines(&self) -> &[CodeLine] {
        &self.lines
    }

    /// Returns the text of one of its lines.
    pub fn line_text(&self, line: &CodeLine) -> &str {
        line_at(&self.file.text, line.start)
    }

    /// Returns the byte range of one of its lines, without the line end.
    pub(crate) fn line_range(&self, line: &CodeLine) -> Range<u32> {
        line.start..line.start + self.line_text(line).len() as u32
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the lines of a block; the last block may have fewer than others.
    pub fn block_lines(&self, block: u32) -> &[CodeLine] {
        self.lines_of(block, 1)
    }

    /// Returns the number of windows: one for every block but the last, unless there is only one block. A window is identified
    /// by the number of its first block.
    pub fn windows(&self) -> usize {
        windows(self.blocks())
    }

    /// Returns the lines of a window.
    pub fn window_lines(&self, window: u32) -> &[CodeLine] {
        self.lines_of(window, WINDOW_BLOCKS)
    }

    /// Returns the terms of a window, including repeats.
    pub fn window_terms(&self, window: u32) -> impl Iterator<Item = Term> {
        let window = window as usize;
        let terms = self.blocks.terms();
        (window..window + WINDOW_BLOCKS)
            .flat_map(|block| self.blocks.bag(block))
            .flat_map(|entry| repeat_n(terms[entry.term as usize], entry.count.into()))
    }

    fn lines_of(&self, block: u32, blocks: usize) -> &[CodeLine] {
        let lines = &*self.lines;
        let start = lines.len().min(block as usize * BLOCK_LINES);
        let end = lines.len().min(start + blocks * BLOCK_LINES);
        &lines[start..end]
    }

    /// Returns one bag of terms per block.
    pub(crate) fn block_terms(&self) -> &Bags {
        &self.blocks
    }

    /// Returns its functions with a body, outer before inner.
    pub(crate) fn functions(&self) -> &[Range<u32>] {
        &self.functions
    }

    /// Returns one bag of words per function.
    pub(crate) fn function_words(&self) -> &Bags {
        &self.function_words
    }
}

/// Returns the number of windows in a file with this many blocks.
pub(crate) fn windows(blocks: usize) -> usize {
    blocks.min(1).max(blocks.saturating_sub(1))
}

#[cfg(test)]
mod tests;
