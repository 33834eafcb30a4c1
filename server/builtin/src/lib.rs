//! The built-in engine: a model over the workspace's own tokens.
//!
//! It needs no installation, no weights to download and no network. It copies and adapts code of the workspace:
//!
//! ```text
//! files ──lex──▶ Corpus (tokens + two suffix arrays, changed files in layers on top) ◀──▶ image (bytes used in place)
//!                  │ view(open file): masks its copy, adds the text before and after the cursor
//!                  ▼
//!                View ──context──▶ candidates ──▶ count, vote, longest match ──▶ ranking ──▶ next token ──┐
//!                  ▲ mode from the text after the cursor                                ▲─────────────────┘ until a stop rule applies
//!                  └── stop? ──▶ proposals: ranking, vote, longest match, nearest copy ──▶ the best ──▶ gate ──▶ render
//! ```
//!
//! Small models choose the next token and the best proposal, and estimate whether it is right and whether a body is complete.
//! `cargo xtask fit engine` fits them on pinned repositories ([`Models`]). They choose among text found in the workspace, and
//! contain no words of any language.
//!
//! Pure and deterministic: no IO, no clock, no randomness; the same view and settings give the same completion. The text of the
//! hole is unreachable by type: only a [`View`] completes, and it is made of the text before and after the cursor. The constants
//! come from a feasibility study over 18 repositories and 8,400 cases, and name its sections. The study is not part of this
//! repository; its results are quoted at the constants, and `docs/benchmarks.md` measures the engine.
#![deny(clippy::disallowed_methods)]

mod alternatives;
mod array;
mod candidates;
mod corpus;
mod cursor;
mod decode;
mod gate;
mod image;
mod layer;
mod layout;
mod lessons;
mod masked;
mod models;
mod nearest;
mod order;
mod origin;
mod overlay;
mod predict;
mod proposals;
mod quotes;
mod render;
mod settings;
mod shape;
mod stop;
mod stream;
mod suffix_array;
mod trees;
mod view;
mod vocabulary;
mod weights;

pub use array::Bytes;
pub use corpus::{Corpus, Stats};
pub use image::ImageError;
pub use lessons::{Choice, Lesson, Proposed};
pub use masked::MaskedCorpus;
pub use models::{Models, PROPOSAL_FEATURES, STOP_FEATURES, TOKEN_FEATURES};
pub use origin::{Origin, Source, SourceTokens};
pub use settings::{Completion, CompletionToken, Method, Settings, StopReason};
pub use trees::{DEPTH, Tree, Trees};
pub use view::{Hint, OpenFile, Passage, Typing, View};
