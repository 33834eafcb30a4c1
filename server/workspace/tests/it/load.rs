//! Loads test folders: files read, paths skipped, and the reasons.
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::fixture::{folder, on_threads, write};
use expect_test::{Expect, expect};
use syntax::Language;
use workspace::{LoadProgress, ReadLimits, SkipReason, SkippedPath, Snapshot, WorkspaceError, admits, load};

/// Loads on one thread, which walks by itself, and on several.
#[track_caller]
fn load_all(root: &Path) -> Snapshot {
    let snapshot = load_on(root, 3);
    assert_eq!(describe(&load_on(root, 1)), describe(&snapshot));
    snapshot
}

fn load_on(root: &Path, threads: usize) -> Snapshot {
    on_threads(threads, || load(root, &ReadLimits::standard(), &|_| ()).unwrap())
}

/// Lists the files that were read, then everything else by reason.
fn describe(snapshot: &Snapshot) -> String {
    let mut lines: Vec<String> = snapshot.files().iter().map(|file| file.path.to_string()).collect();
    for (reason, count, examples) in snapshot.skips().iter() {
        let paths: Vec<_> = examples.iter().map(|skipped| skipped.path.as_str()).collect();
        lines.push(format!("{count} {}: {}", reason.name(), paths.join(" ")));
    }
    lines.join("\n") + "\n"
}

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let folder = folder(fixture);
    let snapshot = load_all(folder.path());
    expected.assert_eq(&describe(&snapshot));
    for (path, _) in test_fixture::files(fixture) {
        check_admits(folder.path(), &snapshot, path);
    }
}

/// Checks that the verdict about a single path is the walk's, with the same reason if the path is among the examples.
#[track_caller]
fn check_admits(root: &Path, snapshot: &Snapshot, path: &str) {
    let verdict = admits(root, path);
    assert_eq!(verdict.is_ok(), snapshot.get(path).is_some(), "{path}: {verdict:?}");
    let holds = |skipped: &SkippedPath| Path::new(path).starts_with(&skipped.path);
    let reason = snapshot.skips().iter().find(|(_, _, examples)| examples.iter().any(holds));
    if let Some((reason, ..)) = reason {
        assert_eq!(verdict, Err(reason), "{path}");
    }
}

