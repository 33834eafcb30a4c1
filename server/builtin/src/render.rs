//! Renders tokens as text: blanks as in the source, and indentation, line ends and quotes as in the open file.

use std::borrow::Cow;

use crate::corpus_view::CorpusView;
use crate::cursor::GenerationMode;
use crate::decode::DecodedTokens;
use crate::predict::TokenGuess;
use crate::vocabulary::{IndentChange, TokenClass, TokenId};

/// Returns the text to insert at the cursor, and the end of each token in it.
pub(crate) fn render(view: &CorpusView, written: &DecodedTokens) -> (String, Vec<usize>) {
    let cursor = &view.cursor;
    let mut out = String::new();
    let mut ends = Vec::with_capacity(written.guesses.len());
    let mut column = cursor.column as i64;
    let mut is_line_start = cursor.after_blank;
    for (index, guess) in written.guesses.iter().enumerate() {
        if let Some(change) = IndentChange::of(guess.token) {
            column = (column + change.columns(view.layout.unit)).max(0);
            start_line(view, &mut out, view.blanks(guess.position).max(1), column);
            is_line_start = true;
            ends.push(out.len());
            continue;
        }
        let ends_typed = index == 0 && written.completes_partial;
        let blanks = if is_line_start || ends_typed { 0 } else { view.blanks(guess.position) };
        out.extend(std::iter::repeat_n(' ', blanks.into()));
        out.push_str(&if ends_typed {
            cursor.partial_token.missing(view.text(guess.token)).unwrap_or_default()
        } else {
            token(view, before(view, written, index), guess)
        });
        is_line_start = false;
        ends.push(out.len());
    }
    if cursor.mode == GenerationMode::Body && cursor.before_closer && out.contains('\n') {
        start_line(view, &mut out, 1, cursor.column as i64);
    }
    (out, ends)
}

/// Renders a token in the open file's style, after the token `before`.
fn token<'v>(view: &'v CorpusView, before: Option<TokenId>, guess: &TokenGuess) -> Cow<'v, str> {
    let text = view.text(guess.token);
    if view.class(guess.token) != TokenClass::String || !view.family.has_equal_quotes() {
        return text.into();
    }
    let before = before.map_or("", |before| view.text(before));
    view.quotes.render_literal(view.family, before, text, view.side_byte(guess.position))
}

/// Returns the token before a generated one.
fn before(view: &CorpusView, written: &DecodedTokens, index: usize) -> Option<TokenId> {
    match index.checked_sub(1) {
        Some(last) => written.guesses.get(last).map(|guess| guess.token),
        None => view.cursor.context.last().copied(),
    }
}

fn start_line(view: &CorpusView, out: &mut String, line_ends: u8, column: i64) {
    for _ in 0..line_ends {
        out.push_str(view.layout.line_end());
    }
    view.layout.indent(out, usize::try_from(column).unwrap_or_default());
}
