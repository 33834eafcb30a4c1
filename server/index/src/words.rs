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
    let mut identifiers = FxHashMap::<&str, u32>::default();
    for token in lex(language, text) {
        if token.kind == TokenKind::Word {
            *identifiers.entry(&text[token.range]).or_default() += 1;
        }
    }
    let mut words = FxHashMap::default();
    for (identifier, count) in identifiers {
        each_word(identifier, |word| *words.entry(word).or_default() += count);
    }
    words
}

/// The identifier itself and, where there are several, its parts.
fn each_word(identifier: &str, mut found: impl FnMut(String)) {
    found(identifier.to_lowercase());
    let parts: Vec<&str> = split(identifier).collect();
    if parts.len() > 1 {
        parts
            .into_iter()
            .filter(|part| part.chars().nth(MIN_PART_LETTERS - 1).is_some())
            .for_each(|part| found(part.to_lowercase()));
    }
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
        let mut words = Vec::new();
        each_word(identifier, |word| words.push(word));
        assert_eq!(words, expected);
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
