//! An index beyond the memory budget is the same after it is opened again, whatever happened to the workspace and to the cache.

use std::path::PathBuf;
use std::sync::Mutex;

use super::*;

struct Place {
    folder: tempfile::TempDir,
    caches: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    /// A folder with a library, not indexed yet.
    fn new() -> Place {
        let (folder, caches) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_library(folder.path());
        let cache = Cache::new(caches.path(), Cache::DEFAULT_LIMIT);
        Place { folder, caches, cache }
    }

    /// A folder with a library, whose index is cached.
    fn cached() -> Place {
        let place = Place::new();
        place.open().0.save_all().unwrap().unwrap();
        place
    }

    fn open(&self) -> (Indexer, OpenStats) {
        open_without_memory(self.folder.path(), &self.cache)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.path().join(path), text).unwrap();
    }

    /// The index of the same folder in memory, without a cache.
    fn expected(&self) -> String {
        let limits = ReadLimits::standard();
        contents(Indexer::open(self.folder.path(), &limits, None, &|_| ()).unwrap().0.current())
    }

    /// Extensions of the files in the cache folder.
    fn cache_files(&self) -> Vec<String> {
        let paths = fs::read_dir(self.caches.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut extensions: Vec<String> =
            paths.map(|path| path.extension().unwrap().to_string_lossy().into_owned()).collect();
        extensions.sort();
        extensions
    }

    fn blocks_path(&self) -> PathBuf {
        let mut paths = fs::read_dir(self.caches.path()).unwrap().map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|extension| extension == "blocks")).unwrap()
    }
}

#[test]
fn nothing_is_derived_or_combined_again() {
    let place = Place::cached();
    assert_eq!(place.cache_files(), ["blocks"]);
    assert!(Indexer::opens_fast(&place.cache, place.folder.path()));
    let (mut reopened, opening) = place.open();
    assert_eq!((opening.reused, opening.rebuilt), (40, 0));
    assert!(opening.miss.is_none());
    assert_eq!(contents(reopened.current()), place.expected());
    assert!(reopened.save().unwrap().is_none() && reopened.save_all().unwrap().is_none());
}

#[test]
fn changed_deleted_and_new_files_are_noticed() {
    let place = Place::cached();
    for round in 0..6 {
        let function = format!("def helper_new(value):\n    return shared(value, {round})\n");
        place.write(&format!("m{round}.py"), &function);
        place.write(&format!("new{round}.py"), &function);
        fs::remove_file(place.folder.path().join(format!("m{}.py", 39 - round))).unwrap();
        let (mut reopened, opening) = place.open();
        // Every other round is saved, so that the index has changes on top of the saved ones.
        let unsaved = 1 + round % 2;
        assert_eq!((opening.reused, opening.rebuilt), (40 - 2 * unsaved, 2 * unsaved), "round {round}");
        assert_eq!(contents(reopened.current()), place.expected(), "round {round}");
        if round % 2 == 1 {
            reopened.save_all().unwrap().unwrap();
        }
    }
}

/// Indexes that requests are served from while the folder is read.
fn early_indexes(place: &Place) -> (Vec<String>, Indexer) {
    let early = Mutex::new(Vec::new());
    let on_cached = |index: WorkspaceIndex| early.lock().unwrap().push(contents(&index));
    let run = OpenRun { memory: IndexMemory::NONE, on_cached: &on_cached, ..OpenRun::default() };
    let limits = ReadLimits::standard();
    let (indexer, _) =
        Indexer::open_with(place.folder.path(), &limits, Some(place.cache.clone()), &run).unwrap();
    (early.into_inner().unwrap(), indexer)
}

#[test]
fn cached_index_serves_requests_while_the_folder_is_read() {
    let place = Place::new();
    let (early, mut indexer) = early_indexes(&place);
    assert!(early.is_empty(), "nothing is cached yet");
    indexer.save_all().unwrap().unwrap();
    drop(indexer);
    let cached = place.expected();
    place.write("m0.py", "def helper_new(value):\n    return value\n");
    fs::remove_file(place.folder.path().join("m39.py")).unwrap();
    let (early, indexer) = early_indexes(&place);
    assert_eq!(early, [cached]);
    assert_eq!(contents(indexer.current()), place.expected());
}

