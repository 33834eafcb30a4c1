//! What an item says: the range that it replaces and the text that it puts there, so that editors draw it.
//!
//! Editors hide what they cannot draw, each by rules of its own. One shape satisfies VS Code and Neovim 0.12:
//!
//! - Plain text, never a snippet: Neovim puts snippets at the cursor and overlooks their range.
//! - The range is always given and stays on the cursor's line. Without one VS Code replaces the rest of the line, and the protocol
//!   forbids a range over several lines.
//! - Before a blank rest of the line the range begins where the word at the cursor begins, and the text repeats what is typed of it.
//!   VS Code shows an item for as long as its text begins with what stands between the start of the range and the cursor, so
//!   deleting a typed character leaves it on the screen. Neovim lays such an item over the line from the cursor on, where there is
//!   nothing to cover.
//! - Before anything else the range is empty at the cursor. Neovim would lay a longer one over the code behind the cursor; an
//!   empty one it draws in between, as does VS Code.
//! - Where an item of the completion popup is selected, VS Code drops whatever does not replace the popup item's own range with a
//!   text that begins with the popup item's. So the completion is made as if that item had been inserted ([`apply_popup`]) and put
//!   behind its text. Neovim sends the visual selection in the same field; what does not touch the cursor is no popup item.
//! - Line ends are LF in every document. Neovim splits texts at LF and would keep a CR as a character of the line; VS Code writes
//!   whatever line ends its document has.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// An item: the replacement of a range by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InlineItem {
    /// In bytes of the document; on one line.
    pub(crate) range: Range<usize>,
    /// With LF line ends.
    pub(crate) text: String,
}

/// The selected item of the editor's completion popup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PopupItem {
    range: Range<usize>,
    text: String,
}

impl PopupItem {
    /// The popup item that would put `inserted` in place of `range` (bytes of `text`); `None` unless the range touches the cursor and
    /// stays on its line.
    pub(crate) fn at(text: &str, cursor: usize, range: Range<usize>, inserted: &str) -> Option<PopupItem> {
        let touches = range.start <= cursor && cursor <= range.end;
        let is_on_line = !text.get(range.clone())?.contains(ends_line);
        (touches && is_on_line).then(|| PopupItem { range, text: inserted.to_owned() })
    }
}

/// The document and the cursor in it as if the popup's item had been inserted.
pub(crate) fn apply_popup(text: &str, popup: &PopupItem) -> (String, usize) {
    let PopupItem { range, text: inserted } = popup;
    let virtual_text = [&text[..range.start], inserted, &text[range.end..]].concat();
    (virtual_text, range.start + inserted.len())
}

/// The item that inserts `suggestion` at `cursor` of `text`, or behind the item that is selected in the popup.
pub(crate) fn inline_item(
    text: &str,
    cursor: usize,
    suggestion: &str,
    popup: Option<&PopupItem>,
) -> InlineItem {
    let (range, kept) = match popup {
        Some(popup) => (popup.range.clone(), &*popup.text),
        None => {
            let start = replacement_start(text, cursor);
            (start..cursor, &text[start..cursor])
        }
    };
    InlineItem { range, text: [kept, &with_lf(suggestion)].concat() }
}

/// Where an item at the cursor begins.
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
