//! Cuts what already stands after the cursor in its line.

use super::Surroundings;

/// Fewer characters than this are left to the brackets' own rule.
const MIN_CHARACTERS: usize = 3;

/// Keeps what stands before the rest of the cursor's line, if the answer's first line ends with that and leaves open what it closes.
pub(super) fn cut(mut answer: String, around: &Surroundings<'_>) -> String {
    let rest = around.rest_of_line().trim();
    let first_line = answer.lines().next().unwrap_or_default().trim_end();
    if rest.chars().nth(MIN_CHARACTERS - 1).is_some()
        && let Some(kept) = first_line.strip_suffix(rest)
        && around.before.leaves_open_what_follows_closes(kept)
    {
        answer.truncate(kept.len());
        // A blank that stands there is there already.
        if around.suffix.starts_with([' ', '\t']) {
            answer.truncate(answer.trim_end().len());
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn what_stands_there_is_not_written_twice() {
        check("a.cs", "public $0 { get; set; }\n", "Kernel Kernel { get; set; }", "Kernel Kernel");
        check("a.py", "print($0, file=out)\n", "total, file=out)", "total");
    }

    #[test]
    fn other_text_and_brackets_are_not_its_matter() {
        check("a.py", "print($0, file=out)\n", "total", "total");
        check("a.py", "x = [$0 ]\n", "a[1] + b", "a[1] + b");
    }
}
