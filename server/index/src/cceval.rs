//! The strategy `bm25-chunks`: CrossCodeEval's retriever, exactly, with its quirks.
//!
//! ```text
//! files -> distance order -> chunks of ten lines -> tokens --\
//!                                                             BM25 or Jaccard -> order -> next chunk -> top five
//! prefix (and truth, for the oracle) -> last ten lines ------/
//! ```
//!
//! It is the baseline for other strategies, so it never improves on the original: files are ordered by folder distance, chunks
//! are cut anywhere, and only the first thousand are ranked. [`FileChunks`] contains everything that depends on one file,
//! [`ChunkCandidates`] everything that depends on the cursor's file; a query then only visits the chunks that share a word with it.
//!
//! Only line feeds end lines. The original normalizes other line ends to line feeds; a caller that needs identical texts must
//! do so, too. Scores are the same either way, unless there are carriage returns without line feeds.

use std::ops::Range;
use std::sync::Arc;

use text::python;

mod candidate_files;
mod candidates;
mod chunks;
mod context_text;
mod inverted_index;
mod okapi;
mod prompt;
mod tokenizer;

#[cfg(test)]
mod tests;

pub(crate) use candidate_files::nearest_in_workspace;
pub use candidate_files::{distance, is_candidate, nearest};
pub use candidates::{ChunkCandidates, RankedChunk};
pub use chunks::FileChunks;
pub use context_text::context_text;
pub use prompt::{
    CcevalPrompt, LocalPromptSettings, ServerPromptSettings, TokenizeFn, local_prompt,
    local_prompt_with_chunks, served_prompt,
};
pub use tokenizer::tokenize;

/// Name of the strategy.
pub const BM25_CHUNKS: &str = config::Strategy::Bm25Chunks.name();

/// Lines in a query.
const QUERY_LINES: usize = 10;

/// A query.
#[derive(Clone, Copy, Debug)]
pub struct ChunkQuery<'a> {
    /// The file up to the cursor.
    pub prefix: &'a str,
    /// Which text is searched for, and which chunk is shown for a match.
    pub setting: RetrievalSetting<'a>,
    /// Similarity of chunks and query.
    pub ranking: ChunkRanking,
}

/// The benchmark's two settings with retrieval.
#[derive(Clone, Copy, Debug)]
pub enum RetrievalSetting<'a> {
    /// Searches for the prefix, and shows the chunk after a similar one: its text may follow here, too.
    Rg1,
    /// Searches for the prefix with the true continuation; shows the similar chunks themselves.
    Oracle {
        /// The text after the prefix.
        truth: &'a str,
    },
}

/// Similarity of chunks and query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkRanking {
    /// Okapi BM25.
    Bm25,
    /// The share of common words among the distinct words of both.
    Jaccard,
}

impl ChunkQuery<'_> {
    /// Returns the last ten non-blank lines of the prefix, followed by the truth if it is known.
    pub fn text(&self) -> String {
        let truth = match self.setting {
            RetrievalSetting::Rg1 => None,
            RetrievalSetting::Oracle { truth } => Some(truth),
        };
        let backwards = truth.into_iter().chain([self.prefix]).flat_map(|text| text.rsplit('\n'));
        let mut lines: Vec<&str> =
            backwards.filter(|line| !python::is_blank(line)).take(QUERY_LINES).collect();
        lines.reverse();
        lines.join("\n")
    }
}

/// A retrieved chunk.
#[derive(Clone, Debug)]
pub struct ChunkHit {
    /// The file that the original reports. With the oracle and equal scores it may differ from the text's file.
    pub reported_path: Arc<str>,
    /// The score; with [`RetrievalSetting::Rg1`] that of the previous chunk, which matches the query.
    pub score: f64,
    file: Arc<FileChunks>,
    chunk: u32,
}

impl ChunkHit {
    /// Returns the file of the text.
    pub fn path(&self) -> &Arc<str> {
        self.file.path()
    }

    /// Returns the chunk's non-blank lines.
    pub fn text(&self) -> &str {
        self.file.text(self.chunk as usize)
    }

    /// Returns the chunk's number in the file.
    pub fn number(&self) -> u32 {
        self.chunk
    }

    /// Returns the chunk's line range in the file, 0-based and half-open.
    pub fn lines(&self) -> Range<u32> {
        self.file.lines(self.chunk as usize)
    }
}
