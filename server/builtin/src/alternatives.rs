//! Alternatives to the first completion, on explicit invocation: several different texts.
//!
//! ```text
//! first completion ─┬─ the other proposals, the best first
//!                   └─ the most likely other first tokens, each with its continuation
//! ```
//!
//! Each alternative is decoded like the first completion, ends by the same rules and has to be likely enough. The cost is one
//! completion for each alternative, so plain typing never computes them.

use crate::Method;
use crate::confidence;
use crate::corpus_view::CorpusView;
use crate::cursor::PartialToken;
use crate::decode::{self, FirstTokens};
use crate::models::Models;
use crate::predict::{PredictionMethod, Predictor, TokenGuess};
use crate::proposals::{best_first, proposals};
use crate::settings::{BuiltinSettings, Completion};
use crate::vocabulary::TokenId;

/// Maximum number of alternatives to the first completion; users rarely look at more.
const MAX_ALTERNATIVES: usize = 4;
/// Minimum probability of another first token, by voting and counting. On rests of lines of ten repositories the first text was
/// right in 29.0 % of the cases, and one of the alternatives in 35.5 %; bounds down to 0.5 % gained half a point and produced half
/// as many texts again.
const MIN_PROBABILITY: f64 = 0.05;

/// Returns texts that differ from `first` and from each other, the best first.
pub(crate) fn alternatives(
    view: &CorpusView,
    settings: &BuiltinSettings,
    first: &Completion,
    keep_going: &mut dyn FnMut() -> bool,
) -> Vec<Completion> {
    if first.text.trim().is_empty() || settings.method != Method::Hybrid || !keep_going() {
        return Vec::new();
    }
    let models = Models::shipped();
    let predictor = &mut Predictor::new(view, models);
    let mut choice =
        DistinctCompletions { known: vec![first.text.trim_end().to_owned()], alternatives: Vec::new() };
    for proposal in best_first(proposals(view, predictor, first.continuation, keep_going), models) {
        let trust = models.trusting.probability(&proposal.features);
        choice.add(decode::render_completion(view, proposal.written, trust, first.continuation));
    }
    for opening in likely_first_tokens(view, predictor) {
        if choice.alternatives.len() >= MAX_ALTERNATIVES || !keep_going() {
            break;
        }
        let written = decode::decode_from(view, predictor, PredictionMethod::Ranked, opening, keep_going);
        let trust = confidence::min_probability(&written.guesses);
        choice.add(decode::render_completion(view, written, trust, first.continuation));
    }
    choice.alternatives.truncate(MAX_ALTERNATIVES);
    choice.alternatives
}

/// Different texts.
struct DistinctCompletions {
    known: Vec<String>,
    alternatives: Vec<Completion>,
}

impl DistinctCompletions {
    fn add(&mut self, completion: Completion) {
        let text = completion.text.trim_end();
        if !text.trim_start().is_empty() && !self.known.iter().any(|known| known == text) {
            self.known.push(text.to_owned());
            self.alternatives.push(completion);
        }
    }
}

/// Returns the most likely first tokens.
fn likely_first_tokens(view: &CorpusView, predictor: &mut Predictor) -> Vec<FirstTokens> {
    let typed = &view.cursor.partial_token;
    let mut openings: Vec<(f64, FirstTokens)> = Vec::new();
    if *typed != PartialToken::None {
        let guesses = predictor.guesses(PredictionMethod::Mixed, &[]);
        let fitting: Vec<TokenGuess> = guesses
            .iter()
            .filter(|guess| typed.missing(view.text(guess.token)).is_some_and(|missing| !missing.is_empty()))
            .copied()
            .collect();
        let all: f64 = fitting.iter().map(|guess| guess.probability).sum();
        openings.extend(fitting.into_iter().map(|guess| {
            let first = TokenGuess { probability: guess.probability / all, ..guess };
            (first.probability, FirstTokens { partial: Some(first), ..FirstTokens::default() })
        }));
    }
    if let Some(lead) = token_before(view) {
        // A sign is rarely repeated, but it often appears among places where only the classes of the tokens match.
        let last = lead.or_else(|| view.cursor.context.last().copied());
        let lead_tokens: Vec<TokenId> = lead.into_iter().collect();
        let guesses = predictor.guesses(PredictionMethod::Mixed, &lead_tokens);
        let others = guesses.iter().filter(|guess| last != Some(guess.token));
        openings.extend(others.map(|&next| {
            (next.probability, FirstTokens { lead, next: Some(next), ..FirstTokens::default() })
        }));
    }
    openings.retain(|(probability, _)| *probability >= MIN_PROBABILITY);
    openings.sort_by(|one, other| other.0.total_cmp(&one.0));
    openings.into_iter().map(|(_, opening)| opening).take(MAX_ALTERNATIVES + 1).collect()
}

