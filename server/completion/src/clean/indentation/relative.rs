//! Lines that are indented relative to the cursor's.

use super::{AnswerLine, code_lines, reindent};
use crate::clean::CleaningContext;
use crate::extent::indentation;

/// From this column on, a level alone does not reach further than the cursor.
const MIN_COLUMN: usize = 4;

/// Indents the later lines by what the cursor's line is indented by, if only that makes sense of them.
pub(super) fn adapt(answer: String, around: &CleaningContext<'_>) -> String {
    let own = indentation(around.before.line());
    if own.is_empty() {
        return answer;
    }
    let lines = code_lines(&answer, around);
    let is_of_one_kind =
        lines.iter().all(|line| own.starts_with(line.blanks) || line.blanks.starts_with(own));
    if !is_of_one_kind || !is_relative(&answer, &lines, own, around) {
        return answer;
    }
    reindent(&answer, |start, blanks| {
        let is_blank = answer[start + blanks.len()..].starts_with(['\r', '\n']);
        if is_blank { blanks.to_owned() } else { format!("{own}{blanks}") }
    })
}

/// Whether a line of the answer is indented less than it can be where it is.
fn is_relative(answer: &str, lines: &[AnswerLine<'_>], own: &str, around: &CleaningContext<'_>) -> bool {
    // What begins on a line of its own says itself how far it is indented.
    if answer.starts_with(['\r', '\n']) {
        return false;
    }
    let least = around.before.statement_indentation().len().min(own.len());
    if around.language.family().is_indented() {
        return is_out_of_place(answer, lines, own, around)
            || lines
                .iter()
                .take_while(|line| around.before.is_in_brackets(answer, line.start))
                .any(|line| line.blanks.len() < least);
    }
    if lines.first().is_some_and(|next| is_in_place(answer, next, own)) {
        return false;
    }
    let end = around.before.end(around.extent, answer).unwrap_or(answer.len());
    let mut lines =
        lines.iter().take_while(|line| line.start < end && !begins_new_function(answer, line, around));
    lines.clone().next().is_some_and(|next| is_unindented_body(answer, next, own, around))
        || lines.any(|line| line.blanks.len() < least && !is_label(line.code) && !line.code.starts_with('>'))
}

/// Whether the first line of a block is indented more than the cursor's, which a level counted from the cursor would not reach: a later
/// line that is indented less is out of line in the document, too.
fn is_in_place(answer: &str, next: &AnswerLine<'_>, own: &str) -> bool {
    let opens = answer[..next.start].trim_end().ends_with('{');
    opens && own.len() >= MIN_COLUMN && next.blanks.len() > own.len()
}

/// Whether a condition or loop without a brace is the answer's first line, and its statement the next one, on the same level.
fn is_unindented_body(answer: &str, next: &AnswerLine<'_>, own: &str, around: &CleaningContext<'_>) -> bool {
    let head = answer[..next.start].trim_end();
    let is_fresh = around.before.line().trim().is_empty();
    is_fresh
        && next.blanks.len() <= own.len()
        && !next.code.starts_with('{')
        && around.before.ends_with_head(head)
}

/// Whether a function begins behind a blank line, as in the file after this block.
fn begins_new_function(answer: &str, line: &AnswerLine<'_>, around: &CleaningContext<'_>) -> bool {
    let before = answer[..line.start].trim_end_matches([' ', '\t']);
    let is_behind_blank = before.ends_with("\n\n") || before.ends_with("\r\n\r\n");
    is_behind_blank && around.before.defines(&answer[line.start..])
}

/// Whether the next line cannot follow where blocks are indented: it is no part of the block that the first line is the head of, or code
/// of the file right behind a function's.
fn is_out_of_place(answer: &str, lines: &[AnswerLine<'_>], own: &str, around: &CleaningContext<'_>) -> bool {
    let next = lines.iter().find(|line| !around.before.is_in_brackets(answer, line.start));
    let Some(next) = next.filter(|next| next.blanks.len() <= own.len()) else { return false };
    let head = answer[..next.start].trim_end();
    let (text, _, tokens) = around.before.continued(head);
    let ends_with_head = tokens.last().is_some_and(|last| &text[last.range.clone()] == ":");
    let is_fresh = around.before.line().trim().is_empty();
    let is_behind_annotation = answer.starts_with('@') && next.blanks.len() < own.len();
    let is_next_line = answer[head.len()..next.start].matches('\n').count() == 1;
    let is_in_file =
        next.blanks.is_empty() && is_next_line && is_in_function(around.before.text(), own.len());
    is_fresh && (ends_with_head || is_behind_annotation || is_in_file)
}

/// Whether code that is indented so far stands in a function.
fn is_in_function(before: &str, mut column: usize) -> bool {
    for line in before.lines().rev().filter(|line| !line.trim().is_empty()) {
        let own = indentation(line).len();
        if own < column {
            column = own;
            let code = line.trim_start();
            if code.starts_with(')') {
                // The head goes on from further up.
                column = own + 1;
            } else if code.starts_with("def ") || code.starts_with("async def ") {
                return true;
            }
        }
        if column == 0 {
            break;
        }
    }
    false
}

/// Labels and cases may stand further out than what they are in.
fn is_label(code: &str) -> bool {
    code.ends_with(':') || code.starts_with("case ") || code.starts_with("default")
}
