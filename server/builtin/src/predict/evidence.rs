//! What speaks for which next token: each candidate with how far its surroundings agree with the context.
//!
//! Each candidate's surroundings are aligned with the context backwards. Names, strings and numbers may differ if they differ in
//! the same way throughout: code that was copied and adapted once is adapted again, and the candidate then speaks for its next token
//! *renamed*. Everything that predicts looks at the same evidence.

use crate::candidates::{self, Candidate};
use crate::view::View;
use crate::vocabulary::{Class, END, TokenId, is_newline};

/// Tokens that are aligned at most (feasibility study, section 8.4).
const WINDOW: usize = 160;
/// Names that an alignment keeps track of; its window rarely holds more.
const MAX_NAMES: usize = 32;
/// An alignment with this score is not followed further: it is twice what any vote counts.
const ENOUGH: f64 = 160.0;
/// Score of a token that is equal.
const EQUAL: f64 = 1.0;
/// Score of a newline, which says little (feasibility study, section 8.4).
const NEWLINE: f64 = 0.5;
/// Score of a name that differs for the first time, or of a differing literal (feasibility study, section 8.4).
const FIRST_RENAME: f64 = 0.4;
/// Score of a name that differs as it did before (feasibility study, section 8.4).
const SAME_RENAME: f64 = 0.8;

/// One candidate's say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) candidate: Candidate,
    /// The token as it stands there.
    pub(super) original: TokenId,
    /// The token under its name here.
    pub(super) token: TokenId,
    /// How far the surroundings agree, about one for each token.
    pub(super) score: f64,
}

/// What speaks for the tokens after `context`, of which the places after the same tokens are known: first these, then places after tokens
/// of the same classes.
pub(super) fn gather(view: &View, context: &[TokenId], exact: &[Candidate]) -> Vec<Evidence> {
    let mut candidates = exact.to_vec();
    candidates::add_alike(view, context, &mut candidates);
    let mut alignment = Alignment::default();
    let evidence = |candidate: Candidate| {
        alignment.align(view, context, view.history(candidate.place));
        let original = view.next(candidate.place);
        Evidence { candidate, original, token: alignment.renamed(original), score: alignment.score }
    };
    candidates.into_iter().map(evidence).collect()
}

/// How far the code before two places agrees, and which names differ.
#[derive(Default)]
struct Alignment {
    score: f64,
    /// Names there and the names here, which may be the same.
    renames: Vec<(TokenId, TokenId)>,
}

impl Alignment {
    /// Aligns anew; one alignment serves all candidates, so that none of them allocates.
    fn align(&mut self, view: &View, context: &[TokenId], history: &[TokenId]) {
        self.score = 0.0;
        self.renames.clear();
        for (&here, &there) in context.iter().rev().zip(history.iter().rev()).take(WINDOW) {
            match self.score_of(view, here, there) {
                Some(score) => self.score += score,
                None => break,
            }
            if self.score >= ENOUGH {
                break;
            }
        }
    }

    /// What a pair of tokens adds; `None` where they do not agree.
    fn score_of(&mut self, view: &View, here: TokenId, there: TokenId) -> Option<f64> {
        if there == END {
            return None;
        }
        let class = view.class(there);
        if class == Class::Identifier {
            return self.score_of_names(view, here, there);
        }
        if here == there {
            return Some(if is_newline(there) { NEWLINE } else { EQUAL });
        }
        let differs = matches!(class, Class::String | Class::Number) && view.class(here) == class;
        differs.then_some(FIRST_RENAME)
    }

    /// A name has one name on the other side, and no other name has the same one.
    fn score_of_names(&mut self, view: &View, here: TokenId, there: TokenId) -> Option<f64> {
        let is_equal = here == there;
        if let Some(renamed) = self.rename_of(there) {
            return (renamed == here).then_some(if is_equal { EQUAL } else { SAME_RENAME });
        }
        let is_taken = self.renames.iter().any(|&(_, renamed)| renamed == here);
        if is_taken || view.class(here) != Class::Identifier {
            return None;
        }
        if self.renames.len() < MAX_NAMES {
            self.renames.push((there, here));
        } else if !is_equal {
            return None;
        }
        Some(if is_equal { EQUAL } else { FIRST_RENAME })
    }

    /// The token under its name here.
    fn renamed(&self, token: TokenId) -> TokenId {
        self.rename_of(token).unwrap_or(token)
    }

    fn rename_of(&self, token: TokenId) -> Option<TokenId> {
        self.renames.iter().find(|(original, _)| *original == token).map(|&(_, renamed)| renamed)
    }
}
