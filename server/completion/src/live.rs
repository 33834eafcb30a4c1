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
//! Responsible for what is shared between questions: the answers that are kept ([`Recent`]), the one that is being written
//! ([`Generation`]) and how fast somebody types. Every answer goes through what is kept, so that there is one rule for what is left of it.
//! It never asks two engines, or one engine twice, at the same time; and never shows what does not fit the text as it is.
//!
//! Which question may answer at all is decided elsewhere: whoever loses that right drops the future of [`Live::suggest`].

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use text::{Document, Edit};
use tokio::time::Instant;

use crate::debounce::{Rhythm, Situation, Stands, wait};
use crate::generation::{Generation, Loss, Share, Verdict};
use crate::place::Place;
use crate::recent::Recent;
use crate::trace::{Outcome, Status};

/// One document from its opening to its closing; cheap to clone.
#[derive(Clone, Debug)]
pub struct Live(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Number of the text.
    revision: u64,
    /// Number of the newest question.
    arrival: u64,
    recent: Recent,
    writing: Option<Writing>,
    rhythm: Rhythm,
    /// When the last key was pressed.
    key: Option<Instant>,
    /// The last key that a question came after.
    asked_key: Option<Instant>,
    /// When an engine was last asked.
    asked: Option<Instant>,
}

/// The answer that is being written.
#[derive(Debug)]
struct Writing {
    generation: Arc<Generation>,
    /// Where in the document edits go on from the cursor that it is for; `None` if it is for a text that is on no screen.
    region: Option<Range<usize>>,
}

