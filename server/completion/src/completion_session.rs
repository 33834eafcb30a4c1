//! Ghost text in one document while somebody types: an engine is asked once per thought, not once per key.
//!
//! ```text
//!            ┌────────────────────── again ◄──────────────────────┐
//! question ─► known? ─► being written? ─► pause? ─► ask the engine ┤
//!               │ rest     │ share          │ wait                 ▼
//!               ▼          └───────────────►┴──────────────► ended: remembered
//!             text
//! ```
//!
//! Responsible for what is shared between questions: the answers that are kept ([`AnswerCache`]), the one that is being written
//! ([`InFlightRequest`]) and how fast somebody types. Every answer goes through what is kept, so that there is one rule for what is left of it.
//! It never asks two engines, or one engine twice, at the same time; and never shows what does not fit the text as it is.
//!
//! Which question may answer at all is decided elsewhere: whoever loses that right drops the future of [`CompletionSession::suggest`].

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use text::{Document, Edit};
use tokio::time::Instant;

use crate::answer_cache::AnswerCache;
use crate::cursor_snapshot::CursorSnapshot;
use crate::debounce::{CursorContext, DebounceInput, TypingSpeed, delay};
use crate::in_flight_request::{InFlightError, InFlightRequest, InFlightSubscriber, ReuseDecision};
use crate::trace::{Outcome, OutcomeStatus};

/// One document from its opening to its closing; cheap to clone.
#[derive(Clone, Debug)]
pub struct CompletionSession(Arc<Mutex<SessionState>>);

#[derive(Debug)]
struct SessionState {
    /// Number of the text.
    revision: u64,
    /// Number of the newest question.
    arrival: u64,
    answer_cache: AnswerCache,
    in_flight: Option<InFlight>,
    typing_speed: TypingSpeed,
    /// When the last key was pressed.
    last_key: Option<Instant>,
    /// The last key that a question came after.
    last_request_key: Option<Instant>,
    /// When an engine was last asked.
    last_request: Option<Instant>,
}

/// The answer that is being written.
#[derive(Debug)]
struct InFlight {
    request: Arc<InFlightRequest>,
    /// Where in the document edits go on from the cursor that it is for; `None` if it is for a text that is on no screen.
    region: Option<Range<usize>>,
}