#[test]
fn ignore_files_apply_without_a_git_repository() {
    check(
        "\
//- /.gitignore
*.log.py
/private/
//- /.ghostbenchignore
fixtures
//- /a.py
//- /b.log.py
//- /private/key.py
//- /private/other.py
//- /fixtures/c.py
//- /lib/private/d.py
//- /lib/.gitignore
e.py
//- /lib/e.py
",
        expect![[r#"
            a.py
            lib/private/d.py
            4 ignored: b.log.py fixtures lib/e.py
            3 hidden: .ghostbenchignore .gitignore lib/.gitignore
        "#]],
    );
}

#[test]
fn ignore_files_above_the_root_apply_only_in_a_repository() {
    let fixture = "//- /.gitignore\nb.py\n//- /inner/a.py\n//- /inner/b.py\n";
    let plain = folder(fixture);
    assert_eq!(load_all(&plain.path().join("inner")).files().len(), 2);
    assert_eq!(admits(&plain.path().join("inner"), "b.py"), Ok(()));
    let repository = folder(fixture);
    fs::create_dir(repository.path().join(".git")).unwrap();
    assert_eq!(load_all(&repository.path().join("inner")).files().len(), 1);
    assert_eq!(admits(&repository.path().join("inner"), "b.py"), Err(SkipReason::Ignored));
}

#[test]
fn ignore_files_of_every_kind_and_depth_apply() {
    check(
        "\
//- /.git/info/exclude
local.py
//- /.gitignore
*.gen.py
/out/*
!/out/kept.py
//- /a.gen.py
//- /local.py
//- /out/made.py
//- /out/kept.py
//- /lib/.gitignore
!wanted.gen.py
/deep/
//- /lib/wanted.gen.py
//- /lib/b.gen.py
//- /lib/deep/c.py
//- /other/deep/d.py
//- /other/.ghostbenchignore
deep/e.py
!deep/f.gen.py
//- /other/deep/e.py
//- /other/deep/f.gen.py
",
        expect![[r#"
            lib/wanted.gen.py
            other/deep/d.py
            other/deep/f.gen.py
            out/kept.py
            6 ignored: a.gen.py lib/b.gen.py lib/deep
            4 hidden: .git .gitignore lib/.gitignore
        "#]],
    );
}

#[test]
fn admits_applies_the_walk_rules_to_missing_paths() {
    let folder = folder(
        "\
//- /.gitignore
*.log.py
/private/
//- /lib/.gitignore
!kept.log.py
//- /web/package.json
//- /env/pyvenv.cfg
//- /main.py
",
    );
    let paths = [
        "main.py",
        "new.py",
        "new/folder/new.py",
        "lib/kept.log.py",
        "new.log.py",
        "lib/new.log.py",
        "private/new.py",
        "node_modules/new/index.js",
        "env/lib/new.py",
        "web/dist/new.js",
        ".hidden/new.py",
        ".new.py",
        ".env",
        "new/secrets.py",
        "new_pb2.py",
        "new.min.js",
        "notes.txt",
        "main.py/new.py",
        "lib",
    ];
    let shown = paths.map(|path| match admits(folder.path(), path) {
        Ok(()) => format!("{path}\n"),
        Err(reason) => format!("{path}: {}\n", reason.name()),
    });
    expect![[r#"
        main.py
        new.py
        new/folder/new.py
        lib/kept.log.py
        new.log.py: ignored
        lib/new.log.py: ignored
        private/new.py: ignored
        node_modules/new/index.js: dependencies
        env/lib/new.py: dependencies
        web/dist/new.js: build output
        .hidden/new.py: hidden
        .new.py: hidden
        .env: named like secrets
        new/secrets.py: named like secrets
        new_pb2.py: generated
        new.min.js: minified
        notes.txt: in no supported language
        main.py/new.py: unreadable
        lib: no regular files
    "#]]
    .assert_eq(&shown.concat());
}

#[test]
fn oversized_file_is_not_admitted() {
    let folder = folder("//- /main.py\n");
    write(folder.path(), "huge.py", "# x\n".repeat(ReadLimits::FILE_BYTES as usize / 4 + 1));
    assert_eq!(admits(folder.path(), "huge.py"), Err(SkipReason::Oversized));
}

#[test]
fn header_language_follows_the_majority_of_sources() {
    let language = |fixture: &str| load_all(folder(fixture).path()).get("a.h").map(|file| file.language);
    let c = "//- /a.h\nint a();\n//- /b.c\nint b();\n//- /c.cc\nint c();\n";
    assert_eq!(language(c), Some(Language::C));
    assert_eq!(language(&format!("{c}//- /d.cpp\nint d();\n")), Some(Language::Cpp));
    assert_eq!(language("//- /a.h\nint a();\n"), Some(Language::C));
}

#[test]
fn file_names_are_checked_before_contents() {
    check(
        "\
//- /.venv/lib/x.py
//- /.hidden.py
//- /.env
//- /server.pem
//- /secrets.py
//- /Cargo.lock
//- /api_pb2.py
//- /bundle.min.js
//- /README.md
//- /main.rs
",
        expect![[r#"
            main.rs
            2 hidden: .hidden.py .venv
            1 in no supported language: README.md
            3 named like secrets: .env secrets.py server.pem
            2 generated: Cargo.lock api_pb2.py
            1 minified: bundle.min.js
        "#]],
    );
}

#[test]
fn dependency_and_build_folders_are_skipped() {
    check(
        "\
//- /node_modules/a/index.js
//- /env/pyvenv.cfg
//- /env/lib/a.py
//- /go/vendor/b.go
//- /target/CACHEDIR.TAG
//- /target/debug/build.rs
//- /web/package.json
//- /web/dist/index.js
//- /native/build/CMakeCache.txt
//- /native/build/check.c
//- /tools/build/make.py
//- /tools/out/main.o
//- /tools/out/main.c
//- /main.py
",
        expect![[r#"
            main.py
            tools/build/make.py
            1 in no supported language: web/package.json
            3 dependencies: env go/vendor node_modules
            4 build output: native/build target tools/out
        "#]],
    );
}

#[test]
fn nested_checkouts_and_run_folders_are_skipped() {
    check(
        "\
//- /main.py
//- /worktrees/feature/.git
gitdir: ../../.git/worktrees/feature
//- /worktrees/feature/main.py
//- /results/run.json
{\"schema\": \"1.0\", \"tool\": \"0.1\", \"suite\": \"00\"}
//- /results/copy.py
//- /race/run.json
{\"laps\": 3}
//- /race/lap.py
",
        expect![[r#"
            main.py
            race/lap.py
            1 in no supported language: race/run.json
            1 nested checkouts: worktrees/feature
            1 ghostbench runs: results
        "#]],
    );
}

#[test]
fn binary_generated_and_oversized_files_are_skipped() {
    let folder =
        folder("//- /main.py\n//- /made.go\n// Code generated by stringer. DO NOT EDIT.\npackage a\n");
    write(folder.path(), "image.c", b"P5\0\0\xff");
    write(folder.path(), "latin.java", b"// caf\xe9\n");
    write(folder.path(), "long.js", format!("x = '{}';\n", "y".repeat(ReadLimits::LINE_BYTES)));
    write(folder.path(), "huge.rs", "// x\n".repeat(ReadLimits::FILE_BYTES as usize / 5 + 1));
    expect![[r#"
        main.py
        1 binary: image.c
        1 not UTF-8: latin.java
        1 generated: made.go
        1 minified: long.js
        1 too large: huge.rs
    "#]]
    .assert_eq(&describe(&load_all(folder.path())));
}

#[test]
fn very_long_line_is_minified_if_the_size_limit_allows() {
    let folder = folder("//- /main.py\n");
    write(folder.path(), "line.js", vec![b'x'; 50 << 20]);
    assert_eq!(load_all(folder.path()).skips().count(SkipReason::Oversized), 1);
    let limits = ReadLimits { file_bytes: 64 << 20, ..ReadLimits::standard() };
    let snapshot = load(folder.path(), &limits, &|_| ()).unwrap();
    assert_eq!(snapshot.skips().count(SkipReason::Minified), 1);
}

#[test]
fn files_beyond_the_total_limit_are_skipped() {
    let folder = folder("//- /a.py\nx = 1\n//- /b.py\ny = 2\n//- /c.py\nz = 3\n");
    let limits = ReadLimits { total_bytes: 12, ..ReadLimits::standard() };
    let snapshot = load(folder.path(), &limits, &|_| ()).unwrap();
    assert_eq!(describe(&snapshot), "a.py\nb.py\n1 beyond the workspace limit: c.py\n");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::fixture::unix::is_bound_by_permissions;

    #[test]
    fn symbolic_links_are_not_followed() {
        let folder = folder("//- /main.py\n//- /lib/a.py\n");
        symlink(folder.path(), folder.path().join("lib/loop")).unwrap();
        symlink(folder.path().join("main.py"), folder.path().join("twin.py")).unwrap();
        symlink(folder.path().join("gone.py"), folder.path().join("dangling.py")).unwrap();
        expect![[r#"
            lib/a.py
            main.py
            3 symbolic links: dangling.py lib/loop twin.py
        "#]]
        .assert_eq(&describe(&load_all(folder.path())));
        for path in ["dangling.py", "lib/loop/main.py", "twin.py"] {
            assert_eq!(admits(folder.path(), path), Err(SkipReason::Symlink), "{path}");
        }
    }

    #[test]
    fn the_root_may_be_a_symbolic_link() {
        let folder = folder("//- /real/main.py\n");
        symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
        assert_eq!(load_all(&folder.path().join("link")).files().len(), 1);
        assert_eq!(admits(&folder.path().join("link"), "main.py"), Ok(()));
    }

    #[test]
    fn unreadable_paths_are_listed_with_their_error() {
        if !is_bound_by_permissions("load::unix::unreadable_paths_are_listed_with_their_error") {
            return;
        }
        let folder = folder("//- /main.py\n//- /closed.py\n//- /closed/a.py\n");
        let closed = ["closed.py", "closed"].map(|name| folder.path().join(name));
        for path in &closed {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        let snapshot = load_all(folder.path());
        fs::set_permissions(&closed[1], fs::Permissions::from_mode(0o700)).unwrap();
        let (_, count, examples) =
            snapshot.skips().iter().find(|(reason, ..)| *reason == SkipReason::Unreadable).unwrap();
        assert_eq!(count, 2);
        assert!(examples.iter().all(|skipped| skipped.error.as_ref().unwrap().contains("ermission denied")));
    }

    #[test]
    fn pipe_named_like_a_source_file_is_not_opened() {
        let folder = folder("//- /main.py\n");
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.py")).status().unwrap();
        assert!(made.success());
        assert_eq!(load_all(folder.path()).skips().count(SkipReason::Special), 1);
        assert_eq!(admits(folder.path(), "pipe.py"), Err(SkipReason::Special));
    }
}

#[test]
fn load_result_does_not_depend_on_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..200 {
        write(folder.path(), &format!("d{}/f{number}.py", number % 7), format!("x = {number}\n"));
        write(folder.path(), &format!("d{}/f{number}.txt", number % 7), "");
    }
    let one = load_on(folder.path(), 1);
    assert_eq!(one.files().len(), 200);
    assert!(one.files().is_sorted_by(|a, b| a.path < b.path));
    for threads in [2, 3, 8] {
        let several = load_on(folder.path(), threads);
        assert_eq!(describe(&several), describe(&one));
        assert_eq!(several.tree_hash(), one.tree_hash());
    }
}

#[test]
fn one_thread_is_that_of_the_caller() {
    let folder = folder("//- /a.py\n//- /lib/b.py\n");
    on_threads(1, || {
        let here = thread::current().id();
        let limits = ReadLimits::standard();
        load(folder.path(), &limits, &|progress| assert_eq!(thread::current().id(), here, "{progress:?}"))
            .unwrap();
    });
}

#[test]
fn progress_counts_every_file() {
    let folder = folder("//- /a.py\n//- /b.py\n//- /c.py\n");
    let (walked, read) = (AtomicUsize::new(0), AtomicUsize::new(0));
    load(folder.path(), &ReadLimits::standard(), &|progress| match progress {
        LoadProgress::Walking { .. } => drop(walked.fetch_add(1, Ordering::Relaxed)),
        LoadProgress::Reading { total, .. } => {
            assert_eq!(total, 3);
            read.fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!((walked.into_inner(), read.into_inner()), (3, 3));
}

#[test]
fn load_errors_name_a_remedy() {
    let folder = folder("//- /notes.txt\n//- /.env\n");
    let message = |path: &Path| {
        let error = load(path, &ReadLimits::standard(), &|_| ()).unwrap_err();
        error.to_string().replace(&folder.path().display().to_string(), "ROOT")
    };
    expect![[r#"
        no folder at ROOT/gone; check the path
        ROOT/notes.txt is a file, not a folder; pass the folder that holds it
        no source files under ROOT (skipped: 1 in no supported language, 1 named like secrets); pass a folder with files in python, typescript, tsx, javascript, java, csharp, rust, go, c, cpp, or check .gitignore and .ghostbenchignore
    "#]]
    .assert_eq(&[
        message(&folder.path().join("gone")),
        message(&folder.path().join("notes.txt")),
        message(folder.path()),
        String::new(),
    ].join("\n"));
    let empty = tempfile::tempdir().unwrap();
    let error = load(empty.path(), &ReadLimits::standard(), &|_| ()).unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::NoSource { .. }) && error.to_string().contains("skipped: nothing"),
        "{error}"
    );
}
