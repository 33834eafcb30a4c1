//! Small repositories out of one text.

use syntax::{Language, Manifest, SourceFile};

/// Returns the source files of a fixture, in its order.
pub(crate) fn files(fixture: &str) -> Vec<SourceFile> {
    test_fixture::files(fixture)
        .into_iter()
        .filter_map(|(path, text)| {
            let language = Language::from_path(path)?;
            Some(SourceFile { path: path.into(), language, text: text.into() })
        })
        .collect()
}

/// Returns its other files.
pub(crate) fn manifests(fixture: &str) -> Vec<Manifest> {
    let files = test_fixture::files(fixture).into_iter();
    let others = files.filter(|(path, _)| Language::from_path(path).is_none());
    others.map(|(path, text)| Manifest { path: path.into(), text: text.into() }).collect()
}
