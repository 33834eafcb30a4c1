//! Completion session of one document: makes one engine request per pause instead of one per key.
//!
//! ```text
//!            ┌────────────────────── again ◄──────────────────────┐
//! request ──► cached? ─► in flight? ─► pause? ──► call the engine ─┤
//!               │ rest     │ share        │ wait                   ▼
//!               ▼          └─────────────►┴────────────────► ended: cached
//!             text
//! ```
//!
//! Responsible for the state shared between requests: the cached answers ([`AnswerCache`]), the answer in flight ([`InFlightRequest`]) and
//! the typing speed. Every answer goes through the cache, so one rule decides the rest of it that is shown. It must never run two engine
//! requests at the same time, and never show text that does not fit the current document.
//!
//! The caller decides which request is current, and drops the future of [`CompletionSession::suggest`] for the others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use text::{Document, EditLog, TrackedRange};
use tokio::time::Instant;

use crate::answer_cache::AnswerCache;
use crate::cursor_snapshot::CursorSnapshot;
use crate::debounce::{CursorContext, DebounceInput, TypingSpeed, delay};
use crate::in_flight_request::{
    GRACE_PERIOD, InFlightError, InFlightRequest, InFlightSubscriber, MIN_GRACE_PERIOD, ReuseDecision,
};
use crate::trace::{Outcome, OutcomeStatus};

/// Session of one document from its opening to its closing; cheap to clone.
#[derive(Clone, Debug)]
pub struct CompletionSession(Arc<Mutex<SessionState>>);

#[derive(Debug)]
struct SessionState {
    /// Revision of the text.
    revision: u64,
    /// Number of the newest request.
    arrival: u64,
    answer_cache: AnswerCache,
    in_flight: Option<InFlight>,
    typing_speed: TypingSpeed,
    /// Time of the last key.
    last_key: Option<Instant>,
    /// Time of the last key that a request followed.
    last_request_key: Option<Instant>,
    /// Time of the last engine request.
    last_request: Option<Instant>,
    /// Times from the end of a request's wait to the next request.
    successor_gaps: TypingSpeed,
}

/// The answer in flight.
#[derive(Debug)]
struct InFlight {
    request: Arc<InFlightRequest>,
    /// The text written at its cursor since then; `None` if its document is not the displayed one.
    written: Option<TrackedRange>,
}

/// A request for ghost text.
#[derive(Clone, Debug)]
pub struct CompletionRequest {
    /// Place of the cursor.
    pub cursor: CursorSnapshot,
    /// Revision of the document's text, as passed to [`CompletionSession::follow_edits`].
    pub revision: u64,
    /// Number of the request; later ones are larger. A late earlier request does not cancel a later one.
    pub arrival: u64,
    /// Whether it was invoked explicitly.
    pub is_invoked: bool,
    /// Whether each request to the engine costs money: an answer is then not continued for requests that may follow.
    pub is_metered: bool,
    /// Whether all of the engine's answers are wanted, so that a cached single answer is not enough.
    pub wants_alternatives: bool,
    /// Whether the place's text is the displayed document, without a popup item inserted.
    pub is_on_screen: bool,
    /// Class of the text before the cursor.
    pub cursor_context: CursorContext,
    /// The engine's usual latency, if known.
    pub response_time: Option<Duration>,
    /// The user's debounce setting, if set.
    pub debounce: Option<Duration>,
}

/// Result of a request.
#[derive(Clone, Debug)]
pub enum SuggestionOutcome {
    /// A text to insert.
    Suggestion {
        /// With LF line ends; never empty.
        text: String,
        /// Alternatives, best first.
        others: Vec<String>,
        /// Whether it came from the cache, without an engine request.
        is_reused: bool,
    },
    /// The request ended without text to insert.
    Nothing(Arc<Outcome>),
    /// The text has changed since the request, or a newer request arrived.
    Superseded,
    /// The task of the answer panicked.
    Panicked,
}

/// The next step of a request.
enum NextStep {
    Done(SuggestionOutcome),
    Share(InFlightSubscriber),
    Wait(Duration),
    Ask(Arc<InFlightRequest>),
}

