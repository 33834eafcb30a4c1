//! Converts a server's items to the text to insert at the cursor.
//!
//! An item replaces a range of the document. It is an insertion at the cursor if it keeps the text before the cursor; otherwise it is
//! another edit. Only this module knows the fields of each kind of request. The edits that an item makes in addition, such as an
//! import, are not read.

use std::ops::Range;

use serde_json::Value;
use text::{Document, Edit, Position, PositionEncoding};

use super::snippet;

/// The standard request.
pub(super) const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";
/// For servers whose completion lists contain whole answers.
pub(super) const COMPLETION: &str = "textDocument/completion";

/// An item from the server.
#[derive(Debug, PartialEq)]
pub(super) struct CompletionItem {
    text: String,
    /// The replaced range.
    range: Option<Value>,
    /// The filter text, which has to begin like the replaced text; default: the item's text.
    filter: Option<String>,
}

/// Returns the items of a response to this method, best first.
pub(super) fn items(method: &str, result: &Value) -> Vec<CompletionItem> {
    let list =
        |name: &str| result.get(name).unwrap_or(result).as_array().map(Vec::as_slice).unwrap_or_default();
    if method == COMPLETION {
        let mut items: Vec<&Value> = list("items").iter().collect();
        // A stable sort keeps the server's order among equals.
        items.sort_by_key(|item| (item.get("preselect") != Some(&Value::Bool(true)), sort_text(item)));
        return items
            .into_iter()
            .filter_map(|item| completion_item(item, result.get("itemDefaults")))
            .collect();
    }
    let inline = list("items").iter().filter_map(inline_item);
    // Format of llm-ls.
    let generated = list("completions").iter().filter_map(|item| {
        let text = item.get("generated_text")?.as_str()?.to_owned();
        Some(CompletionItem { text, range: None, filter: None })
    });
    inline.chain(generated).collect()
}

fn inline_item(item: &Value) -> Option<CompletionItem> {
    let filter = item.get("filterText").and_then(Value::as_str).map(str::to_owned);
    let text = match item.get("insertText")? {
        Value::String(text) => text.clone(),
        value => {
            let text = value.get("value")?.as_str()?;
            let is_snippet = value.get("kind").and_then(Value::as_str) == Some("snippet");
            if is_snippet { snippet::plain_text(text) } else { text.to_owned() }
        }
    };
    Some(CompletionItem { text, range: non_null(item.get("range")), filter })
}

/// Reads an item of a completion list; the list's defaults apply to missing fields.
fn completion_item(item: &Value, defaults: Option<&Value>) -> Option<CompletionItem> {
    /// `InsertTextFormat.Snippet`.
    const SNIPPET: u64 = 2;
    let text_of = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let by_default = |name: &str| defaults.and_then(|defaults| defaults.get(name));
    let edit = item.get("textEdit").filter(|edit| !edit.is_null());
    let text = text_of(edit.and_then(|edit| edit.get("newText")))
        .or_else(|| text_of(item.get("textEditText")))
        .or_else(|| text_of(item.get("insertText")))
        .or_else(|| text_of(item.get("label")))?;
    let range = edit.or_else(|| by_default("editRange"));
    let range = range.map(|edit| edit.get("insert").or_else(|| edit.get("range")).unwrap_or(edit));
    let format = item.get("insertTextFormat").or_else(|| by_default("insertTextFormat"));
    let is_snippet = format.and_then(Value::as_u64) == Some(SNIPPET);
    let text = if is_snippet { snippet::plain_text(&text) } else { text };
    // Its filter is compared with the typed word, with which a whole answer begins.
    Some(CompletionItem { text, range: non_null(range), filter: None })
}

fn sort_text(item: &Value) -> Option<&str> {
    item.get("sortText").or_else(|| item.get("label")).and_then(Value::as_str)
}

fn non_null(value: Option<&Value>) -> Option<Value> {
    value.filter(|value| !value.is_null()).cloned()
}

