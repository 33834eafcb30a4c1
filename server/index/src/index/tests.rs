//! An index has the same results as a newly built one, whatever changes led to it.

use proptest::prelude::*;
use stored::{MemoryBlocks, StoredData};
use syntax::{Language, Projects};

use super::*;
use crate::{FunctionQuery, LexicalIndex, RetrievalQuery, Term, TokenBudget, WindowQuery, saved_index};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language: Language::Python, text: text.into() }
}

fn file_index(path: &str, text: &str) -> Arc<FileIndex> {
    Arc::new(FileIndex::new(file(path, text)))
}

/// The same, in a store.
fn stored_file_index(path: &str, text: &str) -> Arc<FileIndex> {
    let mut derived = [FileIndex::new(file(path, text))];
    FileIndex::store_all(&mut derived, &MemoryBlocks).unwrap();
    let [mut derived] = derived;
    derived
        .arrays(&mut |array| {
            assert!(array.owned_bytes().is_none(), "an array is in memory");
            Ok(())
        })
        .unwrap();
    Arc::new(derived)
}

const NAMES: [&str; 6] = ["read_user", "readUsers", "user", "write", "close_file", "x"];

/// The results of all queries, with exact scores.
fn answers(searcher: &Searcher) -> String {
    let terms: Vec<(Term, f32)> = NAMES
        .iter()
        .flat_map(|name| std::iter::once(Term::identifier(name)).chain(Term::parts(name)))
        .zip((1_u8..).map(|weight| 1.0 / f32::from(weight)))
        .collect();
    let text = "def read_user(x):\n    return user\n";
    let query = FunctionQuery { path: "own.py", language: Language::Python, text, original: text };
    let functions: Vec<String> = searcher
        .functions(&query, 5)
        .iter()
        .map(|hit| format!("{}:{} {:x} {}", hit.path, hit.start_line, hit.score.to_bits(), hit.reason))
        .collect();
    let windows = |budget: u64| {
        let hits = crate::window_search::search(
            searcher.layers(),
            &WindowQuery { terms: &terms, limit: 4, budget },
            searcher.cancel(),
        );
        hits.iter()
            .map(|hit| format!("{}:{} {:x}", hit.file.path(), hit.window, hit.score.to_bits()))
            .collect::<Vec<_>>()
    };
    let occurrences: Vec<String> = searcher
        .occurrences("user")
        .iter()
        .map(|occurrence| format!("{}:{}", occurrence.file.path(), occurrence.block))
        .collect();
    let frequencies: Vec<u64> = terms.iter().map(|(term, _)| searcher.windows_with(*term)).collect();
    let files: Vec<&str> = searcher.files().iter().map(|file| file.path()).collect();
    format!(
        "{files:?}\n{functions:#?}\n{:#?}\n{:#?}\n{occurrences:?}\n{frequencies:?}",
        windows(u64::MAX),
        windows(9)
    )
}

/// A file of functions with few distinct names, so that scores are often equal.
fn text() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    let function = (name(), name(), name()).prop_map(|(function, argument, value)| {
        format!("def {function}({argument}):\n    x = {value}()\n\n    return x.{argument}\n")
    });
    prop::collection::vec(function, 0..5).prop_map(|functions| functions.concat())
}

/// Changed and removed files.
fn change() -> impl Strategy<Value = (Vec<(u8, String)>, Vec<u8>)> {
    (prop::collection::vec((0_u8..12, text()), 0..4), prop::collection::vec(0_u8..12, 0..3))
}

