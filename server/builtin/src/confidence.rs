//! Withholds completions that are probably wrong.

use crate::corpus_view::CorpusView;
use crate::cursor::GenerationMode;
use crate::decode::DecodedTokens;
use crate::predict::{PredictionMethod, Predictor, TokenGuess};
use crate::settings::{BuiltinSettings, StopReason};
use crate::vocabulary::IndentChange;

/// Minimum probability of a block, regardless of the bound for statements: a block takes long to read and is rarely right as a
/// whole, so it has to be at least as likely right as wrong (feasibility study, section 8.7).
const MIN_BLOCK_PROBABILITY: f64 = 0.5;

/// Removes text below the caller's minimum probability: a rest of a statement as a whole; a block down to its first statement,
/// each token of which has to reach the minimum. Returns the probability that the remaining text is right, or if none remains,
/// that of the removed text.
pub(crate) fn drop_uncertain(
    view: &CorpusView,
    predictor: &mut Predictor,
    settings: &BuiltinSettings,
    written: &mut DecodedTokens,
    trust: f64,
) -> f64 {
    let Some(least) = settings.min_probability else { return trust };
    let is_statement = view.cursor.mode == GenerationMode::Statement;
    if trust >= if is_statement { least } else { least.max(MIN_BLOCK_PROBABILITY) } {
        return trust;
    }
    written.stop = StopReason::Unlikely;
    written.guesses.truncate(if is_statement { 0 } else { first_statement(view, &written.guesses) });
    let of_the_rest = min_ranked_probability(predictor, written);
    if of_the_rest < least {
        written.guesses.clear();
    }
    if written.guesses.is_empty() { trust } else { of_the_rest }
}

/// Returns the probability of the least certain token; 1 without tokens.
pub(crate) fn min_probability(guesses: &[TokenGuess]) -> f64 {
    guesses.iter().map(|guess| guess.probability).fold(1.0, f64::min)
}

/// The same by the ranking, regardless of the method: other methods' values measure similarity or are overconfident.
fn min_ranked_probability(predictor: &mut Predictor, written: &DecodedTokens) -> f64 {
    let start = usize::from(written.completes_partial);
    (start..written.guesses.len())
        .map(|place| {
            let guesses = predictor.guesses(PredictionMethod::Ranked, &written.tokens_before(place));
            let same = guesses.iter().find(|guess| guess.token == written.guesses[place].token);
            same.map_or(0.0, |guess| guess.probability)
        })
        .fold(1.0, f64::min)
}

/// Returns the number of tokens of the first statement: up to the first line end outside of brackets that returns to its
/// indentation. A single statement has no such line end, and the result is 0.
fn first_statement(view: &CorpusView, guesses: &[TokenGuess]) -> usize {
    let (mut brackets, mut column) = (0i32, 0);
    let mut first_column = if view.cursor.mode == GenerationMode::Body { None } else { Some(0) };
    for (index, guess) in guesses.iter().enumerate() {
        match view.text(guess.token) {
            "(" | "[" | "{" => brackets += 1,
            ")" | "]" | "}" => brackets -= 1,
            _ => {}
        }
        let Some(change) = IndentChange::of(guess.token) else { continue };
        column += change.columns(view.layout.unit);
        let is_first = first_column.is_none();
        if brackets == 0 && column <= *first_column.get_or_insert(column) && !is_first {
            return index;
        }
    }
    0
}
