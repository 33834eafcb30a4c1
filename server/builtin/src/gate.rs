//! When to write nothing, or less.

use crate::candidates::is_newline;
use crate::cursor::Mode;
use crate::decode::Written;
use crate::predict::{self, Model, Sharpness};
use crate::settings::{Method, Settings, StopReason};
use crate::view::View;
use crate::vocabulary::Change;

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
    inside / (inside + outside)
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
