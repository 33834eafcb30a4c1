//! When to write nothing, or less.

use crate::candidates::is_newline;
use crate::cursor::Mode;
use crate::decode::Written;
use crate::family::Family;
use crate::predict::{self, Model, Sharpness};
use crate::settings::{Method, Settings, StopReason};
use crate::view::View;
use crate::vocabulary::{Change, TokenId};

/// What is left of the likelihood that a block goes on after a statement that leaves it. Any factor that puts such blocks below
/// the others does: with continuation alone 41 % of complete bodies are left alone at the price of 5 % of incomplete ones, with
/// this 56 % are.
const TERMINATED: f64 = 0.2;
/// Mass of both answers before anything is seen (feasibility study's prototype).
const PRIOR: f64 = 1e-4;

/// How likely the block goes on at the cursor: the mass of line ends that lead to the cursor's indentation against those
/// that lead out of the block (feasibility study, section 6). 1 where the cursor is on no blank line.
pub(crate) fn continuation(view: &View, settings: &Settings) -> f64 {
    let cursor = &view.cursor;
    let is_blank_line = matches!(cursor.mode, Mode::RestOfBlock | Mode::OneStatement);
    let change = cursor.context.last().and_then(|&last| Change::of(last));
    let (Some(here), true) = (change, is_blank_line && settings.method == Method::Hybrid) else {
        return 1.0;
    };
    let context = &cursor.context[..cursor.context.len() - 1];
    let columns = |change: Change| change.columns(view.layout.unit);
    let (mut inside, mut outside) = (PRIOR, PRIOR);
    for guess in predict::guesses(view, Model::Hybrid(Sharpness::Soft), context) {
        match Change::of(guess.token) {
            Some(change) if columns(change) >= columns(here) => inside += guess.probability,
            Some(_) => outside += guess.probability,
            None if view.text(guess.token) == "}" => outside += guess.probability,
            None => {}
        }
    }
    let likelihood = inside / (inside + outside);
    if is_terminated(view, context) && columns(here) == 0 { TERMINATED * likelihood } else { likelihood }
}

/// Whether the last line leaves the block: it starts with a jump or, in Rust, is an expression without a `;`.
fn is_terminated(view: &View, context: &[TokenId]) -> bool {
    let line = context.rsplit(|&token| is_newline(token)).next().unwrap_or_default();
    let text = |token: Option<&TokenId>| token.map_or("", |&token| view.text(token));
    let jumps = matches!(text(line.first()), "return" | "raise" | "throw" | "break" | "continue" | "goto");
    let is_value = !matches!(text(line.last()), ";" | "}" | "{" | "," | "]" | "");
    jumps || (view.family == Family::Rust && is_value)
}

/// Takes back what is less likely than the caller wants: a statement as a whole, a block down to its last likely line.
pub(crate) fn cut_back(view: &View, settings: &Settings, written: &mut Written) {
    let Some(least) = settings.min_probability else { return };
    let Some(unlikely) = written.guesses.iter().position(|guess| guess.probability < least) else { return };
    let is_statement = view.cursor.mode == Mode::Statement;
    let line_end = written.guesses[..unlikely].iter().rposition(|guess| is_newline(guess.token));
    written.guesses.truncate(line_end.filter(|_| !is_statement).unwrap_or(0));
    written.stop = StopReason::Unlikely;
}
