//! What strategies hand over.

use std::fmt;
use std::sync::Arc;

use crate::retrieve::{Budget, LINE_BYTES, PATH_BYTES};

/// A piece of code that a strategy found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the workspace root.
    pub path: Arc<str>,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one.
    pub end_line: u32,
    /// The lines of which it shows something, in the order in which it shows them; empty if these are all.
    pub lines: Vec<u32>,
    /// What it shows: the lines as they are or signatures made from them, without the last line end.
    pub text: String,
    /// The strategy's score; higher is nearer. Those of different kinds are on different scales.
    pub score: f64,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// What kind of code it is.
    pub kind: HitKind,
    /// Why it was found, for people.
    pub reason: String,
    /// Bytes that it takes of a budget: its lines as comments, and its path above them unless it goes on in the same file.
    pub bytes: usize,
}

/// What kind of code a hit is, and with it what its score means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HitKind {
    /// Signatures of definitions, by the probability that the first one is what comes next.
    Definition,
    /// A use of such a definition, by its probability times how alike the surroundings are.
    Use,
    /// Lines about the same names, by the weight of these names.
    Window,
    /// A function, by likeness: of words, or from -1 to 1 of embeddings.
    Function,
    /// Ten lines, by the words that they share.
    Chunk,
    /// What was edited or looked at, from 1 for the latest.
    Visit,
}

impl HitKind {
    /// All of them.
    pub const ALL: [HitKind; 6] = [
        HitKind::Definition,
        HitKind::Use,
        HitKind::Window,
        HitKind::Function,
        HitKind::Chunk,
        HitKind::Visit,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            HitKind::Definition => "definition",
            HitKind::Use => "use",
            HitKind::Window => "window",
            HitKind::Function => "function",
            HitKind::Chunk => "chunk",
            HitKind::Visit => "visit",
        }
    }
}

impl fmt::Display for HitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Hit {
    /// Whether it shows something of a line, 0-based.
    pub fn shows(&self, path: &str, line: u32) -> bool {
        let is_within = if self.lines.is_empty() {
            (self.start_line..self.end_line).contains(&line)
        } else {
            self.lines.contains(&line)
        };
        *self.path == *path && is_within
    }
}

/// Bytes that whole lines under their path take of a budget.
pub(crate) fn cost(path: &str, text: &str) -> usize {
    path.len() + PATH_BYTES + text.lines().map(|line| line.len() + LINE_BYTES).sum::<usize>()
}

/// The tokens of a budget that each of `hits` takes. The last token that one begins is its own, so that these are together what the
/// hits take together.
pub fn tokens(hits: &[Hit]) -> Vec<usize> {
    let mut bytes = 0;
    let share = |hit: &Hit| {
        let before = Budget::tokens_of(bytes);
        bytes += hit.bytes;
        Budget::tokens_of(bytes) - before
    };
    hits.iter().map(share).collect()
}
