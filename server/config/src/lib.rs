//! The configuration: one table of keys, layers of values, and who may set what.
//!
//! ```text
//! files, editor's settings, environment ──raw──► entries with places ──check (by the table)──► Layer ─┐
//! table ──► schema, documentation                                              problems ◄─────────────┤
//!                                                     Config (what holds, from where) ◄──merge, trust─┘
//! ```
//!
//! It is given texts and returns values: reading files and the environment is its callers' part. Every key, its type, its default and
//! its documentation stand once, in `table.rs`. Whatever somebody writes that the table does not know is reported and never ignored;
//! what is wrong with one layer stays in that layer; and no message quotes what may be a key.
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

/// What a workspace's file is called.
pub const FILE_NAME: &str = "ghostbench.toml";
