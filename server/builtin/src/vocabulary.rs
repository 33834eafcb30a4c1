//! Numbers for tokens.
//!
//! A token's number stands for its text alone; blanks before it are kept elsewhere. A newline's number stands for the
//! *change* of indentation, so that code matches at any depth. Numbers below [`FIRST_TEXT`] have no text.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The number of a token.
pub(crate) type TokenId = u32;

/// Stands between two pieces of code that do not belong together.
pub(crate) const END: TokenId = 0;
const IDENTIFIER: TokenId = 1;
const STRING: TokenId = 2;
const NUMBER: TokenId = 3;
const FIRST_NEWLINE: TokenId = 4;
/// Deeper changes count as this many units; nobody indents ten levels in one line.
const MAX_UNITS: i64 = 9;
/// Alignment under an opening bracket rarely goes further to the right; farther changes count as this many columns.
const MAX_COLUMNS: i64 = 60;
const UNIT_NEWLINES: TokenId = 2 * MAX_UNITS as TokenId + 1;
const COLUMN_NEWLINES: TokenId = 2 * MAX_COLUMNS as TokenId + 1;
const FIRST_TEXT: TokenId = FIRST_NEWLINE + UNIT_NEWLINES + COLUMN_NEWLINES;

/// What a token is to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A keyword, a common built-in name, an operator: never renamed.
    Fixed,
    Identifier,
    String,
    Number,
    Newline,
    End,
}

/// How the indentation changes at a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Whole steps of the file's own indentation.
    Units(i64),
    /// Anything else, in columns.
    Columns(i64),
}

impl Change {
    pub(crate) fn between(from: usize, to: usize, unit: usize) -> Change {
        let (columns, unit) = (to as i64 - from as i64, unit.max(1) as i64);
        if columns % unit == 0 { Change::Units(columns / unit) } else { Change::Columns(columns) }
    }

    pub(crate) fn columns(self, unit: usize) -> i64 {
        match self {
            Change::Units(units) => units * unit as i64,
            Change::Columns(columns) => columns,
        }
    }

    pub(crate) fn token(self) -> TokenId {
        let code = match self {
            Change::Units(units) => units.clamp(-MAX_UNITS, MAX_UNITS) + MAX_UNITS,
            Change::Columns(columns) => {
                i64::from(UNIT_NEWLINES) + columns.clamp(-MAX_COLUMNS, MAX_COLUMNS) + MAX_COLUMNS
            }
        };
        FIRST_NEWLINE + TokenId::try_from(code).expect("clamped to at least 0")
    }

    /// The change that `token` stands for, if it is a newline.
    pub(crate) fn of(token: TokenId) -> Option<Change> {
        let code = i64::from(token.checked_sub(FIRST_NEWLINE).filter(|_| token < FIRST_TEXT)?);
        let column_code = code - i64::from(UNIT_NEWLINES);
        Some(if column_code < 0 {
            Change::Units(code - MAX_UNITS)
        } else {
            Change::Columns(column_code - MAX_COLUMNS)
        })
    }
}

pub(crate) fn is_newline(token: TokenId) -> bool {
    Change::of(token).is_some()
}

/// Texts and their numbers, each text stored once.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// All texts one after the other.
    text: String,
    /// Where each text ends in `text`.
    ends: Vec<u32>,
    classes: Vec<Class>,
    /// Indices into `ends`.
    table: HashTable<u32>,
}

impl Vocabulary {
    fn hash(text: &str) -> u64 {
        BuildHasherDefault::<FxHasher>::default().hash_one(text)
    }

    fn len(&self) -> u32 {
        u32::try_from(self.ends.len()).expect("the text of 4 G tokens is larger than any corpus")
    }

    fn get(&self, index: u32) -> &str {
        text_at(&self.text, &self.ends, index)
    }

    fn find(&self, text: &str) -> Option<u32> {
        self.table.find(Vocabulary::hash(text), |&index| self.get(index) == text).copied()
    }

    fn insert(&mut self, text: &str, class: Class) -> u32 {
        let index = self.len();
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("a corpus stays below 4 GB of distinct text"));
        self.classes.push(class);
        let Vocabulary { text: all, ends, table, .. } = self;
        table.insert_unique(Vocabulary::hash(text), index, |&index| {
            Vocabulary::hash(text_at(all, ends, index))
        });
        index
    }

    /// The number of `text`, new if need be; `class` is asked for new texts only.
    pub(crate) fn intern(&mut self, text: &str, class: impl FnOnce() -> Class) -> TokenId {
        let index = self.find(text).unwrap_or_else(|| self.insert(text, class()));
        FIRST_TEXT + index
    }

    /// One past the largest number in use.
    pub(crate) fn limit(&self) -> TokenId {
        FIRST_TEXT + self.len()
    }

    pub(crate) fn class(&self, token: TokenId) -> Class {
        match token {
            END => Class::End,
            IDENTIFIER => Class::Identifier,
            STRING => Class::String,
            NUMBER => Class::Number,
            _ if token < FIRST_TEXT => Class::Newline,
            _ => self.classes[(token - FIRST_TEXT) as usize],
        }
    }

    /// The token that stands for all tokens of the same class; fixed ones and newlines stand for themselves.
    pub(crate) fn abstracted(&self, token: TokenId) -> TokenId {
        abstracted(token, self.class(token))
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], index: u32) -> &'t str {
    let index = index as usize;
    let start = index.checked_sub(1).map_or(0, |previous| ends[previous]);
    &text[start as usize..ends[index] as usize]
}

