//! Evidence for the next token: each candidate with the agreement between its surroundings and the context.
//!
//! The tokens before each candidate are aligned with the context backwards. Names, strings and numbers may differ if they differ
//! consistently: code that was copied and adapted once is adapted again, and the candidate then supports its next token *renamed*.
//! All prediction methods share this evidence.

use crate::candidates::{self, Candidate};
use crate::corpus_view::CorpusView;
use crate::vocabulary::{TokenClass, TokenId};

/// Maximum number of aligned tokens (feasibility study, section 8.4). Candidates are found by fewer.
pub(super) const WINDOW: usize = 160;
/// Maximum number of names that an alignment tracks; its window rarely contains more.
const MAX_NAMES: usize = 32;
/// Score at which an alignment stops: twice the maximum that counts in any vote.
const MAX_SCORE: f64 = 160.0;
/// Score of an equal token.
const EQUAL: f64 = 1.0;
/// Score of a newline, which is less informative (feasibility study, section 8.4).
const NEWLINE: f64 = 0.5;
/// Score of the first occurrence of a differing name, or of a differing literal (feasibility study, section 8.4).
const FIRST_RENAME: f64 = 0.4;
/// Score of a name that differs consistently (feasibility study, section 8.4).
const SAME_RENAME: f64 = 0.8;

/// Evidence from one candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) candidate: Candidate,
    /// The token at the candidate.
    pub(super) original: TokenId,
    /// The same token after renaming.
    pub(super) token: TokenId,
    /// Agreement of the surroundings, about one per token.
    pub(super) score: f64,
}

/// Collects evidence for the tokens after `context`: first from `exact`, the positions after the same tokens, then from positions
/// after tokens of the same classes.
pub(super) fn collect_evidence(view: &CorpusView, context: &[TokenId], exact: &[Candidate]) -> Vec<Evidence> {
    let mut candidates = exact.to_vec();
    candidates::add_class_matches(view, context, &mut candidates);
    let mut alignment = Alignment::new(view, context);
    candidates
        .into_iter()
        .map(|candidate| {
            alignment.align(view, view.history(candidate.position));
            let original = view.token_at(candidate.position);
            Evidence { candidate, original, token: alignment.apply_renames(original), score: alignment.score }
        })
        .collect()
}

/// An alignment of the code before two positions, with the renamed names. It is reused for all candidates.
struct Alignment {
    /// The last tokens of the context with their classes, the last one first.
    context: Vec<(TokenId, TokenClass)>,
    score: f64,
    /// Pairs of names, in the candidate and in the context, possibly equal.
    renames: Vec<(TokenId, TokenId)>,
}

impl Alignment {
    fn new(view: &CorpusView, context: &[TokenId]) -> Alignment {
        let last = context.iter().rev().take(WINDOW).map(|&token| (token, view.class(token)));
        Alignment { context: last.collect(), score: 0.0, renames: Vec::new() }
    }

    /// Computes an alignment of the context with the tokens before a position.
    fn align(&mut self, view: &CorpusView, history: &[TokenId]) {
        self.score = 0.0;
        self.renames.clear();
        for (index, &there) in history.iter().rev().take(self.context.len()).enumerate() {
            let (here, class) = self.context[index];
            match self.score_of(view, here, class, there) {
                Some(score) => self.score += score,
                None => break,
            }
            if self.score >= MAX_SCORE {
                break;
            }
        }
    }

    /// Returns the score of a pair of tokens, the first one with its class; `None` if they do not agree.
    fn score_of(
        &mut self,
        view: &CorpusView,
        here: TokenId,
        class: TokenClass,
        there: TokenId,
    ) -> Option<f64> {
        // Tokens of different classes never agree. The class of the other token is looked up only if it is not the same token.
        match class {
            TokenClass::Identifier if here == there || view.class(there) == class => {
                self.score_of_names(here, there)
            }
            TokenClass::End => None,
            TokenClass::Newline => (here == there).then_some(NEWLINE),
            _ if here == there => Some(EQUAL),
            TokenClass::String | TokenClass::Number if view.class(there) == class => Some(FIRST_RENAME),
            _ => None,
        }
    }

    /// Returns the score of a pair of names. The renaming must be one-to-one.
    fn score_of_names(&mut self, here: TokenId, there: TokenId) -> Option<f64> {
        let is_equal = here == there;
        if let Some(renamed) = self.rename_of(there) {
            return (renamed == here).then_some(if is_equal { EQUAL } else { SAME_RENAME });
        }
        if self.renames.iter().any(|&(_, renamed)| renamed == here) {
            return None;
        }
        if self.renames.len() < MAX_NAMES {
            self.renames.push((there, here));
        } else if !is_equal {
            return None;
        }
        Some(if is_equal { EQUAL } else { FIRST_RENAME })
    }

    /// Applies the renaming to a token.
    fn apply_renames(&self, token: TokenId) -> TokenId {
        self.rename_of(token).unwrap_or(token)
    }

    fn rename_of(&self, token: TokenId) -> Option<TokenId> {
        self.renames.iter().find(|(original, _)| *original == token).map(|&(_, renamed)| renamed)
    }
}
