//! Changes on disk are followed with and without notifications from the client, and failures are reported once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::lsp::{Client, ClientSetup};
use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use super::handshake::wait_until_ready;
use super::retrieval::{QUESTION, context, editor, has, watching};

/// An engine that answers with the files of its context.
const RULES: &str = r#"[{"path": "", "context": true}]"#;

/// The log message after a folder was read.
const READ: &str = ": read folder=";

const GADGETS: &str = "def make_gadget(size):\n    return size\n";

fn project() -> Project {
    Project::new("//- /main.py\nsize = 1\n")
}

/// Path of the log of a project's servers.
pub(super) fn log(editor: &Editor) -> PathBuf {
    editor.status()["logFile"].as_str().expect("there is a log").into()
}

/// Finds the file of this name below a folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let here = entries.iter().find(|path| path.ends_with(name)).cloned();
    here.or_else(|| entries.iter().find_map(|path| find(path, name)))
}

/// Number of log lines with these words.
pub(super) fn count(log: &Path, words: &str) -> usize {
    fs::read_to_string(log).unwrap_or_default().lines().filter(|line| line.contains(words)).count()
}

fn state(editor: &Editor) -> String {
    editor.status()["folders"][0]["state"].as_str().expect("a folder has a state").to_owned()
}

fn finds(editor: &Editor, path: &str) -> bool {
    has(&context(editor, QUESTION), path)
}

#[test]
fn client_watcher_is_registered_for_all_files() {
    let project = project();
    project.write("old/gadgets.py", GADGETS);
    let editor = editor(&project, watching);
    let registered = editor.client.expect_request("client/registerCapability");
    // A pattern of source files would not match a folder, nor an ignore file.
    let watchers = &registered["registrations"][0]["registerOptions"]["watchers"];
    assert_eq!(*watchers, json!([{"globPattern": "**/*"}]));
    wait_until("it is found", || finds(&editor, "old/gadgets.py"));
    fs::rename(project.root().join("old"), project.root().join("new")).expect("it was written");
    editor.watched("old", 3);
    editor.watched("new", 1);
    wait_until("the folder is followed", || finds(&editor, "new/gadgets.py"));
    assert!(!finds(&editor, "old/gadgets.py"));
    project.write(".gitignore", "/new\n");
    editor.watched(".gitignore", 1);
    wait_until("it is ignored", || !finds(&editor, "new/gadgets.py"));
}

#[test]
fn changes_before_watcher_registration_are_detected() {
    let project = project();
    let (path, home) = (project.root().join("gadgets.py"), project.home());
    // The client delays its response; it does not report earlier events.
    let client = watching(setup(&project)).answer("client/registerCapability", move |_| {
        wait_until("the folder is read", || find(&home, "lsp.log").is_some_and(|log| count(&log, READ) == 1));
        fs::write(&path, GADGETS).expect("the workspace is ours");
        Value::Null
    });
    let editor = Editor::start(&project, &["--scripted", RULES], client);
    wait_until("the text written in between is found", || finds(&editor, "gadgets.py"));
}

#[test]
fn server_watches_if_the_client_rejects_registration() {
    let project = project();
    let editor = editor(&project, |setup| watching(setup).refuse("client/registerCapability"));
    project.write("deep/gadgets.py", GADGETS);
    wait_until("it is found", || finds(&editor, "deep/gadgets.py"));
}

#[test]
fn server_watches_if_registration_is_never_answered() {
    let project = project();
    let editor = editor(&project, |setup| watching(setup).ignore("client/registerCapability"));
    project.write("deep/gadgets.py", GADGETS);
    wait_until("it is found", || finds(&editor, "deep/gadgets.py"));
}

/// A root folder that is removed, and restored with changes.
#[track_caller]
fn check_root_reappears(client: impl FnOnce(ClientSetup) -> ClientSetup) {
    let project = project();
    project.write("old.py", GADGETS);
    let arguments = ["--log-level", "debug", "--scripted", RULES];
    let editor = Editor::start(&project, &arguments, client(setup(&project)));
    wait_until_ready(&editor);
    let log = log(&editor);
    for round in 1..=2 {
        fs::rename(project.root(), project.sibling_path("away")).expect("the temporary folder is ours");
        editor.watched("main.py", 3);
        wait_until("it is missed", || state(&editor) == "failed");
        // The old index is still there.
        assert!(finds(&editor, "old.py"));
        let away = project.sibling_path("away").join(format!("new_{round}.py"));
        fs::write(away, GADGETS.replace("gadget", &format!("gadget_{round}"))).expect("it is ours");
        let looked = count(&log, "looked");
        wait_until("it is looked for again and again", || count(&log, "looked") > looked + 1);
        fs::rename(project.sibling_path("away"), project.root()).expect("the temporary folder is ours");
        wait_until("it can be read", || state(&editor) == "ready");
        let question = format!("size = 3\ngadget = make_gadget_{round}");
        assert!(has(&context(&editor, &question), &format!("new_{round}.py")));
        let reported = count(&log, "cannot be read");
        assert_eq!(
            reported,
            round,
            "it is reported once: {}",
            fs::read_to_string(&log).expect("it is there")
        );
    }
}