impl CompletionSession {
    /// Creates the session of a document at this revision.
    pub fn new(revision: u64) -> CompletionSession {
        CompletionSession(Arc::new(Mutex::new(SessionState {
            revision,
            arrival: 0,
            answer_cache: AnswerCache::default(),
            in_flight: None,
            typing_speed: TypingSpeed::default(),
            last_key: None,
            last_request_key: None,
            last_request: None,
            successor_gaps: TypingSpeed::default(),
        })))
    }

    /// Follows the edits in the log, which result in `document`. Cancels an answer in flight that no longer matches the text.
    pub fn follow_edits(&self, log: &EditLog, document: &Document) {
        let mut state = self.state();
        state.revision = log.revision();
        state.last_key = log.latest().map(|latest| latest.time.into());
        let Some(InFlight { request, written }) = &mut state.in_flight else { return };
        let Some(written) = written else { return };
        let stays = log.follow_while(written, |written, edit| written.contains(&edit.range));
        match document.slice(written.range()).filter(|_| stays) {
            Some(text) => request.set_written(&text),
            None => state.cancel(),
        }
    }

    /// Cancels the answer in flight.
    pub fn cancel(&self) {
        self.state().cancel();
    }

    /// Answers a request: from the cache, from the answer in flight, or with the outcome of `ask`.
    ///
    /// The answer is generated in a task of its own, which continues for a moment after this future is dropped. `ask` gets the
    /// generation to which [`complete_shared`](crate::complete_shared) reports the streamed text.
    pub async fn suggest<F>(
        &self,
        question: &CompletionRequest,
        ask: impl FnOnce(Arc<InFlightRequest>) -> F,
    ) -> SuggestionOutcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        self.state().record_key(question);
        let mut ask = Some(ask);
        loop {
            let step = self.state().next_step(question, ask.is_none());
            let mut share = match step {
                NextStep::Done(suggested) => return suggested,
                NextStep::Wait(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                NextStep::Share(share) => share,
                NextStep::Ask(generation) => {
                    let ask = ask.take().expect("no step asks twice");
                    let share = generation.subscribe();
                    // On the heap, because starting a task moves its future several times, and this one is long.
                    let asking = Box::pin(ask(Arc::clone(&generation)));
                    tokio::spawn(self.clone().run_request(generation, asking));
                    share
                }
            };
            match share.outcome().await {
                Ok(outcome) if is_final(&outcome, share.request(), question) => {
                    // A request for alternatives falls back to the cached answers.
                    let known = self.state().cached_outcome(question, false, true);
                    return known.unwrap_or(SuggestionOutcome::Nothing(outcome));
                }
                Ok(_) | Err(InFlightError::Cancelled) => {}
                Err(InFlightError::Panicked) => return SuggestionOutcome::Panicked,
            }
        }
    }

    /// Returns the number of answers on the line of a cursor that other text was typed over.
    pub fn typed_over(&self, cursor: &CursorSnapshot) -> usize {
        self.state().answer_cache.typed_over(cursor)
    }

