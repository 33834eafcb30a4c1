//! Editor sessions, without any protocol: open documents, suggestions, the workspace folders and their index.
//!
//! ```text
//! edits ──► Documents ──► EditLog of each document ──► tracked ranges, typed ranges, latest request, answer in flight
//!               └──► RequestSnapshot: all documents at one moment
//! changed files ──► Folder ──► Indexer ──► WorkspaceIndex ──┐
//! settings ───────► Folder ──► EffectiveSettings, engines ──┴──► requests
//!                     └──► SessionEvent: what the editor may show
//! ```
//!
//! Responsible for the state that an editor and we share. It must never name a type of the language server protocol, and no lock is
//! held across an await.

mod allocator;
mod background_pool;
pub mod document_admission;
mod document_location;
mod document_session;
mod documents;
mod editor_context;
mod engine_health;
mod engine_set;
mod events;
mod fast_disk_check;
mod folder;
mod folder_tests;
mod folders;
mod index_memory;
mod indexer;
mod indexing;
mod last_request;
mod latest_request;
mod lazy_real_path;
mod locks;
mod open_document;
mod opened_suites;
mod recorded_cases;
mod rejected_suggestions;
mod request_snapshot;
mod settings;
mod settings_files;
mod step_threads;
mod suggestions;
mod test_judging;
mod tracked_ranges;
mod typed_ranges;

pub use background_pool::{BackgroundPool, background_threads};
pub use document_location::DocumentLocation;
pub use document_session::DocumentSession;
pub use documents::{Documents, NewDocument, SyncOutcome};
pub use editor_context::editor_context;
pub use engine_health::{EngineFault, EngineHealth, TrackedRequest};
pub use engine_set::{EngineSet, EngineSource, UnavailableEngine, role_settings};
pub use engines::Role;
pub use events::{IndexingOutcome, IndexingReport, Progress, SessionEvent};
pub use folder::{Folder, FolderState, IndexingState, NewFolder};
pub use folder_tests::{FolderTests, JudgedReplay};
pub use folders::{Folders, SessionSetup};
pub use index_memory::{IndexMemory, model_tokens};
pub use indexer::{IndexProgress, Indexer, LoadedCorpus, OpenStats, TreeObserver, save_corpus};
pub use last_request::{EditorRequestRecord, EngineRequestRecord, LastRequests};
pub use locks::lock;
pub use open_document::OpenDocument;
pub use opened_suites::OpenedSuites;
pub use recorded_cases::{RecordedCases, RecordedSnapshot};
pub use request_snapshot::RequestSnapshot;
pub use settings::EffectiveSettings;
pub use settings_files::{SettingsFiles, read_settings_file, workspace_file};
pub use suggestions::Suggestions;
pub use test_judging::{configured_runner, judge_jobs, open_judge, open_sandbox};
pub use tracked_ranges::{CaseLocation, CaseMatch, TrackedRanges};
