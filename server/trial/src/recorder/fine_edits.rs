//! Splits edits into the parts that really differ: editors replace whole words, lines and documents to change a few characters.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, TokenSource};
use text::{Document, Edit};

/// Maximum bytes of a replacement that is compared character by character. Larger ones are compared by lines.
const MAX_CHARACTER_BYTES: usize = 16 << 10;

/// Returns the edit without the text that it replaces by itself; `None` if it changes nothing. `removed` is the text that it removes.
pub(crate) fn trim(edit: &Edit, removed: &str) -> Option<Edit> {
    let Edit { range, text } = Edit::between(removed, &edit.text)?;
    Some(Edit { range: edit.range.start + range.start..edit.range.start + range.end, text })
}

/// Splits an edit into hunks of lines, from the last one to the first, so that each fits the text before the edit.
pub(crate) fn line_hunks(edit: &Edit, removed: &str) -> Vec<Edit> {
    let lines = |text: &str| -> Vec<usize> { text.split_inclusive('\n').map(str::len).collect() };
    let hunks = hunks(InternedInput::new(removed, edit.text.as_str()), &lines(removed), &lines(&edit.text));
    absolute(edit, hunks).filter_map(|hunk| trim(&hunk, &removed[relative(edit, &hunk)])).collect()
}

/// Returns where a range of `old` is in `new`; `None` if a change touches it.
pub(crate) fn unchanged_range(old: &str, new: &str, range: Range<usize>) -> Option<Range<usize>> {
    let Some(edit) = Edit::between(old, new) else { return Some(range) };
    let mut found = range.clone();
    for hunk in line_hunks(&edit, old.get(edit.range.clone())?) {
        let Range { start, end } = hunk.range;
        if start <= range.end && range.start <= end {
            return None;
        }
        if end < range.start {
            let moved = |offset: usize| offset - (end - start) + hunk.text.len();
            found = moved(found.start)..moved(found.end);
        }
    }
    Some(found)
}

/// Splits an edit into hunks of characters, from the last one to the first; by lines if it is too large.
pub(crate) fn character_hunks(edit: &Edit, removed: &str) -> Vec<Edit> {
    let by_lines = line_hunks(edit, removed);
    by_lines.into_iter().flat_map(|hunk| split_characters(&hunk, &removed[relative(edit, &hunk)])).collect()
}

fn split_characters(edit: &Edit, removed: &str) -> Vec<Edit> {
    if removed.len() + edit.text.len() > MAX_CHARACTER_BYTES {
        return vec![edit.clone()];
    }
    let lengths = |text: &str| -> Vec<usize> { text.chars().map(char::len_utf8).collect() };
    let input = InternedInput::new(Characters(removed), Characters(&edit.text));
    absolute(edit, hunks(input, &lengths(removed), &lengths(&edit.text))).collect()
}

/// The characters of a text as tokens.
struct Characters<'a>(&'a str);

impl<'a> TokenSource for Characters<'a> {
    type Token = char;
    type Tokenizer = std::str::Chars<'a>;

    fn tokenize(&self) -> Self::Tokenizer {
        self.0.chars()
    }

    fn estimate_tokens(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the differing ranges of bytes in both texts, whose tokens have these lengths.
fn hunks<T: Eq + std::hash::Hash>(
    input: InternedInput<T>,
    old: &[usize],
    new: &[usize],
) -> Vec<(Range<usize>, Range<usize>)> {
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let (old, new) = (starts(old), starts(new));
    let bytes =
        |starts: &[usize], tokens: &Range<u32>| starts[tokens.start as usize]..starts[tokens.end as usize];
    diff.hunks().map(|hunk| (bytes(&old, &hunk.before), bytes(&new, &hunk.after))).collect()
}

/// Returns the starts of all tokens and the end of the text.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    starts
}

fn absolute(edit: &Edit, hunks: Vec<(Range<usize>, Range<usize>)>) -> impl Iterator<Item = Edit> {
    let start = edit.range.start;
    hunks.into_iter().rev().map(move |(old, new)| Edit {
        range: start + old.start..start + old.end,
        text: edit.text[new].to_owned(),
    })
}

fn relative(edit: &Edit, part: &Edit) -> Range<usize> {
    part.range.start - edit.range.start..part.range.end - edit.range.start
}

/// Returns the text that an edit removes from `before`; `None` if it does not fit.
pub(crate) fn removed_text(before: &Document, edit: &Edit) -> Option<String> {
    before.slice(edit.range.clone()).map(|text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(text: &str, edits: &[Edit]) -> String {
        let mut document = Document::new(text);
        edits.iter().for_each(|edit| document.apply(edit).expect("it fits"));
        document.text()
    }

    proptest! {
        #[test]
        fn parts_make_the_whole_edit(old in "[ab\né]{0,40}", new in "[ab\né]{0,40}") {
            let edit = Edit { range: 0..old.len(), text: new.clone() };
            prop_assert_eq!(applied(&old, &line_hunks(&edit, &old)), new.clone());
            prop_assert_eq!(applied(&old, &character_hunks(&edit, &old)), new.clone());
            let trimmed: Vec<Edit> = trim(&edit, &old).into_iter().collect();
            prop_assert_eq!(applied(&old, &trimmed), new);
        }
    }

    #[test]
    fn a_range_is_found_unless_a_change_touches_it() {
        let old = "a = 1\nb = 2\nc = 3\n";
        let find = |new: &str| unchanged_range(old, new, 10..11);
        assert_eq!(find(old), Some(10..11));
        assert_eq!(find("import x\na = 1\nb = 2\nc = 4\n"), Some(19..20));
        assert_eq!(find("b = 2\nc = 3\n"), Some(4..5));
        for changed in
            ["a = 1\nb = 20\nc = 3\n", "a = 1\nb = 3\nc = 3\n", "a = 1\nb = 12\nc = 3\n", "a = 1\n", ""]
        {
            assert_eq!(find(changed), None, "{changed}");
        }
        assert_eq!(
            unchanged_range(old, "a = 1x\nb = 2\nc = 3\n", 5..5),
            None,
            "text was written at the cursor"
        );
    }

    #[test]
    fn a_formatted_document_changes_in_blanks_only() {
        let old = "fn f(){\nlet a=1;\nuntouched();\n}\n";
        let edit =
            Edit { range: 0..old.len(), text: "fn f() {\n    let a = 1;\nuntouched();\n}\n".to_owned() };
        let parts = character_hunks(&edit, old);
        assert!(parts.iter().all(|part| part.range.is_empty() && part.text.trim().is_empty()), "{parts:?}");
        assert_eq!(parts.len(), 4);
    }
}
