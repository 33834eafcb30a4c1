//! Syntax trees of any text, whole and after an edit.

use syntax::Language;

use crate::first;

/// The first byte is the language, the second the share of the text that is there before the edit.
pub(crate) fn run(input: &[u8]) {
    let (language, input) = first(input);
    let (share, input) = first(input);
    let languages = Language::ALL;
    let language = languages[language as usize % languages.len()];
    let text = String::from_utf8_lossy(input);
    let before = text.floor_char_boundary(text.len() * share as usize / 255);
    let tree = syntax::parse(language, &text[..before]).update(&text[..before], &text);
    let fresh = syntax::parse(language, &text);
    assert_eq!(tree.is_too_complex(), fresh.is_too_complex());
    for tree in [tree, fresh] {
        for function in tree.declared_functions() {
            assert!(text.get(function.range.clone()).is_some(), "{:?}", function.range);
        }
        let _ = tree.is_in_escape(before);
    }
}