/// A question for ghost text.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where.
    pub place: Place,
    /// Number of the document's text, as [`Live::follow`] counts.
    pub revision: u64,
    /// Counts questions; of two the later one has the larger number. An earlier one that is late ends nothing of a later one.
    pub arrival: u64,
    /// Whether a person asks by key.
    pub is_invoked: bool,
    /// Whether they want all that the engine has, so that an answer that is known is not enough.
    pub wants_choice: bool,
    /// Whether the place's text is the document's own, and not one with an item of a popup in it.
    pub is_on_screen: bool,
    /// What stands before the cursor.
    pub stands: Stands,
    /// How long the engine takes for an answer, as far as that is known.
    pub response: Option<Duration>,
    /// The pause before an engine is asked, if the user has set one.
    pub debounce: Option<Duration>,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub enum Suggested {
    /// A text to insert.
    Text {
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
    Defect,
}

/// What to do next about a question.
enum Step {
    Done(Suggested),
    Share(Share),
    Wait(Duration),
    Ask(Arc<Generation>),
}

impl Live {
    /// A document whose text has this number.
    pub fn new(revision: u64) -> Live {
        Live(Arc::new(Mutex::new(State {
            revision,
            arrival: 0,
            recent: Recent::default(),
            writing: None,
            rhythm: Rhythm::default(),
            key: None,
            asked_key: None,
            asked: None,
        })))
    }

    /// Takes note of edits after which the text is `document`, with the number `revision`. An answer that is being written and has parted
    /// from the text is ended here.
    pub fn follow(&self, edits: &[Edit], document: &Document, revision: u64) {
        let mut state = self.state();
        state.revision = revision;
        state.key = Some(Instant::now());
        let Some(writing) = &mut state.writing else { return };
        let Some(region) = &mut writing.region else { return };
        let stays = edits.iter().all(|edit| grow(region, edit));
        match document.slice(region.clone()).filter(|_| stays) {
            Some(written) => writing.generation.written(&written),
            None => state.end(),
        }
    }

    /// Ends what is being written.
    pub fn end(&self) {
        self.state().end();
    }

    /// Answers a question: from what is known, from what is being written, or by what `ask` makes.
    ///
    /// The answer is written in a task of its own, which lives on for a moment when this future is dropped. `ask` is given the generation
    /// that [`complete_shared`](crate::complete_shared) tells of the text as it comes.
    pub async fn suggest<F>(&self, question: &Question, ask: impl FnOnce(Arc<Generation>) -> F) -> Suggested
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        self.state().hear(question);
        let mut ask = Some(ask);
        loop {
            let step = self.state().step(question, ask.is_none());
            let mut share = match step {
                Step::Done(suggested) => return suggested,
                Step::Wait(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                Step::Share(share) => share,
                Step::Ask(generation) => {
                    let ask = ask.take().expect("no step asks twice");
                    let share = generation.share();
                    tokio::spawn(self.clone().write(Arc::clone(&generation), ask(generation)));
                    share
                }
            };
            match share.ended().await {
                Ok(outcome) if is_last_word(&outcome, share.generation(), question) => {
                    // Who wants a choice keeps what is there.
                    let known = self.state().known(question, false, true);
                    return known.unwrap_or(Suggested::Nothing(outcome));
                }
                Ok(_) | Err(Loss::Cancelled) => {}
                Err(Loss::Defect) => return Suggested::Defect,
            }
        }
    }

    /// Has an answer written, and keeps it.
    async fn write(self, generation: Arc<Generation>, completing: impl Future<Output = Outcome>) {
        let ending = generation.ending();
        let Some(outcome) = generation.run(completing).await else { return };
        if matches!(outcome.status, Status::Ok) {
            let place = generation.place().clone();
            let others = outcome.alternatives.iter().map(|other| &*other.text);
            let recent = &mut self.state().recent;
            if generation.is_invoked() {
                recent.remember_choice(place, std::iter::once(&*outcome.text).chain(others));
            } else {
                recent.remember(place, &outcome.text);
            }
        }
        ending.tell(outcome);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes note of a question, and of the key that it came after.
    fn hear(&mut self, question: &Question) {
        self.arrival = self.arrival.max(question.arrival);
        let Some(key) = self.key.filter(|_| !question.is_invoked && self.asked_key != self.key) else {
            return;
        };
        if let Some(before) = self.asked_key.replace(key) {
            self.rhythm.press(key - before);
        }
    }

    fn step(&mut self, question: &Question, has_asked: bool) -> Step {
        if self.revision != question.revision || question.arrival < self.arrival {
            return Step::Done(Suggested::Superseded);
        }
        if let Some(known) = self.known(question, question.wants_choice, !has_asked) {
            return Step::Done(known);
        }
        if let Some(share) = self.share(question) {
            return Step::Share(share);
        }
        if has_asked {
            // Somebody else has ended what was asked for.
            return Step::Done(Suggested::Superseded);
        }
        let time = wait(&self.situation(question));
        if !time.is_zero() {
            return Step::Wait(time);
        }
        self.asked = Some(Instant::now());
        let generation = Arc::new(Generation::new(question.place.clone(), question.is_invoked));
        let region = question.is_on_screen.then_some(question.place.offset..question.place.offset);
        self.writing = Some(Writing { generation: Arc::clone(&generation), region });
        Step::Ask(generation)
    }

    /// What is known already.
    fn known(&self, question: &Question, wants_choice: bool, is_reused: bool) -> Option<Suggested> {
        let mut rests = self.recent.rests(&question.place, wants_choice).into_iter();
        Some(Suggested::Text { text: rests.next()?, others: rests.collect(), is_reused })
    }

    /// The answer that is being written, if it may become that to the question; else it is ended.
    fn share(&mut self, question: &Question) -> Option<Share> {
        let generation = &self.writing.as_ref()?.generation;
        // Sharing comes before judging, so that a generation that was left alone does not end in between.
        let share = generation.share();
        let is_shared = generation.is_writing() && generation.verdict(&question.place) != Verdict::Cancel;
        if !is_shared {
            self.end();
        }
        is_shared.then_some(share)
    }

    fn situation(&self, question: &Question) -> Situation {
        Situation {
            is_invoked: question.is_invoked,
            set: question.debounce,
            response: question.response,
            rhythm: self.rhythm.usual(),
            since_key: self.key.map(|key| key.elapsed()),
            since_asked: self.asked.map(|asked| asked.elapsed()),
            stands: question.stands,
        }
    }

    fn end(&mut self) {
        if let Some(writing) = self.writing.take() {
            writing.generation.cancel();
        }
    }
}

/// Lets a region take in an edit that lies in it; false if it does not.
fn grow(region: &mut Range<usize>, edit: &Edit) -> bool {
    let is_inside = region.start <= edit.range.start && edit.range.end <= region.end;
    if is_inside {
        region.end = region.end - edit.range.len() + edit.text.len();
    }
    is_inside
}

/// Whether there is nothing more to be had: a fault is everybody's, and who had nothing to say at a place has nothing now. To what was typed
/// since, and to a person who asks by key, there may be another answer.
fn is_last_word(outcome: &Outcome, generation: &Generation, question: &Question) -> bool {
    match outcome.status {
        Status::Ok => false,
        Status::Silent(_) | Status::Gated(_) => {
            let is_here = generation.place().offset == question.place.offset;
            is_here && (generation.is_invoked() || !question.is_invoked)
        }
        Status::Timeout | Status::Cancelled | Status::Failed(_) => true,
    }
}
