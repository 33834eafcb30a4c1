//! Finds the files that contain a copy of a piece of code, down to a part of a block.
//!
//! The code that a case removes from its file may also be in another file: as a copied function, renamed, reformatted, within a
//! larger file. An engine that finds it there copies instead of completing. All readers of other files (the built-in engine's
//! tokens, each retrieval strategy, the functions that are part of a case) exclude the files that [`CopyIndex::files_with_copy`] returns,
//! so that one rule applies to all of them. It excludes whole files, because a copy rarely comes alone.
//!
//! ```text
//! files --lex, normalize--> tokens --k-grams--> hashes --winnow--> fingerprints by hash
//! removed text with its surroundings --k-grams--> candidates --compare tokens--> runs of equal code --long and telling--> copies
//! ```
//!
//! Winnowing (Schleimer, Wilkerson, Aiken: Winnowing: Local Algorithms for Document Fingerprinting, SIGMOD 2003) keeps the
//! smallest of each [`WINDOW`] consecutive hashes of [`GRAM_TOKENS`] tokens. Two texts with a run of [`MIN_RUN`] = `GRAM_TOKENS + WINDOW - 1`
//! equal tokens therefore always share a fingerprint. Fingerprints only find candidates; the comparison of tokens decides.
//!
//! Two runs of tokens are equal regardless of the blanks and comments between them, of the values of strings and numbers, and of
//! the names of variables and types, if each name corresponds to one other name (the parameterized matching of Baker, 1996).
//! Keywords, operators, members and called names must be the same. A run does not count if it contains too few names
//! ([`MIN_NAMES`]): tables of numbers and loops are similar in all code. A copy with an edit in every [`MIN_RUN`] tokens is not
//! found.
//!
//! Measured: of 360 cases of a Rust, a C and a C++ project 1 is found by chance in 547,000 lines of unrelated Rust and C (its
//! truth is `Cow::Borrowed(input.as_bytes())`), and of 240 cases of the C and the C++ project none in the other project. Of 300
//! cases of `cobra` 92 have copies, 90 of them in sibling files with the same structure (one completion script per shell, one
//! document format each, their tests): a high share means that the project copies much. A build takes 1.6 s and 36 MB for 547,000
//! lines (18 MB) on two busy cores without full optimization.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Language, SourceFile};

use code_tokens::{CodeToken, code_tokens};
use winnow::{grams, winnow};

mod code_tokens;
#[cfg(test)]
mod tests;
mod winnow;

/// Tokens of a gram: about two short lines. Most files share shorter grams.
const GRAM_TOKENS: usize = 12;
/// Number of consecutive grams of which one is kept.
const WINDOW: usize = 9;
/// Length of the shortest common run of two copies, in tokens: winnowing always finds such runs.
pub const MIN_RUN: usize = GRAM_TOKENS + WINDOW - 1;
/// Fewest different names and literals that a run must share verbatim.
pub const MIN_NAMES: usize = 6;
/// In runs of at least this length, replaced names count as well.
const LONG_RUN: usize = 2 * MIN_RUN;
/// Fewest tokens of the removed text in a run, or half of its tokens if it has fewer.
const MIN_OVERLAP: usize = 10;
/// Tokens around the removed text that are compared: enough for a run at its edge. Code further away is not a copy of the removed
/// text.
const CONTEXT_TOKENS: usize = 2 * MIN_RUN;
/// Most tokens that are compared for one removed text: some tenths of a second. Rare grams come first, so that the grams beyond
/// this limit are those of tables and boilerplate, which occur in thousands of places.
const MOST_COMPARED: usize = 2_000_000;
/// A removed text with this many bytes without blanks does not occur in a second file by chance.
const DISTINCTIVE_BYTES: usize = 40;
/// Longest text that the standard library searches with vector instructions.
const MAX_FAST_SEARCH_BYTES: usize = 32;
/// Bytes before a shorter removed text that are compared with it.
const LEAD_BYTES: usize = 120;

/// Code that is removed from a file, and the rest of the file.
#[derive(Clone, Copy, Debug)]
pub struct RemovedCode<'a> {
    /// The file. It is never a copy of itself.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// The text before.
    pub prefix: &'a str,
    /// The text that is removed.
    pub removed: &'a str,
    /// The text after.
    pub suffix: &'a str,
}

/// Finds copies among the files it was built from.
#[derive(Debug)]
pub struct CopyIndex {
    files: Vec<IndexedFile>,
    /// Sorted by hash.
    fingerprints: Vec<Fingerprint>,
}

