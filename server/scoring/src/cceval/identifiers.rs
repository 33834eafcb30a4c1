//! Identifiers by CrossCodeEval's rule, and the agreement of two lists of them.

use std::borrow::Cow;

use syntax::Language;

use super::keywords::is_keyword;
use crate::Counts;
use text::python;

/// Returns the identifiers of `text` in order, with repeats: runs of word characters outside of string literals that start with
/// an ASCII letter or an underscore and are no keyword of the language.
pub fn identifiers(language: Language, text: &str) -> Vec<String> {
    words(language, &without_strings(text)).map(str::to_owned).collect()
}

/// Compares the identifiers of two texts.
pub(super) fn of_texts(language: Language, prediction: &str, truth: &str) -> IdentifierMatch {
    let (prediction, truth) = (without_strings(prediction), without_strings(truth));
    let names = |text| words(language, text).collect::<Vec<&str>>();
    match_identifiers(&names(&prediction), &names(&truth))
}

/// Compares the identifiers of a text with themselves.
pub(super) fn of_equal_texts(language: Language, text: &str) -> IdentifierMatch {
    let text = without_strings(text);
    let names: Vec<&str> = words(language, &text).collect();
    let true_positives = sorted_set(&names).len();
    IdentifierMatch { exact: true, true_positives, ..IdentifierMatch::default() }
}

fn words(language: Language, text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !python::is_word(c))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .filter(move |word| !is_keyword(language, word))
}

/// Returns `text` without its string literals; the texts around a literal are joined.
fn without_strings(text: &str) -> Cow<'_, str> {
    let mut rest = String::new();
    let mut unclosed = UnclosedQuotes::default();
    let mut start = 0;
    let mut from = 0;
    while let Some(found) = text[from..].find(['"', '\'']) {
        let open = from + found;
        from = open + 1;
        if let Some(end) = unclosed.literal_end(text, open) {
            rest.push_str(&text[start..open]);
            start = end;
            from = end;
        }
    }
    if start == 0 {
        return Cow::Borrowed(text);
    }
    rest.push_str(&text[start..]);
    Cow::Owned(rest)
}

/// End of the search for the closing quote of unclosed literals, per kind of quote. All later quotes of the kind before that end
/// are escaped, so that a literal starting at one of them has no closing quote either. Without this, a row of `\"` would take
/// quadratic time.
#[derive(Default)]
struct UnclosedQuotes {
    single: usize,
    double: usize,
}

impl UnclosedQuotes {
    /// Returns the end of the literal whose quote is at `open`, if it is closed. A backslash escapes any character but a line
    /// feed, which ends the search.
    fn literal_end(&mut self, text: &str, open: usize) -> Option<usize> {
        let quote = text.as_bytes()[open];
        let followed = if quote == b'"' { &mut self.double } else { &mut self.single };
        if open < *followed {
            return None;
        }
        let bytes = text.as_bytes();
        let mut at = open + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if bytes.get(at + 1) == Some(&b'\n') => break,
                b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                _ if byte == quote => return Some(at + 1),
                _ => at += 1,
            }
        }
        *followed = at;
        None
    }
}

/// Agreement of a prediction's identifiers with the truth's. The counts are over distinct identifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentifierMatch {
    /// Whether the lists are equal, order and repeats included.
    pub exact: bool,
    /// In both.
    pub true_positives: usize,
    /// In the prediction only.
    pub false_positives: usize,
    /// In the truth only.
    pub false_negatives: usize,
}

impl IdentifierMatch {
    /// Returns the share of the prediction's identifiers that are in the truth; 0 if there are none.
    pub fn precision(self) -> f64 {
        self.precision_counts().ratio().unwrap_or(0.0)
    }

    /// Returns the share of the truth's identifiers that are in the prediction; 0 if there are none.
    pub fn recall(self) -> f64 {
        self.recall_counts().ratio().unwrap_or(0.0)
    }

    /// Returns the harmonic mean of precision and recall; 0 if there are no identifiers.
    pub fn f1(self) -> f64 {
        self.f1_counts().ratio().unwrap_or(0.0)
    }

