//! A request to an engine: for the ghost text, or for an arm of a trial in shadow.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use completion::{
    CompletionSettings, ConfiguredEngine, ContextShare, DocumentSnapshot, DocumentText, EditorContext, Gate,
    InFlightRequest, Outcome, OutcomeStatus, PathGate, SharedContext, Trace, WorkspaceIndex,
};
use session::{
    DocumentLocation, EffectiveSettings, EngineRequestRecord, OpenDocument, RequestSnapshot,
    document_admission, editor_context,
};
use syntax::{Language, SyntaxCache};
use tokio_util::sync::CancellationToken;

use crate::answer_facts::{GenerationFacts, ShownQuestion};
use crate::duel::offer_both;
use crate::running_trial::TrialEngine;
use crate::trial_session::TrialSession;

/// A generation task, for one request or later ones; cheap to clone.
#[derive(Clone)]
pub struct GenerationTask {
    /// The session.
    pub session: TrialSession,
    /// All open documents at the request.
    pub snapshot: RequestSnapshot,
    /// The document.
    pub document: Arc<OpenDocument>,
    /// Its location.
    pub home: DocumentLocation,
    /// Which files may be used.
    pub path_gate: PathGate,
    /// The index of its folder.
    pub index: Arc<WorkspaceIndex>,
    /// The settings of its folder.
    pub settings: Arc<EffectiveSettings>,
    /// The engine.
    pub engine: ConfiguredEngine,
    /// The document's language.
    pub language: Language,
    /// The text of the request, which may contain a popup item.
    pub text: Arc<str>,
    /// The cursor in it, in bytes.
    pub cursor: usize,
    /// The question for the recorder of a trial.
    pub shown: Option<Arc<ShownQuestion>>,
    /// The context of all engines that are asked this. The engine of the ghost text leads.
    pub context: SharedContext,
}

impl GenerationTask {
    /// Generates the ghost text.
    pub async fn run(self, generation: Arc<InFlightRequest>) -> Outcome {
        // The other engines wait no longer if this is cancelled before the context is chosen.
        let _leading = self.context.lead();
        let recording = match &self.shown {
            Some(shown) => match shown.begin(&self).await {
                Ok(answer) => Some(answer),
                Err(_) => return limit_reached(),
            },
            None => None,
        };
        let ConfiguredEngine { engine, mut settings, .. } = self.engine.clone();
        let name = &engine.description().name;
        let asked = self.session.folders.engine_health().begin_request(name, &self.settings.config);
        let (start, asked_at) = (Instant::now(), SystemTime::now());
        let session = &self.document.session;
        let snapshot = self
            .index
            .snapshot(self.document_text())
            .with_gather_permit(session.gather_permit.clone())
            .with_syntax(session.syntax.clone())
            .with_context_share(ContextShare::Leader(self.context.clone()));
        let snapshot = self.with_context(snapshot, &mut settings, start).await;
        let (stopping, generation) = (&self.session.stopping, Some(&*generation));
        let rival = self.shown.as_deref().and_then(ShownQuestion::rival);
        // In a duel, only the whole answers of both arms decide whether typing continues one of them.
        let streamed = generation.filter(|_| rival.is_none());
        let answering =
            completion::complete_shared(&snapshot, self.cursor, &*engine, &settings, stopping, streamed);
        let (outcome, rival) = tokio::join!(answering, self.run_rival(rival));
        let strategy = settings.strategy.name();
        session.record_engine_request(EngineRequestRecord::new(name, strategy, asked_at, &outcome));
        if let Some(recording) = recording {
            recording.finish(&outcome, GenerationFacts::new(&outcome, start, &self.engine)).await;
        }
        if let (Some(shown), Some((answer, facts))) = (&self.shown, &rival) {
            shown.record_rival(&self, &outcome, answer, facts).await;
        }
        tracing::debug!(
            parses = syntax::parse_counts().parses,
            retrievals = index::retrieval_count(),
            "counted work"
        );
        if outcome.trace.is_context_late {
            tracing::warn!("context is left out: choosing it took too long");
        }
        if let Some(fault) = asked.finish(&outcome) {
            // The engine's message is for the user only; it may contain code.
            tracing::warn!(engine = name, cause = fault.cause, "the engine does not answer");
            self.session.notify_user(fault.message);
        }
        match rival {
            Some((answer, _)) => offer_both(outcome, &answer),
            None => outcome,
        }
    }

