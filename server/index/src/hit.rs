//! Results of retrieval strategies.

use std::fmt;
use std::sync::Arc;

use crate::retrieve::{LINE_BYTES, PATH_BYTES, TokenBudget};

/// A retrieved snippet.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the workspace root.
    pub path: Arc<str>,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one.
    pub end_line: u32,
    /// The shown lines in the order of the text; empty if all lines are shown.
    pub lines: Vec<u32>,
    /// The text: the lines themselves or signatures made from them, without the last line end.
    pub text: String,
    /// The strategy's score; higher is better. Different kinds have different scales.
    pub score: f64,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Kind of the code.
    pub kind: HitKind,
    /// Reason for the result, for people.
    pub reason: String,
    /// Bytes that it takes of a budget: its lines as comments, and the path above them unless the previous hit is from the same
    /// file.
    pub bytes: usize,
}

/// Kind of a hit, which defines the meaning of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HitKind {
    /// Signatures of definitions; score: probability that the first one is used next.
    Definition,
    /// A use of such a definition; score: its probability times the similarity of the surroundings.
    Use,
    /// Lines with the same names; score: weight of these names.
    Window,
    /// A function; score: lexical similarity, or cosine similarity of embeddings from -1 to 1.
    Function,
    /// Ten lines; score: similarity by common words.
    Chunk,
    /// A recently edited or visited location; score: 1 for the latest.
    RecentLocation,
}

impl HitKind {
    /// All kinds.
    pub const ALL: [HitKind; 6] = [
        HitKind::Definition,
        HitKind::Use,
        HitKind::Window,
        HitKind::Function,
        HitKind::Chunk,
        HitKind::RecentLocation,
    ];

    /// Returns the kind's name.
    pub fn name(self) -> &'static str {
        match self {
            HitKind::Definition => "definition",
            HitKind::Use => "use",
            HitKind::Window => "window",
            HitKind::Function => "function",
            HitKind::Chunk => "chunk",
            HitKind::RecentLocation => "visit",
        }
    }
}

impl fmt::Display for HitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Hit {
    /// Whether it shows at least a part of a line, 0-based.
    pub fn shows(&self, path: &str, line: u32) -> bool {
        let is_within = if self.lines.is_empty() {
            (self.start_line..self.end_line).contains(&line)
        } else {
            self.lines.contains(&line)
        };
        *self.path == *path && is_within
    }
}

/// Returns the bytes that whole lines under their path take of a budget.
pub(crate) fn budget_bytes(path: &str, text: &str) -> usize {
    path.len() + PATH_BYTES + text.lines().map(|line| line.len() + LINE_BYTES).sum::<usize>()
}

/// Returns the budget tokens of each of `hits`. A token that spans two hits counts for the first, so that the sum is the cost
/// of all hits together.
pub fn budget_tokens(hits: &[Hit]) -> Vec<usize> {
    let mut bytes = 0;
    hits.iter()
        .map(|hit| {
            let before = TokenBudget::tokens_of(bytes);
            bytes += hit.bytes;
            TokenBudget::tokens_of(bytes) - before
        })
        .collect()
}
