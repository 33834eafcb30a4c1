//! All implementations of lexical search return the same results.

use std::sync::Arc;

use index::{FileIndex, Index, LexicalIndex, Term, WindowQuery};
use syntax::{Language, SourceFile};

#[path = "../../benches/lexical/tantivy_index.rs"]
mod tantivy_index;

fn file(path: &str, text: &str) -> Arc<FileIndex> {
    Arc::new(FileIndex::new(SourceFile { path: path.into(), language: Language::Python, text: text.into() }))
}

fn files() -> Vec<Arc<FileIndex>> {
    let filler: String = (0..60).map(|line| format!("filler_{line} = {line}\n")).collect();
    vec![
        file("users.py", "def load_user(path):\n    return parse(path)\n\ndef save_user(path):\n    pass\n"),
        file("groups.py", "def load_group(path):\n    return path\n"),
        file("filler.py", &filler),
    ]
}

/// Returns the results of a query of identifiers, best first.
fn found(index: &dyn LexicalIndex, names: &[(&str, f32)]) -> Vec<String> {
    let terms: Vec<(Term, f32)> =
        names.iter().map(|(name, weight)| (Term::identifier(name), *weight)).collect();
    let hits = index.search(&WindowQuery::new(&terms, 5));
    assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
    hits.iter().map(|hit| format!("{}:{}", hit.file.path(), hit.window)).collect()
}

#[track_caller]
fn assert_conforms(index: &mut dyn LexicalIndex) {
    // A term finds exactly the windows that contain it.
    assert_eq!(found(index, &[("load_user", 1.0)]), ["users.py:0"]);
    assert_eq!(found(index, &[("filler_4", 1.0)]), ["filler.py:0", "filler.py:1"]);
    assert_eq!(found(index, &[("nowhere", 1.0)]), [""; 0]);
    assert_eq!(index.windows_with(Term::identifier("path")), 2);
    assert_eq!(index.windows_with(Term::identifier("nowhere")), 0);
    // Rare terms and more terms count more; weights apply.
    assert_eq!(found(index, &[("path", 1.0), ("load_user", 1.0)]), ["users.py:0", "groups.py:0"]);
    assert_eq!(found(index, &[("load_user", 0.1), ("load_group", 1.0)]), ["groups.py:0", "users.py:0"]);
    assert_eq!(found(index, &[("load_user", 1.0), ("load_group", 0.1)]), ["users.py:0", "groups.py:0"]);
    // A changed text is found immediately, and the old text is not.
    let changed = file("users.py", "def load_account(path):\n    return parse(path)\n");
    index.update(vec![changed, file("new.py", "load_account()\n")], &["groups.py".into()]);
    assert_eq!(found(index, &[("load_user", 1.0)]), [""; 0]);
    assert_eq!(found(index, &[("load_group", 1.0)]), [""; 0]);
    let mut accounts = found(index, &[("load_account", 1.0)]);
    accounts.sort();
    assert_eq!(accounts, ["new.py:0", "users.py:0"]);
    index.update(vec![file("users.py", "def load_user(path):\n    pass\n")], &["new.py".into()]);
    assert_eq!(found(index, &[("load_account", 1.0)]), [""; 0]);
    assert_eq!(found(index, &[("load_user", 1.0)]), ["users.py:0"]);
}

#[test]
fn in_memory_index_conforms() {
    assert_conforms(&mut Index::from_files(files()));
}

#[test]
fn request_searcher_conforms() {
    assert_conforms(&mut Index::from_files(files()).hide(&[]));
}

#[test]
fn tantivy_index_conforms() {
    assert_conforms(&mut tantivy_index::TantivyIndex::build(files()).unwrap());
}

#[test]
fn saved_tantivy_index_finds_changed_text() {
    let mut index = tantivy_index::TantivyIndex::build(files()).unwrap();
    let changed = file("users.py", "def load_account(path):\n    return parse(path)\n");
    index.update(vec![changed.clone()], &[]);
    let before = index.disk_bytes();
    index.save(vec![changed]).unwrap();
    assert!(index.disk_bytes() > 0 && before > 0);
    assert_eq!(found(&index, &[("load_account", 1.0)]), ["users.py:0"]);
    assert_eq!(found(&index, &[("load_user", 1.0)]), [""; 0]);
}