    /// Asks the other arm of a duel, if there is one.
    async fn run_rival(&self, rival: Option<&TrialEngine>) -> Option<(Outcome, GenerationFacts)> {
        let engine = &rival?.engine;
        let engine = if self.engine.settings.invoked { engine.invoked() } else { engine.clone() };
        let (leader, follower) = (&self.engine, &engine);
        let has_same_context = leader.settings.retrieves_for(&*leader.engine)
            && (leader.settings.strategy, leader.settings.budget)
                == (follower.settings.strategy, follower.settings.budget);
        if has_same_context {
            self.context.when_led(follower.settings.context_timeout()).await;
        }
        Some(self.run_as_follower(&engine, &self.document.session.syntax, &self.session.stopping).await)
    }

    /// Asks an engine in shadow, after the engine of the ghost text has chosen its context. Shares with it neither locks nor permits, and
    /// its faults are not reported: they are in the answer.
    pub async fn run_in_shadow(
        &self,
        engine: &ConfiguredEngine,
        cancel: &CancellationToken,
    ) -> (Outcome, GenerationFacts) {
        self.context.when_led(engine.settings.context_timeout()).await;
        self.run_as_follower(engine, &self.shadow_syntax(), cancel).await
    }

    /// Asks an engine that uses the context of the one of the ghost text, if it would choose the same.
    async fn run_as_follower(
        &self,
        engine: &ConfiguredEngine,
        syntax: &SyntaxCache,
        cancel: &CancellationToken,
    ) -> (Outcome, GenerationFacts) {
        let mut settings = engine.settings.clone();
        let start = Instant::now();
        let snapshot = self
            .index
            .snapshot(self.document_text())
            .with_gather_permit(Default::default())
            .with_syntax(syntax.clone())
            .with_context_share(ContextShare::Follower(self.context.clone()));
        // The admission of the document is judged again, as time has passed.
        let gate = document_admission::path_gate(&self.document, &self.home);
        let task = GenerationTask { path_gate: gate, engine: engine.clone(), ..self.clone() };
        let snapshot = task.with_context(snapshot, &mut settings, start).await;
        let outcome = completion::complete(&snapshot, self.cursor, &*engine.engine, &settings, cancel).await;
        let facts = GenerationFacts::new(&outcome, start, engine);
        (outcome, facts)
    }

    /// Returns the snapshot in which code for the record is searched, with the other open documents as they are. Waits until the context of
    /// the ghost text is chosen.
    pub async fn retrieval_snapshot(&self, patience: Duration) -> DocumentSnapshot {
        self.context.when_led(patience).await;
        let (around, refused) = self.editor_context(patience).await;
        let gate = document_admission::path_gate(&self.document, &self.home);
        let snapshot = self.index.snapshot(self.document_text()).guarded(gate);
        snapshot.with_syntax(self.shadow_syntax()).with_editor_context(around).without_files(refused)
    }

    /// The document's syntax for work that the ghost text must not wait for.
    fn shadow_syntax(&self) -> SyntaxCache {
        self.context.syntax(&self.document.session.syntax)
    }

    fn document_text(&self) -> DocumentText {
        let path = Arc::clone(&self.home.path);
        DocumentText { path, language: self.language, text: Arc::clone(&self.text) }
    }

    /// Adds the editor context for an engine that reads it, whose time counts.
    async fn with_context(
        &self,
        snapshot: DocumentSnapshot,
        settings: &mut CompletionSettings,
        start: Instant,
    ) -> DocumentSnapshot {
        let snapshot = snapshot.guarded(self.path_gate.clone());
        let engine = &*self.engine.engine;
        if !settings.retrieves_for(engine) && !engine.reads_workspace() {
            return snapshot;
        }
        let (around, refused) = self.editor_context(settings.context_timeout()).await;
        settings.deadline = settings.deadline.saturating_sub(start.elapsed());
        snapshot.with_editor_context(around).without_files(refused)
    }

    /// The editor context of the request, and the paths of open documents that must not be used.
    async fn editor_context(&self, patience: Duration) -> (EditorContext, Vec<Arc<str>>) {
        let index = Arc::clone(&self.index);
        let (mut around, refused) = match &self.home.folder {
            Some(folder) => editor_context(&self.snapshot, &self.document, folder, index, patience).await,
            None => Default::default(),
        };
        around.recent_typing.here = self.document.typed_ranges(&self.text);
        (around, refused)
    }
}

/// The outcome of a request that a limit of the trial forbids.
fn limit_reached() -> Outcome {
    Outcome {
        status: OutcomeStatus::Gated(Gate::LimitReached),
        text: String::new(),
        alternatives: Vec::new(),
        trace: Trace::default(),
    }
}
