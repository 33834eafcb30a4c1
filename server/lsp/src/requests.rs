//! Request handlers, one file per method. Each uses the snapshot of its arrival.

pub(crate) mod advance_time;
pub(crate) mod answers;
pub(crate) mod case;
pub(crate) mod cases;
pub(crate) mod code_lens;
pub(crate) mod execute_command;
pub(crate) mod inline_completion;
pub(crate) mod judge_replay;
pub(crate) mod last_request;
pub(crate) mod mark_place;
pub(crate) mod page;
pub(crate) mod pause_recording;
pub(crate) mod record_case;
pub(crate) mod replay;
pub(crate) mod scoreboard;
pub(crate) mod status;
pub(crate) mod suite;
pub(crate) mod text_document_content;
pub(crate) mod trial;
pub(crate) mod trial_scoreboard;