    /// Returns precision as counts.
    pub fn precision_counts(self) -> Counts {
        let num = self.true_positives as f64;
        Counts { num, den: num + self.false_positives as f64 }
    }

    /// Returns recall as counts.
    pub fn recall_counts(self) -> Counts {
        let num = self.true_positives as f64;
        Counts { num, den: num + self.false_negatives as f64 }
    }

    /// Returns F1 as counts.
    pub fn f1_counts(self) -> Counts {
        let num = 2.0 * self.true_positives as f64;
        Counts { num, den: num + (self.false_positives + self.false_negatives) as f64 }
    }
}

/// Compares two lists of identifiers.
pub fn match_identifiers<T: AsRef<str>>(prediction: &[T], truth: &[T]) -> IdentifierMatch {
    let (predicted, expected) = (sorted_set(prediction), sorted_set(truth));
    let true_positives = predicted.iter().filter(|name| expected.binary_search(name).is_ok()).count();
    IdentifierMatch {
        exact: prediction.iter().map(T::as_ref).eq(truth.iter().map(T::as_ref)),
        true_positives,
        false_positives: predicted.len() - true_positives,
        false_negatives: expected.len() - true_positives,
    }
}

/// Returns the different names in a fixed order. Lists are short, so that sorting them is faster than hashing.
fn sorted_set<T: AsRef<str>>(names: &[T]) -> Vec<&str> {
    let mut names: Vec<&str> = names.iter().map(T::as_ref).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, expected: &[&str]) {
        assert_eq!(identifiers(language, text), expected, "in {text:?}");
    }

    #[test]
    fn keywords_and_numbers_are_not_identifiers() {
        check(Language::Python, "if x1 is None and _y > 2z and True:", &["x1", "_y", "True"]);
        check(Language::Java, "int null = true; async await", &["null", "true", "async", "await"]);
        check(Language::CSharp, "string s = null;", &["s"]);
        check(Language::TypeScript, "let async = null as any;", &["async", "null", "as", "any"]);
        check(Language::Python, "", &[]);
    }

    #[test]
    fn identifiers_start_with_ascii_and_continue_with_unicode() {
        check(Language::Python, "naïve élan x漢 𝒳y", &["naïve", "x漢"]);
        check(Language::Python, "e\u{301}tat", &["e", "tat"]);
    }

    #[test]
    fn string_literals_are_removed_and_neighbors_joined() {
        check(Language::Python, "a\"b\"c", &["ac"]);
        check(Language::Python, r#"f("x \" y", 'z') + w"#, &["f", "w"]);
        check(Language::Python, "'a\nb' c", &["c"]);
        check(Language::Python, "it's \"fine\"", &["it", "s"]);
        check(Language::Python, "`a ${b}`", &["a", "b"]);
        check(Language::Python, "'\\😀' x", &["x"]);
    }

    #[test]
    fn literal_with_escaped_line_feed_is_not_removed() {
        check(Language::Python, "'a\\\nb' c", &["a", "b", "c"]);
        check(Language::Python, "\"a\\", &["a"]);
        check(Language::Python, "'a \\' b \\\n c' d '", &["a", "b", "c"]);
    }

    #[test]
    fn counts_use_distinct_names_but_exact_match_uses_lists() {
        let matched = match_identifiers(&["a", "a", "b", "c"], &["b", "a", "d"]);
        let expected =
            IdentifierMatch { exact: false, true_positives: 2, false_positives: 1, false_negatives: 1 };
        assert_eq!(matched, expected);
        assert_eq!((matched.precision(), matched.recall()), (2.0 / 3.0, 2.0 / 3.0));
        assert_eq!(matched.f1(), 4.0 / 6.0);
        assert!(!match_identifiers(&["a", "a"], &["a"]).exact);
    }

    #[test]
    fn empty_identifier_lists_match_exactly_but_score_zero() {
        let matched = match_identifiers::<&str>(&[], &[]);
        assert!(matched.exact);
        assert_eq!((matched.precision(), matched.recall(), matched.f1()), (0.0, 0.0, 0.0));
    }
}
