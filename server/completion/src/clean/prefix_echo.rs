//! Removes what stands before the cursor in its line from the start of an answer, which chat models like to repeat.

use super::{Surroundings, is_telling};

pub(super) fn remove(answer: String, around: &Surroundings<'_>) -> String {
    let line = around.before.line().trim_start();
    let echo = answer.trim_start_matches([' ', '\t', '\n', '\r']);
    match echo.strip_prefix(line) {
        Some(rest) if is_telling(line) => rest.to_owned(),
        _ => answer,
    }
}

/// Whether an answer that began like this may turn out to repeat the line.
pub(super) fn may_be(beginning: &str, around: &Surroundings<'_>) -> bool {
    let line = around.before.line().trim_start();
    let echo = beginning.trim_start_matches([' ', '\t', '\n', '\r']);
    is_telling(line) && line.len() > echo.len() && line.starts_with(echo)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn the_line_up_to_the_cursor_is_not_written_twice() {
        check("a.py", "    total_price = $0\n", "    total_price = a + b", "a + b");
        check("a.py", "    total_price = $0\n", "\ntotal_price = a + b", "a + b");
    }

    #[test]
    fn short_beginnings_come_by_chance() {
        check("a.py", "x = $0\n", "x = 1", "x = 1");
    }
}
