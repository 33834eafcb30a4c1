//! Extraction of the code from the reply of a general model.

use crate::ScoringRules;
use crate::fences::fenced_blocks;

/// Returns the code of the last fenced block without its last line end; empty without a block.
///
/// [`ScoringRules::Faithful`] finds blocks whose opening line is followed by a line, closed by backticks at the start of a line, and turns
/// `<br>` in code into a line feed.
pub fn extract_code(reply: &str, rules: ScoringRules) -> String {
    match rules {
        ScoringRules::Paper => {
            let last = fenced_blocks(reply).pop().unwrap_or_default();
            last.strip_suffix('\n').unwrap_or(last).to_owned()
        }
        ScoringRules::Faithful => last_original_block(&reply.replace("<br>", "\n")).to_owned(),
    }
}

const FENCE: &str = "```";

fn last_original_block(reply: &str) -> &str {
    let mut last = "";
    let mut from = 0;
    while let Some((content, end)) = next_original_block(reply, from) {
        last = content;
        from = end;
    }
    last
}

/// Returns the content of the first block from `from` on, and the end of its closing fence.
fn next_original_block(reply: &str, from: usize) -> Option<(&str, usize)> {
    let open = from + reply[from..].find(FENCE)? + FENCE.len();
    let content = open + reply[open..].find('\n')? + 1;
    let closing = "\n```";
    let length = reply[content..].find(closing)?;
    Some((&reply[content..content + length], content + length + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, paper: &str, faithful: &str) {
        assert_eq!(extract_code(reply, ScoringRules::Paper), paper, "paper");
        assert_eq!(extract_code(reply, ScoringRules::Faithful), faithful, "faithful");
    }

    #[test]
    fn last_block_is_the_code() {
        check("```\na\n```\nor\n```py\nb\n c\n```\nDone.", "b\n c", "b\n c");
        check("no code", "", "");
    }

    #[test]
    fn original_misses_unclosed_blocks_and_splits_at_br() {
        check("```\na", "a", "");
        check("```\na<br>b\n```", "a<br>b", "a\nb");
    }
}
