//! Tests that an index that is updated, cached and reopened always equals the files on disk.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn open(root: &Path, cache: &Cache) -> (Indexer, OpenStats) {
    Indexer::open(root, &ReadLimits::standard(), Some(cache.clone()), &|_| ()).unwrap()
}

/// Paths of the occurrences of `name` in the index.
fn paths_with(indexer: &Indexer, name: &str) -> Vec<String> {
    let searcher = indexer.current().index().hide(&[]);
    searcher.occurrences(name).iter().map(|occurrence| occurrence.file.path().to_owned()).collect()
}

#[test]
fn refresh_picks_up_changes_on_disk() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    fs::write(folder.path().join("a.py"), "alpha = 1\n").unwrap();
    fs::write(folder.path().join("b.py"), "beta = alpha\n").unwrap();
    let (mut indexer, _) = open(folder.path(), &cache);
    assert_eq!(paths_with(&indexer, "alpha"), ["a.py", "b.py"]);
    fs::write(folder.path().join("b.py"), "beta = gamma\n").unwrap();
    fs::remove_file(folder.path().join("a.py")).unwrap();
    assert!(indexer.refresh(&ScanScope::Paths(vec!["a.py".into(), "b.py".into()])).unwrap());
    assert_eq!(paths_with(&indexer, "alpha"), [""; 0]);
    assert_eq!(paths_with(&indexer, "gamma"), ["b.py"]);
    assert!(!indexer.refresh(&ScanScope::Everything).unwrap());
}

#[test]
fn prepared_changes_are_applied_by_the_next_refresh() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let remove = |name: &str| fs::remove_file(folder.path().join(name)).unwrap();
    write("changed.py", "old = 1\n");
    write("removed.py", "old = 2\n");
    write("returning.py", "old = 3\n");
    let (mut indexer, _) = open(folder.path(), &Cache::new(caches.path(), Cache::DEFAULT_LIMIT));
    let prepare = |indexer: &mut Indexer| {
        indexer.prepare(&ScanScope::Everything, &StepThreads::CALLER).unwrap();
    };
    write("changed.py", "half = 1\n");
    write("created.py", "new = 1\n");
    write("short_lived.py", "half = 2\n");
    ["removed.py", "returning.py"].into_iter().for_each(remove);
    prepare(&mut indexer);
    write("changed.py", "new = 2\n");
    write("returning.py", "new = 3\n");
    remove("short_lived.py");
    prepare(&mut indexer);
    assert_eq!(paths_with(&indexer, "old"), ["changed.py", "removed.py", "returning.py"], "not yet");
    assert!(indexer.refresh(&ScanScope::default()).unwrap());
    assert_eq!(paths_with(&indexer, "new"), ["changed.py", "created.py", "returning.py"]);
    assert_eq!(paths_with(&indexer, "old"), [""; 0]);
    assert_eq!(paths_with(&indexer, "half"), [""; 0]);
    assert_eq!(indexer.current().files().len(), 3);
    assert!(!indexer.refresh(&ScanScope::Everything).unwrap(), "all are applied");
}

#[test]
fn unchanged_files_are_reused_from_the_cache() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    for name in ["a", "b", "c"] {
        fs::write(folder.path().join(format!("{name}.py")), format!("def {name}_name(): pass\n")).unwrap();
    }
    let (mut indexer, opening) = open(folder.path(), &cache);
    assert_eq!((opening.reused, opening.rebuilt), (0, 3));
    assert!(indexer.save().unwrap().is_some());
    assert!(indexer.save().unwrap().is_none(), "nothing has changed since");
    fs::write(folder.path().join("b.py"), "def other_name(): pass\n").unwrap();
    let (indexer, opening) = open(folder.path(), &cache);
    assert_eq!((opening.reused, opening.rebuilt), (2, 1));
    assert_eq!(paths_with(&indexer, "b_name"), [""; 0]);
    assert_eq!(paths_with(&indexer, "other_name"), ["b.py"]);
    assert_eq!(paths_with(&indexer, "c_name"), ["c.py"]);
}

#[test]
fn repeated_changes_of_one_file_count_once_for_saving() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    fs::write(folder.path().join("large.py"), "alpha = 1\n".repeat(1000)).unwrap();
    let (mut indexer, _) = open(folder.path(), &cache);
    assert!(indexer.save().unwrap().is_some());
    for round in 0..100 {
        fs::write(folder.path().join("small.py"), format!("beta = {round}\n")).unwrap();
        assert!(indexer.refresh(&ScanScope::Paths(vec!["small.py".into()])).unwrap());
        assert!(indexer.save().unwrap().is_none(), "round {round}");
    }
}

