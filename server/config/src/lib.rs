//! The configuration: one table of keys, layers of values, and rules for trust.
//!
//! ```text
//! files, editor's settings, environment ──raw──► entries with places ──check (by the table)──► ConfigLayer ─┐
//! table ──► schema, documentation                                              problems ◄─────────────┤
//!                                             Config (values and origins) ◄──merge, trust─────────────┘
//! ```
//!
//! The crate converts texts to values; callers read files and the environment. Every key, its type, default and documentation are
//! defined once, in `table.rs`. Unknown input is always reported, never ignored. Problems of one layer do not affect other layers.
//! No message quotes a value that may be a key.
#![deny(clippy::disallowed_methods)]

mod choices;
mod config;
mod config_files;
mod date;
mod docs;
mod engine_definition;
mod engine_identity;
mod engine_kind;
mod environment;
mod key;
mod layer;
mod problem;
mod raw_value;
mod schema;
mod secret;
mod secret_table;
mod setting_location;
mod suggest;
mod table;
mod trust;
mod validate;
mod value;
mod value_type;

pub use choices::{Method, Privacy, Strategy};
pub use config::{Config, EffectiveValue};
pub use config_files::{ConfigFile, ConfigFiles};
pub use date::is_date;
pub use docs::documentation;
pub use engine_definition::{EngineConfigError, EngineDefinition};
pub use engine_identity::{IdentityPart, IdentityValue};
pub use engine_kind::EngineKind;
pub use environment::Environment;
pub use key::{KeySpec, Section, WorkspaceAccess};
pub use layer::{ConfigLayer, editor_trusts_folder};
pub use problem::{Problem, ProblemKey, Severity};
pub use schema::schema;
pub use secret::Secret;
pub use secret_table::SecretTable;
pub use setting_location::{LayerKind, SettingLocation, SettingOrigin};
pub use table::{
    COLLECT, COMPLETION, CONTEXT, Collect, Completion, Context, ENGINE, EngineSettings, INDEX, IndexSettings,
    RECORD, Record, SECTIONS, SERVE, Serve, TESTS, TRIAL, Tests, Trial, all_sections,
};
pub use trust::{Trust, TrustError, TrustStore};
pub use value_type::{NO_PROXY, ValueType};

/// Name of a workspace's configuration file.
pub const FILE_NAME: &str = "ghostbench.toml";
