//! The differences of two short texts, word by word.

use serde::Serialize;

/// Most words of either text that are compared; longer texts are shown without marks.
const MOST_WORDS: usize = 400;

/// A part of an answer, compared with the truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DiffPart {
    /// `same`, `ins` (only in the answer) or `del` (only in the truth).
    pub(super) kind: &'static str,
    /// The text.
    pub(super) text: String,
}

/// Returns the parts of both texts in order.
pub(super) fn word_diff(truth: &str, answer: &str) -> Vec<DiffPart> {
    let (old, new) = (words(truth), words(answer));
    if old.len() > MOST_WORDS || new.len() > MOST_WORDS {
        return vec![DiffPart { kind: "same", text: answer.to_owned() }];
    }
    // Length of the longest common subsequence of the rests.
    let mut lengths = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for (i, left) in old.iter().enumerate().rev() {
        for (j, right) in new.iter().enumerate().rev() {
            lengths[i][j] = if left == right {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let mut parts = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            push(&mut parts, "same", old[i]);
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && lengths[i + 1][j] >= lengths[i][j + 1] {
            push(&mut parts, "del", old[i]);
            i += 1;
        } else {
            push(&mut parts, "ins", new[j]);
            j += 1;
        }
    }
    parts
}

fn push(parts: &mut Vec<DiffPart>, kind: &'static str, text: &str) {
    match parts.last_mut() {
        Some(last) if last.kind == kind => last.text.push_str(text),
        _ => parts.push(DiffPart { kind, text: text.to_owned() }),
    }
}

/// Splits a text into words, runs of blanks, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let class = |character: char| match character {
        _ if character.is_alphanumeric() || character == '_' => 0,
        _ if character.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut previous = None;
    for (at, character) in text.char_indices() {
        let of = class(character);
        if previous.is_some_and(|previous| previous != of || of == 2) {
            words.push(&text[start..at]);
            start = at;
        }
        previous = Some(of);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(truth: &str, answer: &str, expected: &str) {
        let shown: String = word_diff(truth, answer)
            .into_iter()
            .map(|part| match part.kind {
                "ins" => format!("{{+{}}}", part.text),
                "del" => format!("[-{}]", part.text),
                _ => part.text,
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn words_are_compared() {
        check("load(a, b)", "load(a, c)", "load(a, [-b]{+c})");
        check("", "x", "{+x}");
        check("é = 1", "", "[-é = 1]");
        check("a", "a", "a");
    }

    #[test]
    fn long_texts_are_shown_without_marks() {
        check(&"a ".repeat(MOST_WORDS), "b", "b");
    }
}