/// A question for ghost text.
#[derive(Clone, Debug)]
pub struct CompletionRequest {
    /// Where.
    pub cursor: CursorSnapshot,
    /// Number of the document's text, as [`CompletionSession::apply_edits`] counts.
    pub revision: u64,
    /// Counts questions; of two the later one has the larger number. An earlier one that is late ends nothing of a later one.
    pub arrival: u64,
    /// Whether a person asks by key.
    pub is_invoked: bool,
    /// Whether they want all that the engine has, so that an answer that is known is not enough.
    pub wants_alternatives: bool,
    /// Whether the place's text is the document's own, and not one with an item of a popup in it.
    pub is_on_screen: bool,
    /// What stands before the cursor.
    pub cursor_context: CursorContext,
    /// How long the engine takes for an answer, as far as that is known.
    pub response_time: Option<Duration>,
    /// The pause before an engine is asked, if the user has set one.
    pub debounce: Option<Duration>,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub enum SuggestionOutcome {
    /// A text to insert.
    Suggestion {
        /// With LF line ends; never empty.
        text: String,
        /// What else there is to choose from, best first.
        others: Vec<String>,
        /// Whether no engine was asked for it.
        is_reused: bool,
    },
    /// How else it ended.
    Nothing(Arc<Outcome>),
    /// The text has changed meanwhile.
    Superseded,
    /// Whatever was to answer stopped by a defect.
    Panicked,
}

/// What to do next about a question.
enum NextStep {
    Done(SuggestionOutcome),
    Share(InFlightSubscriber),
    Wait(Duration),
    Ask(Arc<InFlightRequest>),
}

impl CompletionSession {
    /// A document whose text has this number.
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
        })))
    }

    /// Takes note of edits after which the text is `document`, with the number `revision`. An answer that is being written and has parted
    /// from the text is ended here.
    pub fn apply_edits(&self, edits: &[Edit], document: &Document, revision: u64) {
        let mut state = self.state();
        state.revision = revision;
        state.last_key = Some(Instant::now());
        let Some(writing) = &mut state.in_flight else { return };
        let Some(region) = &mut writing.region else { return };
        let stays = edits.iter().all(|edit| extend_region(region, edit));
        match document.slice(region.clone()).filter(|_| stays) {
            Some(written) => writing.request.set_written(&written),
            None => state.cancel(),
        }
    }

    /// Ends what is being written.
    pub fn cancel(&self) {
        self.state().cancel();
    }

    /// Answers a question: from what is known, from what is being written, or by what `ask` makes.
    ///
    /// The answer is written in a task of its own, which lives on for a moment when this future is dropped. `ask` is given the generation
    /// that [`complete_shared`](crate::complete_shared) tells of the text as it comes.
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
                    tokio::spawn(self.clone().run_request(Arc::clone(&generation), ask(generation)));
                    share
                }
            };
            match share.outcome().await {
                Ok(outcome) if is_final(&outcome, share.request(), question) => {
                    // Who wants a choice keeps what is there.
                    let known = self.state().cached_outcome(question, false, true);
                    return known.unwrap_or(SuggestionOutcome::Nothing(outcome));
                }
                Ok(_) | Err(InFlightError::Cancelled) => {}
                Err(InFlightError::Panicked) => return SuggestionOutcome::Panicked,
            }
        }
    }

    /// Has an answer written, and keeps it.
    async fn run_request(self, generation: Arc<InFlightRequest>, completing: impl Future<Output = Outcome>) {
        let ending = generation.completion_guard();
        let Some(outcome) = generation.run(completing).await else { return };
        if matches!(outcome.status, OutcomeStatus::Ok) {
            let place = generation.cursor().clone();
            let others = outcome.alternatives.iter().map(|other| &*other.text);
            let recent = &mut self.state().answer_cache;
            if generation.is_invoked() {
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
    /// Takes note of a question, and of the key that it came after.
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
            // Somebody else has ended what was asked for.
            return NextStep::Done(SuggestionOutcome::Superseded);
        }
        let time = delay(&self.debounce_input(question));
        if !time.is_zero() {
            return NextStep::Wait(time);
        }
        self.last_request = Some(Instant::now());
        let generation = Arc::new(InFlightRequest::new(question.cursor.clone(), question.is_invoked));
        let region = question.is_on_screen.then_some(question.cursor.offset..question.cursor.offset);
        self.in_flight = Some(InFlight { request: Arc::clone(&generation), region });
        NextStep::Ask(generation)
    }

    /// What is known already.
    fn cached_outcome(
        &self,
        question: &CompletionRequest,
        wants_choice: bool,
        is_reused: bool,
    ) -> Option<SuggestionOutcome> {
        let mut rests = self.answer_cache.remaining_texts(&question.cursor, wants_choice).into_iter();
        Some(SuggestionOutcome::Suggestion { text: rests.next()?, others: rests.collect(), is_reused })
    }

    /// The answer that is being written, if it may become that to the question; else it is ended.
    fn share_in_flight(&mut self, question: &CompletionRequest) -> Option<InFlightSubscriber> {
        let generation = &self.in_flight.as_ref()?.request;
        // Sharing comes before judging, so that a generation that was left alone does not end in between.
        let share = generation.subscribe();
        let is_shared =
            generation.is_running() && generation.reuse_decision(&question.cursor) != ReuseDecision::Cancel;
        if !is_shared {
            self.cancel();
        }
        is_shared.then_some(share)
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

/// Lets a region take in an edit that lies in it; false if it does not.
fn extend_region(region: &mut Range<usize>, edit: &Edit) -> bool {
    let is_inside = region.start <= edit.range.start && edit.range.end <= region.end;
    if is_inside {
        region.end = region.end - edit.range.len() + edit.text.len();
    }
    is_inside
}

/// Whether there is nothing more to be had: a fault is everybody's, and who had nothing to say at a place has nothing now. To what was typed
/// since, and to a person who asks by key, there may be another answer.
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
