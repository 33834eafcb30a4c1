//! Duels: two arms answer one request, and both answers are offered as items among which the editor cycles.
//!
//! Responsible for offering both at once, so that their times do not reveal the arms, and for knowing later which item is whose. Where one
//! arm has no answer, or both have the same, there is nothing to choose: one item is offered.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use completion::{CleanedAlternative, Outcome, OutcomeStatus};
use session::lock;
use trial::DocumentKey;

/// Number of answered duels that are remembered: the items of an answer are offered again while they are typed.
const MAX_ANSWERED: usize = 64;

/// The answers of the arms to the last requests.
#[derive(Debug, Default)]
pub struct AnsweredDuels(Mutex<VecDeque<AnsweredDuel>>);

/// The answers of both arms at a cursor.
#[derive(Debug)]
pub struct AnsweredDuel {
    pub document: DocumentKey,
    /// The document.
    pub text: Arc<str>,
    /// The cursor in it, in bytes.
    pub cursor: usize,
    /// Names of the arms, and their texts.
    pub answers: [(Arc<str>, String); 2],
}

impl AnsweredDuels {
    pub fn add(&self, duel: AnsweredDuel) {
        let mut duels = lock(&self.0);
        duels.push_front(duel);
        duels.truncate(MAX_ANSWERED);
    }

    /// Returns the arm whose answer is inserted by a text at a cursor, the first one if both answered that; `None` if it is unknown.
    pub fn arm_of(&self, document: &DocumentKey, before: &str, inserted: &str) -> Option<Arc<str>> {
        let written = |duel: &AnsweredDuel| {
            let typed = before.strip_prefix(duel.text.get(..duel.cursor)?)?;
            let whole = with_lf(&[typed, inserted].concat());
            duel.answers.iter().find(|(_, text)| with_lf(text) == whole).map(|(arm, _)| Arc::clone(arm))
        };
        lock(&self.0).iter().filter(|duel| duel.document == *document).find_map(written)
    }
}

fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns the outcome that offers the answer of `first`, then that of `second`.
pub(crate) fn offer_both(first: Outcome, second: &Outcome) -> Outcome {
    let has_text = |outcome: &Outcome| matches!(outcome.status, OutcomeStatus::Ok);
    match (has_text(&first), has_text(second)) {
        (true, true) if with_lf(&first.text) != with_lf(&second.text) => {
            let other = CleanedAlternative { text: second.text.clone(), explanation: None };
            Outcome { alternatives: vec![other], ..first }
        }
        (true, _) => Outcome { alternatives: Vec::new(), ..first },
        (false, true) => Outcome {
            status: OutcomeStatus::Ok,
            text: second.text.clone(),
            alternatives: Vec::new(),
            trace: first.trace,
        },
        (false, false) => first,
    }
}
