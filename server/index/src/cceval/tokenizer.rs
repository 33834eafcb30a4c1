//! The original's tokenizer: the maximal runs of word characters, some of which are split in two.
//!
//! The original splits text as English prose and keeps the word characters of the result. The only remaining effect are the
//! splits inside contractions, such as `do|n't` and `can|not`. Whether such a split happens depends on where the original
//! inserts spaces; see [`is_spaced`]. One case is not reproduced: `'tis` without a space after another such word, as in
//! `cannot'tis`.

use std::iter;
use std::ops::Range;

use text::python::{is_digit, is_space, is_word};

/// Contracted words, in any case; all are split after the third letter.
const RUN_TOGETHER: &[&str] = &["cannot", "gimme", "gonna", "gotta", "lemme"];

/// As [`RUN_TOGETHER`], but only before a space.
const RUN_TOGETHER_BEFORE_SPACE: &str = "wanna";

/// After an apostrophe with a space before it these are split after their first letter, in any case.
const TIS_AND_TWAS: &[&str] = &["tis", "twas"];

/// Returns the tokens of `text` in order, with repeats.
pub fn tokenize(text: &str) -> Vec<&str> {
    ranges(text).into_iter().map(|range| &text[range]).collect()
}

/// Returns the ranges of the tokens of `text`.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    for run in word_runs(text) {
        let negation = negation(text, &run);
        let head = run.start..negation.unwrap_or(run.end);
        let middle = head.start + first_part_length(text, &head, negation.is_some()).unwrap_or(head.len());
        let pieces = [head.start..middle, middle..head.end, head.end..run.end];
        tokens.extend(pieces.into_iter().filter(|piece| !piece.is_empty()));
    }
    tokens
}

/// Returns the maximal runs of word characters.
fn word_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        at = text[start..].find(|c| !is_word(c)).map_or(text.len(), |length| start + length);
        Some(start..at)
    })
}

/// Returns the start of `n't` at the end of `run`, if that is a negation with a space after it.
fn negation(text: &str, run: &Range<usize>) -> Option<usize> {
    let at = run.end - 1;
    let is_negation = || text[at..].starts_with("n't") || text[at..].starts_with("N'T");
    (text.is_char_boundary(at) && is_negation() && is_spaced(&text[run.end + 2..])).then_some(at)
}

/// Returns the length of the first part of a contracted word.
fn first_part_length(text: &str, word: &Range<usize>, is_before_negation: bool) -> Option<usize> {
    let is = |other: &&str| text[word.clone()].eq_ignore_ascii_case(other);
    if RUN_TOGETHER.iter().any(is)
        || is(&RUN_TOGETHER_BEFORE_SPACE) && (is_before_negation || ends_word(&text[word.end..]))
    {
        return Some(3);
    }
    let is_tis = TIS_AND_TWAS.iter().any(is) && is_behind_spaced_apostrophe(&text[..word.start]);
    is_tis.then_some(1)
}

/// Whether `rest` starts with white space, or would after the original inserted all its spaces.
fn ends_word(rest: &str) -> bool {
    const CLITICS: &[&str] = &["'ll", "'LL", "'re", "'RE", "'ve", "'VE"];
    rest.starts_with(is_space) || is_spaced(rest) || rest_after(CLITICS, rest).any(is_spaced)
}

/// Whether the original has a space at the start of `rest`, after a letter, when it searches for `n't`.
fn is_spaced(rest: &str) -> bool {
    const CLITICS: &[&str] = &["'", "'s", "'S", "'m", "'M", "'d", "'D"];
    is_padded(rest) || rest_after(CLITICS, rest).any(is_padded)
}

/// Returns the text after each of `starts` that `rest` starts with.
fn rest_after<'a>(starts: &[&str], rest: &'a str) -> impl Iterator<Item = &'a str> {
    starts.iter().filter_map(move |start| rest.strip_prefix(start))
}

