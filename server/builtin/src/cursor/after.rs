//! Analyses the text after the cursor: whether its line, its brackets and its block continue there.

use syntax::Token;

use crate::vocabulary::{IndentChange, TokenId, is_newline};

/// The text after the cursor.
pub(super) struct TextAfter<'a> {
    texts: Vec<&'a str>,
    tokens: &'a [TokenId],
}

impl<'a> TextAfter<'a> {
    /// Creates it from the tokens `lexed` of `text` and their numbers `tokens`.
    pub(super) fn new(text: &'a str, lexed: &[Token], tokens: &'a [TokenId]) -> TextAfter<'a> {
        let texts = lexed.iter().map(|token| &text[token.range.clone()]).collect();
        TextAfter { texts, tokens }
    }

    fn is_newline(&self, index: usize) -> bool {
        self.tokens.get(index).is_none_or(|&token| is_newline(token))
    }

    /// Returns the token texts of the rest of the cursor's line.
    fn line(&self) -> impl Iterator<Item = &'a str> {
        let length = (0..self.tokens.len()).take_while(|&index| !self.is_newline(index)).count();
        self.texts.iter().copied().take(length)
    }

    /// Returns whether the next token is a closing bracket on the cursor's line.
    pub(super) fn first_is_closer(&self) -> bool {
        self.texts.first().is_some_and(|text| is_closer(text))
    }

    /// Returns the number of closing brackets on the cursor's line that were opened before it.
    pub(super) fn closers_on_line(&self) -> usize {
        let (mut depth, mut closers) = (0usize, 0);
        for text in self.line() {
            match text {
                "(" | "[" | "{" => depth += 1,
                _ if is_closer(text) && depth > 0 => depth -= 1,
                _ if is_closer(text) => closers += 1,
                _ => {}
            }
        }
        closers
    }

    pub(super) fn semicolon_on_line(&self) -> bool {
        self.line().any(|text| text == ";")
    }

    /// Returns whether only closing brackets follow on the cursor's line.
    pub(super) fn is_line_done(&self) -> bool {
        self.line().all(is_closer)
    }

    /// Returns whether the cursor's block ends here: before the end of the file, less indented code, or a closing bracket.
    pub(super) fn block_ends(&self) -> bool {
        match self.tokens.first().map(|&token| IndentChange::of(token)) {
            None => true,
            Some(None) => self.first_is_closer(),
            Some(Some(IndentChange::Units(change) | IndentChange::Columns(change))) => {
                change < 0 || self.texts.get(1).is_none_or(|text| is_closer(text))
            }
        }
    }

    /// Returns the first change of indentation.
    pub(super) fn first_change(&self) -> Option<IndentChange> {
        self.tokens.iter().find_map(|&token| IndentChange::of(token))
    }

    /// Returns the first line that consists of more than closing brackets.
    pub(super) fn first_line(&self) -> Vec<TokenId> {
        let is_filler = |&index: &usize| {
            self.is_newline(index) || self.texts[index] == ";" || is_closer(self.texts[index])
        };
        let start = (0..self.tokens.len()).find(|index| !is_filler(index)).unwrap_or(self.tokens.len());
        let length = (start..self.tokens.len()).take_while(|&index| !self.is_newline(index)).count();
        self.tokens[start..start + length].to_vec()
    }
}

fn is_closer(text: &str) -> bool {
    matches!(text, ")" | "]" | "}")
}
