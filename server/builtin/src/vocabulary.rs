//! Numbers for tokens.
//!
//! A token's number identifies only its text; preceding blanks are stored separately. A newline's number identifies the *change* of
//! indentation, so that code matches at any depth. Numbers below [`FIRST_TEXT`] have no text.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The number of a token.
pub(crate) type TokenId = u32;

/// Separator between unrelated pieces of code.
pub(crate) const END: TokenId = 0;
const IDENTIFIER: TokenId = 1;
const STRING: TokenId = 2;
const NUMBER: TokenId = 3;
const FIRST_NEWLINE: TokenId = 4;
/// Maximum change of indentation in units; larger ones count as this. Ten levels in one line do not occur.
const MAX_UNITS: i64 = 9;
/// Maximum change of indentation in columns; larger ones count as this. Alignment under a bracket rarely goes further.
const MAX_COLUMNS: i64 = 60;
const UNIT_NEWLINES: TokenId = 2 * MAX_UNITS as TokenId + 1;
const COLUMN_NEWLINES: TokenId = 2 * MAX_COLUMNS as TokenId + 1;
const FIRST_TEXT: TokenId = FIRST_NEWLINE + UNIT_NEWLINES + COLUMN_NEWLINES;

/// Class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TokenClass {
    /// A keyword, a common built-in name or an operator: never renamed.
    Fixed,
    Identifier,
    String,
    Number,
    Newline,
    End,
}

impl TokenClass {
    /// Returns the class with this number in an image, which is the number of the variant.
    pub(crate) fn from_byte(byte: u8) -> Option<TokenClass> {
        const ALL: [TokenClass; 6] = [
            TokenClass::Fixed,
            TokenClass::Identifier,
            TokenClass::String,
            TokenClass::Number,
            TokenClass::Newline,
            TokenClass::End,
        ];
        ALL.get(usize::from(byte)).copied()
    }
}

/// Change of indentation at a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndentChange {
    /// Multiples of the file's indentation step.
    Units(i64),
    /// Anything else, in columns.
    Columns(i64),
}

impl IndentChange {
    pub(crate) fn between(from: usize, to: usize, unit: usize) -> IndentChange {
        let (columns, unit) = (to as i64 - from as i64, unit.max(1) as i64);
        if columns % unit == 0 { IndentChange::Units(columns / unit) } else { IndentChange::Columns(columns) }
    }

    pub(crate) fn columns(self, unit: usize) -> i64 {
        match self {
            IndentChange::Units(units) => units * unit as i64,
            IndentChange::Columns(columns) => columns,
        }
    }

    pub(crate) fn token(self) -> TokenId {
        let code = match self {
            IndentChange::Units(units) => units.clamp(-MAX_UNITS, MAX_UNITS) + MAX_UNITS,
            IndentChange::Columns(columns) => {
                i64::from(UNIT_NEWLINES) + columns.clamp(-MAX_COLUMNS, MAX_COLUMNS) + MAX_COLUMNS
            }
        };
        FIRST_NEWLINE + TokenId::try_from(code).expect("clamped to at least 0")
    }

    /// Returns the change at a newline token; `None` for other tokens.
    pub(crate) fn of(token: TokenId) -> Option<IndentChange> {
        let code = i64::from(token.checked_sub(FIRST_NEWLINE).filter(|_| token < FIRST_TEXT)?);
        let column_code = code - i64::from(UNIT_NEWLINES);
        Some(if column_code < 0 {
            IndentChange::Units(code - MAX_UNITS)
        } else {
            IndentChange::Columns(column_code - MAX_COLUMNS)
        })
    }
}

pub(crate) fn is_newline(token: TokenId) -> bool {
    IndentChange::of(token).is_some()
}

/// Texts and their numbers, one for each text and class. A vocabulary can extend a shared one, whose numbers stay valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    below: Option<Arc<Vocabulary>>,
    /// Number of texts in the extended vocabulary.
    first: u32,
    /// Concatenation of all texts.
    text: String,
    /// End of each text in `text`.
    ends: Vec<u32>,
    classes: Vec<TokenClass>,
    /// Indices into `ends`.
    table: HashTable<u32>,
}

impl Vocabulary {
    /// Creates an empty extension of `below`.
    pub(crate) fn on_top_of(below: Arc<Vocabulary>) -> Vocabulary {
        Vocabulary { first: below.len(), below: Some(below), ..Vocabulary::default() }
    }

    /// Returns an extensible vocabulary while `words` stays in use: an extension, or a copy of the existing extension, so that
    /// there are never more than two levels.
    pub(crate) fn extensible(words: &Arc<Vocabulary>) -> Vocabulary {
        if words.below.is_some() {
            Vocabulary::clone(words)
        } else {
            Vocabulary::on_top_of(Arc::clone(words))
        }
    }

    /// Returns the vocabulary at the bottom of all extensions.
    pub(crate) fn root(&self) -> &Vocabulary {
        self.below.as_deref().map_or(self, Vocabulary::root)
    }

