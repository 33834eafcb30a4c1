//! Positions and edits of a document, against a plain string.

use std::time::Instant;

use text::{Document, Edit, EditLog, Position, PositionEncoding, Revision, TrackedRange};

/// Edits in one input.
const MAX_EDITS: usize = 40;

/// The bytes are a text up to the first 0, then edits of five bytes and their new text: line, character, line, character, length.
pub(crate) fn run(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let mut model = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let mut rest = parts.next().unwrap_or_default();
    let start = Instant::now();
    let mut document = Document::new(&model);
    let mut log = EditLog::new(0);
    let mut tracked = TrackedRange::inclusive(0..model.len(), 0);
    for number in 1..=MAX_EDITS as u64 {
        let Some((&[line, character, other_line, other_character, length], after)) = rest.split_first_chunk()
        else {
            break;
        };
        let (new, after) = after.split_at((length as usize % 24).min(after.len()));
        rest = after;
        let encoding =
            [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32][length as usize % 3];
        let place =
            |line: u8, character: u8| Position { line: u32::from(line), character: u32::from(character) };
        let from = document.offset(place(line, character), encoding);
        let to = document.offset(place(other_line, other_character), encoding);
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        let range = from.min(to)..from.max(to);
        let back = document.position(range.start, encoding).expect("an offset of the document is a position");
        assert_eq!(document.offset(back, encoding), Some(range.start), "{back:?}");
        let edit = Edit { range: range.clone(), text: String::from_utf8_lossy(new).into_owned() };
        let old = model.clone();
        model.replace_range(range, &edit.text);
        document.apply(&edit).expect("the range is one of the document");
        assert_eq!(document.text(), model);
        assert_eq!((document.len(), document.is_empty()), (model.len(), model.is_empty()));
        if let Some(smallest) = Edit::between(&old, &model) {
            let mut again = old;
            again.replace_range(smallest.range.clone(), &smallest.text);
            assert_eq!(again, model, "{smallest:?}");
        }
        log.push(Revision { number, time: start, edits: vec![edit] });
        log.follow(&mut tracked, number).expect("the log is short");
        let range = tracked.range();
        assert!(range.start <= range.end && range.end <= model.len(), "{range:?} in {}", model.len());
        assert!(model.is_char_boundary(range.start) && model.is_char_boundary(range.end), "{range:?}");
    }
}
