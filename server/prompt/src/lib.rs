//! Builds prompts for holes in files, and extracts the insertions from raw answers.
//!
//! ```text
//! configuration, server's metadata, name ──choose──▶ Template (a row of `families`, or written out)
//!                                                       │
//! PromptInput (text around the hole, context) ─────────────┴──assemble──▶ Prompt ──▶ engine
//!                                                                        │          │ raw answer
//!                                                                        └─AnswerParser──┴──▶ insertion
//! ```
//!
//! Responsible for the layout of every model family, for token budgets, for user code that resembles special tokens, and for text
//! that models add around their answers. It must not depend on engines or documents: an engine sends the content of a [`Prompt`]
//! and reads the answer with the [`AnswerParser`] that came with it.
//!
//! Deterministic and pure: no clock, no randomness, no IO, and no answer causes a panic.
#![deny(clippy::disallowed_methods)]

mod answer_parser;
mod assemble;
mod chat_prompt;
mod choose_template;
mod language_names;
mod line_prices;
mod model_families;
mod prompt_input;
mod render_context;
mod special_tokens;
mod template;
pub mod template_check;
mod token_estimate;
mod truncate;

pub use answer_parser::{AnswerParser, Insertion};
pub use assemble::{PartRanges, Prompt, PromptTooLong, assemble};
pub use choose_template::{ModelHints, TemplateChoice, TemplateSource, choose_template};
pub use line_prices::LinePrices;
pub use model_families::{FAMILIES, ModelFamily, RepositoryLayout, SHARED_TOKENS};
pub use prompt_input::PromptInput;
pub use special_tokens::TOKEN_BREAK;
pub use template::{CustomTemplate, Template, TemplateError};
pub use token_estimate::{SAMPLE, TokenEstimator, estimate, max_tokens};
