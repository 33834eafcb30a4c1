//! Tokens as text: blanks as they were seen, indentation and line ends as in the open file.

use crate::cursor::{Mode, Typed};
use crate::predict::Guess;
use crate::view::View;
use crate::vocabulary::Change;

/// The text to insert at the cursor.
pub(crate) fn text(view: &View, guesses: &[Guess]) -> String {
    let cursor = &view.cursor;
    let mut out = String::new();
    let mut column = cursor.column as i64;
    let mut is_line_start = cursor.after_blank;
    for (index, guess) in guesses.iter().enumerate() {
        if let Some(change) = Change::of(guess.token) {
            column = (column + change.columns(view.layout.unit)).max(0);
            start_line(view, &mut out, guess.blanks.max(1), column);
            is_line_start = true;
            continue;
        }
        let text = view.text(guess.token);
        if let Some(rest) = untyped(&cursor.typed, text).filter(|_| index == 0) {
            out.push_str(rest);
        } else {
            let blanks = if is_line_start { 0 } else { guess.blanks };
            out.extend(std::iter::repeat_n(' ', blanks.into()));
            out.push_str(text);
        }
        is_line_start = false;
    }
    if cursor.mode == Mode::Body && cursor.before_closer && out.contains('\n') {
        start_line(view, &mut out, 1, cursor.column as i64);
    }
    out
}

/// What is left of the token that was typed in part, if `text` is that token.
fn untyped<'t>(typed: &Typed, text: &'t str) -> Option<&'t str> {
    match typed {
        Typed::None => None,
        Typed::Word { text: typed, .. } | Typed::String { text: typed } => text.strip_prefix(typed.as_str()),
    }
}

fn start_line(view: &View, out: &mut String, line_ends: u8, column: i64) {
    for _ in 0..line_ends {
        out.push_str(view.layout.line_end());
    }
    view.layout.indent(out, usize::try_from(column).unwrap_or_default());
}
