//! Prompts: what a model is sent for a hole in a file, and what of its raw answer is the insertion.
//!
//! ```text
//! configuration, server's metadata, name ──choose──▶ Template (a row of `families`, or written out)
//!                                                       │
//! Question (text around the hole, context) ─────────────┴──assemble──▶ Prompt ──▶ engine
//!                                                                        │          │ raw answer
//!                                                                        └─Reading──┴──▶ insertion
//! ```
//!
//! Responsible for the layout of every model family, for budgets in tokens, for user code that looks like a model's special tokens, and
//! for what models wrap their answers in. Knows neither engines nor documents: an engine sends what stands in a [`Prompt`] and reads its
//! answer with the [`Reading`] that came with it.
//!
//! Deterministic and pure: no clock, randomness or IO, and no answer is a panic.
#![deny(clippy::disallowed_methods)]

mod assemble;
mod choose;
mod context;
mod cut;
mod estimate;
mod extract;
mod families;
mod hole;
mod languages;
mod neutral;
pub mod proof;
mod template;

pub use assemble::{
    KeptParts, NoRoom, Placement, Places, Prompt, Question, Settings, Shares, Snippet, assemble,
};
pub use choose::{Choice, ChosenBy, Hints, choose};
pub use cut::Count;
pub use estimate::{SAMPLE, estimate, estimate_by, most_tokens};
pub use extract::{Insertion, Reading};
pub use families::{FAMILIES, Family, Files, SHARED_TOKENS};
pub use neutral::{BREAK, neutralise, restore};
pub use template::{Template, TemplateError, Written};
