//! The words of code: identifiers and their parts, in lower case.
//!
//! A whole name matches exactly and has a high weight, since few functions contain it; its parts (`read`, `user`, `name` of
//! `readUserName` or `read_user_name`) find similar code with other names.

use rustc_hash::FxHashMap;
use syntax::{Language, TokenKind, lex};

use crate::terms::{MIN_PART_CHARACTERS, split};

/// Counts the words of `text`, including keywords: their weight is close to zero.
pub(crate) fn count_words(language: Language, text: &str) -> FxHashMap<String, u32> {
    let mut words = FxHashMap::default();
    let mut lower = String::new();
    for identifier in identifiers(language, text) {
        each_word(identifier, &mut lower, |word| *words.entry(word.to_owned()).or_default() += 1);
    }
    words
}

/// Returns the identifiers and keywords of `text` in order, without comments and strings.
pub(crate) fn identifiers(language: Language, text: &str) -> impl Iterator<Item = &str> {
    let words = lex(language, text).into_iter().filter(|token| token.kind == TokenKind::Word);
    words.map(|token| &text[token.range])
}

/// Calls `found` with the words of an identifier: itself and, if there are several, its parts. `lower` is a reusable buffer.
pub(crate) fn each_word(identifier: &str, lower: &mut String, mut found: impl FnMut(&str)) {
    found(to_lower(identifier, lower));
    if split(identifier).nth(1).is_none() {
        return;
    }
    for part in split(identifier).filter(|part| part.chars().nth(MIN_PART_CHARACTERS - 1).is_some()) {
        found(to_lower(part, lower));
    }
}

/// Writes `text` in lower case to `lower`.
pub(crate) fn to_lower<'l>(text: &str, lower: &'l mut String) -> &'l str {
    lower.clear();
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.push_str(&text.to_lowercase());
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(identifier: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each_word(identifier, &mut String::new(), |word| words.push(word.to_owned()));
        assert_eq!(words, expected);
    }

    #[test]
    fn identifiers_are_split_by_case_and_underscores() {
        check("readUserName", &["readusername", "read", "user", "name"]);
        check("read_user_name", &["read_user_name", "read", "user", "name"]);
        check("HTTPServer2Go", &["httpserver2go", "http", "server", "go"]);
        check("utf16Len", &["utf16len", "utf", "16", "len"]);
        check("MAX_SIZE", &["max_size", "max", "size"]);
        check("__init__", &["__init__"]);
        check("aB", &["ab"]);
        check("größeÄndern", &["größeändern", "größe", "ändern"]);
        check("x", &["x"]);
    }

    #[test]
    fn words_in_comments_and_strings_are_not_counted() {
        let counts = count_words(Language::Python, "total = total + 1  # total\nprint('total')\n");
        assert_eq!((counts.get("total"), counts.get("print"), counts.len()), (Some(&2), Some(&1), 2));
    }
}
