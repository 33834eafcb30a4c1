//! Maps a range of an answer to the cleaned text.

use std::ops::Range;

use crate::trace::{FilterChange, KeptPart};

/// Maps a range of the raw answer to `text`, its rest after `cuts`; an empty range if that part was cut.
pub(crate) fn map_range(range: Range<usize>, cuts: &[FilterChange], text: &str) -> Range<usize> {
    let afters = cuts.iter().skip(1).map(|cut| &*cut.before).chain([text]);
    cuts.iter().zip(afters).fold(range, |range, (cut, after)| {
        let carry = |offset| offset_after(cut, after, offset);
        carry(range.start)..carry(range.end)
    })
}

fn offset_after(cut: &FilterChange, after: &str, offset: usize) -> usize {
    match cut.kept {
        KeptPart::Beginning => offset.min(after.len()),
        KeptPart::End => offset.saturating_sub(cut.before.len() - after.len()),
        KeptPart::Code => offset_ignoring_blanks(&cut.before, after, offset),
    }
}

/// Maps an offset of `before` to a text with the same code and other blanks. Between blanks and code it stays with the code.
fn offset_ignoring_blanks(before: &str, after: &str, offset: usize) -> usize {
    let (behind, ahead) = before.split_at(offset);
    let characters = behind.chars().filter(|character| is_code(*character)).count();
    let mut code = after.char_indices().filter(|(_, character)| is_code(*character));
    if behind.ends_with(is_blank) && ahead.starts_with(is_code) {
        return code.nth(characters).map_or(after.len(), |(at, _)| at);
    }
    if ahead.is_empty() {
        return after.len();
    }
    let last = characters.checked_sub(1).and_then(|last| code.nth(last));
    last.map_or(0, |(at, character)| at + character.len_utf8())
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_code(character: char) -> bool {
    !is_blank(character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syntax::{Language, SyntaxCache};

    use super::*;
    use crate::clean::{CleaningContext, clean};

    fn code(text: &str) -> String {
        text.chars().filter(|character| is_code(*character)).collect()
    }

    /// Returns the cleaned answer at `$0` of a document, and the rest of each of its pieces.
    fn clean_pieces(document: &str, pieces: &[&str], is_cut_off: bool) -> (String, Vec<String>) {
        let (prefix, suffix) = document.split_once("$0").expect("a cursor");
        let around = CleaningContext::new(&SyntaxCache::default(), Language::Python, prefix, suffix);
        let (text, cuts) = clean(&pieces.concat(), &CleaningContext { is_cut_off, ..around });
        let mut end = 0;
        let kept = pieces.iter().map(|piece| {
            let start = end;
            end += piece.len();
            text[map_range(start..end, &cuts, &text)].to_owned()
        });
        let kept = kept.collect();
        (text, kept)
    }

    #[test]
    fn pieces_map_to_their_code_in_the_cleaned_text() {
        for (document, pieces, expected) in [
            ("    total_price = $0\n", vec!["    total_price = ", "a", " + b"], vec!["", "a", " + b"]),
            (
                "def f():\n\tif x:\n\t\ty()\n\t$0\n",
                vec!["if z", ":", "\n        ", "y()", "\n    "],
                vec!["if z", ":", "\n\t\t", "y()", ""],
            ),
            (
                "def f():\n    $0\n",
                vec!["    x", " = 1", "\n    return", " x"],
                vec!["x", " = 1", "\n    return", " x"],
            ),
            ("x = 1\r\n$0", vec!["y = [", "\n", "z, '\n']"], vec!["y = [", "\r\n", "z, '\r\n']"]),
            ("x = f($0)\n", vec!["a", ")", ")"], vec!["a", "", ""]),
        ] {
            assert_eq!(clean_pieces(document, &pieces, false).1, expected, "{document:?}");
        }
    }

    const DOCUMENTS: [&str; 6] = [
        "$0",
        "def f():\n    $0\n\n    total = left + right\n",
        "def f():\n\tif x:\n\t\ty()\n\t$0\n",
        "def f():\r\n    total_price = $0\r\n",
        "print(f($0), file=out)\n",
        "    total_price = $0\n    return total_price\n",
    ];

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "total",
            "_price",
            " = ",
            "é",
            "(",
            ")",
            ", file=out)",
            "    ",
            "\t",
            "\n",
            "\r\n",
            "\n        ",
            "total = left + right",
            "    total_price = ",
            "x",
            "return total_price",
            " ",
        ])
    }

    proptest! {
        #[test]
        fn mapped_pieces_partition_the_cleaned_text(
            document in prop::sample::select(DOCUMENTS.to_vec()),
            pieces in prop::collection::vec(piece(), 0..24),
            is_cut_off: bool,
        ) {
            let (text, kept) = clean_pieces(document, &pieces, is_cut_off);
            // The pieces partition the text: nothing is lost, repeated or given to another piece.
            prop_assert_eq!(code(&kept.concat()), code(&text));
            for (piece, kept) in pieces.iter().zip(&kept) {
                prop_assert!(code(piece).contains(&code(kept)), "{piece:?} {kept:?}");
            }
        }
    }
}
