//! Withholds what is probably wrong: a whole completion, or all of it behind its certain beginning.

use crate::corpus_view::CorpusView;
use crate::cursor::GenerationMode;
use crate::decode::DecodedTokens;
use crate::predict::{PredictionMethod, Predictor, TokenGuess};
use crate::settings::{BuiltinSettings, StopReason};
use crate::vocabulary::{TokenId, is_newline};

/// Minimum probability of a block, regardless of the bound for statements: a block takes long to read and is rarely right as a
/// whole, so it has to be at least as likely right as wrong (feasibility study, section 8.7).
const MIN_BLOCK_PROBABILITY: f64 = 0.5;

/// Minimum probability that a beginning is right. It is a product over its tokens, which overestimates, unlike the fitted probability of a
/// whole. `cargo xtask bench typing` chose it: with 0.88 one key of 300 more is saved, but in code that no weight was fitted on, more than
/// 2 of 100 requests show something new and wrong.
const MIN_BEGINNING_PROBABILITY: f64 = 0.9;

/// The same where a block or a statement begins: there is one such place for some 25 keys, and the text of its first line is read at once.
const MIN_BLOCK_BEGINNING_PROBABILITY: f64 = 0.7;

/// Minimum length in bytes of a beginning: accepting it costs a key, and reading it some attention.
const MIN_BEGINNING_BYTES: usize = 3;

/// Factor of the permitted doubt for each suggestion on the cursor's line that other text was typed over. By the same measurement, a fifth of
/// the suggestions after three such ones were right, and 45 % of the others.
const DOUBT_LEFT: f64 = 0.5;

/// Withholds a completion that is less probable than the settings want, down to its certain beginning. Returns the probability that the
/// remaining text is right, or if none remains, that of the withheld text.
pub(crate) fn drop_uncertain(
    view: &CorpusView,
    predictor: &mut Predictor,
    settings: &BuiltinSettings,
    written: &mut DecodedTokens,
    trust: f64,
) -> f64 {
    let Some(least) = settings.min_probability else { return trust };
    let is_statement = view.cursor.mode == GenerationMode::Statement;
    let least = if is_statement { least } else { least.max(MIN_BLOCK_PROBABILITY) };
    if trust >= stricter(least, view.typed_over) {
        return trust;
    }
    written.stop = StopReason::Unlikely;
    let least = if is_statement { MIN_BEGINNING_PROBABILITY } else { MIN_BLOCK_BEGINNING_PROBABILITY };
    let least = stricter(least, view.typed_over);
    let (length, probability) = certain_beginning(view, predictor, written, least);
    written.guesses.truncate(length);
    if new_bytes(view, written) < MIN_BEGINNING_BYTES {
        written.guesses.clear();
    }
    if written.guesses.is_empty() { trust } else { probability }
}

/// Returns the minimum probability after this number of suggestions that other text was typed over.
fn stricter(least: f64, typed_over: usize) -> f64 {
    let doubt = (0..typed_over).fold(1.0 - least, |doubt, _| doubt * DOUBT_LEFT);
    1.0 - doubt
}

/// Returns the length of the text without blanks that the tokens add.
fn new_bytes(view: &CorpusView, written: &DecodedTokens) -> usize {
    let bytes: usize = written.guesses.iter().map(|guess| view.text(guess.token).len()).sum();
    let typed = if written.completes_partial { view.cursor.partial_token.text().len() } else { 0 };
    bytes.saturating_sub(typed)
}

/// Returns the probability of the least certain token; 1 without tokens.
pub(crate) fn min_probability(guesses: &[TokenGuess]) -> f64 {
    guesses.iter().map(|guess| guess.probability).fold(1.0, f64::min)
}

/// Returns the number of tokens of the longest beginning that is right with a probability of at least `least`, and that probability. It does
/// not end in a line end.
fn certain_beginning(
    view: &CorpusView,
    predictor: &mut Predictor,
    written: &DecodedTokens,
    least: f64,
) -> (usize, f64) {
    // A word that is treated as complete may be the beginning of another one.
    let mut probability =
        written.lead.map_or(1.0, |lead| ranked_probability_of_word(view, predictor, lead).unwrap_or(0.0));
    let mut beginning = (0, probability);
    for (place, guess) in written.guesses.iter().enumerate() {
        probability *= match place {
            0 if written.completes_partial => {
                ranked_probability_of_word(view, predictor, guess.token).unwrap_or(guess.probability)
            }
            _ => ranked_probability(predictor, written, place),
        };
        if probability < least {
            break;
        }
        if !is_newline(guess.token) {
            beginning = (place + 1, probability);
        }
    }
    beginning
}

/// Returns the ranking's probability of a token regardless of the method: other methods' values measure similarity or are overconfident.
fn ranked_probability(predictor: &mut Predictor, written: &DecodedTokens, place: usize) -> f64 {
    let guesses = predictor.guesses(PredictionMethod::Ranked, &written.tokens_before(place));
    let same = guesses.iter().find(|guess| guess.token == written.guesses[place].token);
    same.map_or(0.0, |guess| guess.probability)
}

/// Returns the ranking's probability of a token at the cursor, among those that the text there may become; `None` if it expects none of them.
fn ranked_probability_of_word(view: &CorpusView, predictor: &mut Predictor, token: TokenId) -> Option<f64> {
    let guesses = predictor.guesses(PredictionMethod::Ranked, &[]);
    let fits = |guess: &&TokenGuess| view.cursor.partial_token.missing(view.text(guess.token)).is_some();
    let all: f64 = guesses.iter().filter(fits).map(|guess| guess.probability).sum();
    let own = guesses.iter().find(|guess| guess.token == token).map_or(0.0, |guess| guess.probability);
    (all > 0.0).then(|| own / all)
}