/// Whether the original parses an apostrophe and the following start of `rest` as a quote and a quoted word of one character,
/// not as the end of a contraction.
fn starts_with_quoted_letter(rest: &str) -> bool {
    let mut characters = rest.chars();
    characters.next().is_some_and(|c| is_word(c) && !"mtsdn".contains(c.to_ascii_lowercase()))
        && !characters.next().is_some_and(is_word)
}

/// Whether the original inserts a space before the punctuation at the start of `rest`, or there is one.
fn is_padded(rest: &str) -> bool {
    let mut characters = rest.chars();
    let Some(first) = characters.next() else { return true };
    let second = characters.next();
    match first {
        '-' => second == Some('-'),
        '\'' => second == Some('\'') || starts_with_quoted_letter(&rest[1..]),
        '.' => second == Some('.') || is_final_stop(rest),
        ':' | ',' => !second.is_some_and(is_digit),
        _ => is_between_spaces(first),
    }
}

/// Whether `before` ends with an apostrophe that has a space before it when the original searches for `'tis`.
fn is_behind_spaced_apostrophe(before: &str) -> bool {
    let Some(before) = before.strip_suffix('\'') else { return false };
    let Some(last) = before.chars().next_back() else { return true };
    let row = |same: &[char]| before.chars().rev().take_while(|c| same.contains(c)).count();
    // In a run of these the original takes two at a time, from the left.
    match last {
        '-' | '\'' => row(&[last]) % 2 == 0,
        ':' | ',' => row(&[':', ',']) % 2 == 1,
        '.' => before.ends_with(".."),
        _ => is_between_spaces(last),
    }
}

/// Whether the original always has spaces on both sides of `c`.
fn is_between_spaces(c: char) -> bool {
    const PUNCTUATION: &str = " ;@#$%&?!*()[]{}<>\"`«»“”„‘’";
    PUNCTUATION.contains(c)
}

/// Whether the full stop at the start of `rest` ends the text, except for closing quotes, brackets and white space.
fn is_final_stop(rest: &str) -> bool {
    const CLOSING: &str = "])}>\"'»”’ ";
    let tail = rest[1..].trim_start_matches(|c| CLOSING.contains(c));
    tail.chars().all(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` has a bar at each split; text between words is omitted.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(tokenize(text), expected.split('|').filter(|token| !token.is_empty()).collect::<Vec<_>>());
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        check("", "");
        check(" \n(=>) ", "");
        check("self.x_1 += a-b*2", "self|x_1|a|b|2");
        check("変数 = e\u{301}x²", "変数|e|x²");
    }

    #[test]
    fn negations_are_split_before_original_or_inserted_spaces() {
        check("don't", "do|n|t");
        check("isn't)", "is|n|t");
        check("CAN'T, WON't", "CA|N|T|WON|t");
        check("can't\ndon't x", "can|t|do|n|t|x");
        check("isn't' x isn't'x", "is|n|t|x|is|n|t|x");
        check("isn't'xy", "isn|t|xy");
        check("isn't's x", "is|n|t|s|x");
        check("n't x'n't", "n|t|x|n|t");
    }

    #[test]
    fn punctuation_splits_negations_only_as_in_the_original() {
        check("a don't-b", "a|don|t|b");
        check("a don't--b", "a|do|n|t|b");
        check("don't:x don't:1", "do|n|t|x|don|t|1");
        check("don't.x don't..x", "don|t|x|do|n|t|x");
        check("don't.\")\n", "do|n|t");
        check("don't.\nx", "don|t|x");
    }

    #[test]
    fn contractions_like_cannot_are_split_after_three_letters() {
        check("Cannot gimme GONNA gotta lemme", "Can|not|gim|me|GON|NA|got|ta|lem|me");
        check("cannot_x cannots", "cannot_x|cannots");
        check("wanna\nwanna) wanna.x wanna'll x", "wan|na|wan|na|wanna|x|wan|na|ll|x");
        check("cannotn't", "can|not|n|t");
    }

    #[test]
    fn tis_and_twas_are_split_after_a_spaced_apostrophe() {
        check("'tis 'Twas ('tis", "t|is|T|was|t|is");
        check("x'tis 'tisx =:'tis ::'tis", "x|tis|tisx|t|is|tis");
    }
}
