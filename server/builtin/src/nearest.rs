//! Copies the text after the most similar position verbatim: the baseline for the other methods.

use rustc_hash::FxHashSet;

use crate::candidates::{Place, tail};
use crate::cursor::Typed;
use crate::decode::{Writer, Written};
use crate::predict::{Guess, Predictor};
use crate::view::{Nearness, View};
use crate::vocabulary::{END, TokenId, is_newline};

/// Number of compared tokens before a position (feasibility study, section 2).
const WINDOW: usize = 24;
/// Number of tokens directly before the position that count extra if equal, and the bonus of each (feasibility study's prototype).
const RUN: usize = 6;
const RUN_BONUS: f64 = 0.02;
/// Bonus for the open file (feasibility study's prototype).
const NEAR_BONUS: f64 = 0.03;

/// Copies from the most similar of all positions, up to the end of the completion.
pub(crate) fn copy(view: &View) -> Written {
    let near = places(view, &view.overlay.stream.tokens);
    let near =
        near.filter(|&position| view.overlay.nearness(position) != Nearness::Masked).map(Place::Overlay);
    let far = view.layers.iter().flat_map(|layer| {
        let positions = places(view, layer.tokens.tokens);
        let there = positions.filter(|&position| layer.nearness(position) != Nearness::Masked);
        there.map(|position| Place::Corpus(layer.first + position))
    });
    copy_best(view, far.chain(near))
}

/// Copies from the most similar of the candidates that are evaluated anyway.
pub(crate) fn copy_among_candidates(view: &View, predictor: &mut Predictor) -> Written {
    let fits = |place: &Place| view.cursor.typed.missing(view.text(view.next(*place))).is_some();
    copy_best(view, predictor.places().into_iter().filter(fits))
}

fn copy_best(view: &View, places: impl Iterator<Item = Place>) -> Written {
    let mut writer = Writer::new(view, view.cursor.mode);
    let Some((place, probability)) = best_place(view, places) else { return writer.finish() };
    let lead = typed_in_full(view, view.next(place));
    writer.lead = lead;
    writer.ends_typed = lead.is_none() && view.cursor.typed != Typed::None;
    for place in places_from(view, place).skip(usize::from(lead.is_some())) {
        let token = view.next(place);
        let guess = Guess { token, probability, place, match_len: probability };
        if token == END || writer.step(&[guess]).is_none() || writer.stop.is_some() {
            break;
        }
    }
    writer.finish()
}

/// Returns a position and all following ones in its stream.
fn places_from(view: &View, place: Place) -> impl Iterator<Item = Place> {
    let (stream, at) = view.stream(place);
    let length = u32::try_from(stream.tokens.len() - at).unwrap_or(u32::MAX);
    let (start, of): (u32, fn(u32) -> Place) = match place {
        Place::Corpus(position) => (position, Place::Corpus),
        Place::Overlay(position) => (position, Place::Overlay),
    };
    (start..start + length).map(of)
}

fn typed_in_full(view: &View, token: TokenId) -> Option<TokenId> {
    matches!(view.cursor.typed, Typed::Word { token: typed, .. } if typed == token).then_some(token)
}

/// Returns the position with the most similar surroundings. Ties are resolved by the lowest priority.
fn best_place(view: &View, places: impl Iterator<Item = Place>) -> Option<(Place, f64)> {
    let context = &view.cursor.context;
    let window: FxHashSet<TokenId> = context.iter().rev().take(WINDOW).copied().collect();
    let score = |place: Place| {
        let bonus = if matches!(place, Place::Overlay(_)) { NEAR_BONUS } else { 0.0 };
        let history = tail(view.history(place), WINDOW);
        let shared = history.iter().filter(|token| window.contains(token)).count();
        let pairs = history.iter().rev().zip(context.iter().rev()).take(RUN);
        let run = pairs.take_while(|(there, here)| there == here).count();
        shared as f64 / WINDOW as f64 + run as f64 * RUN_BONUS + bonus
    };
    let order = |place: Place| match place {
        Place::Corpus(position) => {
            let (layer, position) = view.layer(position);
            (0, layer.priority(position))
        }
        Place::Overlay(position) => (1, u64::from(position)),
    };
    let is_better = |(place, score): (Place, f64), (best, best_score): (Place, f64)| {
        score > best_score || (score == best_score && order(place) < order(best))
    };
    let scored = places.map(|place| (place, score(place)));
    scored.reduce(|best, next| if is_better(next, best) { next } else { best })
}

/// Returns positions that follow the same token as the cursor (any line end if that is one) and fit the partial token.
fn places<'v>(view: &'v View, tokens: &'v [TokenId]) -> impl Iterator<Item = u32> + 'v {
    let last = view.cursor.context.last().copied().unwrap_or(END);
    let follows = move |pair: &[TokenId]| pair[0] == last || (is_newline(pair[0]) && is_newline(last));
    let fits = move |token: TokenId| token != END && view.cursor.typed.missing(view.text(token)).is_some();
    let pairs = tokens.windows(2).zip(1..);
    pairs.filter(move |(pair, _)| follows(pair) && fits(pair[1])).map(|(_, position)| position)
}