#[test]
fn failed_save_is_retried_only_after_more_changes() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blocked = caches.path().join("a file");
    fs::write(&blocked, "").unwrap();
    fs::write(folder.path().join("a.py"), "alpha = 1\n").unwrap();
    let (mut indexer, _) = open(folder.path(), &Cache::new(&blocked, Cache::DEFAULT_LIMIT));
    assert!(indexer.save().is_err());
    assert!(indexer.save().unwrap().is_none());
    fs::write(folder.path().join("a.py"), "alpha = 1\n".repeat(2)).unwrap();
    assert!(indexer.refresh(&ScanScope::Paths(vec!["a.py".into()])).unwrap());
    assert!(indexer.save().is_err(), "twice as much has changed");
}

/// Files with many definitions.
fn write_library(root: &Path) {
    for number in 0..40 {
        let function =
            |name: usize| format!("def helper_{number}_{name}(value):\n    return shared(value, {name})\n\n");
        fs::write(root.join(format!("m{number}.py")), (0..20).map(function).collect::<String>()).unwrap();
    }
}

fn open_without_memory(root: &Path, cache: &Cache) -> (Indexer, OpenStats) {
    let limits = ReadLimits::standard();
    let run = OpenRun { memory: IndexMemory::NONE, ..OpenRun::default() };
    Indexer::open_with(root, &limits, Some(cache.clone()), &run).unwrap()
}

/// Everything that a request can see of an index.
fn contents(index: &WorkspaceIndex) -> String {
    let searcher = index.index().hide(&[]);
    let text = "import m3\n\n\ndef caller():\n    return m3.";
    let query = index::RetrievalQuery {
        path: "caller.py",
        language: syntax::Language::Python,
        prefix: text,
        suffix: "",
        recent: &[],
    };
    let budget = index::TokenBudget { tokens: 2_000 };
    let hits = searcher.retrieve(index::Strategy::Hybrid, index.projects(), &query, budget);
    assert!(!hits.is_empty());
    let files: Vec<_> =
        searcher.files().into_iter().map(|file| (file.path(), file.text(), file.outline())).collect();
    format!("{hits:#?}\n{files:#?}")
}

#[test]
fn index_beyond_the_memory_budget_equals_one_in_memory() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    write_library(folder.path());
    let (in_memory, _) = open(folder.path(), &cache);
    let (mut on_disk, opening) = open_without_memory(folder.path(), &cache);
    assert_eq!((opening.reused, opening.rebuilt), (0, 40));
    assert!(in_memory.store().is_none() && on_disk.store().is_some());
    assert!(on_disk.files().files().iter().all(|file| !file.text.is_in_memory()));
    assert_eq!(contents(on_disk.current()), contents(in_memory.current()));
    let interval = |number| std::time::Instant::now() + number * TRIM_INTERVAL;
    assert!(!on_disk.drop_unused(interval(0)), "it is too early");
    assert!(!on_disk.drop_unused(interval(1)), "all is in use");
    assert!(!on_disk.drop_unused(interval(1)), "that was looked for");
    assert!(on_disk.drop_unused(interval(2)) && !on_disk.drop_unused(interval(3)));
    on_disk.save_all().unwrap().unwrap();
    let (reopened, opening) = open_without_memory(folder.path(), &cache);
    assert_eq!((opening.reused, opening.rebuilt), (40, 0));
    assert!(reopened.files().files().iter().all(|file| !file.text.is_in_memory()));
    assert_eq!(contents(reopened.current()), contents(in_memory.current()));
}

#[test]
fn truncating_every_file_of_the_cache_folder_does_not_change_an_open_index() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    write_library(folder.path());
    let (in_memory, _) = open(folder.path(), &cache);
    open_without_memory(folder.path(), &cache).0.save_all().unwrap();
    let (indexer, _) = open_without_memory(folder.path(), &cache);
    let mut truncated = 0;
    for file in fs::read_dir(caches.path()).unwrap() {
        fs::File::options().write(true).open(file.unwrap().path()).unwrap().set_len(0).unwrap();
        truncated += 1;
    }
    assert!(truncated > 0, "there is a cache");
    indexer.release_memory();
    assert_eq!(contents(indexer.current()), contents(in_memory.current()));
    let (rebuilt, opening) = open_without_memory(folder.path(), &cache);
    assert!(opening.miss.is_some() && opening.reused == 0);
    assert_eq!(contents(rebuilt.current()), contents(in_memory.current()));
}

#[test]
fn index_stays_in_memory_if_the_disk_cannot_hold_it() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blocked = caches.path().join("a file");
    fs::write(&blocked, "").unwrap();
    write_library(folder.path());
    let (indexer, _) = open_without_memory(folder.path(), &Cache::new(&blocked, Cache::DEFAULT_LIMIT));
    assert!(indexer.files().files().iter().all(|file| file.text.is_in_memory()));
    let (in_memory, _) = open(folder.path(), &Cache::new(caches.path(), Cache::DEFAULT_LIMIT));
    assert_eq!(contents(indexer.current()), contents(in_memory.current()));
}

