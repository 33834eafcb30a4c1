//! Re-indents answers whose lines are indented relative to the cursor's line.

use syntax::TokenKind;

use super::{AnswerLine, code_lines, reindent};
use crate::clean::CleaningContext;
use crate::extent::indentation;

/// From this column on, one indentation level alone does not exceed the cursor's column.
const MIN_COLUMN: usize = 4;

/// Adds the cursor's indentation to the later lines, if they make sense only with it.
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

/// Returns whether a line of the answer is indented less than its position allows.
fn is_relative(answer: &str, lines: &[AnswerLine<'_>], own: &str, around: &CleaningContext<'_>) -> bool {
    // An answer that begins with a line end has its own absolute indentation.
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

/// Returns whether the first line of a block is indented more than the cursor's line, which a level relative to the cursor would not
/// reach. Later lines with less indentation are then misplaced in the original, too.
fn is_in_place(answer: &str, next: &AnswerLine<'_>, own: &str) -> bool {
    let opens = answer[..next.start].trim_end().ends_with('{');
    opens && own.len() >= MIN_COLUMN && next.blanks.len() > own.len()
}

/// Returns whether the answer's first line is a condition or loop without a brace, and the next line its statement on the same level.
fn is_unindented_body(answer: &str, next: &AnswerLine<'_>, own: &str, around: &CleaningContext<'_>) -> bool {
    let head = answer[..next.start].trim_end();
    let is_fresh = around.before.line().trim().is_empty();
    is_fresh
        && next.blanks.len() <= own.len()
        && !next.code.starts_with('{')
        && around.before.ends_with_head(head)
}

/// Returns whether a function begins after a blank line, like a following function of the file.
fn begins_new_function(answer: &str, line: &AnswerLine<'_>, around: &CleaningContext<'_>) -> bool {
    let before = answer[..line.start].trim_end_matches([' ', '\t']);
    let is_behind_blank = before.ends_with("\n\n") || before.ends_with("\r\n\r\n");
    is_behind_blank && around.before.defines(&answer[line.start..])
}

/// Returns whether the next line cannot follow in a language with indented blocks: it is not in the block that the first line opens, or
/// it is top-level code right after a function's code.
fn is_out_of_place(answer: &str, lines: &[AnswerLine<'_>], own: &str, around: &CleaningContext<'_>) -> bool {
    let next = lines.iter().find(|line| !around.before.is_in_brackets(answer, line.start));
    let Some(next) = next.filter(|next| next.blanks.len() <= own.len()) else { return false };
    let head = answer[..next.start].trim_end();
    let (text, _, tokens) = around.before.continued(head);
    let last = tokens.iter().rfind(|token| token.kind != TokenKind::Newline);
    let ends_with_head = last.is_some_and(|last| &text[last.range.clone()] == ":");
    let is_fresh = around.before.line().trim().is_empty();
    let is_behind_annotation = answer.starts_with('@') && next.blanks.len() < own.len();
    let is_next_line = answer[head.len()..next.start].matches('\n').count() == 1;
    let is_in_file =
        next.blanks.is_empty() && is_next_line && is_in_function(around.before.text(), own.len());
    is_fresh && (ends_with_head || is_behind_annotation || is_in_file)
}

/// Returns whether code at this column is in a function.
fn is_in_function(before: &str, mut column: usize) -> bool {
    for line in before.lines().rev().filter(|line| !line.trim().is_empty()) {
        let own = indentation(line).len();
        if own < column {
            column = own;
            let code = line.trim_start();
            if code.starts_with(')') {
                // The head continues above.
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

/// Returns whether a line is a label or case, which may be further out than its block.
fn is_label(code: &str) -> bool {
    code.ends_with(':') || code.starts_with("case ") || code.starts_with("default")
}
