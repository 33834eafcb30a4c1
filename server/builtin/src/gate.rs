//! When to write nothing, or less.

use syntax::Family;

use crate::cursor::Mode;
use crate::decode::Written;
use crate::predict::{self, Guess, Model, Sharpness};
use crate::settings::{Method, Settings, StopReason};
use crate::view::View;
use crate::vocabulary::{Change, TokenId, is_newline};

/// What is left of the likelihood that a block goes on after a statement that leaves it (feasibility study, section 6: such a
/// statement is the strongest sign besides the model's own). Any factor that puts these blocks below the others does.
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

/// Takes back what is less likely than the caller wants: the rest of a statement as a whole, a block down to its last likely
/// statement.
pub(crate) fn cut_back(view: &View, settings: &Settings, written: &mut Written) {
    let Some(least) = settings.min_probability else { return };
    let Some(unlikely) = written.guesses.iter().position(|guess| guess.probability < least) else { return };
    let whole = if view.cursor.mode == Mode::Statement {
        0
    } else {
        whole_statements(view, &written.guesses[..unlikely])
    };
    written.guesses.truncate(whole);
    written.stop = StopReason::Unlikely;
}

/// How many of the tokens are whole statements: up to the last line end outside of brackets that leads back to the indentation
/// of the first statement.
fn whole_statements(view: &View, guesses: &[Guess]) -> usize {
    let (mut brackets, mut column, mut whole) = (0i32, 0, 0);
    let mut first_column = if view.cursor.mode == Mode::Body { None } else { Some(0) };
    for (index, guess) in guesses.iter().enumerate() {
        match view.text(guess.token) {
            "(" | "[" | "{" => brackets += 1,
            ")" | "]" | "}" => brackets -= 1,
            _ => {}
        }
        let Some(change) = Change::of(guess.token) else { continue };
        column += change.columns(view.layout.unit);
        if brackets == 0 && column <= *first_column.get_or_insert(column) {
            whole = index;
        }
    }
    whole
}
