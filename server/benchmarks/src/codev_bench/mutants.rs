//! Wrong code in the place of a truth: tests that pass with it have no power to judge answers.

use syntax::{Language, TokenKind, lex};

/// Changed tokens that are tried: the first one may give equivalent code.
const MAX_CHANGED: usize = 3;

/// Operators and words, and their replacements.
const EXCHANGED: [(&str, &str); 22] = [
    ("==", "!="),
    ("!=", "=="),
    ("===", "!=="),
    ("!==", "==="),
    ("<", ">="),
    (">", "<="),
    ("<=", ">"),
    (">=", "<"),
    ("+", "-"),
    ("-", "+"),
    ("+=", "-="),
    ("&&", "||"),
    ("||", "&&"),
    ("and", "or"),
    ("or", "and"),
    ("true", "false"),
    ("false", "true"),
    ("True", "False"),
    ("False", "True"),
    ("None", "0"),
    ("is", "is not"),
    ("in", "not in"),
];

/// Wrong code for a truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutants {
    /// Code that does nothing. Tests must fail with each.
    pub empty: Vec<String>,
    /// The truth with one changed token, in its order. Tests must fail with one of them.
    pub changed: Vec<String>,
}

impl Mutants {
    /// Returns the mutants of a truth.
    pub fn of(language: Language, truth: &str) -> Mutants {
        let blanks = &truth[..truth.len() - truth.trim_start().len()];
        let mut empty = vec![String::new()];
        if language == Language::Python {
            empty.push(format!("{blanks}pass"));
        }
        Mutants { empty, changed: changed(language, truth) }
    }
}

impl Mutants {
    /// Returns the mutants of a function's body with its closing brace, which stays: without it nothing compiles.
    pub fn of_body(language: Language, truth: &str) -> Mutants {
        let mutants = Mutants::of(language, truth);
        let end = truth.trim_end();
        match end.strip_suffix('}') {
            Some(body) => Mutants { empty: vec![format!("\n{}", &truth[body.len()..])], ..mutants },
            None => mutants,
        }
    }
}

fn changed(language: Language, truth: &str) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    for token in lex(language, truth) {
        let text = &truth[token.range.clone()];
        let other = match token.kind {
            TokenKind::Number => Some(if text == "0" { "1".to_owned() } else { "0".to_owned() }),
            TokenKind::String => changed_string(text),
            TokenKind::Word | TokenKind::Punctuation => exchanged(language, text).map(str::to_owned),
            TokenKind::Newline => None,
        };
        if let Some(other) = other.filter(|other| other != text) {
            changed.push([&truth[..token.range.start], &other, &truth[token.range.end..]].concat());
        }
        if changed.len() == MAX_CHANGED {
            break;
        }
    }
    changed
}

/// Returns the replacement of an operator or a word. `<` and `>` may be brackets of types, except in Python; `in` and `is` are operators there
/// only.
fn exchanged(language: Language, text: &str) -> Option<&'static str> {
    let is_python = language == Language::Python;
    if !is_python && ["<", ">", "in", "is"].contains(&text) {
        return None;
    }
    EXCHANGED.iter().find(|(from, _)| *from == text).map(|(_, to)| *to)
}

/// Returns a literal with one more letter.
fn changed_string(text: &str) -> Option<String> {
    let quote = text.chars().next_back().filter(|quote| ['"', '\'', '`'].contains(quote))?;
    let end = text.trim_end_matches(quote).len();
    // The quotes of an empty literal cannot be told apart.
    (end > 0).then(|| format!("{}x{}", &text[..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_changed_and_strings_stay_strings() {
        let truth = "if a == 1 and \"b\":\n    return True";
        let mutants = Mutants::of(Language::Python, truth);
        assert_eq!(mutants.empty, ["", "pass"]);
        assert_eq!(
            mutants.changed,
            [
                "if a != 1 and \"b\":\n    return True",
                "if a == 0 and \"b\":\n    return True",
                "if a == 1 or \"b\":\n    return True",
            ]
        );
        assert_eq!(Mutants::of(Language::Python, "x = 'ab'").changed, ["x = 'abx'"]);
    }

    #[test]
    fn body_keeps_its_brace() {
        assert_eq!(Mutants::of_body(Language::C, "\n    return 1;\n}\n").empty, ["\n}\n"]);
        assert_eq!(Mutants::of_body(Language::Python, "\n    return 1").empty, ["", "\n    pass"]);
    }

    #[test]
    fn brackets_of_types_are_no_operators() {
        assert_eq!(Mutants::of(Language::Rust, "let a: Vec<u8> = b;").changed, [""; 0]);
    }

    #[test]
    fn placeholder_keeps_the_indentation_of_the_truth() {
        assert_eq!(Mutants::of(Language::Python, "\n    return a").empty[1], "\n    pass");
        assert_eq!(Mutants::of(Language::Go, "\n\treturn a").empty.len(), 1);
    }
}
