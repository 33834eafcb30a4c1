//! Insertions at the cursor: the edits that are completions.

use cases::{BlockCut, CompletionTask, MissingTail, Task};

/// Reason to leave an item out.
pub(super) const NO_INSERTION: &str = "the expected edit is no insertion at the cursor";

/// Returns the inserted text if `new` is `old` with text inserted at a byte.
pub(super) fn inserted<'n>(old: &str, new: &'n str, cursor: usize) -> Option<&'n str> {
    let (before, after) = old.split_at_checked(cursor)?;
    new.strip_prefix(before)?.strip_suffix(after)
}

/// Returns the task of a completion before this suffix.
pub(super) fn task_before(suffix: &str) -> Task {
    Task::Complete(match suffix.trim().is_empty() {
        true => CompletionTask::IncompleteSuffix(MissingTail::FileTail),
        false => CompletionTask::FullBlock(BlockCut::MidStatement),
    })
}

/// Returns the byte at a 0-based line and a column in bytes; `None` outside of the text.
pub(super) fn offset_at(text: &str, line: usize, column: usize) -> Option<usize> {
    let start = match line {
        0 => 0,
        _ => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let rest = &text[start..];
    let length = rest.find('\n').unwrap_or(rest.len());
    let offset = start + column;
    (column <= length && text.is_char_boundary(offset)).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_at_the_cursor_is_an_insertion() {
        assert_eq!(inserted("ab", "axb", 1), Some("x"));
        assert_eq!(inserted("aa", "aaa", 2), Some("a"));
        assert_eq!(inserted("ab", "ab", 1), Some(""));
        for (old, new, cursor) in
            [("ab", "xab", 1), ("ab", "a", 1), ("ab", "ba", 1), ("é", "éx", 1), ("a", "b", 9)]
        {
            assert_eq!(inserted(old, new, cursor), None, "{old} {new}");
        }
        // The ends must not overlap.
        assert_eq!(inserted("aa", "a", 1), None);
    }

    #[test]
    fn offsets_are_inside_of_their_line() {
        let text = "é\nbc\n";
        assert_eq!(
            [(0, 0), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (3, 0)]
                .map(|(l, c)| offset_at(text, l, c)),
            [Some(0), None, Some(2), None, Some(5), None, Some(6), None]
        );
    }
}
