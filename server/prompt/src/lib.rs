//! Builds prompts for holes in files, and extracts the insertions from raw answers.
//!
//! ```text
//! configuration, server's metadata, name ──choose──▶ Template (a row of `families`, or written out)
//!                                                       │
//! Question (text around the hole, context) ─────────────┴──assemble──▶ Prompt ──▶ engine
//!                                                                        │          │ raw answer
//!                                                                        └─Reading──┴──▶ insertion
//! ```
//!
//! Responsible for the layout of every model family, for token budgets, for user code that resembles special tokens, and for text
//! that models add around their answers. It must not depend on engines or documents: an engine sends the content of a [`Prompt`]
//! and reads the answer with the [`Reading`] that came with it.
//!
//! Deterministic and pure: no clock, no randomness, no IO, and no answer causes a panic.
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