/// Returns the token before one that begins at the cursor; `None` if the partial token certainly continues.
fn token_before(view: &CorpusView) -> Option<Option<TokenId>> {
    match view.cursor.partial_token {
        PartialToken::None => Some(None),
        PartialToken::Word { token, .. } if view.near_words.contains(token) => Some(Some(token)),
        PartialToken::Word { .. } | PartialToken::String { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::{Language, SourceFile};

    use super::*;
    use crate::{Corpus, OpenFile};

    const UNGATED: BuiltinSettings =
        BuiltinSettings { method: Method::Hybrid, min_probability: None, min_continuation: None };

    /// Returns the completion at `$0` and its alternatives.
    fn completion_and_alternatives(other: &str, fixture: &str, settings: &BuiltinSettings) -> Vec<String> {
        let (before, after) = test_fixture::split_at_cursor(fixture);
        let file = SourceFile { path: "b.py".into(), language: Language::Python, text: other.into() };
        let corpus = Corpus::build(&[file]);
        let language = Language::Python;
        let open = OpenFile::new("a.py", language, before, after);
        let view = corpus.view(&open);
        let first = view.complete(settings, &mut || true);
        let alternatives = view.alternatives(settings, &first, &mut || true);
        std::iter::once(first).chain(alternatives).map(|completion| completion.text).collect()
    }

    #[track_caller]
    fn check(other: &str, fixture: &str, expected: Expect) {
        expected.assert_eq(&format!("{:?}", completion_and_alternatives(other, fixture, &UNGATED)));
    }

    const CALLS: &str = "a = f(1)\na = f(1)\na = g(2)\na = h(3)\n";

    #[test]
    fn alternatives_start_with_other_first_tokens() {
        check(CALLS, "a = $0\n", expect![[r#"["f(1)", "h(3)", "g(2)", "(1)"]"#]]);
    }

    #[test]
    fn typed_word_has_several_continuations() {
        check(
            "print(total)\nprint(total)\nprices = 1\nprepare(x)\n",
            "pr$0\n",
            expect![[r#"["int(total)", "ices = 1", "epare(x)"]"#]],
        );
        check(
            "total = 1\ntotal += 2\ntotals = 3\n",
            "total = 0\ntotal$0\n",
            expect![[r#"[" += 2", "s = 3", " = 0"]"#]],
        );
        check("f('one')\nf('only')\nf('two')\n", "f('o$0')\n", expect![[r#"["nly", "ne"]"#]]);
    }

    #[test]
    fn comments_and_longest_match_have_no_alternatives() {
        check("a = 1\n", "# a $0\n", expect![[r#"[""]"#]]);
        let plain = BuiltinSettings { method: Method::LongestMatch, ..UNGATED };
        assert_eq!(
            completion_and_alternatives(CALLS, "a = $0\n", &plain).len(),
            1,
            "it is there to be measured"
        );
    }

    #[test]
    fn cancelled_search_returns_no_alternatives() {
        let (before, language) = ("a = ", Language::Python);
        let file = SourceFile { path: "b.py".into(), language, text: CALLS.into() };
        let corpus = Corpus::build(&[file]);
        let open = OpenFile::new("a.py", language, before, "\n");
        let view = corpus.view(&open);
        let first = view.complete(&UNGATED, &mut || true);
        assert_eq!(view.alternatives(&UNGATED, &first, &mut || false), Vec::new());
    }
}
