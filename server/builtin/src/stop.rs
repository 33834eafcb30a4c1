//! Whether the block goes on at a blank line, or is complete.
//!
//! Every method that predicts would go on writing. What tells a complete body is which line end was to be expected after its last
//! line (feasibility study, section 6), and how that line begins and ends.

use syntax::Family;

use crate::cursor::Mode;
use crate::models::Models;
use crate::predict::{self, Expected, Guess};
use crate::view::View;
use crate::vocabulary::{Change, TokenId, is_newline};

/// Mass of both answers before anything is seen (feasibility study's prototype).
const PRIOR: f64 = 1e-4;

/// What is known of a blank line.
pub(crate) const FEATURES: [&str; 16] = [
    // The logit of going on, by a soft vote and by a sharp one, each mixed with the count, and what is seen of line ends at all.
    "soft",
    "sharp",
    "seen",
    // The last line: how it begins and ends.
    "jumps",
    "is_value",
    "is_closer",
    "opens",
    "line_length",
    // The cursor's indentation, against the last line and by itself, and what the next line does.
    "change",
    "depth",
    "next_change",
    "ends_block",
    // How well the best place agrees.
    "match_len",
    // Lines of the block so far, and whether braces count.
    "lines",
    "same_lines",
    "is_indented",
];

/// How likely the block goes on at the cursor; 1 where the cursor is on no blank line.
pub(crate) fn continuation(view: &View, models: &Models) -> f64 {
    features(view).map_or(1.0, |features| models.stopping.probability(&features))
}

/// `None` where the cursor is on no blank line.
pub(crate) fn features(view: &View) -> Option<[f32; FEATURES.len()]> {
    let cursor = &view.cursor;
    let here = cursor.context.last().and_then(|&last| Change::of(last))?;
    let context = &cursor.context[..cursor.context.len() - 1];
    if !matches!(cursor.mode, Mode::RestOfBlock | Mode::OneStatement) {
        return None;
    }
    let unit = view.layout.unit;
    let here = here.columns(unit);
    let Expected { sharp, soft } = predict::expected(view, context);
    let [sharp, soft] = [sharp, soft].map(|guesses| LineEnds::of(view, &guesses, here));
    let last_line = context.rsplit(|&token| is_newline(token)).next().unwrap_or_default();
    let text = |token: Option<&TokenId>| token.map_or("", |&token| view.text(token));
    let (first, last) = (text(last_line.first()), text(last_line.last()));
    let flag = |is: bool| f32::from(u8::from(is));
    let steps = |columns: i64| columns as f32 / unit.max(1) as f32;
    let block = Block::before(view, context, here);
    Some([
        soft.logit(),
        sharp.logit(),
        soft.seen() as f32,
        flag(matches!(first, "return" | "raise" | "throw" | "break" | "continue" | "goto")),
        flag(view.family == Family::Rust && !matches!(last, ";" | "}" | "{" | "," | "]" | "")),
        flag(matches!(first, "}" | ")" | "]")),
        flag(matches!(last, "{" | ":" | "(" | "[")),
        last_line.len().min(30) as f32,
        steps(here),
        steps(cursor.column as i64),
        steps(cursor.next_change.unwrap_or_default()),
        flag(cursor.mode == Mode::RestOfBlock),
        soft.match_len,
        (block.lines as f32).ln_1p(),
        (block.same_lines as f32).ln_1p(),
        flag(view.family.is_indented()),
    ])
}

/// What speaks for line ends that stay in the block, and for those that lead out of it.
struct LineEnds {
    inside: f64,
    outside: f64,
    match_len: f32,
}

impl LineEnds {
    fn of(view: &View, guesses: &[Guess], here: i64) -> LineEnds {
        let mut ends = LineEnds { inside: PRIOR, outside: PRIOR, match_len: 0.0 };
        ends.match_len = guesses.first().map_or(0.0, |best| best.match_len.min(40.0) as f32);
        for guess in guesses {
            match Change::of(guess.token) {
                Some(change) if change.columns(view.layout.unit) >= here => ends.inside += guess.probability,
                Some(_) => ends.outside += guess.probability,
                None if view.text(guess.token) == "}" => ends.outside += guess.probability,
                None => {}
            }
        }
        ends
    }

    fn logit(&self) -> f32 {
        (self.inside / self.outside).ln() as f32
    }

    fn seen(&self) -> f64 {
        self.inside + self.outside
    }
}

/// How much of the block stands before the cursor, as far as the context reaches.
struct Block {
    lines: usize,
    /// Lines at the cursor's own indentation.
    same_lines: usize,
}

impl Block {
    fn before(view: &View, context: &[TokenId], here: i64) -> Block {
        let mut block = Block { lines: 0, same_lines: 0 };
        // The column of the line that is looked at, against the cursor's.
        let mut column = -here;
        for change in context.iter().rev().filter_map(|&token| Change::of(token)) {
            if column < 0 {
                break;
            }
            block.lines += 1;
            block.same_lines += usize::from(column == 0);
            column -= change.columns(view.layout.unit);
        }
        block
    }
}