/// Indexes a folder until so many files are derived.
fn open_until(
    root: &Path,
    cache: &Cache,
    memory: IndexMemory,
    stop_at: usize,
) -> Result<(Indexer, OpenStats), WorkspaceError> {
    let derived = AtomicUsize::new(0);
    let on_tree = |_: &SourceFile, _: &Tree| {
        derived.fetch_add(1, Ordering::Relaxed);
    };
    let keep_going = || derived.load(Ordering::Relaxed) < stop_at;
    let run = OpenRun { memory, keep_going: &keep_going, on_tree: Some(&on_tree), ..OpenRun::default() };
    Indexer::open_with(root, &ReadLimits::standard(), Some(cache.clone()), &run)
}

#[test]
fn interrupted_indexing_resumes() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    for number in 0..50 {
        fs::write(
            folder.path().join(format!("m{number}.py")),
            format!("value_{number} = alpha\n").repeat(200),
        )
        .unwrap();
    }
    let open_until = |stop_at| open_until(folder.path(), &cache, IndexMemory::of_machine(), stop_at);
    assert!(matches!(open_until(20), Err(WorkspaceError::Cancelled { .. })));
    let (mut resumed, opening) = open_until(usize::MAX).unwrap();
    assert!(opening.reused >= 19, "{} are derived again", opening.rebuilt);
    assert_eq!(opening.reused + opening.rebuilt, 50);
    let mut found = paths_with(&resumed, "alpha");
    found.dedup();
    assert_eq!(found.len(), 50);
    assert!(resumed.save_all().unwrap().is_none(), "everything is cached meanwhile");
    let (_, opening) = open_until(usize::MAX).unwrap();
    assert_eq!((opening.reused, opening.rebuilt), (50, 0));
}

#[test]
fn damaged_cache_is_reported_and_rebuilt() {
    let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
    fs::write(folder.path().join("a.py"), "alpha = 1\n").unwrap();
    open(folder.path(), &cache).0.save().unwrap();
    for file in fs::read_dir(caches.path()).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(path, bytes).unwrap();
    }
    let (indexer, opening) = open(folder.path(), &cache);
    assert_eq!((opening.reused, opening.rebuilt), (0, 1));
    assert!(opening.miss.unwrap().to_string().contains("damaged"));
    assert_eq!(paths_with(&indexer, "alpha"), ["a.py"]);
}

mod reopened;

mod tokens {
    use builtin::CorpusLimit;
    use syntax::Language;

    use super::*;
    use crate::{LoadedCorpus, save_corpus};

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), language: Language::Python, text: text.into() }
    }

    /// A large file and a small one.
    fn files(small: &str) -> Vec<SourceFile> {
        vec![file("large.py", &"alpha = beta + 1\n".repeat(100)), file("small.py", small)]
    }

    fn caches() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), Cache::DEFAULT_LIMIT);
        (folder, cache)
    }

    fn load(cache: Option<&Cache>, text: &str) -> LoadedCorpus {
        LoadedCorpus::open(cache, Path::new("/project"), &files(text), CorpusLimit::default(), None)
    }

    #[test]
    fn cached_tokens_are_reused_after_small_changes() {
        let (_folder, cache) = caches();
        let root = Path::new("/project");
        let first = load(Some(&cache), "x = 1\n");
        assert!(!first.is_cached && first.miss.is_none());
        save_corpus(&cache, root, &first.corpus).unwrap();
        let same = load(Some(&cache), "x = 1\n");
        assert!(same.is_cached);
        assert_eq!((same.corpus.stats(), same.corpus.changed_tokens()), (first.corpus.stats(), 0));
        let changed = load(Some(&cache), "x = 12 + y\n");
        assert!(changed.is_cached, "a few changes on top");
        assert_eq!(changed.corpus.stats().tokens, first.corpus.stats().tokens + 2);
        assert_eq!(changed.corpus.changed_tokens(), 5 + 7);
        let much = load(Some(&cache), &"x = 1\n".repeat(50));
        assert_eq!((much.is_cached, much.corpus.changed_tokens()), (false, 0), "all is rebuilt");
    }

    #[test]
    fn damaged_tokens_are_reported_and_rebuilt() {
        let (folder, cache) = caches();
        let root = Path::new("/project");
        save_corpus(&cache, root, &load(Some(&cache), "").corpus).unwrap();
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let opened = load(Some(&cache), "");
        assert!(!opened.is_cached);
        assert_eq!(opened.miss.as_deref(), Some("it is damaged: it does not have its checksum"));
        assert_eq!(opened.corpus.stats(), load(None, "").corpus.stats());
    }
}
