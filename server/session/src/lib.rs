//! Editor sessions, without any protocol: the workspace folders and their index.
//!
//! Responsible for the state that an editor and we share. It must never name a type of the language server protocol, and no lock is
//! held across an await.

mod indexer;

pub use indexer::{Indexer, LoadedCorpus, OpenStats, save_corpus};
