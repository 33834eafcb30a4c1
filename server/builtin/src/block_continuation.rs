//! Decides whether a block continues at a blank line.
//!
//! All prediction methods would continue. The evidence for a complete body is the kind of line end expected after its last line
//! (feasibility study, section 6), and the beginning and end of that line.

use syntax::LanguageFamily;

use crate::corpus_view::CorpusView;
use crate::cursor::GenerationMode;
use crate::models::Models;
use crate::predict::{self, BaselinePredictions, TokenGuess};
use crate::vocabulary::{IndentChange, TokenId, is_newline};

/// Prior mass of both answers (feasibility study's prototype).
const PRIOR: f64 = 1e-4;

/// Features of a blank line.
pub(crate) const FEATURES: [&str; 16] = [
    // Logit of continuing, by soft and by sharp voting, each mixed with counting; and the evidence for any line end.
    "soft",
    "sharp",
    "seen",
    // Beginning and end of the last line.
    "jumps",
    "is_value",
    "is_closer",
    "opens",
    "line_length",
    // The cursor's indentation, relative to the last line and absolute, and the change at the next line.
    "change",
    "depth",
    "next_change",
    "ends_block",
    // Agreement of the best position.
    "match_len",
    // Number of lines of the block so far, and whether blocks have braces.
    "lines",
    "same_lines",
    "is_indented",
];

/// Returns the probability that the block continues at the cursor; 1 unless the cursor is on a blank line.
pub(crate) fn continuation(view: &CorpusView, models: &Models) -> f64 {
    features(view).map_or(1.0, |features| models.stopping.probability(&features))
}

/// Returns the features; `None` unless the cursor is on a blank line.
pub(crate) fn features(view: &CorpusView) -> Option<[f32; FEATURES.len()]> {
    let cursor = &view.cursor;
    let here = cursor.context.last().and_then(|&last| IndentChange::of(last))?;
    let context = &cursor.context[..cursor.context.len() - 1];
    if !matches!(cursor.mode, GenerationMode::RestOfBlock | GenerationMode::OneStatement) {
        return None;
    }
    let unit = view.layout.unit;
    let here = here.columns(unit);
    let BaselinePredictions { sharp, soft } = predict::baseline_predictions(view, context);
    let [sharp, soft] = [sharp, soft].map(|guesses| LineEndEvidence::of(view, &guesses, here));
    let last_line = context.rsplit(|&token| is_newline(token)).next().unwrap_or_default();
    let text = |token: Option<&TokenId>| token.map_or("", |&token| view.text(token));
    let (first, last) = (text(last_line.first()), text(last_line.last()));
    let flag = |is: bool| f32::from(u8::from(is));
    let steps = |columns: i64| columns as f32 / unit.max(1) as f32;
    let block = BlockContext::before(view, context, here);
    Some([
        soft.logit(),
        sharp.logit(),
        soft.seen() as f32,
        flag(matches!(first, "return" | "raise" | "throw" | "break" | "continue" | "goto")),
        flag(view.family == LanguageFamily::Rust && !matches!(last, ";" | "}" | "{" | "," | "]" | "")),
        flag(matches!(first, "}" | ")" | "]")),
        flag(matches!(last, "{" | ":" | "(" | "[")),
        last_line.len().min(30) as f32,
        steps(here),
        steps(cursor.column as i64),
        steps(cursor.next_change.unwrap_or_default()),
        flag(cursor.mode == GenerationMode::RestOfBlock),
        soft.match_len,
        (block.lines as f32).ln_1p(),
        (block.same_lines as f32).ln_1p(),
        flag(view.family.is_indented()),
    ])
}

/// Evidence for line ends that stay in the block, and for those that leave it.
struct LineEndEvidence {
    inside: f64,
    outside: f64,
    match_len: f32,
}

impl LineEndEvidence {
    fn of(view: &CorpusView, guesses: &[TokenGuess], here: i64) -> LineEndEvidence {
        let mut ends = LineEndEvidence { inside: PRIOR, outside: PRIOR, match_len: 0.0 };
        ends.match_len = guesses.first().map_or(0.0, |best| best.match_len.min(40.0) as f32);
        for guess in guesses {
            match IndentChange::of(guess.token) {
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

/// The block before the cursor, as far as the context reaches.
struct BlockContext {
    lines: usize,
    /// Number of lines at the cursor's own indentation.
    same_lines: usize,
}

impl BlockContext {
    fn before(view: &CorpusView, context: &[TokenId], here: i64) -> BlockContext {
        let mut block = BlockContext { lines: 0, same_lines: 0 };
        // Column of the current line relative to the cursor's.
        let mut column = -here;
        for change in context.iter().rev().filter_map(|&token| IndentChange::of(token)) {
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