    /// Creates a vocabulary from the values of [`Vocabulary::parts`]; `None` if they are inconsistent.
    pub(crate) fn from_parts(text: String, ends: Vec<u32>, classes: Vec<TokenClass>) -> Option<Vocabulary> {
        let fits = ends.is_sorted()
            && ends.iter().all(|end| text.is_char_boundary(*end as usize))
            && ends.last().map_or(0, |&end| end as usize) == text.len()
            && ends.len() == classes.len();
        if !fits {
            return None;
        }
        let mut table = HashTable::with_capacity(ends.len());
        for index in 0..u32::try_from(ends.len()).ok()? {
            let hash = Vocabulary::hash(text_at(&text, &ends, index));
            table.insert_unique(hash, index, |&index| Vocabulary::hash(text_at(&text, &ends, index)));
        }
        Some(Vocabulary { below: None, first: 0, text, ends, classes, table })
    }

    /// Returns this level's concatenated texts, their ends and their classes.
    pub(crate) fn parts(&self) -> (&str, &[u32], &[TokenClass]) {
        (&self.text, &self.ends, &self.classes)
    }

    fn hash(text: &str) -> u64 {
        BuildHasherDefault::<FxHasher>::default().hash_one(text)
    }

    /// Returns the number of texts, including the extended vocabulary's.
    pub(crate) fn len(&self) -> u32 {
        self.first + u32::try_from(self.ends.len()).expect("the text of 4 G tokens is larger than any corpus")
    }

    fn find(&self, hash: u64, text: &str, class: TokenClass) -> Option<u32> {
        let below = self.below.as_ref().and_then(|below| below.find(hash, text, class));
        let own = || {
            self.table.find(hash, |&index| {
                text_at(&self.text, &self.ends, index) == text && self.classes[index as usize] == class
            })
        };
        below.or_else(|| own().map(|index| self.first + index))
    }

    fn insert(&mut self, hash: u64, text: &str, class: TokenClass) -> u32 {
        let number = self.len();
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("a corpus stays below 4 GB of distinct text"));
        self.classes.push(class);
        let Vocabulary { text: all, ends, table, .. } = self;
        table.insert_unique(hash, number - self.first, |&index| Vocabulary::hash(text_at(all, ends, index)));
        number
    }

    /// Returns the number of `text` in this class; adds it if it is new. With one number for several classes, the first file would
    /// decide.
    pub(crate) fn intern(&mut self, text: &str, class: TokenClass) -> TokenId {
        let hash = Vocabulary::hash(text);
        FIRST_TEXT + self.find(hash, text, class).unwrap_or_else(|| self.insert(hash, text, class))
    }

    /// Returns the largest used number plus one.
    pub(crate) fn limit(&self) -> TokenId {
        FIRST_TEXT + self.len()
    }

    /// Returns the level that holds a text, and its index there.
    fn holder(&self, number: u32) -> (&Vocabulary, u32) {
        match (number.checked_sub(self.first), &self.below) {
            (None, Some(below)) => below.holder(number),
            (own, _) => (self, own.unwrap_or(number)),
        }
    }

    pub(crate) fn class(&self, token: TokenId) -> TokenClass {
        match token {
            END => TokenClass::End,
            IDENTIFIER => TokenClass::Identifier,
            STRING => TokenClass::String,
            NUMBER => TokenClass::Number,
            _ if token < FIRST_TEXT => TokenClass::Newline,
            _ => {
                let (holder, index) = self.holder(token - FIRST_TEXT);
                holder.classes[index as usize]
            }
        }
    }

    /// Returns the token that represents all tokens of the same class; fixed tokens and newlines represent themselves.
    pub(crate) fn abstracted(&self, token: TokenId) -> TokenId {
        match self.class(token) {
            TokenClass::Identifier => IDENTIFIER,
            TokenClass::String => STRING,
            TokenClass::Number => NUMBER,
            TokenClass::Fixed | TokenClass::Newline | TokenClass::End => token,
        }
    }

    /// Returns a sort key that is the same in every vocabulary.
    pub(crate) fn sort_key(&self, token: TokenId) -> (usize, &str, u8, TokenId) {
        let (text, class) = (self.text(token), self.class(token) as u8);
        (text.len(), text, class, token.min(FIRST_TEXT))
    }

    /// Returns the token's text; empty for newlines and other tokens without text.
    pub(crate) fn text(&self, token: TokenId) -> &str {
        let Some(number) = token.checked_sub(FIRST_TEXT) else { return "" };
        let (holder, index) = self.holder(number);
        text_at(&holder.text, &holder.ends, index)
    }
}

/// New numbers for the tokens of a vocabulary, in the order of first use. Unused tokens get none.
pub(crate) struct Renumbering<'v> {
    old: &'v Vocabulary,
    pub(crate) new: Vocabulary,
    /// New numbers by old number; 0, which no text has, if not assigned yet.
    numbers: Vec<TokenId>,
}

