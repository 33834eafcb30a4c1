//! Documents: positions in all encodings, edits, lines.

use proptest::prelude::*;
use text::{Document, Edit, Position, PositionEncoding};

use crate::naive_model::{ENCODINGS, edit_of, lines, positions, texts};

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

proptest! {
    #[test]
    fn positions_and_offsets_equal_the_naive_model(text in texts()) {
        let document = Document::new(&text);
        for encoding in ENCODINGS {
            let model = positions(&text, encoding);
            for offset in 0..text.len() + 3 {
                let expected = model.iter().find(|(known, _)| *known == offset).map(|&(_, position)| position);
                prop_assert_eq!(document.position(offset, encoding), expected, "{} {:?}", offset, encoding);
            }
            for (offset, position) in model {
                prop_assert_eq!(document.offset(position, encoding), Some(offset), "{:?} {:?}", position, encoding);
            }
        }
    }

    #[test]
    fn positions_inside_characters_or_past_the_end_are_invalid(text in texts()) {
        let document = Document::new(&text);
        for encoding in ENCODINGS {
            let model = positions(&text, encoding);
            for (line, (_, end)) in lines(&text).into_iter().enumerate() {
                let line = line as u32;
                for character in 0..40 {
                    let known = model.iter().find(|(_, position)| *position == at(line, character));
                    let last = model.iter().filter(|(_, position)| position.line == line).map(|(_, p)| p.character).max();
                    let expected = match known {
                        Some(&(offset, _)) => Some(offset),
                        None if Some(character) > last => Some(end),
                        None => None,
                    };
                    prop_assert_eq!(document.offset(at(line, character), encoding), expected);
                }
            }
            prop_assert_eq!(document.offset(at(lines(&text).len() as u32, 0), encoding), None);
            prop_assert_eq!(document.offset(at(u32::MAX, u32::MAX), encoding), None);
        }
    }

    #[test]
    fn edits_equal_string_edits(
        text in texts(),
        edits in proptest::collection::vec((any::<usize>(), any::<usize>(), texts()), 0..8),
    ) {
        let mut model = text;
        let mut document = Document::new(&model);
        for (a, b, inserted) in edits {
            let edit = edit_of(&model, a, b, &inserted);
            let before = document.clone();
            prop_assert_eq!(document.apply(&edit), Some(()));
            prop_assert_eq!(before.text(), model.clone(), "a clone must not change");
            model.replace_range(edit.range.clone(), &edit.text);
            prop_assert_eq!(document.text(), model.clone());
            prop_assert_eq!(document.len(), model.len());
            prop_assert_eq!(document.line_count(), lines(&model).len());
            prop_assert_eq!(&document, &Document::new(&model));
        }
    }

    #[test]
    fn invalid_slices_and_edits_are_rejected(text in texts(), a in 0..60_usize, b in 0..60_usize) {
        let mut document = Document::new(&text);
        prop_assert_eq!(document.slice(a..b).map(|slice| slice.into_owned()), text.get(a..b).map(str::to_owned));
        if text.get(a..b).is_none() {
            prop_assert_eq!(document.apply(&Edit { range: a..b, text: "x".to_owned() }), None);
            prop_assert_eq!(document.text(), text);
        }
    }

    #[test]
    fn lines_equal_the_naive_model(text in texts()) {
        let document = Document::new(&text);
        let model = lines(&text);
        prop_assert_eq!(document.line_count(), model.len());
        for (line, (start, end)) in model.into_iter().enumerate() {
            prop_assert_eq!(document.line(line), Some(start..end));
        }
        prop_assert_eq!(document.line(document.line_count()), None);
    }
}

#[test]
fn character_past_the_line_end_is_clamped() {
    let document = Document::new("ab\r\ncd\ref");
    for encoding in ENCODINGS {
        assert_eq!(document.offset(at(0, 9), encoding), Some(2));
        assert_eq!(document.offset(at(1, 9), encoding), Some(6));
        assert_eq!(document.offset(at(2, u32::MAX), encoding), Some(9));
        assert_eq!(document.offset(at(3, 0), encoding), None);
    }
}

#[test]
fn character_offsets_depend_on_the_encoding() {
    let document = Document::new("é😀x");
    let offset = |character, encoding| document.offset(at(0, character), encoding);
    assert_eq!(offset(6, PositionEncoding::Utf8), Some(6));
    assert_eq!(offset(3, PositionEncoding::Utf16), Some(6));
    assert_eq!(offset(2, PositionEncoding::Utf32), Some(6));
    assert_eq!(offset(3, PositionEncoding::Utf8), None, "inside of the emoji");
    assert_eq!(offset(2, PositionEncoding::Utf16), None, "between the surrogates");
}

#[test]
fn only_lf_and_cr_end_lines() {
    assert_eq!(Document::new("a\u{2028}b\u{85}c\u{b}d\u{c}e").line_count(), 1);
}

#[test]
fn empty_document_has_one_line() {
    let document = Document::default();
    assert!(document.is_empty());
    assert_eq!(document.line_count(), 1);
    assert_eq!(document.position(0, PositionEncoding::Utf16), Some(at(0, 0)));
    assert_eq!(document.offset(at(0, 0), PositionEncoding::Utf16), Some(0));
}
