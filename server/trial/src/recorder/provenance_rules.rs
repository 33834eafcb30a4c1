//! Decides how an edit came about, from the edit and what surrounds it. Editors do not report it.
//!
//! | provenance | recognized by |
//! |---|---|
//! | `external` | the file changed on disk at about the same time, and several lines or places are replaced, or a saved document changes |
//! | `undo` | text is inserted where the same text was removed before; single characters are typed |
//! | `formatter` | several edits, or one over several lines, that change blanks and punctuation only; or any such edit around a save |
//! | `accepted` | the text continues an offered suggestion; decided by [`Offer`](super::offer::Offer) before these rules |
//! | `popup` | an identifier is completed or inserted in one edit |
//! | `other_provider` | a word before the cursor is replaced by a longer text than an identifier that begins with it |
//! | `pasted` | a longer text, or several lines, in one edit |
//! | `typed` | all other edits |
//!
//! A rule must never take the work of a program for the developer's: in doubt it decides against `typed`.

use cases::Provenance;
use text::{Document, Edit};

/// Maximum length of an insertion of one word that counts as typed, in characters: some editors report several keys at once, at
/// most every 150 ms.
const MAX_TYPED_WORD: usize = 4;
/// Maximum length of other insertions that count as typed, in characters: brackets that the editor closes, and a few keys.
const MAX_TYPED: usize = 8;

/// An edit without the text that it replaces by itself.
#[derive(Clone, Debug)]
pub(crate) struct TrimmedEdit {
    /// The edit.
    pub(crate) edit: Edit,
    /// The edit as the editor sent it.
    pub(crate) sent: Edit,
    /// The text that `edit` removes.
    pub(crate) removed: String,
    /// The text that `sent` removes.
    pub(crate) sent_removed: String,
}

/// The circumstances of a change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChangeContext {
    /// Whether the file changed on disk at about the same time, other than by saving the document.
    pub(crate) is_changed_on_disk: bool,
    /// Whether the document had no unsaved edits, so that editors reload a file that changes.
    pub(crate) is_saved: bool,
    /// Whether the document was saved at about the same time.
    pub(crate) is_around_save: bool,
}

/// Returns whether a change is the work of a program that replaces text in many places, and which.
pub(crate) fn provenance_of_change(edits: &[TrimmedEdit], around: ChangeContext) -> Option<Provenance> {
    let is_many = is_many_places(edits);
    let is_wide = is_many || edits.iter().any(TrimmedEdit::is_over_lines);
    // Another version of the file may differ by one character.
    let is_reload = around.is_saved && !edits.is_empty();
    if around.is_changed_on_disk && (is_wide || is_reload) {
        return Some(Provenance::External);
    }
    let is_format = !edits.is_empty() && edits.iter().all(TrimmedEdit::is_format_only);
    let replaces = edits.iter().any(|edit| !edit.removed.is_empty()) || is_many;
    let rewrites_code = edits.iter().any(|edit| code(&edit.removed).nth(1).is_some());
    if is_format && replaces && (is_wide || rewrites_code || around.is_around_save) {
        return Some(Provenance::Formatter);
    }
    let is_same_key = edits.windows(2).all(|pair| pair[0].edit.text == pair[1].edit.text);
    (around.is_around_save && is_wide && replaces && (edits.len() == 1 || !is_same_key))
        .then_some(Provenance::Formatter)
}

/// Returns whether a change edits several places. Keys that a client sends in one message continue where the previous key was.
pub(crate) fn is_many_places(edits: &[TrimmedEdit]) -> bool {
    let continues = |pair: &[TrimmedEdit]| {
        let (end, next) = (pair[0].edit.inserted_range().end, &pair[1].edit);
        let inserts = next.range == (end..end);
        let deletes = next.text.is_empty() && next.range.end == end;
        inserts || deletes
    };
    let is_key =
        |edit: &TrimmedEdit| edit.edit.text.chars().count().max(edit.removed.chars().count()) <= MAX_TYPED;
    edits.len() > 1 && !(edits.iter().all(is_key) && edits.windows(2).all(continues))
}

/// Returns the provenance of a single edit of `before`.
pub(crate) fn provenance_of_edit(edit: &TrimmedEdit, before: &Document, restores: bool) -> Provenance {
    let inserted = &*edit.edit.text;
    let characters = inserted.chars().count();
    if characters > 1 && restores {
        return Provenance::Undo;
    }
    if inserted.trim().is_empty() || characters == 1 {
        return Provenance::Typed;
    }
    let lines = inserted.trim_matches(is_line_end).lines().count();
    match &*edit.sent_removed {
        "" => {}
        word if is_word(word) && edit.sent.text.starts_with(word) => {
            return if is_word(&edit.sent.text) { Provenance::Popup } else { Provenance::OtherProvider };
        }
        word if is_word(word) && is_word(&edit.sent.text) => return Provenance::Popup,
        _ => {}
    }
    if is_word(inserted) {
        return match characters > MAX_TYPED_WORD {
            true if completes_word(before, edit.edit.range.start) => Provenance::Popup,
            true if edit.sent_removed.is_empty() => Provenance::Pasted,
            _ => Provenance::Typed,
        };
    }
    if lines > 1 || characters > MAX_TYPED { Provenance::Pasted } else { Provenance::Typed }
}

