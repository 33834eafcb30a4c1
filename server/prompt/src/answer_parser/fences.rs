//! Markdown fences in answers.

use super::AnswerStage;

const FENCE: &str = "```";

/// Returns whether a text ends inside a fence.
pub(super) fn is_inside_fence(text: &str) -> bool {
    text.contains(FENCE) && text.lines().filter(|line| line.trim_start().starts_with(FENCE)).count() % 2 == 1
}

/// Returns the code of an answer that should consist of code: the content of the fence at its beginning, or the text before a
/// closing fence without an opening one. The second value is whether a closing fence was found.
pub(super) fn without_fences(text: &str, stage: AnswerStage) -> (&str, bool) {
    let start = text.trim_start();
    let may_open = !start.is_empty() && (start.starts_with(FENCE) || FENCE.starts_with(start));
    if stage == AnswerStage::Streaming && may_open && !start.contains('\n') {
        return ("", false);
    }
    match opening(start) {
        FenceOpening::None => up_to_closing(text, stage),
        FenceOpening::OneLine(code) => (code, true),
        FenceOpening::Block(code) => up_to_closing(code, stage),
    }
}

/// Returns the code in the first fence, and whether the fence is closed. `None` if there is no fence.
pub(super) fn in_first_fence(text: &str, stage: AnswerStage) -> Option<(&str, bool)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(FENCE) {
            return Some(without_fences(&text[at..], stage));
        }
        at += line.len();
    }
    None
}

/// Beginning of a text.
enum FenceOpening<'t> {
    /// No fence.
    None,
    /// Code between fences on one line.
    OneLine(&'t str),
    /// A fence on its own line, with at most one word; and the text behind it.
    Block(&'t str),
}

fn opening(text: &str) -> FenceOpening<'_> {
    let Some(rest) = text.strip_prefix(FENCE) else { return FenceOpening::None };
    let (word, code) = rest.split_once('\n').unwrap_or((rest, ""));
    let word = word.trim_start_matches('`').trim();
    if word.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.')) {
        return FenceOpening::Block(code);
    }
    match word.strip_suffix(FENCE) {
        Some(code) if !code.contains('`') => FenceOpening::OneLine(code.trim()),
        _ => FenceOpening::None,
    }
}

/// Returns the text before the first line that consists of a fence, without the line break before it, and whether there is one.
/// While more can follow, holds back a last line that may become a fence.
fn up_to_closing(text: &str, stage: AnswerStage) -> (&str, bool) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let is_last = at + line.len() == text.len() && !line.ends_with('\n');
        let is_fence = content.len() >= FENCE.len() && content.bytes().all(|byte| byte == b'`');
        if is_fence && (stage == AnswerStage::Whole || !is_last) {
            let before = text[..at].strip_suffix('\n').unwrap_or(&text[..at]);
            return (before.strip_suffix('\r').unwrap_or(before), true);
        }
        let may_become = !content.is_empty() && content.bytes().all(|byte| byte == b'`');
        if is_last && stage == AnswerStage::Streaming && may_become {
            return (&text[..at], false);
        }
        at += line.len();
    }
    (text, false)
}
