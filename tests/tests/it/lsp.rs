//! The language server, driven over its standard input and output as an editor does.

mod bad_input;
mod bad_messages;
mod burst;
mod client_self_test;
mod completion;
mod corpus_updates;
mod editor;
mod edits;
mod engine_failures;
mod engines;
mod exposure;
mod file_watching;
mod front_door;
mod handshake;
mod hostile_client;
mod in_flight;
mod index_on_disk;
mod inspection;
mod invalid_frames;
mod languages;
mod lenses;
#[cfg(unix)]
mod permissions;
#[cfg(unix)]
mod privacy;
#[cfg(unix)]
mod program_engines;
mod recent_edits;
mod recording;
mod rejected_suggestions;
mod replay;
mod replay_results;
mod retrieval;
mod scripted_engine;
mod settings;
mod shutdown;
mod suites;
#[cfg(unix)]
mod symlinked_documents;
pub(crate) mod trial;
mod trial_arms;
mod trial_bad_input;
mod trial_cases;
mod trial_continues;
mod trial_shared_context;
mod trial_state;
mod typing;
#[cfg(target_os = "linux")]
mod unit_tests;
#[cfg(unix)]
mod unix;
mod workspace_folders;
