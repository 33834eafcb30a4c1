//! The built-in engine: a model over the workspace's own tokens.
//!
//! It needs no installation, no weights to download and no network. It copies and adapts code of the workspace:
//!
//! ```text
//! files ──lex──▶ Corpus (tokens + two suffix arrays, changed files in layers on top) ◀──▶ image (bytes used in place)
//!                  │ view(open file): masks its copy, adds the text before and after the cursor
//!                  ▼
//!                CorpusView ──context──▶ candidates ──▶ count, vote, longest match ──▶ ranking ──▶ next token ──┐
//!                  ▲ mode from the text after the cursor                                ▲─────────────────┘ until a stop rule applies
//!                  └── stop? ──▶ proposals: ranking, vote, longest match, nearest copy ──▶ the best ──▶ gate ──▶ render
//! ```
//!
//! Small models choose the next token and the best proposal, and estimate whether it is right and whether a body is complete.
//! `cargo xtask fit engine` fits them on pinned repositories ([`Models`]). They choose among text found in the workspace, and
//! contain no words of any language.
//!
//! Pure and deterministic: no IO, no clock, no randomness; the same view and settings give the same completion. The text of the
//! hole is unreachable by type: only a [`CorpusView`] completes, and it is made of the text before and after the cursor. The constants
//! come from a feasibility study over 18 repositories and 8,400 cases, and name its sections. The study is not part of this
//! repository; its results are quoted at the constants, and `docs/benchmarks.md` measures the engine.
#![deny(clippy::disallowed_methods)]

mod alternatives;
mod block_continuation;
mod boosted_trees;
mod candidates;
mod code_style;
mod confidence;
mod corpus;
mod corpus_image;
mod corpus_limit;
mod corpus_view;
mod cursor;
mod decode;
mod find_function;
mod layer;
mod masked_corpus;
mod match_order;
mod models;
mod nearest_copy;
mod overlay;
mod predict;
mod proposals;
mod quotes;
mod render;
mod settings;
mod stop_rules;
mod suffix_array;
mod token_origin;
mod token_stream;
mod training_examples;
mod vocabulary;
mod weights;

pub use config::Method;

pub use boosted_trees::{BoostedTrees, DEPTH, DecisionTree};
pub use corpus::{Corpus, CorpusStats};
pub use corpus_image::CorpusImageError;
pub use corpus_limit::{CorpusLimit, TokenCoverage};
pub use corpus_view::{CorpusView, OpenFile, RecentTyping, TypedPassage};
pub use find_function::find_function;
pub use masked_corpus::MaskedCorpus;
pub use models::{Models, PROPOSAL_FEATURES, STOP_FEATURES, TOKEN_FEATURES};
pub use settings::{BuiltinSettings, Completion, CompletionToken, StopReason};
pub use stored::SharedBytes;
pub use token_origin::{SourceTokens, TokenOrigin, TokenSource};
pub use training_examples::{TrainingCandidate, TrainingExample, TrainingProposal};
