//! Removes reasoning before an answer, between marks that are not code in any language.

use super::AnswerStage;

/// Marks used by models: Qwen3, DeepSeek and most others; Claude-like models; Magistral.
const MARKS: &[(&str, &str)] =
    &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")];

/// Returns the text behind the thoughts at the beginning of an answer, or all of it if there are none. `None` while the model is,
/// or may be, writing thoughts.
pub(super) fn after_reasoning(raw: &str, stage: AnswerStage) -> Option<&str> {
    let start = raw.trim_start();
    for (open, close) in MARKS {
        if let Some(thoughts) = start.strip_prefix(open) {
            return thoughts.split_once(close).map(|(_, answer)| answer.trim_start_matches(['\r', '\n']));
        }
    }
    let may_begin = !start.is_empty() && MARKS.iter().any(|(open, _)| open.starts_with(start));
    (stage == AnswerStage::Whole || !may_begin).then_some(raw)
}

/// Returns the text behind thoughts whose opening mark is in the server's part of the prompt.
pub(super) fn after_unopened_reasoning(raw: &str) -> &str {
    MARKS.iter().find_map(|(_, close)| raw.split_once(close)).map_or(raw, |(_, answer)| answer)
}
