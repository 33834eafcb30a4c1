//! Code with renamed identifiers and literals.
//!
//! Names keep the length of their words, so that all offsets, ranges and columns stay valid, and equal texts stay equal: tokens keep
//! their kinds and their equalities, and the code parses as before. Keywords, punctuation and blanks stay. In comments and literals
//! every word is renamed.

use std::ops::Range;

use syntax::{Language, TokenKind, has_syntactic_meaning, lex};

use super::word_cipher::WordCipher;

/// Renames the code of one language.
pub(super) struct CodeMask<'a> {
    pub(super) cipher: &'a WordCipher,
    /// Code of unknown languages is masked as a comment is.
    pub(super) language: Option<Language>,
}

impl<'a> CodeMask<'a> {
    /// Creates a mask for a language.
    pub(super) fn new(cipher: &'a WordCipher, language: Option<Language>) -> CodeMask<'a> {
        CodeMask { cipher, language }
    }

    /// Returns the masked text of `range` in a file. The text before it decides whether it begins in a literal or comment; a word that
    /// begins before it is cut there.
    pub(super) fn mask(&self, file: &str, range: Range<usize>) -> String {
        let mut masked = String::with_capacity(range.len());
        let mut at = range.start;
        let tokens = self.language.map(|language| lex(language, file)).unwrap_or_default();
        for token in
            tokens.iter().filter(|token| token.range.end > range.start && token.range.start < range.end)
        {
            let start = token.range.start.max(range.start);
            let end = token.range.end.min(range.end);
            masked.push_str(&self.prose(&file[at..start], false));
            let part = &file[start..end];
            match token.kind {
                TokenKind::Word => masked.push_str(&self.word(part)),
                TokenKind::Number if start == token.range.start => {
                    masked.push_str(&self.cipher.rename_number(part))
                }
                TokenKind::Number => masked.push_str(&self.prose(part, false)),
                TokenKind::String => {
                    masked.push_str(&self.literal(&file[token.range.start..end], start - token.range.start))
                }
                TokenKind::Punctuation | TokenKind::Newline => masked.push_str(&self.prose(part, false)),
            }
            at = end;
        }
        masked.push_str(&self.prose(&file[at..range.end], false));
        masked
    }

    /// Masks a word of code; a lifetime or a private field keeps its sign.
    fn word(&self, word: &str) -> String {
        let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let (sign, bare) = word.split_at(word.len() - bare.len());
        if self.is_kept(bare) { word.to_owned() } else { format!("{sign}{}", self.renamed(bare)) }
    }

    fn is_kept(&self, word: &str) -> bool {
        self.language.is_some_and(|language| has_syntactic_meaning(language, word))
    }

    fn renamed(&self, word: &str) -> String {
        self.cipher.rename(word, |name| self.is_kept(name))
    }

    /// Masks a literal from byte `from` on. Code that is embedded in it keeps its keywords.
    fn literal(&self, literal: &str, from: usize) -> String {
        let open = literal.find(['"', '\'', '`', '/']).unwrap_or_default();
        let prefix = &literal[..open];
        let has_code = literal[open..].contains("${") || prefix.contains(['f', 'F', 't', 'T', '$']);
        let kept = from.max(open);
        format!("{}{}", &literal[from.min(kept)..kept], self.prose(&literal[kept..], has_code))
    }

    /// Masks all words of a text, except characters after a backslash, and keywords if there is code in it.
    fn prose(&self, text: &str, has_code: bool) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = if character == '\\' {
                // The escaped character is part of the notation.
                let end = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                masked.push_str(&rest[..end]);
                end
            } else if is_word(character) {
                let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                let word = &rest[..end];
                if word.bytes().all(|byte| byte.is_ascii_digit()) {
                    masked.push_str(&self.cipher.rename_number(word));
                } else if has_code && self.is_kept(word) {
                    masked.push_str(word);
                } else {
                    masked.push_str(&self.renamed(word));
                }
                end
            } else {
                masked.push(character);
                character.len_utf8()
            };
            rest = &rest[end..];
        }
        masked
    }
}
