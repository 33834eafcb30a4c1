//! The built-in engine: a model over the workspace's own tokens.
//!
//! Needs nothing installed: no weights, no network. What it writes is copied, and adapted, from code that is there:
//!
//! ```text
//! files ──lex──▶ Corpus (tokens + two suffix arrays, changed files in layers on top) ◀──▶ image (bytes to be used in place)
//!                  │ view(open file): masks its copy, adds what is before and after the cursor
//!                  ▼
//!                View ──context──▶ candidates ──▶ count, vote, longest match ──▶ ranking ──▶ next token ──┐
//!                  ▲ mode from what follows the cursor                                  ▲─────────────────┘ until the shape is complete
//!                  └── stop? ──▶ proposals: ranking, vote, longest match, nearest copy ──▶ the best ──▶ gate ──▶ render
//! ```
//!
//! Which token comes next, which proposal is the best, whether it is right, and whether a body is complete is told by small models that
//! `cargo xtask fit engine` fits on pinned repositories ([`Models`]). They choose among what was found in the workspace, and know no
//! word of any language.
//!
//! Pure and deterministic: no IO, no clock, no randomness; the same view and settings give the same completion. The text of
//! the hole is unreachable by type: only a [`View`] completes, and it is made of the text before and after the cursor.
//! The constants come from a feasibility study over 18 repositories and 8,400 cases, whose sections they name. The study is no part
//! of this repository; what it found is said where it is used, and `docs/benchmarks.md` measures the result.
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
