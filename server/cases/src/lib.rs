//! The file formats of Ghostbench: cases, predictions, scores and runs, as JSON Lines.
//!
//! The only owner of what stands on disk; `docs/formats.md` documents it. The types here are written and read, nothing else:
//! runtime types live in the crates that compute them. Parse after print is identity. No IO: callers bring text and take text.
#![deny(clippy::disallowed_methods)]

mod case;
mod defined;
mod jsonl;
mod place;
mod prediction;
mod redaction;
mod run;
mod schema;
mod score;

pub use case::{
    BlockKind, Case, ContextItem, Exposure, Id, Origin, OriginKind, Scenario, Stage, Tags, Task, Tests,
    Variant, suite_hash, suite_hash_of_ids,
};
pub use defined::{AFTER_JUMP, DEFINED_TAG, DefinedAt, ENTITY_TAG, FOLLOWS_TAG, JUDGE_TAG, RESOLVED_TAG};
pub use jsonl::{Lines, ParseError, parse_document, parse_line, parse_lines, to_document, to_line};
pub use place::{FileText, Landmark};
pub use prediction::{
    Cost, EngineName, Finish, Milliseconds, Prediction, Recorded, Renamed, Span, SpanSource, Status,
    TokenCounts,
};
pub use redaction::{redact_case, redact_prediction};
pub use run::{CaseCopies, EngineConfig, Machine, Price, Run, WorkspaceState};
pub use schema::Schema;
pub use score::{Metric, Score};
