//! Histories of repositories made for each test.

use std::fs;

use tempfile::TempDir;

use super::*;

struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let repository = Repository(tempfile::tempdir().unwrap());
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output =
            git_command(self.root()).args(author).args(args).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[track_caller]
    fn commit(&self, files: &[(&str, &[u8])]) -> String {
        for (path, bytes) in files {
            let path = self.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=a"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn history(&self) -> GitHistory {
        GitHistory::open(self.root()).unwrap()
    }

    /// Returns the changes of the newest commit.
    fn changes(&self) -> CommitChanges {
        let history = self.history();
        let commits = history.commits("HEAD").unwrap();
        history.changes(&[&commits[0]]).unwrap().remove(0)
    }
}

fn text(history: &mut GitHistory, path: &str, id: &str) -> String {
    match history.read(path, id).unwrap().unwrap() {
        BlobText::Source(file) => file.text.to_string(),
        BlobText::Manifest(manifest) => manifest.text.to_string(),
    }
}

#[test]
fn commits_are_listed_with_their_parents_and_merges() {
    let repository = Repository::new();
    let first = repository.commit(&[("a.py", b"x = 1\n")]);
    repository.git(&["checkout", "--quiet", "-b", "side"]);
    let side = repository.commit(&[("b.py", b"y = 1\n")]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.commit(&[("c.py", b"z = 1\n")]);
    repository.git(&["merge", "--quiet", "--no-ff", "--message=m", "side"]);
    let history = repository.history();
    let commits = history.commits("HEAD").unwrap();
    assert_eq!((commits.len(), commits.iter().filter(|commit| commit.is_merge).count()), (4, 1));
    let side = commits.iter().find(|commit| commit.id == side).unwrap();
    assert_eq!((side.parent.as_deref(), &*side.author), (Some(&*first), "a@example.org"));
    assert!(side.time > 1_600_000_000);
    assert_eq!(history.commits(&format!("{first}..HEAD")).unwrap().len(), 3);
    assert_eq!(history.commits("HEAD..HEAD").unwrap(), []);
    assert!(!history.is_shallow());
}

#[test]
fn changes_have_the_objects_before_and_after() {
    let repository = Repository::new();
    repository.commit(&[("a.py", b"x = 1\n"), ("old.py", "def f():\n    return 1\n".repeat(9).as_bytes())]);
    fs::rename(repository.root().join("old.py"), repository.root().join("new.py")).unwrap();
    repository.commit(&[("a.py", b"x = 2\n"), ("b.py", b"y = 1\n")]);
    let (mut history, CommitChanges { files, is_truncated }) = (repository.history(), repository.changes());
    let paths: Vec<(&str, Option<&str>)> =
        files.iter().map(|file| (&*file.path, file.old_path.as_deref())).collect();
    assert_eq!(paths, [("a.py", None), ("b.py", None), ("new.py", Some("old.py"))]);
    assert!(!is_truncated && files[1].before.is_none());
    assert_eq!(text(&mut history, "a.py", files[0].before.as_ref().unwrap()), "x = 1\n");
    assert_eq!(text(&mut history, "a.py", files[0].after.as_ref().unwrap()), "x = 2\n");
    let listed = history.files("HEAD").unwrap();
    assert_eq!(listed.iter().map(|(path, _)| &**path).collect::<Vec<_>>(), ["a.py", "b.py", "new.py"]);
}

#[test]
fn folder_inside_a_repository_has_its_own_history() {
    let repository = Repository::new();
    repository.commit(&[("src/a.py", b"x = 1\n"), ("b.py", b"y = 1\n")]);
    let history = GitHistory::open(&repository.root().join("src")).unwrap();
    let commits = history.commits("HEAD").unwrap();
    let changes = history.changes(&[&commits[0]]).unwrap().remove(0);
    assert_eq!(changes.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["a.py"]);
    assert_eq!(history.files("HEAD").unwrap()[0].0, "a.py");
}

#[test]
fn files_that_a_workspace_would_skip_are_skipped_with_the_same_reason() {
    let repository = Repository::new();
    let long = vec![b'a'; ReadLimits::FILE_BYTES as usize + 1];
    repository.commit(&[
        ("a.py", b"\0\0"),
        ("b.py", b"x = '\xff'\n"),
        ("c.py", &long),
        ("d.py", b"# @generated\n"),
    ]);
    let (mut history, changes) = (repository.history(), repository.changes());
    let reason =
        |file: &BlobChange| history.read(&file.path, file.after.as_ref().unwrap()).unwrap().unwrap_err();
    assert_eq!(
        changes.files.iter().map(reason).collect::<Vec<_>>(),
        [SkipReason::Binary, SkipReason::InvalidUtf8, SkipReason::Oversized, SkipReason::Generated]
    );
    assert_eq!(history.read("a.txt", "0").unwrap().unwrap_err(), SkipReason::UnsupportedLanguage);
    assert_eq!(history.read("a.py", &"0".repeat(40)).unwrap().unwrap_err(), SkipReason::Unreadable);
}

#[test]
fn links_and_submodules_have_no_text() {
    let repository = Repository::new();
    let id = repository.commit(&[("a.py", b"x = 1\n")]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},sub.py")]);
    let link = repository.git(&["hash-object", "-w", "a.py"]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{link},link.py")]);
    repository.git(&["commit", "--quiet", "--message=b"]);
    assert!(repository.changes().files.iter().all(|file| file.after.is_none()));
    assert_eq!(repository.history().files("HEAD").unwrap().len(), 1);
}

#[test]
fn commit_with_many_files_is_truncated() {
    let repository = Repository::new();
    let names: Vec<String> = (0..=MAX_CHANGED_FILES).map(|number| format!("m{number}.py")).collect();
    repository.commit(&names.iter().map(|name| (&**name, &b"x = 1\n"[..])).collect::<Vec<_>>());
    let changes = repository.changes();
    assert!(changes.is_truncated && changes.files.len() == MAX_CHANGED_FILES);
}

#[test]
fn ranges_are_never_options() {
    let repository = Repository::new();
    repository.commit(&[("a.py", b"x = 1\n")]);
    let output = repository.root().join("written");
    for range in [format!("--output={}", output.display()), "-1".to_owned(), "nope".to_owned(), String::new()]
    {
        let error = repository.history().commits(&range).unwrap_err();
        assert!(matches!(error, GitHistoryError::Range { .. }), "{range}: {error}");
    }
    assert!(!output.exists());
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(GitHistory::open(folder.path()), Err(GitHistoryError::NoRepository { .. })));
    assert!(matches!(
        GitHistory::open(&folder.path().join("absent")),
        Err(GitHistoryError::NoRepository { .. })
    ));
}

#[cfg(unix)]
#[test]
fn programs_that_a_repository_configures_are_not_started() {
    use std::os::unix::fs::PermissionsExt;

    let repository = Repository::new();
    repository.commit(&[("a.py", b"x = 1\n"), (".gitattributes", b"*.py diff=own filter=own\n")]);
    let (program, started) = (repository.root().join("program"), repository.root().join("started"));
    fs::write(&program, format!("#!/bin/sh\necho >> '{}'\ncat\n", started.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let program = program.display().to_string();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "diff.external",
        "diff.own.command",
        "diff.own.textconv",
        "filter.own.smudge",
        "filter.own.clean",
        "gpg.program",
        "pager.rev-list",
        "pager.ls-tree",
    ] {
        repository.git(&["config", key, &program]);
    }
    repository.git(&["config", "log.showSignature", "true"]);
    repository.git(&["config", "remote.origin.url", "ext::program"]);
    repository.git(&["config", "remote.origin.promisor", "true"]);
    repository.git(&["config", "extensions.partialClone", "origin"]);
    let (mut history, changes) = (repository.history(), repository.changes());
    let file = changes.files.iter().find(|file| file.path == "a.py").unwrap();
    assert_eq!(text(&mut history, "a.py", file.after.as_ref().unwrap()), "x = 1\n");
    history.files("HEAD").unwrap();
    assert_eq!(history.read("a.py", &"0".repeat(40)).unwrap().unwrap_err(), SkipReason::Unreadable);
    assert!(!started.exists());
}

#[test]
fn shallow_clone_is_recognized() {
    let repository = Repository::new();
    repository.commit(&[("a.py", b"x = 1\n")]);
    repository.commit(&[("a.py", b"x = 2\n")]);
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let source = format!("file://{}", repository.root().display());
    let mut command = std::process::Command::new("git");
    command.args(["clone", "--quiet", "--depth=1"]).arg(source).arg(&clone);
    assert!(command.status().unwrap().success());
    let history = GitHistory::open(&clone).unwrap();
    assert!(history.is_shallow());
    assert_eq!(history.commits("HEAD").unwrap()[0].parent, None);
}