fn path(number: u8) -> String {
    format!("{}/{number}.py", number % 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn updated_index_answers_like_a_new_one(
        changes in prop::collection::vec(change(), 1..10),
        hidden in prop::collection::vec(0_u8..12, 0..3),
        overlay in prop::collection::vec((0_u8..14, text()), 0..3),
    ) {
        let mut index = Index::build(&[]);
        let mut stored = Index::in_store(Some(Arc::new(MemoryBlocks)), Vec::new());
        let mut reopened = stored.clone();
        let mut files = std::collections::BTreeMap::new();
        for (changed, removed) in changes {
            for number in &removed {
                files.remove(&path(*number));
            }
            let stored_files = changed.iter().map(|(number, text)| stored_file_index(&path(*number), text));
            let stored_files: Vec<Arc<FileIndex>> = stored_files.collect();
            let changed: Vec<Arc<FileIndex>> =
                changed.iter().map(|(number, text)| file_index(&path(*number), text)).collect();
            files.extend(changed.iter().map(|file| (file.path().to_owned(), file.clone())));
            let removed: Vec<Arc<str>> = removed.iter().map(|number| path(*number).into()).collect();
            index.update(changed.clone(), &removed);
            // As if the process had ended before the change.
            reopened = saved_index::tests::reopened(&reopened);
            reopened.update(changed, &removed);
            stored.update(stored_files, &removed);
            prop_assert!(index.layers().len() <= MAX_LAYERS);
            let at_once = Index::from_files(files.values().cloned().collect());
            prop_assert_eq!(answers(&index.hide(&[])), answers(&at_once.hide(&[])));
            prop_assert_eq!(answers(&stored.hide(&[])), answers(&at_once.hide(&[])));
            prop_assert_eq!(answers(&reopened.hide(&[])), answers(&at_once.hide(&[])));
            prop_assert_eq!(index.files(), at_once.files());
        }
        let hidden: Vec<String> = hidden.iter().map(|number| path(*number)).collect();
        let overlay: Vec<Arc<FileIndex>> =
            overlay.iter().map(|(number, text)| file_index(&path(*number), text)).collect();
        files.retain(|path, _| !hidden.contains(path));
        files.extend(overlay.iter().map(|file| (file.path().to_owned(), file.clone())));
        let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
        let at_once = Index::from_files(files.into_values().collect());
        prop_assert_eq!(answers(&index.hide(&hidden).overlay(overlay.clone())), answers(&at_once.hide(&[])));
        let asked = index.searcher(&|path| hidden.contains(&path)).overlay(overlay);
        prop_assert_eq!(answers(&asked), answers(&at_once.hide(&[])));
    }
}

#[test]
fn outlines_read_from_a_store_are_dropped_and_read_again() {
    let store = Some(Arc::new(MemoryBlocks) as Arc<dyn BlockStore>);
    let files =
        vec![stored_file_index("a.py", "def user():\n    pass\n"), stored_file_index("b.py", "user()\n")];
    let index = Index::in_store(store, files.clone()).apply(Vec::new(), &["b.py".into()]);
    assert!(index.without_unused().is_none(), "nothing is read yet");
    let names = |index: &Index| {
        let searcher = index.hide(&[]);
        let file = searcher.file("a.py").unwrap();
        (0..file.definition_count() as u32).map(|at| file.definition(at).name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&index), ["user"]);
    assert!(index.without_unused().is_none(), "it was just read");
    assert_eq!(names(&index), ["user"]);
    assert!(index.without_unused().is_none(), "it was read again");
    let dropped = index.without_unused().unwrap();
    assert!(dropped.without_unused().is_none());
    assert_eq!((names(&dropped), dropped.files()), (vec!["user".to_owned()], 1));
    let [before, after] = [&index, &dropped].map(|index| index.hide(&[]));
    let [before, after] = [&before, &after].map(|searcher| searcher.file("a.py").unwrap().index);
    assert!(Arc::ptr_eq(before, after), "the file itself is not replaced");
    let in_memory = Index::from_files(vec![file_index("a.py", "def user():\n    pass\n")]);
    assert_eq!(names(&in_memory), ["user"]);
    assert!(in_memory.without_unused().is_none() && in_memory.without_unused().is_none());
}

/// A guard on counted work.
#[test]
fn a_query_decodes_the_definitions_that_it_reads() {
    let text: String = (0..1_000).map(|at| format!("def name_{at}(value):\n    return value\n\n")).collect();
    let index = Index::build(&[file("lib.py", &text)]);
    let searcher = index.hide(&[]);
    let query = RetrievalQuery {
        path: "user.py",
        language: Language::Python,
        prefix: "from lib import name_7\n\nname_7(",
        suffix: "",
        recent: &[],
    };
    let budget = TokenBudget { tokens: 1_000 };
    let hits = searcher.retrieve(crate::Strategy::Hybrid, &Projects::default(), &query, budget);
    assert!(hits.iter().any(|hit| hit.text.contains("def name_7(value)")), "{hits:?}");
    let decoded = searcher.file("lib.py").unwrap().decoded_definitions();
    assert!((1..20).contains(&decoded), "{decoded} definitions");
}

#[test]
fn applying_changes_leaves_the_old_index_unchanged() {
    let old = Index::build(&[file("a.py", "def user():\n    pass\n"), file("b.py", "user()\n")]);
    let new = old.apply(vec![file_index("b.py", "nobody()\n")], &["a.py".into()]);
    let paths = |index: &Index| -> Vec<String> {
        index
            .hide(&[])
            .occurrences("user")
            .iter()
            .map(|occurrence| occurrence.file.path().to_owned())
            .collect()
    };
    assert_eq!(paths(&old), ["a.py", "b.py"]);
    assert_eq!(paths(&new), Vec::<String>::new());
    assert_eq!((old.files(), new.files()), (2, 1));
}

#[test]
fn number_of_layers_stays_bounded_over_many_changes() {
    let number = |number: u32| format!("{number:04}.py");
    let all = (0..400).map(|at| file(&number(at), "def user():\n    return 1\n")).collect::<Vec<_>>();
    let mut index = Index::build(&all);
    for change in 0..1000 {
        index = index.apply(vec![file_index(&number(change * 7 % 400), "def user():\n    return 2\n")], &[]);
        assert!(index.layers().len() <= MAX_LAYERS);
        assert!(!index.layers().iter().any(IndexLayer::is_worn));
    }
    assert_eq!(index.files(), 400);
}

#[test]
fn last_file_with_a_path_wins() {
    let index = Index::build(&[file("a.py", "one()\n"), file("a.py", "two()\n")]);
    let searcher = index.hide(&[]);
    assert_eq!(searcher.file("a.py").map(|file| &**file.index.text()), Some("two()\n"));
    assert_eq!((searcher.occurrences("one").len(), searcher.occurrences("two").len()), (0, 1));
}