#[test]
fn removed_root_is_indexed_again_when_restored() {
    check_root_reappears(|setup| setup);
}

#[test]
fn restored_root_is_detected_without_client_events() {
    check_root_reappears(watching);
}

#[test]
fn restored_root_is_watched_again() {
    let project = project();
    let editor = editor(&project, |setup| setup);
    fs::rename(project.root(), project.sibling_path("away")).expect("the temporary folder is ours");
    wait_until("it is missed", || state(&editor) == "failed");
    fs::rename(project.sibling_path("away"), project.root()).expect("the temporary folder is ours");
    wait_until("it can be read", || state(&editor) == "ready");
    project.write("deep/gadgets.py", GADGETS);
    wait_until("it is found", || finds(&editor, "deep/gadgets.py"));
}

#[test]
fn missing_workspace_folder_is_indexed_once_created() {
    let project = project();
    let later = project.sibling_path("later");
    let client = setup(&project);
    let client = ClientSetup::folder(client, &later);
    let editor = Editor::start(&project, &["--scripted", RULES], client);
    wait_until_ready(&editor);
    let state = || editor.status()["folders"][1]["state"].clone();
    assert_eq!(state(), "failed");
    fs::create_dir(&later).expect("the temporary folder is ours");
    fs::write(later.join("gadgets.py"), GADGETS).expect("the temporary folder is ours");
    wait_until("it is read", || state() == "ready");
    let question = tests::lsp::uri(&later.join("main.py"));
    let found = super::retrieval::context_at(&editor, &question, QUESTION, QUESTION.len());
    assert!(has(&found, "gadgets.py"), "{found:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn server_polls_when_the_watch_limit_is_exhausted() {
    let limit = "echo 3 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let behind = ["unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh"];
    let works = Command::new(behind[0]).args(&behind[1..]).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: limits on watches need user namespaces");
    }
    let project = project();
    let server = project.ghostbench("lsp");
    let mut command = project.command(Path::new(behind[0]), "");
    command.args(&behind[1..]).arg(server.get_program()).args(server.get_args()).args(["--scripted", RULES]);
    let client = setup(&project).allow("window/logMessage");
    let editor = Editor::initialized(&project, Client::spawn(command, client));
    wait_until_ready(&editor);
    for name in ["one", "two", "three", "four"] {
        let path = format!("{name}/gadgets.py");
        project.write(&path, GADGETS.replace("gadget", &format!("gadget_{name}")));
        wait_until("the folder is found", || {
            has(&context(&editor, &format!("size = 3\ngadget = make_gadget_{name}")), &path)
        });
    }
    assert_eq!(count(&log(&editor), "watches no more folders"), 1, "it is reported once");
}

#[test]
fn corpus_is_built_only_for_engines_that_read_it() {
    let project = project();
    let scripted = editor(&project, |setup| setup);
    assert_eq!(count(&log(&scripted), "tokens built"), 0);
    assert_eq!(count(&log(&scripted), READ), 1);
    drop(scripted);
    let builtin = Editor::new(&project);
    wait_until_ready(&builtin);
    assert_eq!(count(&log(&builtin), "tokens built"), 1);
}

/// No watcher reports these: they are above the folder, in its repository, or in an excluded folder.
#[cfg(unix)]
#[test]
fn changes_unseen_by_watchers_are_detected() {
    let project = project();
    let away = project.root().with_file_name("tree");
    fs::rename(project.root(), &away).expect("the temporary folder is ours");
    std::os::unix::fs::symlink(&away, project.root()).expect("the temporary folder is ours");
    project.write("build/gadgets.py", GADGETS);
    project.write("build/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
    fs::create_dir_all(project.sibling_path(".git/info")).expect("the temporary folder is ours");
    let editor = editor(&project, watching);
    // Continuous saving must not delay the detection.
    let notices = |is_found: bool, path: &str| {
        wait_until("it is noticed", || {
            editor.watched("main.py", 2);
            finds(&editor, path) == is_found
        });
    };
    assert!(!finds(&editor, "build/gadgets.py"));
    fs::remove_file(project.root().join("build/CACHEDIR.TAG")).expect("it was written");
    notices(true, "build/gadgets.py");
    fs::write(project.sibling_path(".git/info/exclude"), "gadgets.py\n").expect("it is ours");
    notices(false, "build/gadgets.py");
    fs::remove_file(project.sibling_path(".git/info/exclude")).expect("it was written");
    notices(true, "build/gadgets.py");
    fs::write(project.sibling_path(".gitignore"), "build/\n").expect("it is ours");
    notices(false, "build/gadgets.py");
    let other = project.root().with_file_name("other");
    fs::create_dir_all(&other).expect("the temporary folder is ours");
    fs::write(other.join("gadgets.py"), GADGETS).expect("it is ours");
    fs::hard_link(other.join("gadgets.py"), project.sibling_path("outside.py")).expect("it is ours");
    fs::remove_file(project.root()).expect("it is a link");
    std::os::unix::fs::symlink(&other, project.root()).expect("the temporary folder is ours");
    notices(true, "gadgets.py");
    fs::write(project.sibling_path("outside.py"), "total = 1\n").expect("it is ours");
    notices(false, "gadgets.py");
}
