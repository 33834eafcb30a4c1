//! Tokens for the comparison of copies.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use syntax::{Language, TokenKind};

/// One token without its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeToken {
    /// Hash of its text.
    pub(super) hash: u64,
    /// End of the token in the text, bytes.
    pub(super) end: u32,
    /// Distance to the previous token of the same variable, in tokens; 0 at its first occurrence.
    pub(super) back: u32,
    kind: CodeTokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeTokenKind {
    /// A keyword or operator.
    Fixed,
    /// A member or a called name.
    Member,
    /// Any other name.
    Variable,
    /// A string or number.
    Literal,
}

/// Shorter literals (`0`, `""`) occur in all code.
const MIN_LITERAL_BYTES: usize = 4;

impl CodeToken {
    /// Whether it may correspond to the other token in a copy.
    pub(super) fn is_like(&self, other: &CodeToken) -> bool {
        self.kind == other.kind
            && (matches!(self.kind, CodeTokenKind::Variable | CodeTokenKind::Literal)
                || self.hash == other.hash)
    }

    pub(super) fn is_variable(&self) -> bool {
        self.kind == CodeTokenKind::Variable
    }

    /// Whether an equal token in another text indicates a copy.
    pub(super) fn is_distinctive(&self) -> bool {
        self.hash != 0 && self.kind != CodeTokenKind::Fixed
    }

    /// Returns a number that is equal for all tokens that may correspond to it; `within` is its index in a gram.
    pub(super) fn code(&self, within: usize) -> u64 {
        match self.kind {
            CodeTokenKind::Fixed | CodeTokenKind::Member => self.hash | 1,
            CodeTokenKind::Literal => 2,
            CodeTokenKind::Variable if self.back as usize <= within => u64::from(self.back) << 8 | 4,
            CodeTokenKind::Variable => 4,
        }
    }
}

/// Returns the tokens of `text`, without comments and line ends.
pub(super) fn code_tokens(language: Language, text: &str) -> Vec<CodeToken> {
    let lexed: Vec<_> =
        syntax::lex(language, text).into_iter().filter(|token| token.kind != TokenKind::Newline).collect();
    let word = |place: usize| lexed.get(place).map_or("", |token| &text[token.range.clone()]);
    let mut last_uses = rustc_hash::FxHashMap::<&str, usize>::default();
    let mut tokens = Vec::with_capacity(lexed.len());
    for (place, token) in lexed.iter().enumerate() {
        let own = word(place);
        let before = if place == 0 { "" } else { word(place - 1) };
        let kind = match token.kind {
            TokenKind::String | TokenKind::Number => CodeTokenKind::Literal,
            TokenKind::Word if syntax::is_reserved(language, own) => CodeTokenKind::Fixed,
            TokenKind::Word if matches!(before, "." | "->" | "::" | "?.") || word(place + 1) == "(" => {
                CodeTokenKind::Member
            }
            TokenKind::Word => CodeTokenKind::Variable,
            TokenKind::Punctuation | TokenKind::Newline => CodeTokenKind::Fixed,
        };
        let last = if kind == CodeTokenKind::Variable { last_uses.insert(own, place) } else { None };
        let is_short_literal = kind == CodeTokenKind::Literal && own.len() < MIN_LITERAL_BYTES;
        tokens.push(CodeToken {
            hash: if is_short_literal { 0 } else { hash(own) },
            end: u32::try_from(token.range.end).unwrap_or(u32::MAX),
            back: last.map_or(0, |last| u32::try_from(place - last).unwrap_or(u32::MAX)),
            kind,
        });
    }
    tokens
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish() | 8
}
