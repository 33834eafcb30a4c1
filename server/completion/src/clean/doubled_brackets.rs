//! Cuts closing brackets that already follow the cursor.

use syntax::lex;

use super::CleaningContext;

/// Maximum number of brackets behind the cursor that are compared and cut: each cut lexes the code again.
const MAX_BRACKETS: usize = 8;

/// Cuts closing brackets from the answer's end while those behind the cursor would have nothing to close.
pub(super) fn cut(answer: String, around: &CleaningContext<'_>) -> String {
    doubled_separator(doubled_closers(answer, around), around)
}

/// Cuts a comma or semicolon from the answer's end that already follows the cursor.
fn doubled_separator(mut answer: String, around: &CleaningContext<'_>) -> String {
    let follows = around.rest_of_line().trim_start().chars().next();
    if let Some(separator) = follows.filter(|c| matches!(c, ',' | ';')) {
        let kept =
            answer.trim_end().strip_suffix(separator).map_or(answer.len(), |kept| kept.trim_end().len());
        answer.truncate(kept);
    }
    answer
}

fn doubled_closers(mut answer: String, around: &CleaningContext<'_>) -> String {
    let follow: Vec<char> = around
        .rest_of_line()
        .chars()
        .filter(|c| !c.is_whitespace())
        .take_while(|c| is_closer(*c))
        .take(MAX_BRACKETS)
        .collect();
    // The code is broken even without the answer.
    if follow.is_empty() || !has_room("", &follow, around) {
        return answer;
    }
    for _ in &follow {
        if has_room(&answer, &follow, around) {
            break;
        }
        let Some(kept) = answer.trim_end().strip_suffix(is_closer) else { break };
        answer.truncate(kept.len());
    }
    answer
}

/// Returns whether the brackets in `follow` close brackets that are open after the answer.
fn has_room(answer: &str, follow: &[char], around: &CleaningContext<'_>) -> bool {
    let text = [around.before.text(), answer].concat();
    let mut open = Vec::new();
    for token in lex(around.language, &text) {
        match &text[token.range] {
            "(" => open.push(')'),
            "[" => open.push(']'),
            "{" => open.push('}'),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    follow.iter().all(|closer| open.pop() == Some(*closer))
}

fn is_closer(character: char) -> bool {
    matches!(character, ')' | ']' | '}')
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn closing_brackets_after_the_cursor_are_not_repeated() {
        check("a.py", "print(f($0))\n", "x))", "x");
        check("a.py", "print(f($0)\n", "x))", "x)");
        check("a.ts", "if (f(x, $0)) {\n", "[1, 2])) {", "[1, 2]");
    }

    #[test]
    fn cuts_only_brackets_that_follow_the_cursor() {
        let many = ")".repeat(60_000);
        check("a.py", "x = [\n    $0)\n", &many, &many);
        check("a.py", "x = ($0)\n", &format!("a{many}"), "a");
    }

    #[test]
    fn brackets_opened_in_the_answer_are_kept() {
        check("a.py", "print($0)\n", "f(x)", "f(x)");
        check("a.py", "print($0)\n", "f(')')", "f(')')");
        check("a.py", "x = $0)\n", "f(x)", "f(x)");
    }
}
