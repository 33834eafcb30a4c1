//! Paths and headers that client and server share.

/// Whether the server works; needs no credential.
pub const HEALTH: &str = "/health";
/// Receives a bundle.
pub const BUNDLES: &str = "/v1/bundles";
/// Receives spans as OTLP in JSON.
pub const TRACES: &str = "/v1/traces";
/// Receives log records as OTLP in JSON.
pub const LOGS: &str = "/v1/logs";
/// Counts: of the account, for analysts also of all.
pub const STATUS: &str = "/v1/status";
/// Deletes rows.
pub const FORGET: &str = "/v1/forget";
/// Rows after a number, for copies.
pub const ROWS: &str = "/v1/rows";
/// Pseudonyms with rows, for copies.
pub const DEVELOPERS: &str = "/v1/developers";
/// Notes how far a copy is.
pub const COPIES: &str = "/v1/copies";
/// The scoreboard over all developers.
pub const SCOREBOARD: &str = "/v1/scoreboard";
/// The audit log.
pub const AUDIT: &str = "/v1/audit";

/// Header with the opaque name of the repository of a bundle.
pub const REPOSITORY_HEADER: &str = "ghostbench-repository";

/// Whether a text can be the opaque name of a repository.
pub(crate) fn is_repository(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
