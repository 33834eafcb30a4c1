//! Inline completion items: chooses the replaced range and the inserted text such that editors display them.
//!
//! Editors hide items they cannot display, each by its own rules. One form works in VS Code and Neovim 0.12:
//!
//! - Plain text, never a snippet: Neovim inserts snippets at the cursor and ignores their range.
//! - The range is always set and within the cursor's line. Without one VS Code replaces the rest of the line, and the protocol
//!   forbids a range over several lines.
//! - If the rest of the line is blank, the range begins at the start of the word at the cursor, and the text repeats the typed
//!   part of it. VS Code shows an item as long as its text begins with the text between the start of the range and the cursor, so
//!   deleting a typed character keeps it on the screen. Neovim overlays such an item on the line from the cursor on, where there
//!   is nothing to cover.
//! - Otherwise the range is empty, at the cursor. Neovim would overlay a longer one on the code after the cursor; an empty one is
//!   displayed inline, as in VS Code.
//! - If an item of the completion popup is selected, VS Code drops every item that does not replace the popup item's own range by
//!   a text that begins with the popup item's text. So the completion is generated as if that item had been inserted
//!   ([`apply_popup`]) and appended to its text. Neovim sends the visual selection in the same field; a selection that does not
//!   touch the cursor is ignored.
//! - Line ends are LF in every document. Neovim splits texts at LF and would keep a CR as a character of the line; VS Code
//!   converts them to the line ends of the document.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// An item: the replacement of a range by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineItem {
    /// In bytes of the document; on one line.
    pub range: Range<usize>,
    /// With LF line ends.
    pub text: String,
}

/// The selected item of the editor's completion popup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PopupItem {
    range: Range<usize>,
    text: String,
}

impl PopupItem {
    /// The popup item that would replace `range` (bytes of `text`) by `inserted`; `None` unless the range touches the cursor and
    /// is on its line.
    pub fn at(text: &str, cursor: usize, range: Range<usize>, inserted: &str) -> Option<PopupItem> {
        let touches = range.start <= cursor && cursor <= range.end;
        let is_on_line = !text.get(range.clone())?.contains(ends_line);
        (touches && is_on_line).then(|| PopupItem { range, text: inserted.to_owned() })
    }
}

/// Returns the document and the cursor after inserting the popup's item.
pub fn apply_popup(text: &str, popup: &PopupItem) -> (String, usize) {
    let PopupItem { range, text: inserted } = popup;
    let virtual_text = [&text[..range.start], inserted, &text[range.end..]].concat();
    (virtual_text, range.start + inserted.len())
}

/// Returns the item that inserts `suggestion` at `cursor` of `text`, or after the selected popup item.
pub fn inline_item(text: &str, cursor: usize, suggestion: &str, popup: Option<&PopupItem>) -> InlineItem {
    let (range, kept) = match popup {
        Some(popup) => (popup.range.clone(), &*popup.text),
        None => {
            let start = replacement_start(text, cursor);
            (start..cursor, &text[start..cursor])
        }
    };
    InlineItem { range, text: [kept, &with_lf(suggestion)].concat() }
}

/// Start of the range of an item at the cursor.
fn replacement_start(text: &str, cursor: usize) -> usize {
    let (before, after) = text.split_at(cursor);
    let is_rest_blank = after.split(ends_line).next().is_none_or(|rest| rest.trim().is_empty());
    if is_rest_blank { before.trim_end_matches(is_word).len() } else { cursor }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn ends_line(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
