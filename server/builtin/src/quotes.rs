//! Quotes of string literals, separated from their content.
//!
//! In languages with a choice of quotes, `'a'` and `"a"` are one token: code matches regardless of quotes, and copied literals get
//! the open file's quotes. Each position remembers its own quote for files without a clear style. Literals that would need another
//! escape in the other quote, and those in three quotes, are excluded and never change.

use std::borrow::Cow;

use syntax::LanguageFamily;

use crate::token_stream::{self, TokenStream};
use crate::vocabulary::{TokenClass, Vocabulary};

/// Quote of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    Single,
    Double,
}

impl Quote {
    fn character(self) -> char {
        match self {
            Quote::Single => '\'',
            Quote::Double => '"',
        }
    }

    fn of(character: char) -> Option<Quote> {
        match character {
            '\'' => Some(Quote::Single),
            '"' => Some(Quote::Double),
            _ => None,
        }
    }

    /// Returns the first quote of a literal, behind its prefix.
    pub(crate) fn opening(literal: &str) -> Option<Quote> {
        literal.chars().find_map(Quote::of)
    }
}

/// Returns the quote of a literal that can be exchanged: one quote at each end, none inside, and nothing that may escape one.
pub(crate) fn exchangeable_quote(literal: &str) -> Option<Quote> {
    let (prefix, quoted) = literal.split_at(literal.find(['\'', '"'])?);
    let mut inner = quoted.chars();
    let (first, last) = (inner.next()?, inner.next_back()?);
    let content = inner.as_str();
    let is_plain = first == last && !content.contains(['\'', '"']) && !content.ends_with('\\');
    let has_prefix = prefix.bytes().all(|byte| byte.is_ascii_alphabetic());
    Quote::of(first).filter(|_| is_plain && has_prefix)
}

/// Returns the literal with the given quote, or unchanged if that would change its meaning.
pub(crate) fn requote(literal: &str, quote: Quote) -> Cow<'_, str> {
    match exchangeable_quote(literal) {
        Some(own) if own != quote => {
            let exchange =
                |character| if Quote::of(character).is_some() { quote.character() } else { character };
            literal.chars().map(exchange).collect::<String>().into()
        }
        _ => literal.into(),
    }
}

/// Quotes used in the open file; `None` without a clear style.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuoteStyle {
    code: Option<Quote>,
    /// Quotes of attributes of elements, which many authors write differently from other code.
    attributes: Option<Quote>,
}

/// Factor by which the majority must outnumber the exceptions.
const CLEAR_MAJORITY: usize = 4;

impl QuoteStyle {
    /// Detects the style of the code in `near`.
    pub(crate) fn of(family: LanguageFamily, near: &TokenStream, words: &Vocabulary) -> QuoteStyle {
        if !family.has_equal_quotes() {
            return QuoteStyle::default();
        }
        let mut counts = [QuoteCount::default(); 2];
        let mut before = "";
        for (&token, &side) in near.tokens.iter().zip(&near.blanks) {
            let text = words.text(token);
            if words.class(token) == TokenClass::String && exchangeable_quote(text).is_some() {
                counts[usize::from(is_attribute(family, before, side))].add(token_stream::quote(side));
            }
            before = text;
        }
        let [code, attributes] = counts.map(QuoteCount::clear);
        QuoteStyle { code, attributes }
    }

    /// Falls back to the quote of the partial token if the file has no style.
    pub(crate) fn or_partial(self, typed: Option<Quote>) -> QuoteStyle {
        QuoteStyle { code: self.code.or(typed), ..self }
    }

    /// Returns the literal in the open file's style, or as it was found. `before` is the preceding token.
    pub(crate) fn render_literal<'t>(
        &self,
        family: LanguageFamily,
        before: &str,
        literal: &'t str,
        side: u8,
    ) -> Cow<'t, str> {
        let habit = if is_attribute(family, before, side) { self.attributes } else { self.code };
        requote(literal, habit.unwrap_or(token_stream::quote(side)))
    }
}

/// Returns whether a literal after the token `before` is the value of an attribute.
fn is_attribute(family: LanguageFamily, before: &str, side: u8) -> bool {
    family == LanguageFamily::Script && before == "=" && token_stream::blanks(side) == 0
}

#[derive(Clone, Copy, Default)]
struct QuoteCount {
    single: usize,
    double: usize,
}

impl QuoteCount {
    fn add(&mut self, quote: Quote) {
        match quote {
            Quote::Single => self.single += 1,
            Quote::Double => self.double += 1,
        }
    }

    fn clear(self) -> Option<Quote> {
        let QuoteCount { single, double } = self;
        match () {
            () if single > 0 && single >= CLEAR_MAJORITY * double => Some(Quote::Single),
            () if double > 0 && double >= CLEAR_MAJORITY * single => Some(Quote::Double),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_change_only_if_the_literal_keeps_its_value() {
        for (single, double) in
            [("'a'", r#""a""#), ("''", r#""""#), (r"rb'\d'", r#"rb"\d""#), ("f'{x!r}'", r#"f"{x!r}""#)]
        {
            assert_eq!([requote(single, Quote::Double), requote(double, Quote::Double)], [double; 2]);
            assert_eq!([requote(single, Quote::Single), requote(double, Quote::Single)], [single; 2]);
        }
        let kept = [
            r"'it\'s'",
            r#"'say "x"'"#,
            "'''doc'''",
            "'cut",
            "'",
            r"'a\'",
            "`${'a'}`",
            "`a 'b'",
            "/'a'/",
            r#"f'{d["k"]}'"#,
        ];
        for literal in kept {
            assert_eq!([requote(literal, Quote::Double), requote(literal, Quote::Single)], [literal; 2]);
        }
    }

    #[test]
    fn quote_preference_needs_a_clear_majority() {
        let clear = |single, double| QuoteCount { single, double }.clear();
        assert_eq!([clear(0, 0), clear(3, 1), clear(1, 3)], [None; 3]);
        assert_eq!([clear(1, 0), clear(8, 2)], [Some(Quote::Single); 2]);
        assert_eq!([clear(0, 1), clear(2, 8)], [Some(Quote::Double); 2]);
    }
}
