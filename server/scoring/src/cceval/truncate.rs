//! Truncation of a prediction after its first statement.

use syntax::{Language, Tree};

use text::python;

/// Returns the scored part of `prediction`: up to its first complete statement. `prompt` is the text before it.
pub fn truncate<'a>(language: Language, prompt: &str, prediction: &'a str) -> &'a str {
    match language {
        Language::Python => truncate_python(prompt, prediction),
        _ => truncate_braces(prediction),
    }
}

/// Returns the text up to and including the first `;`, `}` or `{`. If the text starts with one, all of it is kept, as in the
/// original.
fn truncate_braces(prediction: &str) -> &str {
    match prediction.find([';', '}', '{']) {
        None | Some(0) => prediction,
        Some(at) => &prediction[..=at],
    }
}

/// Returns the text up to the first line feed at which prompt and prediction parse without error, or all of it if there is none.
///
/// The original tries every character but stops only before a line feed, so that only line feeds matter. It never tries the empty
/// prediction: a leading line feed is skipped.
fn truncate_python<'a>(prompt: &str, prediction: &'a str) -> &'a str {
    let mut text = IncrementalParse { text: prompt.to_owned(), tree: None };
    let mut taken = 0;
    for (at, _) in prediction.match_indices('\n').filter(|&(at, _)| at > 0) {
        if !text.append(&prediction[taken..at]).has_error() {
            return python::rstrip(&prediction[..at]);
        }
        taken = at;
    }
    prediction
}

/// A Python text that is parsed again after each addition to its end; the prompt is parsed once.
struct IncrementalParse {
    text: String,
    tree: Option<Tree>,
}

impl IncrementalParse {
    fn append(&mut self, more: &str) -> &Tree {
        let longer = [&self.text, more].concat();
        let tree = match &self.tree {
            Some(tree) => tree.update(&self.text, &longer),
            None => syntax::parse(Language::Python, &longer),
        };
        self.text = longer;
        self.tree.insert(tree)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(language: Language, prompt: &str, prediction: &str, expected: &str) {
        assert_eq!(truncate(language, prompt, prediction), expected);
    }

    #[test]
    fn brace_languages_truncate_at_the_first_statement_end() {
        check(Language::Java, "", "a(); b();", "a();");
        check(Language::CSharp, "", "if (a) { b(); }", "if (a) {");
        check(Language::TypeScript, "", "\"é;\" + x;", "\"é;");
        check(Language::Java, "", "for (;;) {}", "for (;");
        check(Language::Java, "", "no end ", "no end ");
        check(Language::Java, "", "", "");
    }

    #[test]
    fn statement_end_at_offset_zero_is_ignored() {
        check(Language::Java, "", ";\n a(); }", ";\n a(); }");
        check(Language::Java, "", "\n};", "\n}");
    }

    #[test]
    fn python_truncates_at_the_first_line_end_that_parses() {
        check(Language::Python, "x = ", "f(a)\ny = 2\n", "f(a)");
        check(Language::Python, "x = ", "f(\n    a)  \r\ny = 2\n", "f(\n    a)");
        check(Language::Python, "def f():\n    ", "if a:\n        b\n", "if a:");
    }

    #[test]
    fn python_keeps_text_without_a_parsable_line_end() {
        check(Language::Python, "x = ", "f(a,  ", "f(a,  ");
        check(Language::Python, "x = (", "f(a,\n b \n", "f(a,\n b \n");
        check(Language::Python, "x = 1", "\n", "\n");
        check(Language::Python, "x = 1", "", "");
    }

    #[test]
    fn python_skips_a_leading_lf_and_ignores_cr() {
        check(Language::Python, "x = 1", "\ny = 2\nz", "\ny = 2");
        check(Language::Python, "x = ", "1\ry", "1\ry");
    }

    proptest! {
        /// Reuse of the previous tree must not change which texts have errors.
        #[test]
        fn incremental_parse_equals_a_full_parse(pieces in prop::collection::vec(PIECE, 1..12)) {
            let mut growing = IncrementalParse { text: String::new(), tree: None };
            for piece in pieces {
                let reused = growing.append(&piece).has_error();
                prop_assert_eq!(reused, syntax::parse(Language::Python, &growing.text).has_error(), "{}", growing.text);
            }
        }
    }

    const PIECE: &str =
        r#"(def f\(a\):\n    |if a:\n        |    |\n|x = |f\(|\)|\[|\]|,|"|'|#|é|a|:|else|\\){1,3}"#;
}
