//! Copies the text after the most similar position verbatim: the baseline for the other methods.

use rustc_hash::FxHashSet;

use crate::candidates::{TokenPosition, context_tail};
use crate::corpus_view::{CorpusView, Nearness};
use crate::cursor::PartialToken;
use crate::decode::{DecodedTokens, TokenDecoder};
use crate::predict::{Predictor, TokenGuess};
use crate::vocabulary::{END, TokenId, is_newline};

/// Number of compared tokens before a position (feasibility study, section 2).
const WINDOW: usize = 24;
/// Number of tokens directly before the position that count extra if equal, and the bonus of each (feasibility study's prototype).
const RUN: usize = 6;
const RUN_BONUS: f64 = 0.02;
/// Bonus for the open file (feasibility study's prototype).
const NEAR_BONUS: f64 = 0.03;

/// Copies from the most similar of all positions, up to the end of the completion.
pub(crate) fn copy(view: &CorpusView) -> DecodedTokens {
    let near = similar_positions(view, &view.overlay.stream.tokens);
    let near = near
        .filter(|&position| view.overlay.nearness(position) != Nearness::Masked)
        .map(TokenPosition::Overlay);
    let far = view.layers.iter().flat_map(|layer| {
        let positions = similar_positions(view, layer.tokens.tokens);
        let there = positions.filter(|&position| layer.nearness(position) != Nearness::Masked);
        there.map(|position| TokenPosition::Corpus(layer.first + position))
    });
    copy_best(view, far.chain(near))
}

/// Copies from the most similar of the candidates that are evaluated anyway.
pub(crate) fn copy_among_candidates(view: &CorpusView, predictor: &mut Predictor) -> DecodedTokens {
    let fits =
        |place: &TokenPosition| view.cursor.partial_token.missing(view.text(view.token_at(*place))).is_some();
    copy_best(view, predictor.exact_positions().into_iter().filter(fits))
}

fn copy_best(view: &CorpusView, places: impl Iterator<Item = TokenPosition>) -> DecodedTokens {
    let mut writer = TokenDecoder::new(view, view.cursor.mode);
    let Some((place, probability)) = best_position(view, places) else { return writer.finish() };
    let lead = typed_in_full(view, view.token_at(place));
    writer.lead = lead;
    writer.completes_partial = lead.is_none() && view.cursor.partial_token != PartialToken::None;
    for place in positions_from(view, place).skip(usize::from(lead.is_some())) {
        let token = view.token_at(place);
        let guess = TokenGuess { token, probability, position: place, match_len: probability };
        if token == END || writer.step(&[guess]).is_none() || writer.stop.is_some() {
            break;
        }
    }
    writer.finish()
}

/// Returns a position and all following ones in its stream.
fn positions_from(view: &CorpusView, place: TokenPosition) -> impl Iterator<Item = TokenPosition> {
    let (stream, at) = view.stream(place);
    let length = u32::try_from(stream.tokens.len() - at).unwrap_or(u32::MAX);
    let (start, of): (u32, fn(u32) -> TokenPosition) = match place {
        TokenPosition::Corpus(position) => (position, TokenPosition::Corpus),
        TokenPosition::Overlay(position) => (position, TokenPosition::Overlay),
    };
    (start..start + length).map(of)
}

fn typed_in_full(view: &CorpusView, token: TokenId) -> Option<TokenId> {
    matches!(view.cursor.partial_token, PartialToken::Word { token: typed, .. } if typed == token)
        .then_some(token)
}

/// Returns the position with the most similar surroundings. Ties are resolved by the lowest priority.
fn best_position(
    view: &CorpusView,
    places: impl Iterator<Item = TokenPosition>,
) -> Option<(TokenPosition, f64)> {
    let context = &view.cursor.context;
    let window: FxHashSet<TokenId> = context.iter().rev().take(WINDOW).copied().collect();
    let score = |place: TokenPosition| {
        let bonus = if matches!(place, TokenPosition::Overlay(_)) { NEAR_BONUS } else { 0.0 };
        let history = context_tail(view.history(place), WINDOW);
        let shared = history.iter().filter(|token| window.contains(token)).count();
        let pairs = history.iter().rev().zip(context.iter().rev()).take(RUN);
        let run = pairs.take_while(|(there, here)| there == here).count();
        shared as f64 / WINDOW as f64 + run as f64 * RUN_BONUS + bonus
    };
    let order = |place: TokenPosition| match place {
        TokenPosition::Corpus(position) => {
            let (layer, position) = view.layer(position);
            (0, layer.priority(position))
        }
        TokenPosition::Overlay(position) => (1, u64::from(position)),
    };
    let is_better = |(place, score): (TokenPosition, f64), (best, best_score): (TokenPosition, f64)| {
        score > best_score || (score == best_score && order(place) < order(best))
    };
    let scored = places.map(|place| (place, score(place)));
    scored.reduce(|best, next| if is_better(next, best) { next } else { best })
}

/// Returns positions that follow the same token as the cursor (any line end if that is one) and fit the partial token.
fn similar_positions<'v>(view: &'v CorpusView, tokens: &'v [TokenId]) -> impl Iterator<Item = u32> + 'v {
    let last = view.cursor.context.last().copied().unwrap_or(END);
    let follows = move |pair: &[TokenId]| pair[0] == last || (is_newline(pair[0]) && is_newline(last));
    let fits =
        move |token: TokenId| token != END && view.cursor.partial_token.missing(view.text(token)).is_some();
    let pairs = tokens.windows(2).zip(1..);
    pairs.filter(move |(pair, _)| follows(pair) && fits(pair[1])).map(|(_, position)| position)
}
