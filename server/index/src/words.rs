//! The words of code: identifiers and their parts, in lower case.
//!
//! A whole name matches exactly and weighs much, since few functions have it; its parts (`read`, `user`, `name` of
//! `readUserName` or `read_user_name`) find code that speaks of the same things in other names.

use rustc_hash::FxHashMap;
use syntax::{Language, TokenKind, lex};

/// A single letter says nothing about what code does.
const MIN_PART_LETTERS: usize = 2;

/// How often each word of `text` occurs, keywords included: their weight vanishes by itself.
pub(crate) fn count(language: Language, text: &str) -> FxHashMap<String, u32> {
    let mut words = FxHashMap::default();
    for identifier in identifiers(language, text) {
        for word in of(identifier) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

/// The identifiers and keywords of `text` in order; what stands in comments and strings is none.
pub(crate) fn identifiers(language: Language, text: &str) -> impl Iterator<Item = &str> {
    let words = lex(language, text).into_iter().filter(|token| token.kind == TokenKind::Word);
    words.map(|token| &text[token.range])
}

/// The words of an identifier: itself and, where there are several, its parts.
pub(crate) fn of(identifier: &str) -> Vec<String> {
    let parts: Vec<&str> = split(identifier).collect();
    let mut words = vec![identifier.to_lowercase()];
    if parts.len() > 1 {
        let long = parts.iter().filter(|part| part.chars().nth(MIN_PART_LETTERS - 1).is_some());
        words.extend(long.map(|part| part.to_lowercase()));
    }
    words
}

/// Splits at `_` and `$`, before a capital after a small letter, and before the last capital of a run (`HTTPServer`).
fn split(identifier: &str) -> impl Iterator<Item = &str> {
    identifier.split(['_', '$']).flat_map(split_case).filter(|part| !part.is_empty())
}

fn split_case(word: &str) -> Vec<&str> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for window in characters.windows(2).enumerate() {
        let (position, &[(_, before), (at, character)]) = window else { continue };
        let next_is_small = characters.get(position + 2).is_some_and(|(_, next)| next.is_lowercase());
        if character.is_uppercase() && (!before.is_uppercase() || next_is_small) {
            parts.push(&word[start..at]);
            start = at;
        }
    }
    parts.push(&word[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(identifier: &str, expected: &[&str]) {
        assert_eq!(of(identifier), expected);
    }

    #[test]
    fn identifiers_are_split_by_case_and_underscores() {
        check("readUserName", &["readusername", "read", "user", "name"]);
        check("read_user_name", &["read_user_name", "read", "user", "name"]);
        check("HTTPServer2Go", &["httpserver2go", "http", "server2", "go"]);
        check("MAX_SIZE", &["max_size", "max", "size"]);
        check("__init__", &["__init__"]);
        check("aB", &["ab"]);
        check("größeÄndern", &["größeändern", "größe", "ändern"]);
        check("x", &["x"]);
    }

    #[test]
    fn only_words_count() {
        let counts = count(Language::Python, "total = total + 1  # total\nprint('total')\n");
        assert_eq!((counts.get("total"), counts.get("print"), counts.len()), (Some(&2), Some(&1), 2));
    }
}
