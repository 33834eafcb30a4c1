//! Neutralises special tokens in user code, and restores them in the answer.
//!
//! A tokenizer reads `<|fim_prefix|>` as one special token anywhere, so code that contains it, such as a program about language
//! models, would end the prefix or the whole text. Each one gets a zero-width space ([`TOKEN_BREAK`]) after its first character. This is
//! the smallest change that hides the token from every tokenizer. It is invisible, and no other code has the space there, so it
//! can be reversed reliably: a model that repeats the code repeats the space, and [`unescape_special_tokens`] removes it.

use std::borrow::Cow;

/// U+200B, zero width space.
pub const TOKEN_BREAK: char = '\u{200B}';

/// Neutralises the special tokens of a template.
pub(crate) struct Escaper<'a> {
    tokens: &'a [&'a str],
    /// Their first characters: two or three different ones, which are rare in a text.
    firsts: Vec<char>,
}

impl<'a> Escaper<'a> {
    /// Creates an escaper for tokens of at least two characters without [`TOKEN_BREAK`].
    pub(crate) fn new(tokens: &'a [&'a str]) -> Escaper<'a> {
        let mut firsts: Vec<char> = tokens.iter().filter_map(|token| token.chars().next()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        Escaper { tokens, firsts }
    }

    /// Neutralises all tokens in the text; borrows it if it has none.
    pub(crate) fn escape<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(first) = self.find(text, 0) else { return Cow::Borrowed(text) };
        escape_from(self, text, first)
    }

    /// Returns whether the text has a token.
    pub(crate) fn changes(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// Returns the offset of the next token from a byte on.
    fn find(&self, text: &str, from: usize) -> Option<usize> {
        let next = |first: &char| {
            let mut at = from;
            loop {
                at += text[at..].find(*first)?;
                if self.tokens.iter().any(|token| text[at..].starts_with(token)) {
                    return Some(at);
                }
                at += first.len_utf8();
            }
        };
        self.firsts.iter().filter_map(next).min()
    }
}

/// Neutralises all tokens in the text; borrows it if it has none. Tokens have at least two characters and no [`TOKEN_BREAK`].
#[cfg(test)]
pub(crate) fn escape_special_tokens<'t>(text: &'t str, tokens: &[&str]) -> Cow<'t, str> {
    Escaper::new(tokens).escape(text)
}

/// Neutralises the token at `first` and all tokens after it.
fn escape_from<'t>(escaper: &Escaper<'_>, text: &'t str, first: usize) -> Cow<'t, str> {
    let mut changed = String::with_capacity(text.len() + 8 * TOKEN_BREAK.len_utf8());
    let mut copied = 0;
    let mut next = Some(first);
    while let Some(token) = next {
        // Tokens can overlap, so continue behind the first character of this one.
        let behind = token + first_char_len(&text[token..]);
        changed.push_str(&text[copied..behind]);
        changed.push(TOKEN_BREAK);
        copied = behind;
        next = escaper.find(text, behind);
    }
    changed.push_str(&text[copied..]);
    Cow::Owned(changed)
}

/// Restores the neutralised tokens of a text. At its end, where an answer may be truncated, the beginning of a neutralised token
/// counts as well.
pub(crate) fn unescape_special_tokens(text: &str, tokens: &[&str]) -> String {
    let mut restored = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(TOKEN_BREAK) {
        let (before, after) = (&rest[..at], &rest[at + TOKEN_BREAK.len_utf8()..]);
        restored.push_str(before);
        if !tokens.iter().any(|token| is_escape_of(before, after, token)) {
            restored.push(TOKEN_BREAK);
        }
        rest = after;
    }
    restored.push_str(rest);
    restored
}

/// Returns whether the break between the two texts neutralises this token. The token must continue behind the break, possibly with
/// the breaks of other tokens inside it, to its end or to the end of the text.
fn is_escape_of(before: &str, after: &str, token: &str) -> bool {
    let (first, others) = token.split_at(first_char_len(token));
    let goes_on = others
        .chars()
        .zip(after.chars().filter(|c| *c != TOKEN_BREAK))
        .all(|(wanted, found)| wanted == found);
    before.ends_with(first) && goes_on
}

fn first_char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    const TOKENS: &[&str] = &["<fim>", "<｜fim▁hole｜>", "[PREFIX]", "<<", "<<fim>"];

    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let changed = escape_special_tokens(text, TOKENS);
        expect.assert_eq(&changed.replace(TOKEN_BREAK, "·"));
        assert_eq!(unescape_special_tokens(&changed, TOKENS), text);
    }

    #[test]
    fn tokens_get_a_break_after_their_first_character() {
        check("a <fim> b", expect!["a <·fim> b"]);
        check("x[PREFIX]=<｜fim▁hole｜>", expect!["x[·PREFIX]=<·｜fim▁hole｜>"]);
        check("<<fim>", expect!["<·<·fim>"]);
        check("<<<", expect!["<·<·<"]);
    }

    #[test]
    fn text_without_tokens_is_unchanged() {
        assert!(matches!(escape_special_tokens("< fim > <fi m> [prefix]", TOKENS), Cow::Borrowed(_)));
        assert_eq!(unescape_special_tokens("a\u{200B}b <\u{200B}fam>", TOKENS), "a\u{200B}b <\u{200B}fam>");
    }

    #[test]
    fn break_is_removed_from_a_truncated_token() {
        assert_eq!(unescape_special_tokens("see [\u{200B}PRE", TOKENS), "see [PRE");
        assert_eq!(unescape_special_tokens("see [\u{200B}", TOKENS), "see [");
        assert_eq!(unescape_special_tokens("see [\u{200B}PRO", TOKENS), "see [\u{200B}PRO");
    }

    proptest! {
        #[test]
        fn escaping_removes_all_tokens_and_is_reversible(text in "([<>\\[\\]a-cé ]|<fim>|<<|<｜fim▁hole｜>|\\[PREFIX\\])*") {
            let changed = escape_special_tokens(&text, TOKENS);
            for token in TOKENS {
                prop_assert!(!changed.contains(token), "{token} in {changed:?}");
            }
            prop_assert_eq!(unescape_special_tokens(&changed, TOKENS), text);
        }
    }
}
