//! Detects created, changed, removed and renamed files, one kind of operation at a time.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use expect_test::{Expect, expect};
use stored::{MemoryBlocks, SharedText};
use syntax::Language;
use tempfile::TempDir;
use workspace::{
    LoadProgress, ReadLimits, SkipReason, TextStore, WorkspaceChanges, WorkspaceError, WorkspaceTracker,
};

use crate::fixture::{folder, on_threads, write};

/// A tracked folder.
struct TrackedFolder {
    folder: TempDir,
    follower: WorkspaceTracker,
}

impl TrackedFolder {
    fn new(fixture: &str) -> TrackedFolder {
        let folder = folder(fixture);
        let follower = WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &|_| ()).unwrap();
        TrackedFolder { folder, follower }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(self.root(), path, bytes);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).unwrap();
    }

    fn text(&self, path: &str) -> SharedText {
        self.follower.snapshot().get(path).unwrap().text.clone()
    }

    #[track_caller]
    fn refresh(&mut self, paths: &[&str]) -> WorkspaceChanges {
        self.follower.refresh(paths).unwrap()
    }

    /// Checks the result of a scan of `paths`, and that a scan of everything finds no more.
    #[track_caller]
    fn check(&mut self, paths: &[&str], expected: Expect) {
        let changes = self.refresh(paths);
        expected.assert_eq(&describe(&changes));
        let more = self.follower.refresh_all().unwrap();
        assert!(more.is_empty(), "{}", describe(&more));
        assert_eq!(more.snapshot.skips(), changes.snapshot.skips());
    }
}

fn describe(changes: &WorkspaceChanges) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(changes.changed.iter().map(|file| format!("{}: {}\n", file.path, file.text.trim_end())));
    lines.extend(changes.removed.iter().map(|path| format!("{path} is gone\n")));
    lines.extend(changes.manifests_changed.then(|| "manifests\n".to_owned()));
    lines.concat()
}

#[test]
fn changes_are_reported_in_path_order() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n//- /c.py\nc = 1\n");
    followed.write("new/d.py", "d = 1\n");
    followed.write("b.py", "b = 2\n");
    followed.write("0.py", "zero = 0\n");
    fs::remove_file(followed.root().join("a.py")).unwrap();
    followed.check(
        &["new/d.py", "b.py", "0.py", "a.py"],
        expect![[r#"
            0.py: zero = 0
            b.py: b = 2
            new/d.py: d = 1
            a.py is gone
        "#]],
    );
}

#[test]
fn refresh_scans_only_the_named_paths() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /lib/b.py\nb = 1\n");
    followed.write("a.py", "a = 2\n");
    followed.write("lib/b.py", "b = 2\n");
    assert_eq!(describe(&followed.refresh(&["lib"])), "lib/b.py: b = 2\n");
    assert_eq!(describe(&followed.follower.refresh_all().unwrap()), "a.py: a = 2\n");
}

#[test]
fn unchanged_texts_in_a_store_are_no_changes() {
    let folder = folder("//- /a.py\na = 1\n//- /b.py\nb = 1\n");
    let open = |above_bytes| {
        let texts = TextStore { store: Arc::new(MemoryBlocks), above_bytes };
        let limits = ReadLimits::standard();
        WorkspaceTracker::open_while(folder.path(), &limits, [], Some(texts), &|_| (), &|| true).unwrap()
    };
    let is_in_memory = |tracker: &WorkspaceTracker| {
        tracker.snapshot().files().iter().map(|file| file.text.is_in_memory()).collect::<Vec<_>>()
    };
    assert_eq!(is_in_memory(&open(12)), [true, true], "they are not above the limit");
    let mut tracker = open(11);
    assert_eq!(is_in_memory(&tracker), [false, false]);
    assert!(tracker.refresh_all().unwrap().is_empty());
    write(folder.path(), "b.py", "b = 2\n");
    let changes = tracker.refresh_all().unwrap();
    assert_eq!(changes.changed.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["b.py"]);
    assert_eq!(is_in_memory(&tracker), [false, true], "one changed file is not worth a block");
}