/// The change that an item makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemEdit {
    /// Inserts this text at the cursor.
    Insertion(String),
    /// Changes other text than an insertion at the cursor would.
    Elsewhere(Edit),
    /// None, for this reason.
    Nothing(&'static str),
}

impl ItemEdit {
    /// Returns the text that is inserted at the cursor, if that is the change.
    pub(super) fn into_insertion(self) -> Option<String> {
        match self {
            ItemEdit::Insertion(text) => Some(text),
            ItemEdit::Elsewhere(_) | ItemEdit::Nothing(_) => None,
        }
    }
}

impl CompletionItem {
    /// Returns the change that this item makes to `document`.
    ///
    /// Text after the cursor that it keeps is not repeated; if it changes that text, the whole text is returned, as an engine
    /// without the suffix would answer.
    pub(super) fn edit(&self, document: &Document, cursor: usize, encoding: PositionEncoding) -> ItemEdit {
        const NO_RANGE: &str = "an item for a place that is not in the document";
        const FILTERED: &str = "an item for other text than that before the cursor";
        let Some(range) = &self.range else { return ItemEdit::Insertion(self.text.clone()) };
        let Some(range) = range_of(range, document, encoding).filter(|range| range.start <= range.end) else {
            return ItemEdit::Nothing(NO_RANGE);
        };
        let elsewhere = || ItemEdit::Elsewhere(Edit { range: range.clone(), text: self.text.clone() });
        if !(range.start <= cursor && cursor <= range.end) {
            return elsewhere();
        }
        let (Some(before), Some(after)) =
            (document.slice(range.start..cursor), document.slice(cursor..range.end))
        else {
            return ItemEdit::Nothing(NO_RANGE);
        };
        if self.filter.as_ref().is_some_and(|filter| !filter.starts_with(&*before)) {
            return ItemEdit::Nothing(FILTERED);
        }
        let Some(inserted) = self.text.strip_prefix(&*before) else { return elsewhere() };
        ItemEdit::Insertion(inserted.strip_suffix(&*after).unwrap_or(inserted).to_owned())
    }
}

