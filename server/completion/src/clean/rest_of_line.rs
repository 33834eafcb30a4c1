//! Cuts text that already follows the cursor in its line.

use super::CleaningContext;

/// Minimum length of that text in characters; shorter ones are handled by `doubled_brackets`.
const MIN_CHARACTERS: usize = 3;

/// Cuts the rest of the cursor's line from the end of the answer's first or last line, if the remaining answer leaves open the brackets
/// that it closes.
pub(super) fn cut(mut answer: String, around: &CleaningContext<'_>) -> String {
    let rest = around.rest_of_line().trim();
    let first_line = answer.lines().next().unwrap_or_default().trim_end();
    let fits = |kept: &&str| around.before.leaves_open_what_follows_closes(kept);
    let at_first = || first_line.strip_suffix(rest).filter(fits);
    // A later line that ends with the text by coincidence leaves the brackets as they are.
    let at_last = || answer.trim_end().strip_suffix(rest).filter(fits).filter(|_| !fits(&&*answer));
    if rest.chars().nth(MIN_CHARACTERS - 1).is_some()
        && let Some(kept) = at_first().or_else(at_last).map(str::len)
    {
        answer.truncate(kept);
        // The blank already follows the cursor.
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
    fn rest_of_the_line_is_not_repeated() {
        check("a.cs", "public $0 { get; set; }\n", "Kernel Kernel { get; set; }", "Kernel Kernel");
        check("a.py", "print($0, file=out)\n", "total, file=out)", "total");
    }

    #[test]
    fn text_after_a_closing_brace_is_not_repeated() {
        let handler = " catch (B b) {\n  handleProblem(second);\n}\n";
        let document = format!("try {{\n  f();\n}} $0{handler}");
        let answer = format!("catch (A a) {{\n  g();\n}}{handler}");
        check("a.java", &document, &answer, "catch (A a) {\n  g();\n}");
    }

    #[test]
    fn different_text_and_brackets_are_kept() {
        check("a.py", "print($0, file=out)\n", "total", "total");
        check("a.py", "x = [$0 ]\n", "a[1] + b", "a[1] + b");
    }
}
