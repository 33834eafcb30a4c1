//! The index of any file, and its stored form, damaged or not.

use index::{FileIndex, Index};
use syntax::{Language, SourceFile};

use crate::first;

/// The bytes are a language, a text up to the first 0, and places and values of damaged bytes.
pub(crate) fn run(input: &[u8]) {
    let (language, input) = first(input);
    let languages = Language::ALL;
    let language = languages[language as usize % languages.len()];
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let damage = parts.next().unwrap_or_default();
    let file = || SourceFile { path: "a/b".into(), language, text: text.as_ref().into() };
    let index = FileIndex::new(file());
    let mut bytes = index.encode();
    let decoded = FileIndex::decode(file(), &bytes).expect("what is encoded can be decoded");
    assert_eq!(decoded.encode(), bytes);
    Index::from_files(vec![decoded.into()]);
    for damage in damage.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([damage[0], damage[1]])) % bytes.len();
        bytes[place] = damage[2];
    }
    let damaged = FileIndex::decode(file(), &bytes);
    assert!(bytes == index.encode() || damaged.is_err(), "damage is not noticed");
    let _ = index::VectorStore::decode(input, 1 << 20);
}