#[derive(Debug)]
struct IndexedFile {
    file: SourceFile,
    /// The text without blanks.
    text_without_blanks: String,
    /// Computed at the first comparison: most files are never compared.
    tokens: OnceLock<Vec<CodeToken>>,
}

/// A gram of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fingerprint {
    hash: u64,
    file: u32,
    /// Number of its first token.
    token: u32,
}

impl CopyIndex {
    /// Reads `files`. This takes some seconds for a million lines, and about twice the memory of their texts.
    pub fn new(files: &[SourceFile]) -> CopyIndex {
        let mut fingerprints: Vec<Fingerprint> = files
            .par_iter()
            .enumerate()
            .map(|(number, file)| {
                let tokens = code_tokens(file.language, &file.text);
                let kept = winnow(&grams(&tokens, GRAM_TOKENS), WINDOW).into_iter();
                kept.map(|(hash, token)| Fingerprint { hash, file: number as u32, token }).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
            .concat();
        fingerprints.par_sort_unstable();
        let indexed = |file: &SourceFile| IndexedFile {
            text_without_blanks: without_blanks(&file.text),
            file: file.clone(),
            tokens: OnceLock::new(),
        };
        CopyIndex { files: files.par_iter().map(indexed).collect(), fingerprints }
    }

    /// Returns the files of [`CopyIndex::files_with_copy`] for each removed code, using all cores.
    pub fn files_with_copies(&self, codes: &[RemovedCode<'_>]) -> Vec<Vec<Arc<str>>> {
        codes.par_iter().map(|code| self.files_with_copy(code)).collect()
    }

    /// Returns the files that contain a copy of the removed code, except its own file, in the order of the files.
    pub fn files_with_copy(&self, code: &RemovedCode<'_>) -> Vec<Arc<str>> {
        if self.files.is_empty() {
            // A replay without a workspace asks this for each request.
            return Vec::new();
        }
        let verbatim = VerbatimMatch::new(code);
        let runs = self.files_with_runs(code);
        let copies = self.files.iter().enumerate().filter(|(number, indexed)| {
            *indexed.file.path != *code.path
                && (runs.contains(number) || verbatim.is_in(&indexed.text_without_blanks))
        });
        copies.map(|(_, indexed)| Arc::clone(&indexed.file.path)).collect()
    }

    /// Returns the files that share a long run with enough names with the removed code and its surroundings.
    fn files_with_runs(&self, code: &RemovedCode<'_>) -> FxHashSet<usize> {
        let query = QueryTokens::new(code);
        let mut found = FxHashSet::default();
        let grams = grams(&query.tokens, GRAM_TOKENS).into_iter().enumerate();
        let mut candidates: Vec<_> = grams.map(|(place, hash)| (place, self.with_hash(hash))).collect();
        candidates.sort_by_key(|(_, fingerprints)| fingerprints.len());
        let mut compared = 0;
        for (place, fingerprints) in candidates {
            for candidate in fingerprints {
                if compared > MOST_COMPARED {
                    return found;
                }
                compared += 1;
                let number = candidate.file as usize;
                let indexed = &self.files[number];
                let is_other = *indexed.file.path != *code.path
                    && indexed.file.language.family() == code.language.family();
                if is_other && !found.contains(&number) {
                    let run = TokenRun::longest_through(
                        &query.tokens,
                        place,
                        indexed.tokens(),
                        candidate.token as usize,
                    );
                    compared += run.tokens.len();
                    if run.is_copy(&query) {
                        found.insert(number);
                    }
                }
            }
        }
        found
    }

    fn with_hash(&self, hash: u64) -> &[Fingerprint] {
        let start = self.fingerprints.partition_point(|one| one.hash < hash);
        let same = &self.fingerprints[start..];
        &same[..same.partition_point(|one| one.hash == hash)]
    }
}

impl IndexedFile {
    fn tokens(&self) -> &[CodeToken] {
        self.tokens.get_or_init(|| code_tokens(self.file.language, &self.file.text))
    }
}

/// Text whose occurrence in a file shows a copy, ignoring blanks.
enum VerbatimMatch {
    /// At the start of a file.
    Head(String),
    /// Anywhere in a file.
    Part(String),
    /// No such text.
    None,
}

impl VerbatimMatch {
    fn new(code: &RemovedCode<'_>) -> VerbatimMatch {
        let removed = without_blanks(code.removed);
        if removed.len() >= DISTINCTIVE_BYTES {
            return VerbatimMatch::Part(removed);
        }
        let before = without_blanks(code.prefix);
        let start = before.floor_char_boundary(before.len().saturating_sub(LEAD_BYTES));
        let text = before[start..].to_owned() + &removed;
        match (start, text.is_empty()) {
            (_, true) => VerbatimMatch::None,
            (0, false) => VerbatimMatch::Head(text),
            _ => VerbatimMatch::Part(text),
        }
    }

    fn is_in(&self, squeezed: &str) -> bool {
        match self {
            VerbatimMatch::Head(head) => squeezed.starts_with(head),
            VerbatimMatch::Part(part) => {
                // The standard library searches short texts many times faster than long ones.
                let beginning = &part[..part.floor_char_boundary(MAX_FAST_SEARCH_BYTES)];
                squeezed.contains(beginning) && squeezed.contains(part)
            }
            VerbatimMatch::None => false,
        }
    }
}

/// Tokens of the removed code and around it.
struct QueryTokens {
    tokens: Vec<CodeToken>,
    removed: Range<usize>,
}

impl QueryTokens {
    fn new(code: &RemovedCode<'_>) -> QueryTokens {
        let text = [code.prefix, code.removed, code.suffix].concat();
        let all = code_tokens(code.language, &text);
        let end = code.prefix.len() + code.removed.len();
        let mut first = all.partition_point(|token| (token.end as usize) <= code.prefix.len());
        let last = all.partition_point(|token| (token.end as usize) <= end);
        if code.removed.trim().is_empty() {
            // The removed text is blank: the tokens before it show the end of the block.
            first = last.saturating_sub(MIN_OVERLAP);
        }
        let start = first.saturating_sub(CONTEXT_TOKENS);
        let stop = (last + CONTEXT_TOKENS).min(all.len());
        QueryTokens { tokens: all[start..stop].to_vec(), removed: first - start..last - start }
    }
}

/// A run of equal tokens in two texts.
struct TokenRun {
    /// Its tokens in the first text.
    tokens: Range<usize>,
    /// Number of different names and literals that are equal in both texts.
    same: usize,
    /// Number of different names that are replaced.
    renamed: usize,
}

impl TokenRun {
    /// Returns the longest run through a gram at `place` of `own` and at `there` of `other`.
    fn longest_through(own: &[CodeToken], place: usize, other: &[CodeToken], there: usize) -> TokenRun {
        let mut names = NameMapping::default();
        let mut after = 0;
        while let (Some(one), Some(two)) = (own.get(place + after), other.get(there + after))
            && names.unify(one, two)
        {
            after += 1;
        }
        let mut before = 0;
        while before < place.min(there) && names.unify(&own[place - before - 1], &other[there - before - 1]) {
            before += 1;
        }
        let renamed = names.query_to_other.iter().filter(|(one, two)| one != two).count();
        TokenRun { tokens: place - before..place + after, same: names.same.len(), renamed }
    }

    fn is_copy(&self, query: &QueryTokens) -> bool {
        let Range { start, end } = self.tokens;
        let length = end - start;
        let overlap = end.min(query.removed.end).saturating_sub(start.max(query.removed.start));
        let renamed = if length >= LONG_RUN { self.renamed } else { 0 };
        length >= MIN_RUN
            && 2 * overlap >= query.removed.len().clamp(1, 2 * MIN_OVERLAP)
            && self.same + renamed >= MIN_NAMES
    }
}

/// Correspondence between the names of two texts.
#[derive(Default)]
struct NameMapping {
    query_to_other: FxHashMap<u64, u64>,
    other_to_query: FxHashMap<u64, u64>,
    same: FxHashSet<u64>,
}

impl NameMapping {
    /// Records that two tokens correspond, and returns true, unless this contradicts earlier tokens.
    fn unify(&mut self, one: &CodeToken, two: &CodeToken) -> bool {
        if !one.is_like(two) {
            return false;
        }
        if one.is_variable() {
            if self.query_to_other.get(&one.hash).is_some_and(|name| *name != two.hash)
                || self.other_to_query.get(&two.hash).is_some_and(|name| *name != one.hash)
            {
                return false;
            }
            self.query_to_other.insert(one.hash, two.hash);
            self.other_to_query.insert(two.hash, one.hash);
        }
        if one.hash == two.hash && one.is_distinctive() {
            self.same.insert(one.hash);
        }
        true
    }
}

/// Returns the text without its blanks.
fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}
