//! Recording of live trials: what any session, of an editor or of the front door, passes to the recorder, and the engines of a trial.
//!
//! ```text
//! edits, requests, answers ──► TrialRecording: bounded queue ──► thread: Recorder ──► rows ──► trial::Store
//! GenerationTask: the shown engine ──► ShownQuestion ──┘   │
//!                                                          └──► the arms in shadow, context, commits, canary questions
//! ```
//!
//! Responsible for which requests and documents are recorded, and for asking the other arms. It must never delay a completion: a full
//! queue drops recording. What a row means is decided in `trial`; protocols belong to the crates that use this one.

mod added_cases;
mod answer_facts;
mod canary_questions;
mod commits;
mod context_record;
mod duel;
mod generation_task;
pub mod inline_item;
mod recorder_thread;
mod running_trial;
mod shadow_arms;
mod trial_clock;
mod trial_recording;
mod trial_session;

pub use answer_facts::{AnswerFacts, AnsweredRequest, ArmQuestion, GenerationFacts, ShownQuestion};
pub use generation_task::GenerationTask;
pub use running_trial::{RunningTrial, Writer, choose, choose_for_folder};
pub use shadow_arms::ShadowQuestion;
pub use trial_clock::{ClockKind, TrialClock};
pub use trial_recording::{DocumentFacts, RecorderEpoch, TrialProblem, TrialRecording, document_facts};
pub use trial_session::{TrialSession, TrialSessionState};
