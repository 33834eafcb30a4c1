//! The request of a case, built once for all engines that are asked in turn.

use std::sync::{Arc, Mutex, PoisonError};

use cases::{AnswerForm, Case};
use completion::{
    CompletionSettings, ConfiguredEngine, ContextShare, DocumentSnapshot, FunctionRequest, Outcome,
    SharedContext,
};
use engines::Engine;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::case_snapshot::case_snapshot;
use crate::function_request::{answer_form, function_request};
use crate::runner::RunInputs;

/// The request of a case.
pub(crate) enum CaseRequest {
    /// A completion at this byte of the document. Engines with the same settings share its context.
    Completion(Box<DocumentSnapshot>, usize),
    /// A task without a cursor.
    Function(FunctionRequest),
}

/// The requests of a run: attempts at the same case that follow each other share theirs.
#[derive(Default)]
pub(crate) struct CaseRequests {
    latest: Mutex<Option<(usize, SharedRequest)>>,
}

/// A request that the first of its attempts builds.
pub(crate) type SharedRequest = Arc<OnceCell<CaseRequest>>;

impl CaseRequests {
    /// Returns the request of a case by its index, not yet built if the latest one was another case's.
    pub(crate) fn of(&self, case: usize) -> SharedRequest {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((number, request)) if *number == case => Arc::clone(request),
            _ => Arc::clone(&latest.insert((case, SharedRequest::default())).1),
        }
    }
}

impl CaseRequest {
    pub(crate) fn new(case: &Case, inputs: &RunInputs) -> CaseRequest {
        if let Some(request) = function_request(case) {
            return CaseRequest::Function(request);
        }
        let snapshot = case_snapshot(case, &inputs.world, &inputs.copies)
            .with_context_share(ContextShare::Follower(SharedContext::default()));
        CaseRequest::Completion(Box::new(snapshot), case.prefix.len())
    }

    /// Chooses the context for an engine, which is then asked without delay.
    pub(crate) async fn prepare(&self, engine: &ConfiguredEngine) {
        if let CaseRequest::Completion(snapshot, cursor) = self {
            completion::choose_context_ahead(snapshot, *cursor, &*engine.engine, &engine.settings).await;
        }
    }

    /// Returns the outcome, and for a task without a cursor how it was put.
    pub(crate) async fn put_to(
        &self,
        engine: &dyn Engine,
        settings: &CompletionSettings,
    ) -> (Option<AnswerForm>, Outcome) {
        let cancel = CancellationToken::new();
        match self {
            CaseRequest::Completion(snapshot, cursor) => {
                (None, completion::complete(snapshot, *cursor, engine, settings, &cancel).await)
            }
            CaseRequest::Function(request) => {
                let (form, outcome) = completion::ask(request, engine, settings, &cancel).await;
                (Some(answer_form(form)), outcome)
            }
        }
    }
}