fn abstracted(token: TokenId, class: Class) -> TokenId {
    match class {
        Class::Identifier => IDENTIFIER,
        Class::String => STRING,
        Class::Number => NUMBER,
        Class::Fixed | Class::Newline | Class::End => token,
    }
}

/// A set of tokens, one bit each: asked once for every candidate of every token.
#[derive(Debug)]
pub(crate) struct TokenSet {
    bits: Vec<u64>,
}

impl TokenSet {
    pub(crate) fn of(tokens: &[TokenId]) -> TokenSet {
        let limit = tokens.iter().max().map_or(0, |&largest| largest as usize + 1);
        let mut bits = vec![0; limit.div_ceil(64)];
        for &token in tokens {
            bits[token as usize / 64] |= 1 << (token % 64);
        }
        TokenSet { bits }
    }

    pub(crate) fn contains(&self, token: TokenId) -> bool {
        self.bits.get(token as usize / 64).is_some_and(|bits| bits & (1 << (token % 64)) != 0)
    }
}

/// A corpus' vocabulary with the new words of one open file on top.
#[derive(Debug)]
pub(crate) struct Words<'c> {
    base: &'c Vocabulary,
    extra: Vocabulary,
}

impl<'c> Words<'c> {
    pub(crate) fn over(base: &'c Vocabulary) -> Words<'c> {
        Words { base, extra: Vocabulary::default() }
    }

    pub(crate) fn intern(&mut self, text: &str, class: impl FnOnce() -> Class) -> TokenId {
        match self.base.find(text) {
            Some(index) => FIRST_TEXT + index,
            None => self.base.len() + self.extra.intern(text, class),
        }
    }

    /// One past the largest number in use.
    pub(crate) fn limit(&self) -> TokenId {
        self.base.len() + self.extra.limit()
    }

    /// The number of `token` in the vocabulary on top, if it is not in the corpus.
    fn in_extra(&self, token: TokenId) -> Option<TokenId> {
        (token >= self.base.limit()).then(|| token - self.base.len())
    }

    pub(crate) fn class(&self, token: TokenId) -> Class {
        match self.in_extra(token) {
            Some(token) => self.extra.class(token),
            None => self.base.class(token),
        }
    }

    pub(crate) fn abstracted(&self, token: TokenId) -> TokenId {
        abstracted(token, self.class(token))
    }

    /// The token's text, empty for newlines and other tokens without one.
    pub(crate) fn text(&self, token: TokenId) -> &str {
        match self.in_extra(token) {
            Some(token) => self.extra.get(token - FIRST_TEXT),
            None => token.checked_sub(FIRST_TEXT).map_or("", |index| self.base.get(index)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newline_is_a_change_of_indentation() {
        assert_eq!(Change::between(4, 8, 4), Change::Units(1));
        assert_eq!(Change::between(8, 4, 2), Change::Units(-2));
        assert_eq!(Change::between(4, 11, 4), Change::Columns(7));
        for change in (-9..=9).map(Change::Units).chain((-60..=60).map(Change::Columns)) {
            assert_eq!(Change::of(change.token()), Some(change));
        }
        assert_eq!(Change::Columns(1000).token(), Change::Columns(MAX_COLUMNS).token());
        assert_eq!([END, IDENTIFIER, STRING, NUMBER, FIRST_TEXT].map(Change::of), [None; 5]);
    }

    #[test]
    fn new_words_lie_on_top_of_a_vocabulary() {
        let mut base = Vocabulary::default();
        let old = base.intern("old", || Class::Identifier);
        assert_eq!(base.intern("old", || Class::Fixed), old);
        let mut words = Words::over(&base);
        let new = words.intern("new", || Class::String);
        assert_eq!(words.intern("old", || Class::Fixed), old);
        assert_eq!((words.text(old), words.text(new)), ("old", "new"));
        assert_eq!((words.class(old), words.class(new)), (Class::Identifier, Class::String));
        assert_eq!((words.abstracted(old), words.abstracted(new)), (IDENTIFIER, STRING));
        assert_eq!(words.text(Change::Units(1).token()), "");
    }

    #[test]
    fn sets_hold_what_they_are_made_of() {
        let set = TokenSet::of(&[0, 63, 64, 200]);
        let held: Vec<u32> = (0..300).filter(|&token| set.contains(token)).collect();
        assert_eq!(held, [0, 63, 64, 200]);
        assert!(!TokenSet::of(&[]).contains(0));
    }
}