#[test]
fn rewritten_identical_text_is_not_a_change() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n");
    let (text, hash) = (followed.text("a.py"), followed.follower.snapshot().tree_hash().to_owned());
    fs::remove_file(followed.root().join("a.py")).unwrap();
    followed.write("a.py", "a = 1\n");
    followed.check(&["a.py"], expect![""]);
    assert!(text.is_same(&followed.text("a.py")));
    assert_eq!(followed.follower.snapshot().tree_hash(), hash);
}

#[test]
fn names_differing_only_in_case_are_distinguished() {
    let mut followed = TrackedFolder::new("//- /Foo.py\nx = 1\n//- /Lib/a.py\na = 1\n");
    followed.rename("Foo.py", "foo.py");
    followed.rename("Lib", "lib");
    followed.check(
        &["Foo.py", "foo.py", "Lib", "lib"],
        expect![[r#"
            foo.py: x = 1
            lib/a.py: a = 1
            Foo.py is gone
            Lib/a.py is gone
        "#]],
    );
}

#[test]
fn file_replaced_by_a_folder_and_back_is_detected() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n");
    fs::remove_file(followed.root().join("a.py")).unwrap();
    followed.write("a.py/inner.py", "i = 1\n");
    followed.check(
        &["a.py"],
        expect![[r#"
            a.py/inner.py: i = 1
            a.py is gone
        "#]],
    );
    fs::remove_dir_all(followed.root().join("a.py")).unwrap();
    followed.write("a.py", "a = 1\n");
    followed.check(
        &["a.py/inner.py"],
        expect![[r#"
            a.py: a = 1
            a.py/inner.py is gone
        "#]],
    );
}

#[test]
fn folder_moved_out_and_back_in_is_detected() {
    let mut followed =
        TrackedFolder::new("//- /a.py\na = 1\n//- /lib/deep/b.py\nb = 1\n//- /lib/c.py\nc = 1\n");
    let elsewhere = tempfile::tempdir_in(followed.root().parent().unwrap()).unwrap();
    fs::rename(followed.root().join("lib"), elsewhere.path().join("lib")).unwrap();
    followed.check(
        &["lib"],
        expect![[r#"
            lib/c.py is gone
            lib/deep/b.py is gone
        "#]],
    );
    fs::create_dir(followed.root().join("new")).unwrap();
    fs::rename(elsewhere.path().join("lib"), followed.root().join("new/lib")).unwrap();
    followed.check(
        &["new/lib/c.py"],
        expect![[r#"
            new/lib/c.py: c = 1
            new/lib/deep/b.py: b = 1
        "#]],
    );
}

#[test]
fn changes_with_older_mtimes_are_detected() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n");
    let at = |path: &str| File::options().write(true).open(followed.root().join(path)).unwrap();
    let before = at("b.py").metadata().unwrap().modified().unwrap();
    followed.write("a.py", "a = 2\n");
    at("a.py").set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(3_600)).unwrap();
    followed.write("b.py", "b = 2\n");
    at("b.py").set_modified(before).unwrap();
    let changes = followed.follower.refresh_all().unwrap();
    expect![[r#"
        a.py: a = 2
        b.py: b = 2
    "#]]
    .assert_eq(&describe(&changes));
}

#[test]
fn changed_ignore_files_apply_to_existing_files() {
    let mut followed = TrackedFolder::new(
        "//- /a.py\na = 1\n//- /lib/b.py\nb = 1\n//- /lib/c.py\nc = 1\n//- /lib/deep/b.py\nd = 1\n//- /other/b.py\ne = 1\n",
    );
    followed.write("lib/.gitignore", "b.py\n");
    followed.check(
        &["lib/.gitignore"],
        expect![[r#"
            lib/b.py is gone
            lib/deep/b.py is gone
        "#]],
    );
    followed.write(".ghostbenchignore", "/other\n/lib/c.py\n");
    fs::remove_file(followed.root().join("lib/.gitignore")).unwrap();
    followed.check(
        &[".ghostbenchignore", "lib/.gitignore"],
        expect![[r#"
            lib/b.py: b = 1
            lib/deep/b.py: d = 1
            lib/c.py is gone
            other/b.py is gone
        "#]],
    );
}

#[test]
fn folder_is_skipped_once_a_marker_file_appears() {
    let mut followed =
        TrackedFolder::new("//- /a.py\na = 1\n//- /env/lib/b.py\nb = 1\n//- /dist/c.js\nc = 1\n");
    followed.write("env/pyvenv.cfg", "");
    followed.write("package.json", "{}");
    followed.check(
        &["env/pyvenv.cfg", "package.json"],
        expect![[r#"
            dist/c.js is gone
            env/lib/b.py is gone
            manifests
        "#]],
    );
    fs::remove_file(followed.root().join("env/pyvenv.cfg")).unwrap();
    fs::remove_file(followed.root().join("package.json")).unwrap();
    followed.check(
        &["env/pyvenv.cfg", "package.json"],
        expect![[r#"
            dist/c.js: c = 1
            env/lib/b.py: b = 1
            manifests
        "#]],
    );
}

#[test]
fn headers_change_language_with_the_sources() {
    let mut followed = TrackedFolder::new("//- /a.h\nint a();\n//- /b.c\nint b();\n");
    followed.write("c.cpp", "int c();\n");
    followed.write("d.cpp", "int d();\n");
    let changes = followed.refresh(&["c.cpp", "d.cpp"]);
    let languages: Vec<_> = changes.changed.iter().map(|file| (&*file.path, file.language)).collect();
    assert_eq!(languages, [("a.h", Language::Cpp), ("c.cpp", Language::Cpp), ("d.cpp", Language::Cpp)]);
    fs::remove_file(followed.root().join("c.cpp")).unwrap();
    let changes = followed.refresh(&["c.cpp"]);
    assert_eq!(changes.changed.first().map(|file| file.language), Some(Language::C));
}

#[test]
fn manifests_are_tracked_but_not_counted() {
    let mut followed = TrackedFolder::new(
        "\
//- /.gitignore
/made
//- /a.ts
let a = 1;
//- /tsconfig.json
// Code generated by a wizard. DO NOT EDIT.
{}
//- /made/package.json
{}
//- /node_modules/b/package.json
{}
//- /web/tsconfig.base.json
{}
//- /web/other.json
{}
//- /native/Cargo.toml
[package]
//- /tools/go.mod
module tools
",
    );
    let snapshot = followed.follower.snapshot();
    let paths: Vec<&str> = snapshot.manifests().iter().map(|manifest| &*manifest.path).collect();
    assert_eq!(paths, ["native/Cargo.toml", "tools/go.mod", "tsconfig.json", "web/tsconfig.base.json"]);
    assert_eq!((snapshot.files().len(), snapshot.totals().lines), (1, 1));
    assert_eq!(snapshot.skips().count(SkipReason::UnsupportedLanguage), 5);
    let hash = snapshot.tree_hash().to_owned();
    followed.write("tools/go.mod", "module other\n");
    followed.check(&["tools/go.mod"], expect!["manifests\n"]);
    assert_eq!(followed.follower.snapshot().tree_hash(), hash);
    followed.write("web/other.json", "[]");
    followed.check(&["web/other.json"], expect![""]);
    followed.write("web/package.json", b"\xff");
    followed.check(&["web/package.json"], expect![""]);
    assert_eq!(followed.follower.snapshot().skips().count(SkipReason::InvalidUtf8), 1);
}

#[test]
fn file_removed_before_reading_is_not_in_the_snapshot() {
    let folder = folder("//- /a.py\na = 1\n//- /b.py\nb = 1\n//- /c.py\nc = 1\n");
    let remove = |progress| {
        if let LoadProgress::Reading { read: 1, .. } = progress {
            fs::remove_file(folder.path().join("b.py")).unwrap();
        }
    };
    let follower =
        on_threads(1, || WorkspaceTracker::open(folder.path(), &ReadLimits::standard(), [], &remove));
    let snapshot = follower.unwrap().snapshot().clone();
    let paths: Vec<&str> = snapshot.files().iter().map(|file| &*file.path).collect();
    assert_eq!((paths, snapshot.skips().to_string()), (vec!["a.py", "c.py"], "nothing".to_owned()));
}

#[test]
fn root_removed_during_a_scan_is_an_error() {
    for vanishes_at in [LoadProgress::Walking { found: 1 }, LoadProgress::Reading { read: 1, total: 2 }] {
        let folder = folder("//- /project/a.py\n//- /project/b.py\n");
        let (root, away) = (folder.path().join("project"), folder.path().join("away"));
        let opened = WorkspaceTracker::open(&root, &ReadLimits::standard(), [], &|progress| {
            if progress == vanishes_at {
                fs::rename(&root, &away).unwrap();
            }
        });
        assert!(matches!(opened, Err(WorkspaceError::Missing { .. })), "{opened:?}");
    }
}

#[test]
fn removed_root_is_an_error_and_keeps_the_snapshot() {
    let mut followed = TrackedFolder::new("//- /project/a.py\na = 1\n");
    let root = followed.root().join("project");
    let mut follower = WorkspaceTracker::open(&root, &ReadLimits::standard(), [], &|_| ()).unwrap();
    followed.rename("project", "moved");
    for error in [follower.refresh([&root]).unwrap_err(), follower.refresh_all().unwrap_err()] {
        assert!(matches!(error, WorkspaceError::Missing { .. }), "{error}");
    }
    assert_eq!(follower.snapshot().files().len(), 1);
    followed.rename("moved", "project");
    assert!(follower.refresh([&root]).unwrap().is_empty());
    followed.check(&["project", "moved"], expect![""]);
}

#[test]
fn outside_missing_and_skipped_paths_change_nothing() {
    let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /node_modules/b/c.js\nc = 1\n");
    followed.write("a.py", "a = 2\n");
    let outside = followed.root().join("../elsewhere.py");
    let long = "x/".repeat(3_000) + "x.py";
    let elsewhere = [&*outside.to_string_lossy(), "..", "../a.py", "/elsewhere/.gitignore"];
    let nothing = ["gone/a.py", "node_modules/b/c.js", "a.py", "a.py/b", &long];
    for path in elsewhere {
        assert!(followed.refresh(&[path]).is_empty(), "{path}");
    }
    assert_eq!(followed.refresh(&["/"]).changed.len(), 1, "the root is below it");
    for path in nothing {
        assert!(followed.refresh(&[path]).is_empty(), "{path}");
    }
    followed.write("a.py", "a = 3\n");
    assert!(followed.refresh(&[]).is_empty());
    assert_eq!(followed.refresh(&[""]).changed.len(), 1, "the root itself");
}

#[test]
fn empty_workspace_detects_its_first_file() {
    let mut followed = TrackedFolder::new("");
    followed.check(&["a.py"], expect![""]);
    followed.write("a.py", "a = 1\n");
    followed.check(&["a.py"], expect!["a.py: a = 1\n"]);
}

#[test]
fn thousands_of_changed_files_are_reported() {
    let mut followed = TrackedFolder::new("");
    let path = |number: usize| format!("d{}/e{}/f{number}.py", number % 20, number % 100);
    for number in 0..3_000 {
        followed.write(&path(number), format!("x = {number}\n"));
    }
    assert_eq!(followed.follower.refresh_all().unwrap().changed.len(), 3_000);
    let paths: Vec<String> = (0..3_000).step_by(3).map(path).collect();
    for path in &paths {
        followed.write(path, "x = 0\n");
    }
    let changes = followed.follower.refresh(&paths).unwrap();
    assert_eq!(changes.changed.len(), 999, "one text was the same before");
    assert!(changes.changed.is_sorted_by(|a, b| a.path < b.path));
    assert!(followed.follower.refresh_all().unwrap().is_empty());
}

#[test]
fn reopened_workspace_reads_only_changed_files() {
    let mut followed =
        TrackedFolder::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n//- /c.py\nc = 1\n//- /go.mod\nmodule a\n");
    // A stamp is not reliable until the clock has advanced.
    let deadline = Instant::now() + Duration::from_secs(60);
    while followed.follower.known_files().any(|known| known.stamp.is_none()) {
        assert!(Instant::now() < deadline, "no stamp settles");
        thread::sleep(Duration::from_millis(100));
        followed.follower.refresh_all().unwrap();
    }
    followed.write("b.py", "b = 2\n");
    fs::remove_file(followed.root().join("c.py")).unwrap();
    let known: Vec<_> = followed.follower.known_files().collect();
    let read = AtomicUsize::new(0);
    let reopened = WorkspaceTracker::open(followed.root(), &ReadLimits::standard(), known, &|progress| {
        if let LoadProgress::Reading { .. } = progress {
            read.fetch_add(1, Ordering::Relaxed);
        }
    });
    let reopened = reopened.unwrap();
    assert_eq!(read.into_inner(), 2, "the changed file and the manifest");
    assert!(reopened.snapshot().get("a.py").unwrap().text.is_same(&followed.text("a.py")));
    followed.follower.refresh_all().unwrap();
    assert_eq!(reopened.snapshot().files(), followed.follower.snapshot().files());
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::fixture::unix::is_bound_by_permissions;

    #[test]
    fn unusual_file_names_are_tracked() {
        let mut followed = TrackedFolder::new("");
        let names = [
            "a b.py",
            "line\nbreak.py",
            "back\\slash.py",
            "-x.py",
            "e\u{301}.py",
            "\u{e9}.py",
            "*.py",
            "\u{202e}.py",
        ];
        for name in names {
            followed.write(name, "x = 1\n");
        }
        assert_eq!(followed.refresh(&names).changed.len(), names.len());
        let invalid = followed.root().join(OsStr::from_bytes(b"\xff.py"));
        fs::write(&invalid, "x = 1\n").unwrap();
        assert!(followed.follower.refresh([&invalid]).unwrap().is_empty());
        assert_eq!(followed.follower.snapshot().skips().count(SkipReason::InvalidUtf8), 1);
        fs::remove_file(&invalid).unwrap();
        assert!(followed.follower.refresh([&invalid]).unwrap().is_empty());
        followed.check(&[], expect![""]);
    }

    #[test]
    fn refresh_accepts_real_and_symlinked_root_paths() {
        let folder = folder("//- /real/a.py\na = 1\n");
        symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
        let mut follower =
            WorkspaceTracker::open(&folder.path().join("link"), &ReadLimits::standard(), [], &|_| ())
                .unwrap();
        for (number, root) in ["link", "real"].into_iter().enumerate() {
            let path = folder.path().join(root).join("a.py");
            fs::write(&path, format!("a = {}\n", number + 2)).unwrap();
            assert_eq!(follower.refresh([&path]).unwrap().changed.len(), 1, "{root}");
        }
    }

    #[test]
    fn file_or_folder_replaced_by_a_symlink_is_removed() {
        let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /lib/b.py\nb = 1\n");
        fs::remove_file(followed.root().join("a.py")).unwrap();
        symlink(followed.root().join("lib/b.py"), followed.root().join("a.py")).unwrap();
        followed.rename("lib", "moved");
        symlink(followed.root().join("moved"), followed.root().join("lib")).unwrap();
        followed.check(
            &["a.py", "lib", "moved"],
            expect![[r#"
                moved/b.py: b = 1
                a.py is gone
                lib/b.py is gone
            "#]],
        );
        assert_eq!(followed.follower.snapshot().skips().count(SkipReason::Symlink), 2);
    }

    #[test]
    fn unreadable_paths_are_removed_until_readable() {
        if !is_bound_by_permissions("follow::unix::unreadable_paths_are_removed_until_readable") {
            return;
        }
        let mut followed = TrackedFolder::new("//- /a.py\na = 1\n//- /lib/b.py\nb = 1\n//- /c.py\nc = 1\n");
        let root = followed.root().to_owned();
        let allow = |path: &str, mode| {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        allow("a.py", 0o000);
        allow("lib", 0o000);
        followed.check(
            &["a.py", "lib"],
            expect![[r#"
                a.py is gone
                lib/b.py is gone
            "#]],
        );
        assert_eq!(followed.follower.snapshot().skips().count(SkipReason::Unreadable), 2);
        allow("a.py", 0o600);
        allow("lib", 0o700);
        followed.check(
            &["a.py", "lib/b.py"],
            expect![[r#"
                a.py: a = 1
                lib/b.py: b = 1
            "#]],
        );
    }
}

#[cfg(unix)]
#[test]
fn writes_through_an_outside_hard_link_are_detected() {
    let mut followed = TrackedFolder::new("//- /a.py\nx = 1\n//- /b.py\ny = 1\n");
    let outside = folder("");
    let link = outside.path().join("outside.py");
    fs::hard_link(followed.root().join("a.py"), &link).unwrap();
    fs::write(&link, "x = 2\n").unwrap();
    // No watcher of the folder reports the link or the write, and the file had one link at the last scan.
    assert!(followed.follower.poll().unwrap().is_empty());
    assert_eq!(followed.follower.refresh_all().unwrap().changed.len(), 1);
    assert_eq!(&*followed.text("a.py"), "x = 2\n");
    // From now on a poll suffices.
    fs::write(&link, "x = 3\n").unwrap();
    assert_eq!(followed.follower.poll().unwrap().changed.len(), 1);
    assert_eq!(&*followed.text("a.py"), "x = 3\n");
    fs::remove_file(&link).unwrap();
    followed.follower.poll().unwrap();
    assert_eq!(&*followed.text("a.py"), "x = 3\n");
}

#[test]
fn opening_stops_soon_after_cancellation() {
    const FILES: usize = 2_000;
    /// Maximum number of files that all threads together may visit after the walk or the reading was stopped.
    const LATE: usize = 100;
    let folder = folder("");
    (0..FILES).for_each(|number| write(folder.path(), &format!("{}/{number}.py", number % 50), "x = 1\n"));
    // The walk visits each file once, then each is read.
    for stop_at in [0, 1, FILES / 2, FILES + 1, FILES + FILES / 2] {
        let looks = AtomicUsize::new(0);
        let progress = |_| {
            looks.fetch_add(1, Ordering::Relaxed);
        };
        let keep_going = || looks.load(Ordering::Relaxed) < stop_at;
        let opened = WorkspaceTracker::open_while(
            folder.path(),
            &ReadLimits::standard(),
            [],
            None,
            &progress,
            &keep_going,
        );
        assert!(matches!(opened, Err(WorkspaceError::Cancelled { .. })), "{stop_at}");
        let looks = looks.load(Ordering::Relaxed);
        assert!(looks <= stop_at + LATE, "{looks} looks when stopped at {stop_at}");
    }
}

#[test]
fn poll_detects_ignore_changes_above_the_root_after_refresh() {
    let outer = folder(
        "//- /.git/info/exclude\n//- /.gitignore\ndraft.py\n//- /ws/draft.py\nx = 1\n//- /ws/a.py\ny = 1\n",
    );
    let root = outer.path().join("ws");
    let mut follower = WorkspaceTracker::open(&root, &ReadLimits::standard(), [], &|_| ()).unwrap();
    for (rule, count) in [("", 2), ("draft.py\n", 1), ("a.py\ndraft.py\n", 0), ("", 2)] {
        if rule.is_empty() {
            fs::remove_file(outer.path().join(".gitignore")).unwrap();
        } else {
            write(outer.path(), ".gitignore", rule);
        }
        write(&root, "a.py", format!("y = {count}\n"));
        // Saves that are more frequent than polls.
        follower.refresh(["a.py"]).unwrap();
        follower.poll().unwrap();
        assert_eq!(follower.snapshot().files().len(), count, "{rule:?}");
    }
}