impl TrimmedEdit {
    fn is_over_lines(&self) -> bool {
        !self.edit.text.is_empty() && !self.removed.trim().is_empty() && self.removed.contains('\n')
    }

    /// Whether the edit leaves the code as it is, but for blanks and optional punctuation.
    fn is_format_only(&self) -> bool {
        code(&self.removed).eq(code(&self.edit.text))
    }
}

/// Returns the characters that a formatter keeps: neither blanks nor punctuation that it adds, removes or exchanges.
pub(crate) fn code(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|character| {
        !character.is_whitespace() && !matches!(character, ',' | ';' | '"' | '\'' | '(' | ')')
    })
}

/// Whether the character before `at` and a member access before it can be completed by a popup.
fn completes_word(before: &Document, at: usize) -> bool {
    let previous = (1..=4).find_map(|length| before.slice(at.checked_sub(length)?..at));
    previous.is_some_and(|text| {
        text.ends_with(|c: char| is_word_character(c) || matches!(c, '.' | ':' | '>' | '@'))
    })
}

fn is_word(text: &str) -> bool {
    let text = text.strip_suffix("()").unwrap_or(text);
    !text.is_empty() && text.chars().all(is_word_character)
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '!')
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::fine_edits::trim;

    /// Replaces the text between the first two bars by `text`.
    fn change(marked: &str, text: &str) -> (Document, TrimmedEdit) {
        let (before, rest) = marked.split_once('|').expect("a bar");
        let (removed, after) = rest.split_once('|').expect("another bar");
        let document = Document::new(&[before, removed, after].concat());
        let sent = Edit { range: before.len()..before.len() + removed.len(), text: text.to_owned() };
        let edit = trim(&sent, removed).expect("it changes something");
        let removed_by_edit = document.slice(edit.range.clone()).expect("it fits").into_owned();
        (document, TrimmedEdit { edit, sent, removed: removed_by_edit, sent_removed: removed.to_owned() })
    }

    #[test]
    fn single_edits_have_the_provenance_of_their_form() {
        use Provenance as P;
        for (marked, text, expected) in [
            ("let a = ||;", "x", P::Typed),
            ("foo(||)", "()", P::Typed),
            ("if x {||}", "\n        ", P::Typed),
            ("a.||", "then", P::Typed),
            ("let value = |comp|", "compute_total", P::Popup),
            ("let value = comp||", "ute_total", P::Popup),
            ("self.||", "compute_total", P::Popup),
            ("self.|cmp|", "compute()", P::Popup),
            ("let |val|", "value = compute(total)", P::OtherProvider),
            ("||", "one();\ntwo();\n", P::Pasted),
            ("x = ||", "https://example.org", P::Pasted),
            ("x = ||", "a_whole_word", P::Pasted),
            ("|deleted|", "", P::Typed),
        ] {
            let (before, edit) = change(marked, text);
            assert_eq!(provenance_of_edit(&edit, &before, false), expected, "{marked} {text:?}");
        }
        let (before, edit) = change("x = ||", "value");
        assert_eq!(provenance_of_edit(&edit, &before, true), P::Undo);
        let (before, edit) = change("x = ||", "v");
        assert_eq!(provenance_of_edit(&edit, &before, true), P::Typed, "a key that is typed again");
    }

    #[test]
    fn programs_change_many_places() {
        let around = |is_changed_on_disk, is_around_save| ChangeContext {
            is_changed_on_disk,
            is_saved: false,
            is_around_save,
        };
        let of = |changes: &[(&str, &str)], around| {
            let edits: Vec<TrimmedEdit> =
                changes.iter().map(|(marked, text)| change(marked, text).1).collect();
            provenance_of_change(&edits, around)
        };
        let format: &[_] = &[("|f( a,b )\n  g()|", "f(a, b)\n    g()")];
        assert_eq!(of(format, around(false, false)), Some(Provenance::Formatter));
        assert_eq!(of(format, around(true, false)), Some(Provenance::External));
        let line: &[_] = &[("x = |old(1)|", "fresh(2)")];
        assert_eq!(of(line, around(true, false)), None, "the developer may replace a part of a line");
        let reload = ChangeContext { is_saved: true, ..around(true, false) };
        assert_eq!(of(line, reload), Some(Provenance::External));
        assert_eq!(of(&[("x = ||", "1")], reload), Some(Provenance::External), "it may be a key, or not");
        assert_eq!(of(&[("x = ||", "1")], around(true, false)), None, "a key: editors keep unsaved edits");
        let quotes: &[_] = &[("x = |'a'|", "\"a\""), ("f(a||)", ",")];
        assert_eq!(of(quotes, around(false, false)), Some(Provenance::Formatter));
        assert_eq!(of(&[("a|  |=", " ")], around(false, true)), Some(Provenance::Formatter));
        assert_eq!(of(&[("a|  |=", " ")], around(false, false)), None, "a blank is deleted");
        assert_eq!(of(&[("||", "\n    ")], around(false, true)), None, "enter");
        let cursors: &[_] = &[("a||", "x"), ("b||", "x")];
        assert_eq!(of(cursors, around(false, true)), None, "two cursors");
        let imports: &[_] = &[("|import b\nimport a\n|", "import a\nimport b\n")];
        assert_eq!(of(imports, around(false, true)), Some(Provenance::Formatter));
        assert_eq!(of(imports, around(false, false)), None);
        assert_eq!(of(&[], around(true, true)), None);
    }
}
