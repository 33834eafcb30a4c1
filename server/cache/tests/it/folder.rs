//! The cache folder: its size, listing and removing caches, and folders that cannot be used.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use cache::{Cache, CacheError, CacheMiss, ClearSummary};

use crate::fixture::{FORMAT, Folder, Owned};

fn kilobytes(count: usize) -> Vec<Owned> {
    vec![Owned { path: String::new(), stamp: Vec::new(), text: "x".repeat(count << 10), payload: Vec::new() }]
}

impl Folder {
    /// Sets the time of last use to so many hours ago.
    fn age(&self, path: &Path, hours: u64) {
        let time = SystemTime::now() - Duration::from_secs(3_600 * hours);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    fn roots(&self) -> Vec<String> {
        self.cache.list().unwrap().into_iter().filter_map(|listed| listed.root).collect()
    }
}

#[test]
fn least_recently_used_workspaces_are_evicted() {
    let folder = Folder::with_limit(40 << 10);
    for (root, hours) in [("/old", 3), ("/older", 4), ("/new", 2)] {
        let before = folder.files();
        folder.save(root, &kilobytes(10));
        let path = folder.files().into_iter().find(|path| !before.contains(path)).unwrap();
        folder.age(&path, hours);
    }
    assert_eq!(folder.roots(), ["/new", "/old", "/older"]);
    assert!(folder.open("/older").is_ok(), "which is a use");
    let saved = folder.cache.save("/last".as_ref(), FORMAT, kilobytes(15).iter().map(Owned::entry)).unwrap();
    assert_eq!(saved.evicted, 1);
    assert_eq!(folder.roots(), ["/last", "/older", "/new"]);
}

#[test]
fn future_timestamps_do_not_cause_extra_evictions() {
    let folder = Folder::with_limit(40 << 10);
    folder.save("/future", &kilobytes(10));
    let ahead = SystemTime::now() + Duration::from_secs(1 << 30);
    File::options().write(true).open(&folder.files()[0]).unwrap().set_modified(ahead).unwrap();
    folder.save("/now", &kilobytes(10));
    assert_eq!(folder.roots(), ["/future", "/now"]);
    folder.save("/large", &kilobytes(25));
    assert_eq!(folder.roots(), ["/future", "/large"]);
}

#[test]
fn workspace_over_the_limit_is_not_saved_and_evicts_nothing() {
    let folder = Folder::with_limit(20 << 10);
    folder.save("/small", &kilobytes(10));
    let many = vec![kilobytes(1 << 10).remove(0); 50];
    for files in [kilobytes(20), many] {
        let error = folder.cache.save("/large".as_ref(), FORMAT, files.iter().map(Owned::entry)).unwrap_err();
        assert!(matches!(error, CacheError::TooLarge { limit: 20_480 }), "{error}");
    }
    assert_eq!(folder.roots(), ["/small"]);
    assert_eq!(folder.files().len(), 1, "nothing is left over");
}

#[test]
fn list_reports_root_file_count_and_size() {
    let folder = Folder::new();
    assert_eq!(Cache::new(&folder.folder.path().join("none"), 1).list().unwrap(), []);
    folder.save("/project", &[Owned::new("a.py", "1"), Owned::new("b.py", "2")]);
    let listed = folder.cache.list().unwrap();
    assert_eq!((listed[0].root.as_deref(), listed[0].files), (Some("/project"), 2));
    assert_eq!(listed[0].bytes, fs::metadata(&folder.files()[0]).unwrap().len());
    fs::write(&folder.files()[0], "something else").unwrap();
    let listed = folder.cache.list().unwrap();
    assert_eq!((listed[0].root.as_deref(), listed[0].files, listed[0].bytes), (None, 0, 14));
}

#[test]
fn clearing_removes_caches_and_nothing_else() {
    let folder = Folder::new();
    folder.save("/one", &kilobytes(1));
    folder.save("/two", &kilobytes(1));
    for name in ["notes.cache", "notes.txt"] {
        fs::write(folder.folder.path().join(name), "mine").unwrap();
    }
    let bytes = folder.cache.list().unwrap().iter().map(|listed| listed.bytes).sum();
    assert_eq!(folder.cache.clear().unwrap(), ClearSummary { workspaces: 2, bytes });
    assert_eq!(folder.files().len(), 2);
    assert_eq!(folder.cache.clear().unwrap(), ClearSummary::default());
    assert!(matches!(folder.open("/one"), Err(CacheMiss::Absent)));
}

#[test]
fn save_fails_if_the_cache_folder_is_a_file() {
    let folder = Folder::new();
    let path = folder.folder.path().join("file");
    fs::write(&path, "").unwrap();
    let cache = Cache::new(&path, Cache::DEFAULT_LIMIT);
    let error = cache.save("/project".as_ref(), FORMAT, []).unwrap_err();
    assert!(matches!(error, CacheError::Failed { .. }), "{error}");
    assert!(cache.open("/project".as_ref(), FORMAT).is_err());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::processes::Inside;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// Permissions do not bind root.
    fn are_permissions_enforced() -> bool {
        let closed = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o000)).unwrap();
        fs::read(closed.path()).is_err()
    }

    #[test]
    fn cache_files_are_private_to_the_user() {
        let folder = Folder::new();
        let inner = folder.folder.path().join("made/for/it");
        Cache::new(&inner, Cache::DEFAULT_LIMIT).save("/project".as_ref(), FORMAT, []).unwrap();
        let file = fs::read_dir(&inner).unwrap().next().unwrap().unwrap().path();
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
    }

    #[test]
    fn symlinked_root_shares_the_cache_of_its_target() {
        let folder = Folder::new();
        let roots = tempfile::tempdir().unwrap();
        let (real, link) = (roots.path().join("real"), roots.path().join("link"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        folder.save(real.to_str().unwrap(), &kilobytes(1));
        assert!(folder.open(link.to_str().unwrap()).is_ok());
    }

    #[test]
    fn cache_in_read_only_folder_opens_but_cannot_be_saved() {
        let test = "folder::unix::cache_in_read_only_folder_opens_but_cannot_be_saved";
        if !are_permissions_enforced() && !Inside::of(test).run_in_child(&["unshare", "--user"]) {
            return;
        }
        let folder = Folder::new();
        folder.save("/project", &kilobytes(1));
        fs::set_permissions(folder.folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(&folder.files()[0], fs::Permissions::from_mode(0o400)).unwrap();
        let error = folder.cache.save("/other".as_ref(), FORMAT, []).unwrap_err();
        assert!(
            matches!(&error, CacheError::NotWritable { .. }) && error.to_string().contains("permissions"),
            "{error}"
        );
        assert!(matches!(folder.cache.clear(), Err(CacheError::NotWritable { .. })));
        assert!(folder.open("/project").is_ok());
        fs::set_permissions(folder.folder.path(), fs::Permissions::from_mode(0o000)).unwrap();
        assert!(matches!(folder.open("/project"), Err(CacheMiss::Unreadable { .. })));
        assert!(matches!(folder.cache.list(), Err(CacheError::NotWritable { .. })));
        fs::set_permissions(folder.folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn full_disk_keeps_the_previous_cache() {
        let test = "folder::unix::full_disk_keeps_the_previous_cache";
        let (mount, at) =
            ("mount -t tmpfs -o size=256k none \"$0\" && exec \"$@\"", tempfile::tempdir().unwrap());
        let at = at.path().to_str().unwrap();
        let command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, at];
        if !Inside::of(test).at(at).run_in_child(&command) {
            return;
        }
        let cache = Cache::new(Inside::of(test).place().as_ref(), Cache::DEFAULT_LIMIT);
        let save =
            |files: Vec<Owned>| cache.save("/project".as_ref(), FORMAT, files.iter().map(Owned::entry));
        save(kilobytes(100)).unwrap();
        for _ in 0..3 {
            let error = save(kilobytes(2_000)).unwrap_err();
            assert!(
                matches!(&error, CacheError::NoSpace { .. }) && error.to_string().contains("--clear"),
                "{error}"
            );
        }
        assert_eq!(crate::fixture::open(&cache, "/project").unwrap(), kilobytes(100));
        save(kilobytes(110)).unwrap();
    }

    #[test]
    fn cache_on_read_only_disk_opens_but_cannot_be_saved() {
        let test = "folder::unix::cache_on_read_only_disk_opens_but_cannot_be_saved";
        let folder = Folder::new();
        folder.save("/project", &kilobytes(1));
        let at = folder.folder.path().to_str().unwrap();
        let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
        let command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, at];
        if !Inside::of(test).at(at).run_in_child(&command) {
            return;
        }
        let cache = Cache::new(Inside::of(test).place().as_ref(), Cache::DEFAULT_LIMIT);
        let error = cache.save("/project".as_ref(), FORMAT, []).unwrap_err();
        assert!(matches!(error, CacheError::NotWritable { .. }), "{error}");
        assert_eq!(crate::fixture::open(&cache, "/project").unwrap(), kilobytes(1));
    }
}
