//! Restores the blanks that some tokenizers remove before `!`.
//!
//! Many of Hugging Face's tokenizers clean up blanks when decoding by default: `x != y` becomes `x!= y`, and `a && !b` becomes
//! `a &&!b`. No formatter writes a blank on only one side of such an operator, so a missing one can be detected.

use syntax::TokenKind;

use super::CleaningContext;

/// Signs and words that may precede a negation.
const BEFORE_NEGATION: [&str; 9] = ["&&", "||", "==", "!=", "=", "?", ":", "=>", "return"];

pub(super) fn restore(answer: String, around: &CleaningContext<'_>) -> String {
    if !answer.contains('!') {
        return answer;
    }
    let mut written = String::with_capacity(answer.len());
    let mut start = 0;
    for at in places(&answer, around) {
        written += &answer[start..at];
        written.push(' ');
        start = at;
    }
    written + &answer[start..]
}

/// Returns the beginning of an answer without its end that a blank may still be inserted into.
pub(super) fn settled(beginning: &str) -> &str {
    let code = beginning.trim_end_matches(['!', '=']);
    if beginning[code.len()..].contains('!') { code.trim_end_matches([' ', '\t']) } else { beginning }
}

/// Returns the offsets of missing blanks, in bytes of the answer.
fn places(answer: &str, around: &CleaningContext<'_>) -> Vec<usize> {
    let (text, cursor, tokens) = around.before.continued(answer);
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' '));
    let is_missing = |place: usize| {
        let (token, before) = (tokens.get(place)?, tokens.get(place.checked_sub(1)?)?);
        let last = &text[before.range.clone()];
        let is_adjacent = before.range.end == token.range.start && token.range.start >= cursor;
        let is_value = matches!(before.kind, TokenKind::Word | TokenKind::Number | TokenKind::String)
            || matches!(last, ")" | "]");
        let is_missing = match &text[token.range.clone()] {
            "!=" | "!==" => is_value && is_blank(text.as_bytes().get(token.range.end)),
            "!" | "!!" => {
                let start = before.range.start.checked_sub(1)?;
                BEFORE_NEGATION.contains(&last) && is_blank(text.as_bytes().get(start))
            }
            _ => false,
        };
        (is_adjacent && is_missing).then(|| token.range.start - cursor)
    };
    (0..tokens.len()).filter_map(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn lost_spaces_before_operators_are_restored() {
        check("a.java", "if ($0\n    f();\n}\n", "x.a()!= null) {", "x.a() != null) {");
        check("a.ts", "const a = b$0\n", "!== c &&!d", " !== c && !d");
    }

    #[test]
    fn code_written_without_spaces_is_unchanged() {
        check("a.ts", "const a = $0\n", "b!==c&&!d", "b!==c&&!d");
        check("a.rs", "let a = $0\n", "vec![!b, c != d];", "vec![!b, c != d];");
        check("a.py", "a = $0\n", "'x!= y'", "'x!= y'");
        check("a.cs", "var a = $0\n", "b!.C(!d);", "b!.C(!d);");
    }
}
