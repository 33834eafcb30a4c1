//! The terms of code for the window search: identifiers as written, and their parts in lower case.
//!
//! An identifier matches exactly and has a high weight, since few windows contain it; its parts (`read`, `user`, `name` of
//! `readUserNames`) find similar code with other names. Keywords are not terms. Identifiers in comments and strings are terms:
//! they are written for the same readers.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use syntax::Language;

use crate::code_words::to_lower;

/// Shorter parts have no meaning.
pub(crate) const MIN_PART_CHARACTERS: usize = 2;
/// A final `s` of longer parts is treated as a plural. The few exceptions (`status`) are handled consistently.
const MIN_PLURAL_CHARACTERS: usize = 5;

/// A term, as a hash of its text: the index doesn't store the texts of terms. The hash is the same on every machine, because it
/// is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Term(u64);

/// Kind of a term, so that equal texts of different kinds are different terms.
#[derive(Clone, Copy)]
enum TermKind {
    Identifier = b'i' as isize,
    Part = b'p' as isize,
    Word = b'w' as isize,
}

impl Term {
    /// Returns the term of an identifier as written.
    pub fn identifier(name: &str) -> Term {
        Term::new(TermKind::Identifier, name)
    }

    /// Returns the parts of an identifier, in order.
    pub fn parts(identifier: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        Term::each_part(identifier, &mut String::new(), |term| terms.push(term));
        terms
    }

    /// Calls `found` with the parts of an identifier, in order. `lower` is a reusable buffer.
    pub(crate) fn each_part(identifier: &str, lower: &mut String, mut found: impl FnMut(Term)) {
        each_part(identifier, lower, |part| found(Term::new(TermKind::Part, part)));
    }

    /// Returns the term of a function's word, as in [`crate::code_words`].
    pub(crate) fn word(word: &str) -> Term {
        Term::new(TermKind::Word, word)
    }

    pub(crate) const fn from_bits(bits: u64) -> Term {
        Term(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// FNV-1a with a final mix, because tables here use the upper bits.
    fn new(kind: TermKind, text: &str) -> Term {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        let hash = text.bytes().fold(step(OFFSET, kind as u8), step);
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Term(mixed ^ (mixed >> 29))
    }
}

/// Memory for the parts of names: there are thousands of names in a query.
#[derive(Default)]
pub(crate) struct PartBuffers {
    lower: String,
    parts: Vec<Term>,
}

impl PartBuffers {
    /// Returns the parts of names, in order.
    pub(crate) fn parts_of<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> &[Term] {
        self.parts.clear();
        for name in names {
            Term::each_part(name, &mut self.lower, |part| self.parts.push(part));
        }
        &self.parts
    }

    /// Returns the parts of a name, each once, in any order.
    pub(crate) fn distinct_parts_of(&mut self, name: &str) -> &[Term] {
        self.parts_of([name]);
        self.parts.sort_unstable();
        self.parts.dedup();
        &self.parts
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the identifiers of `text` without its language's keywords, in order, including repeats.
pub fn identifiers(language: Language, text: &str) -> impl Iterator<Item = &str> {
    syntax::names(text).filter(move |name| !syntax::is_reserved(language, name))
}

/// Calls `found` with the parts of an identifier in their search form: lower case, singular, without short ones.
fn each_part(identifier: &str, lower: &mut String, mut found: impl FnMut(&str)) {
    for part in split(identifier) {
        let part = to_lower(part, lower);
        let characters = part.chars().count();
        if characters >= MIN_PART_CHARACTERS {
            let is_plural = characters >= MIN_PLURAL_CHARACTERS && part.ends_with('s');
            found(&part[..part.len() - usize::from(is_plural)]);
        }
    }
}

/// Returns the parts of an identifier as written: it is split at `_` and `$`, around numbers, before a capital after a small
/// letter, and before the last capital of a run (`HTTPServer`).
pub(crate) fn split(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    let parts = std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (part, after) = rest.split_at(part_end(rest).unwrap_or(first.len_utf8()));
        rest = after;
        Some(part.trim_matches(['_', '$']))
    });
    parts.filter(|part| !part.is_empty())
}

/// Returns the end of the part at the start of `text`; `None` if there is none.
fn part_end(text: &str) -> Option<usize> {
    let run = |text: &str, of: fn(char) -> bool| text.find(|c| !of(c)).unwrap_or(text.len());
    let capitals = run(text, char::is_uppercase);
    let numbers = run(text, char::is_numeric);
    let small = run(&text[capitals..], is_small);
    let last_capital = text[..capitals].char_indices().next_back().map_or(0, |(at, _)| at);
    let end = match (small, last_capital) {
        (0, _) => capitals.max(numbers),
        (small, 0) => capitals + small,
        (_, last_capital) => last_capital,
    };
    (end > 0).then_some(end)
}

/// Whether it is a letter but not a capital; includes letters of scripts without capitals.
fn is_small(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(identifier: &str, expected: &[&str]) {
        let mut parts = Vec::new();
        each_part(identifier, &mut String::new(), |part| parts.push(part.to_owned()));
        assert_eq!(parts, expected);
    }

    #[test]
    fn identifiers_are_split_into_parts() {
        check("readUserNames", &["read", "user", "name"]);
        check("read_user_name", &["read", "user", "name"]);
        check("HTTPServer2Go", &["http", "server", "go"]);
        check("parseURL", &["parse", "url"]);
        check("utf16Len", &["utf", "16", "len"]);
        check("$ZodType", &["zod", "type"]);
        check("__init__", &["init"]);
        check("aB", &[]);
        check("größeÄndern", &["größe", "ändern"]);
        check("名前s", &["名前s"]);
        check("gas", &["gas"]);
        check("class", &["clas"]);
        check("", &[]);
    }

    #[test]
    fn identifiers_in_comments_and_strings_are_found() {
        let text = "if total_1 == 0x1F: # größe of $x\n    f'{_} 12abc {name}'\n";
        let found: Vec<&str> = identifiers(Language::Python, text).collect();
        assert_eq!(found, ["total_1", "größe", "of", "$x", "f", "name"]);
    }

    #[test]
    fn term_hashes_are_stable() {
        assert_eq!(Term::identifier("read"), Term::identifier("read"));
        assert_ne!(Term::parts("read"), [Term::identifier("read")]);
        assert_eq!(Term::identifier("read").bits(), 8_490_145_779_537_077_486);
    }
}