#[test]
fn every_damaged_part_costs_time_only() {
    let place = Place::cached();
    let (path, expected) = (place.blocks_path(), place.expected());
    let bytes = fs::read(&path).unwrap();
    let mut partly_used = 0;
    for part in 0..20 {
        let mut damaged = bytes.clone();
        damaged[bytes.len() * part / 20 + bytes.len() / 40] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let (indexer, opening) = place.open();
        assert_eq!(contents(indexer.current()), expected, "part {part}");
        assert!(opening.miss.is_some(), "part {part}");
        assert_eq!(opening.reused + opening.rebuilt, 40);
        partly_used += usize::from(opening.reused > 0);
    }
    assert!((1..20).contains(&partly_used), "sound files are used: {partly_used}");
    for length in [0, 1, bytes.len() / 3, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let (mut indexer, opening) = place.open();
        assert_eq!(contents(indexer.current()), expected, "{length} bytes");
        assert!(opening.miss.is_some());
        indexer.save_all().unwrap().unwrap();
        assert_eq!(place.open().1.reused, 40, "saving replaces it");
    }
}

#[test]
fn cache_with_a_damaged_part_is_written_again() {
    let place = Place::cached();
    let path = place.blocks_path();
    let mut bytes = fs::read(&path).unwrap();
    // The layers are at the end.
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let (mut indexer, opening) = place.open();
    assert_eq!((opening.reused, opening.rebuilt), (40, 0), "the files are sound");
    assert!(indexer.save().unwrap().is_some() && indexer.save().unwrap().is_none());
    assert!(place.open().1.miss.is_none());
}

#[test]
fn blocks_of_another_version_are_replaced() {
    let place = Place::cached();
    place.cache.rewrite_blocks(place.folder.path(), "index 0").unwrap().finish(0).unwrap();
    assert!(!Indexer::opens_fast(&place.cache, place.folder.path()));
    let (mut indexer, opening) = place.open();
    assert_eq!((opening.reused, opening.rebuilt), (0, 40));
    assert!(matches!(opening.miss, Some(CacheMiss::Outdated { .. })));
    indexer.save().unwrap().unwrap();
    assert_eq!(place.open().1.reused, 40);
}

#[test]
fn another_budget_gets_another_form_of_the_cache() {
    let place = Place::new();
    let (mut in_memory, _) = open(place.folder.path(), &place.cache);
    in_memory.save().unwrap().unwrap();
    assert_eq!(place.cache_files(), ["cache"]);
    let (mut on_disk, opening) = place.open();
    assert_eq!((opening.reused, opening.rebuilt), (40, 0));
    assert_eq!(contents(on_disk.current()), contents(in_memory.current()));
    assert!(on_disk.save().unwrap().is_some() && on_disk.save().unwrap().is_none());
    assert_eq!(place.cache_files(), ["blocks"]);
    let (mut in_memory, opening) = open(place.folder.path(), &place.cache);
    assert_eq!((opening.reused, opening.rebuilt), (0, 40));
    assert!(in_memory.store().is_none());
    assert_eq!(contents(in_memory.current()), contents(on_disk.current()));
    in_memory.save().unwrap().unwrap();
    assert_eq!(place.cache_files(), ["cache"]);
}

/// More text than is cached only at the end.
fn write_large_files(root: &Path) {
    for number in 0..50 {
        let text = format!("def value_{number}():\n    return alpha\n").repeat(200);
        fs::write(root.join(format!("m{number}.py")), text).unwrap();
    }
}

#[test]
fn interrupted_indexing_resumes_with_blocks() {
    let place = Place::new();
    write_large_files(place.folder.path());
    let open_until = |stop_at| open_until(place.folder.path(), &place.cache, IndexMemory::NONE, stop_at);
    assert!(matches!(open_until(20), Err(WorkspaceError::Cancelled { .. })));
    assert_eq!(place.cache_files(), ["begun"]);
    // Of the files that are cached already, one changes and one vanishes.
    place.write("m0.py", "def value_0():\n    return beta\n");
    fs::remove_file(place.folder.path().join("m1.py")).unwrap();
    let (mut resumed, opening) = open_until(usize::MAX).unwrap();
    assert!(opening.reused >= 15, "{} are derived again", opening.rebuilt);
    assert_eq!(opening.reused + opening.rebuilt, 49);
    assert!(resumed.save_all().unwrap().is_none(), "everything is cached meanwhile");
    assert_eq!(place.cache_files(), ["blocks"]);
    let expected = place.expected();
    assert_eq!(contents(resumed.current()), expected);
    let (reopened, opening) = open_until(usize::MAX).unwrap();
    assert_eq!((opening.reused, opening.rebuilt), (49, 0));
    assert_eq!(contents(reopened.current()), expected);
}

#[test]
fn two_processes_that_index_at_once_leave_one_cache() {
    let place = Place::new();
    write_large_files(place.folder.path());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| place.open());
        }
    });
    assert_eq!(place.cache_files(), ["blocks"]);
    let (reopened, opening) = place.open();
    assert_eq!((opening.reused, opening.rebuilt), (50, 0));
    assert_eq!(contents(reopened.current()), place.expected());
}
