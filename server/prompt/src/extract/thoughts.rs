//! Thinking aloud before an answer, between marks that are no code in any language.

use super::Stage;

/// The marks that models use: Qwen3, DeepSeek and most others; Claude's imitators; Magistral.
const MARKS: &[(&str, &str)] =
    &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")];

/// What stands behind the thoughts that an answer begins with; all of it if it begins with none. `None` as long as the model thinks, or
/// may be about to begin.
pub(super) fn behind(raw: &str, stage: Stage) -> Option<&str> {
    let start = raw.trim_start();
    for (open, close) in MARKS {
        if let Some(thoughts) = start.strip_prefix(open) {
            return thoughts.split_once(close).map(|(_, answer)| answer.trim_start_matches(['\r', '\n']));
        }
    }
    let may_begin = !start.is_empty() && MARKS.iter().any(|(open, _)| open.starts_with(start));
    (stage == Stage::Whole || !may_begin).then_some(raw)
}

/// What stands behind thoughts whose opening mark stood in the server's own part of the prompt.
pub(super) fn behind_unopened(raw: &str) -> &str {
    MARKS.iter().find_map(|(_, close)| raw.split_once(close)).map_or(raw, |(_, answer)| answer)
}
