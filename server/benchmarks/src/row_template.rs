//! The original row of an imported case, stored as a tag without repeating the case's texts.
//!
//! A row is a list of its fields in their order. A text that contains a text of the case is a list of pieces, in which a number
//! stands for that text; any other value is kept as it is. So a row can be written again without loss.

use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use cases::Case;
use serde::{Deserialize, Serialize};

/// Tag of an imported case with its row.
pub const ROW_TAG: &str = "imported_row";

/// Tag of an imported case with further rows that have the same texts.
const REPEATED_TAG: &str = "imported_rows_repeated";

/// Shorter texts of a case are not looked for.
const MIN_PART_BYTES: usize = 8;

/// Limit of the pieces of a text; texts that would need more are kept whole.
const MAX_PIECES: usize = 64;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Field {
    Pieces(Vec<Piece>),
    /// Another value, as JSON in a text.
    Whole {
        v: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    /// Number of a text of the case.
    Part(usize),
}

/// Returns the texts of a case by their numbers.
fn parts(case: &Case) -> [&str; 3] {
    [&case.prefix, &case.suffix, &case.truth]
}

/// Returns the tag for the row that the case was made from; `None` if `row` is no JSON object.
pub fn row_tag(row: &str, case: &Case) -> Option<String> {
    let fields: OrderedMap<JsonText> = cases::parse_document(row).ok()?;
    let parts = parts(case);
    let mut order: Vec<usize> =
        (0..parts.len()).filter(|&part| parts[part].len() >= MIN_PART_BYTES).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(parts[part].len()));
    let field = |value: JsonText| {
        let pieces = value.parse::<String>().map(|text| pieces(&text, &parts, &order)).unwrap_or_default();
        let is_worth_it = (2..=MAX_PIECES).contains(&pieces.len()) || matches!(pieces[..], [Piece::Part(_)]);
        if is_worth_it { Field::Pieces(pieces) } else { Field::Whole { v: value.into_text() } }
    };
    let fields: Vec<(String, Field)> =
        fields.0.into_iter().map(|(name, value)| (name, field(value))).collect();
    serde_json::to_string(&fields).ok()
}

fn pieces(text: &str, parts: &[&str], order: &[usize]) -> Vec<Piece> {
    if text.is_empty() {
        return Vec::new();
    }
    let found =
        order.iter().enumerate().find_map(|(place, &part)| Some((place, part, text.find(parts[part])?)));
    let Some((place, part, at)) = found else { return vec![Piece::Text(text.to_owned())] };
    let after = &text[at + parts[part].len()..];
    let mut found = pieces(&text[..at], parts, &order[place + 1..]);
    found.push(Piece::Part(part));
    found.extend(pieces(after, parts, &order[place + 1..]));
    found
}

/// A further row with the texts of a case.
#[derive(Serialize, Deserialize)]
struct RepeatedRow {
    /// Its place among the imported rows of the case's scenario.
    place: usize,
    /// The row, as in [`ROW_TAG`].
    row: String,
}

/// Adds a further row with the texts of a case, in the form of [`row_tag`]. `place` is its place among the imported rows of the
/// case's scenario.
pub fn add_repeated_row(case: &mut Case, place: usize, tag: String) {
    let known = case.tags.get(REPEATED_TAG).and_then(|tag| cases::parse_document(tag).ok());
    let mut rows: Vec<RepeatedRow> = known.unwrap_or_default();
    rows.push(RepeatedRow { place, row: tag });
    if let Ok(text) = serde_json::to_string(&rows) {
        case.tags.insert(REPEATED_TAG.to_owned(), text);
    }
}

/// Returns the further rows of [`add_repeated_row`] with their places.
pub(crate) fn repeated_rows(case: &Case) -> Vec<(usize, OrderedMap<JsonText>)> {
    let known = case.tags.get(REPEATED_TAG).and_then(|tag| cases::parse_document(tag).ok());
    let rows: Vec<RepeatedRow> = known.unwrap_or_default();
    rows.into_iter().filter_map(|RepeatedRow { place, row }| Some((place, row_in(&row, case)?))).collect()
}

/// Returns the row of an imported case; `None` without the tag, or if it is damaged.
pub fn row_of(case: &Case) -> Option<OrderedMap<JsonText>> {
    row_in(case.tags.get(ROW_TAG)?, case)
}

/// Returns the row in a tag of a case.
fn row_in(tag: &str, case: &Case) -> Option<OrderedMap<JsonText>> {
    let fields: Vec<(String, Field)> = cases::parse_document(tag).ok()?;
    let parts = parts(case);
    let value = |field: Field| match field {
        Field::Whole { v } => JsonText::new(v),
        Field::Pieces(pieces) => {
            let mut text = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(piece) => text.push_str(&piece),
                    Piece::Part(part) => text.push_str(parts.get(part)?),
                }
            }
            JsonText::of(&text)
        }
    };
    let row: Option<Vec<(String, JsonText)>> =
        fields.into_iter().map(|(name, field)| Some((name, value(field)?))).collect();
    row.map(OrderedMap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codev_bench::{CodevFile, CodevItem};

    #[test]
    fn rows_are_the_same_after_a_round_trip() {
        let prefix = "def a_function():\\n    ";
        let line = format!(
            r#"{{"z":1.0,"func_name":"a.py#L1-L4","block_key":"a.py#L2-L3","block_type":"IF","prompt":"<a>{prefix}<b>some more of it{prefix}","prefix":"{prefix}","suffix":"","middle":"if x:","test_prefix":"{prefix}é","list":["{prefix}"],"v":{{"v":[1]}},"null":null}}"#
        );
        let item: CodevItem = cases::parse_line(&line, 1).expect("an item");
        let mut case = item.case(CodevFile::FullBlock).expect("a case");
        let tag = row_tag(&line, &case).expect("an object");
        assert!(
            tag.contains(r#"["prefix",[0]]"#) && tag.contains(r#"["prompt",["<a>",0,"<b>some more of it"#),
            "{tag}"
        );
        case.tags.insert(ROW_TAG.to_owned(), tag);
        let expected: OrderedMap<JsonText> = cases::parse_document(&line).expect("an object");
        assert_eq!(row_of(&case), Some(expected));
    }

    #[test]
    fn damaged_tags_give_no_row() {
        let line = r#"{"func_name":"a.py#L1-L4","block_key":"a.py#L2-L3","block_type":"IF","prompt":"","prefix":"","suffix":"","middle":""}"#;
        let item: CodevItem = cases::parse_line(line, 1).expect("an item");
        let mut case = item.case(CodevFile::FullBlock).expect("a case");
        assert_eq!(row_of(&case), None);
        for tag in ["", "[[\"a\",[9]]]", "[[\"a\",{}]]", "{}"] {
            case.tags.insert(ROW_TAG.to_owned(), tag.to_owned());
            assert_eq!(row_of(&case), None, "{tag}");
        }
    }
}
