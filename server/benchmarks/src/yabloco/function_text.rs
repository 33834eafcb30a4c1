//! A function's text in its file: cutting it out, and putting generated code in its place.

/// Returns the original's text of a function: `length + 1` lines of `file` from line `start` (0-based), with signature and body.
///
/// If these lines contain `#if` and `#else` anywhere, also in comments, only the `#else` branches remain: a line with `#endif` is
/// dropped; one with `#if` is dropped and raises a counter; while the counter is above 0, a line with `#else` lowers it, and every
/// line is dropped.
pub fn function_text(file: &str, start: usize, length: usize) -> String {
    let lines: Vec<&str> = file.split_inclusive('\n').skip(start).take(length.saturating_add(1)).collect();
    let has = |word: &str| lines.iter().any(|line| line.contains(word));
    if has("#if") && has("#else") { without_if_branches(&lines) } else { lines.concat() }
}

fn without_if_branches(lines: &[&str]) -> String {
    let mut kept = String::new();
    let mut depth = 0;
    for line in lines {
        if line.contains("#endif") {
            continue;
        } else if line.contains("#if") {
            depth += 1;
        } else if depth == 0 {
            kept.push_str(line);
        } else if line.contains("#else") {
            depth -= 1;
        }
    }
    kept
}

/// Returns `file` with `code` in place of `length + 1` lines from line `first` (1-based), with a line feed before and after it.
pub fn splice(file: &str, first: usize, length: usize, code: &str) -> String {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let before = &lines[..first.saturating_sub(1).min(lines.len())];
    let after = &lines[first.saturating_add(length).min(lines.len())..];
    [before.concat().as_str(), "\n", code, "\n", after.concat().as_str()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_else_branches_remain() {
        assert_eq!(function_text("a\n#ifdef X\nb\n#else\nc\n#endif\nd\n", 0, 9), "a\nc\nd\n");
        assert_eq!(function_text("a\n#if X\nb\n#endif\n", 0, 9), "a\n#if X\nb\n#endif\n");
    }

    #[test]
    fn ranges_beyond_the_file_are_cut() {
        assert_eq!(function_text("a\nb", 1, usize::MAX), "b");
        assert_eq!(function_text("a", 9, 9), "");
        assert_eq!(splice("a\nb\nc", 2, 0, "X"), "a\n\nX\nc");
        assert_eq!(splice("a", usize::MAX, usize::MAX, "X"), "a\nX\n");
    }
}