fn range_of(range: &Value, document: &Document, encoding: PositionEncoding) -> Option<Range<usize>> {
    let offset = |end: &str| {
        let place = range.get(end)?;
        let number = |name: &str| u32::try_from(place.get(name)?.as_u64()?).ok();
        document.offset(Position { line: number("line")?, character: number("character")? }, encoding)
    };
    Some(offset("start")?..offset("end")?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The insertion of the first item at `$0` of the document.
    /// The text that the first item inserts, or what else it does.
    fn first(
        method: &str,
        fixture: &str,
        result: &Value,
        encoding: PositionEncoding,
    ) -> Option<Result<String, String>> {
        let (text, cursor) = test_fixture::take_cursor(fixture);
        let document = Document::new(&text);
        items(method, result).first().map(|item| match item.edit(&document, cursor, encoding) {
            ItemEdit::Insertion(text) => Ok(text),
            ItemEdit::Elsewhere(Edit { range, text }) => Err(format!("{range:?} becomes {text}")),
            ItemEdit::Nothing(reason) => Err(reason.to_owned()),
        })
    }

    #[track_caller]
    fn check(fixture: &str, item: &Value, expected: Result<&str, &'static str>) {
        let found = first(INLINE_COMPLETION, fixture, &json!([item]), PositionEncoding::Utf16);
        assert_eq!(found, Some(expected.map(str::to_owned).map_err(str::to_owned)));
    }

    fn range(from: u32, to: u32) -> Value {
        json!({"start": {"line": 0, "character": from}, "end": {"line": 0, "character": to}})
    }

    #[test]
    fn every_result_format_is_read() {
        let item = json!({"insertText": "b"});
        for (result, expected) in [
            (json!([item]), Some("b")),
            (json!({"items": [item, {"insertText": "c"}]}), Some("b")),
            (json!([{"insertText": {"kind": "snippet", "value": "f(${1:x})$0"}}]), Some("f(x)")),
            (json!([{"insertText": {"kind": "plain", "value": "$1"}}]), Some("$1")),
            (json!([{"insertText": "b", "range": null}]), Some("b")),
            (json!({"request_id": "1", "completions": [{"generated_text": "g"}]}), Some("g")),
            (json!(null), None),
            (json!([]), None),
            (json!({"items": null}), None),
            (json!([{"insertText": 3}]), None),
            (json!("text"), None),
        ] {
            let found = first(INLINE_COMPLETION, "a$0", &result, PositionEncoding::Utf16);
            assert_eq!(found, expected.map(|text| Ok(text.to_owned())), "{result}");
        }
    }

    #[test]
    fn a_range_around_the_cursor_becomes_an_insertion() {
        let item = |text: &str, from, to| json!({"insertText": text, "range": range(from, to)});
        check("    ret$0", &item("return x", 4, 7), Ok("urn x"));
        check("    ret$0", &item("    return x", 0, 7), Ok("urn x"));
        check("f($0)", &item("f(a, b)", 0, 3), Ok("a, b"));
        check("f($0)", &item("a, b)", 2, 3), Ok("a, b"));
        check("f($0)", &item("a, b);", 2, 3), Ok("a, b);"));
        check("f($0)", &item("a", 2, 999), Ok("a"));
    }

    #[test]
    fn other_changes_stay_edits() {
        let item = |text: &str, from, to| json!({"insertText": text, "range": range(from, to)});
        check("ret$0", &item("Return x", 0, 3), Err("0..3 becomes Return x"));
        check("return$0", &item("re", 0, 6), Err("0..6 becomes re"));
        check("re$0turn", &item("x", 0, 1), Err("0..1 becomes x"));
        check("re$0turn", &item("x", 3, 4), Err("3..4 becomes x"));
        check("é$0\n", &item("x", 0, 0), Err("0..0 becomes x"));
        check(
            "re$0",
            &json!({"insertText": "x", "range": {"start": 3}}),
            Err("an item for a place that is not in the document"),
        );
        check("ab$0cd", &item("abxcd", 2, 1), Err("an item for a place that is not in the document"));
    }

    #[test]
    fn filter_text_must_match_the_text_before_the_cursor() {
        let item =
            |filter: &str| json!({"insertText": "return x", "filterText": filter, "range": range(0, 3)});
        check("ret$0", &item("return"), Ok("urn x"));
        check("ret$0", &item("yield"), Err("an item for other text than that before the cursor"));
    }

    #[test]
    fn positions_use_the_negotiated_encoding() {
        for (encoding, cursor) in
            [(PositionEncoding::Utf8, 7), (PositionEncoding::Utf16, 4), (PositionEncoding::Utf32, 3)]
        {
            let result = json!([{"insertText": "abc", "range": range(cursor - 1, cursor)}]);
            let found = first(INLINE_COMPLETION, "é😀a$0x", &result, encoding);
            assert_eq!(found, Some(Ok("bc".to_owned())), "{encoding:?}");
        }
    }

    #[test]
    fn best_item_of_a_completion_list_comes_first() {
        let edit = |text: &str| json!({"label": "l", "textEdit": {"newText": text, "range": range(0, 3)}});
        let of_list = json!({"itemDefaults": {"editRange": {"insert": range(0, 3), "replace": range(0, 9)}},
            "items": [{"label": "l", "textEditText": "return y"}]});
        for (result, expected) in [
            (json!({"isIncomplete": true, "items": [edit("return x")]}), "urn x"),
            (of_list, "urn y"),
            (json!([{"label": "b", "insertText": "b()"}, {"label": "a"}]), "a"),
            (json!([{"label": "b", "sortText": "0"}, {"label": "a"}]), "b"),
            (json!([{"label": "a"}, {"label": "b", "preselect": true}]), "b"),
            (json!([{"label": "f", "insertText": "f($1)", "insertTextFormat": 2}]), "f()"),
        ] {
            let found = first(COMPLETION, "ret$0", &result, PositionEncoding::Utf16);
            assert_eq!(found, Some(Ok(expected.to_owned())), "{result}");
        }
    }
}
