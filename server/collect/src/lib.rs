//! Traces of a team: the server that receives reviewed bundles from developers' machines, and its client.
//!
//! ```text
//! store of trials ─ sharing ─ client ══ HTTP ══ server ─ ingest ─ store ─► PostgreSQL or SQLite
//!   (the spool)                                   │
//!                                                 └─ rows after a number ─► copies, such as Parquet files (python/ghostbench-collect)
//! ```
//!
//! Responsible for consent, licences, credentials and roles, the audit log, retention and deletion. Nothing is sent that a developer has
//! not reviewed, for a repository that the developer has not joined. No upload is acknowledged before it is durable, and no row is stored
//! twice or with a known secret.

pub mod account;
pub mod client;
mod ingest;
mod otlp;
mod packed;
mod policy;
pub mod protocol;
pub mod server;
pub mod sharing;
pub mod store;