    /// Generates an answer and caches it.
    async fn run_request(self, generation: Arc<InFlightRequest>, completing: impl Future<Output = Outcome>) {
        let ending = generation.completion_guard();
        let Some(outcome) = generation.run(completing).await else { return };
        if matches!(outcome.status, OutcomeStatus::Ok) {
            let place = generation.cursor().clone();
            let others = outcome.alternatives.iter().map(|other| &*other.text);
            let recent = &mut self.state().answer_cache;
            if generation.is_invoked() || !outcome.alternatives.is_empty() {
                recent.insert_alternatives(place, std::iter::once(&*outcome.text).chain(others));
            } else {
                recent.insert(place, &outcome.text);
            }
        }
        ending.complete(outcome);
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    /// Records a request and the key that it followed.
    fn record_key(&mut self, question: &CompletionRequest) {
        self.arrival = self.arrival.max(question.arrival);
        let Some(key) =
            self.last_key.filter(|_| !question.is_invoked && self.last_request_key != self.last_key)
        else {
            return;
        };
        if let Some(before) = self.last_request_key.replace(key) {
            self.typing_speed.record_interval(key - before);
        }
    }

    fn next_step(&mut self, question: &CompletionRequest, has_asked: bool) -> NextStep {
        if self.revision != question.revision || question.arrival < self.arrival {
            return NextStep::Done(SuggestionOutcome::Superseded);
        }
        if let Some(known) = self.cached_outcome(question, question.wants_alternatives, !has_asked) {
            return NextStep::Done(known);
        }
        if let Some(share) = self.share_in_flight(question) {
            return NextStep::Share(share);
        }
        if has_asked {
            // Another request cancelled the answer.
            return NextStep::Done(SuggestionOutcome::Superseded);
        }
        let time = delay(&self.debounce_input(question));
        if !time.is_zero() {
            return NextStep::Wait(time);
        }
        self.last_request = Some(Instant::now());
        let (place, grace) = (question.cursor.clone(), self.grace(question));
        let generation = Arc::new(InFlightRequest::new(place, question.is_invoked, grace));
        let offset = question.cursor.offset;
        let written =
            question.is_on_screen.then(|| TrackedRange::inclusive(offset..offset, question.revision));
        self.in_flight = Some(InFlight { request: Arc::clone(&generation), written });
        NextStep::Ask(generation)
    }

    /// Returns the cached answer, if any.
    fn cached_outcome(
        &self,
        question: &CompletionRequest,
        wants_choice: bool,
        is_reused: bool,
    ) -> Option<SuggestionOutcome> {
        let mut rests = self.answer_cache.remaining_texts(&question.cursor, wants_choice).into_iter();
        Some(SuggestionOutcome::Suggestion { text: rests.next()?, others: rests.collect(), is_reused })
    }

    /// Returns the answer in flight if it may answer the request; cancels it otherwise.
    fn share_in_flight(&mut self, question: &CompletionRequest) -> Option<InFlightSubscriber> {
        let generation = &self.in_flight.as_ref()?.request;
        if let Some(gap) = generation.unwanted_for() {
            self.successor_gaps.record_interval(gap);
        }
        // Subscribe before the verdict, so that an abandoned generation does not end in between.
        let share = generation.subscribe();
        let is_shared =
            generation.is_running() && generation.reuse_decision(&question.cursor) != ReuseDecision::Cancel;
        if !is_shared {
            self.cancel();
        }
        is_shared.then_some(share)
    }

    /// Returns how long an answer continues without a request waiting for it: twice the time in which this editor usually sends the next
    /// one, and not at all if that takes too long.
    fn grace(&self, question: &CompletionRequest) -> Duration {
        match self.successor_gaps.median() {
            _ if question.is_metered => Duration::ZERO,
            None => GRACE_PERIOD,
            Some(gap) if gap > GRACE_PERIOD => Duration::ZERO,
            Some(gap) => (2 * gap).clamp(MIN_GRACE_PERIOD, GRACE_PERIOD),
        }
    }

    fn debounce_input(&self, question: &CompletionRequest) -> DebounceInput {
        DebounceInput {
            is_invoked: question.is_invoked,
            configured: question.debounce,
            response: question.response_time,
            key_interval: self.typing_speed.median(),
            since_key: self.last_key.map(|key| key.elapsed()),
            since_request: self.last_request.map(|asked| asked.elapsed()),
            cursor_context: question.cursor_context,
        }
    }

    fn cancel(&mut self) {
        if let Some(writing) = self.in_flight.take() {
            writing.request.cancel();
        }
    }
}

/// Returns whether another engine request cannot help: an error is returned to every waiting request, and an empty answer at the same
/// offset stays empty. After typing and on explicit invocation there may be another answer.
fn is_final(outcome: &Outcome, generation: &InFlightRequest, question: &CompletionRequest) -> bool {
    match outcome.status {
        OutcomeStatus::Ok => false,
        OutcomeStatus::Silent(_) | OutcomeStatus::Gated(_) => {
            let is_here = generation.cursor().offset == question.cursor.offset;
            is_here && (generation.is_invoked() || !question.is_invoked)
        }
        OutcomeStatus::Timeout | OutcomeStatus::Cancelled | OutcomeStatus::Failed(_) => true,
    }
}
