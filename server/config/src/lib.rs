//! The configuration: one table of keys, layers of values, and rules for trust.
//!
//! ```text
//! files, editor's settings, environment ──raw──► entries with places ──check (by the table)──► Layer ─┐
//! table ──► schema, documentation                                              problems ◄─────────────┤
//!                                             Config (values and origins) ◄──merge, trust─────────────┘
//! ```
//!
//! The crate converts texts to values; callers read files and the environment. Every key, its type, default and documentation are
//! defined once, in `table.rs`. Unknown input is always reported, never ignored. Problems of one layer do not affect other layers.
//! No message quotes a value that may be a key.
#![deny(clippy::disallowed_methods)]

mod check;
mod config;
mod docs;
mod engine;
mod files;
mod identity;
mod key;
mod kind;
mod layer;
mod options;
mod place;
mod problem;
mod raw;
mod schema;
mod secret;
mod suggest;
mod table;
mod trust;
mod types;
mod value;
mod variables;

pub use config::{Config, Row};
pub use docs::documentation;
pub use engine::{Engine, Obstacle};
pub use files::{FileRead, Files};
pub use identity::{IdentityPart, IdentityValue};
pub use key::{Key, Section, Workspace};
pub use kind::Kind;
pub use layer::{Layer, editor_trusts};
pub use options::SecretTable;
pub use place::{LayerKind, Origin, Place};
pub use problem::{Cause, Problem, Severity};
pub use schema::schema;
pub use secret::Secret;
pub use table::{
    COMPLETION, CONTEXT, Completion, Context, ENGINE, EngineSettings, RECORD, Record, SECTIONS, all_sections,
};
pub use trust::{Trust, TrustError, TrustStore};
pub use types::{NO_PROXY, Type};
pub use variables::Variables;

/// Name of a workspace's configuration file.
pub const FILE_NAME: &str = "ghostbench.toml";
