//! The strategy `bm25-chunks`: CrossCodeEval's retriever, exactly, with its quirks.
//!
//! ```text
//! files -> distance order -> chunks of ten lines -> tokens --\
//!                                                             BM25 or Jaccard -> order -> next chunk -> top five
//! prefix (and truth, for the oracle) -> last ten lines ------/
//! ```
//!
//! It is here as a measure of other strategies, so it never improves on the original: files are ordered by folders, chunks cut
//! anywhere, and only the first thousand are ranked. What depends on one file is kept in [`FileChunks`], what depends on
//! the cursor's file in [`Candidates`]; a query then touches only the chunks that share a word with it.
//!
//! Lines end at line feeds alone. The original reads files with other line ends as if they had line feeds; so must a caller
//! that wants its texts to the letter. Scores are the same either way, unless carriage returns stand alone.

use std::ops::Range;
use std::sync::Arc;

use text::python;

mod candidates;
mod chunks;
mod files;
mod okapi;
mod prompt;
mod render;
mod tokens;
mod words;

#[cfg(test)]
mod tests;

pub use candidates::{Candidates, Ranked};
pub use chunks::FileChunks;
pub(crate) use files::nearest_in_workspace;
pub use files::{distance, is_candidate, nearest};
pub use prompt::{
    LocalSettings, Prompt, ServedSettings, Tokenize, local_prompt, local_prompt_with_chunks, served_prompt,
};
pub use render::context_text;
pub use tokens::tokenize;

/// Name of the strategy.
pub const BM25_CHUNKS: &str = "bm25-chunks";

/// Lines of a query.
const QUERY_LINES: usize = 10;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The file up to the cursor.
    pub prefix: &'a str,
    /// What is known beside the prefix, and what is made of the best chunks.
    pub setting: Setting<'a>,
    /// How chunks are compared with the query.
    pub ranking: Ranking,
}

/// The benchmark's two settings with retrieval.
#[derive(Clone, Copy, Debug)]
pub enum Setting<'a> {
    /// The prefix is looked for, and the chunk after a similar one is shown: what follows there may follow here.
    Rg1,
    /// The prefix is looked for together with what really follows it; similar chunks themselves are shown.
    Oracle {
        /// What follows the prefix.
        truth: &'a str,
    },
}

/// How chunks are compared with the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// Okapi BM25.
    Bm25,
    /// The share of common words among the distinct words of both.
    Jaccard,
}

impl Query<'_> {
    /// The last ten lines of the prefix, followed by the truth where it is known, that are not blank.
    pub fn text(&self) -> String {
        let truth = match self.setting {
            Setting::Rg1 => None,
            Setting::Oracle { truth } => Some(truth),
        };
        let backwards = truth.into_iter().chain([self.prefix]).flat_map(|text| text.rsplit('\n'));
        let mut lines: Vec<&str> =
            backwards.filter(|line| !python::is_blank(line)).take(QUERY_LINES).collect();
        lines.reverse();
        lines.join("\n")
    }
}

/// A chunk that the retriever found.
#[derive(Clone, Debug)]
pub struct ChunkHit {
    /// The file that the original names. With the oracle and equal scores it may be another one than the text's.
    pub named: Arc<str>,
    /// The score; with [`Setting::Rg1`] that of the chunk before, which resembles the query.
    pub score: f64,
    file: Arc<FileChunks>,
    chunk: u32,
}

impl ChunkHit {
    /// The file that the text stands in.
    pub fn path(&self) -> &Arc<str> {
        self.file.path()
    }

    /// The chunk's lines, without blank ones.
    pub fn text(&self) -> &str {
        self.file.text(self.chunk as usize)
    }

    /// The chunk's number in the file.
    pub fn number(&self) -> u32 {
        self.chunk
    }

    /// Where these lines stand in the file, 0-based and half-open.
    pub fn lines(&self) -> Range<u32> {
        self.file.lines(self.chunk as usize)
    }
}