impl<'v> Renumbering<'v> {
    pub(crate) fn of(old: &'v Vocabulary) -> Renumbering<'v> {
        let numbers = vec![0; old.len() as usize];
        Renumbering { old, new: Vocabulary::default(), numbers }
    }

    pub(crate) fn number(&mut self, token: TokenId) -> TokenId {
        let Some(index) = token.checked_sub(FIRST_TEXT) else { return token };
        let number = &mut self.numbers[index as usize];
        if *number == 0 {
            *number = self.new.intern(self.old.text(token), self.old.class(token));
        }
        *number
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], index: u32) -> &'t str {
    let index = index as usize;
    let start = index.checked_sub(1).map_or(0, |previous| ends[previous]);
    &text[start as usize..ends[index] as usize]
}

/// A bit set of tokens, queried once for every candidate of every token.
#[derive(Debug)]
pub(crate) struct TokenSet {
    bits: Vec<u64>,
}

impl TokenSet {
    pub(crate) fn of(tokens: impl Iterator<Item = TokenId> + Clone) -> TokenSet {
        let limit = tokens.clone().max().map_or(0, |largest| largest as usize + 1);
        let mut bits = vec![0; limit.div_ceil(64)];
        for token in tokens {
            bits[token as usize / 64] |= 1 << (token % 64);
        }
        TokenSet { bits }
    }

    pub(crate) fn contains(&self, token: TokenId) -> bool {
        self.bits.get(token as usize / 64).is_some_and(|bits| bits & (1 << (token % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indent_change_converts_to_a_token_and_back() {
        assert_eq!(IndentChange::between(4, 8, 4), IndentChange::Units(1));
        assert_eq!(IndentChange::between(8, 4, 2), IndentChange::Units(-2));
        assert_eq!(IndentChange::between(4, 11, 4), IndentChange::Columns(7));
        for change in (-9..=9).map(IndentChange::Units).chain((-60..=60).map(IndentChange::Columns)) {
            assert_eq!(IndentChange::of(change.token()), Some(change));
        }
        assert_eq!(IndentChange::Columns(1000).token(), IndentChange::Columns(MAX_COLUMNS).token());
        assert_eq!([END, IDENTIFIER, STRING, NUMBER, FIRST_TEXT].map(IndentChange::of), [None; 5]);
    }

    #[test]
    fn layered_vocabulary_keeps_existing_tokens() {
        let mut base = Vocabulary::default();
        let old = base.intern("old", TokenClass::Identifier);
        assert_eq!(base.intern("old", TokenClass::Identifier), old);
        assert_ne!(base.intern("old", TokenClass::Fixed), old, "its other class does not matter");
        let base = Arc::new(base);
        let mut changed = Vocabulary::extensible(&base);
        let new = changed.intern("new", TokenClass::String);
        let mut grown = Vocabulary::extensible(&Arc::new(changed));
        let newer = grown.intern("newer", TokenClass::Number);
        assert!(Arc::ptr_eq(grown.below.as_ref().unwrap(), &base), "there are two layers and no more");
        let mut words = Vocabulary::on_top_of(Arc::new(grown));
        let newest = words.intern("newest", TokenClass::Fixed);
        let all = ["old", "new", "newer", "newest"];
        assert_eq!([old, new, newer, newest].map(|token| words.text(token)), all);
        let classes = [TokenClass::Identifier, TokenClass::String, TokenClass::Number, TokenClass::Fixed];
        let known = all.into_iter().zip(classes).map(|(text, class)| words.intern(text, class));
        assert_eq!(known.collect::<Vec<_>>(), [old, new, newer, newest]);
        assert_eq!((words.class(old), words.class(new)), (TokenClass::Identifier, TokenClass::String));
        assert_eq!((words.abstracted(old), words.abstracted(newer)), (IDENTIFIER, NUMBER));
        assert_eq!(words.limit(), newest + 1);
        assert_eq!(words.text(IndentChange::Units(1).token()), "");
    }

    #[test]
    fn renumbering_follows_the_order_of_first_use() {
        let mut old = Vocabulary::default();
        let [a, _, c] = ["a", "b", "c"].map(|text| old.intern(text, TokenClass::Identifier));
        let mut numbering = Renumbering::of(&old);
        assert_eq!([c, a, c, END].map(|token| numbering.number(token)), [a, a + 1, a, END]);
        let new = numbering.new;
        assert_eq!((new.text(a), new.text(a + 1), new.limit()), ("c", "a", a + 2));
    }

    #[test]
    fn inconsistent_vocabulary_parts_are_rejected() {
        let check = |text: &str, ends: &[u32], classes: usize| {
            Vocabulary::from_parts(text.to_owned(), ends.to_vec(), vec![TokenClass::Fixed; classes]).is_some()
        };
        assert!(check("aß", &[1, 3], 2) && check("", &[], 0));
        for (ends, classes) in [(&[1, 3][..], 1), (&[2, 3], 2), (&[3, 1], 2), (&[1], 1), (&[1, 4], 2)] {
            assert!(!check("aß", ends, classes), "{ends:?}");
        }
    }

    #[test]
    fn token_set_contains_exactly_its_tokens() {
        let set = TokenSet::of([0, 63, 64, 200].into_iter());
        let held: Vec<u32> = (0..300).filter(|&token| set.contains(token)).collect();
        assert_eq!(held, [0, 63, 64, 200]);
        assert!(!TokenSet::of([].into_iter()).contains(0));
    }
}
