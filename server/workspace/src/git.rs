//! Determines the commit of a workspace with the git command, which `git_history` uses too.
//!
//! Without git, a repository, a commit or an answer in time, the result is the same: no state.

use std::io::Read;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

#[cfg(unix)]
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// A status of the largest repositories takes a second or two; an unresponsive file system must not block a run.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Variables that git sets for its hooks, which would make it use another repository.
const HOOK_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Git state of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitState {
    /// Full hash of the checked-out commit.
    pub commit: String,
    /// Whether files under the root differ from that commit, new ones included.
    pub dirty: bool,
    /// Name of the repository: the last part of the address of its remote `origin`, else of its folder.
    pub repository: String,
}

/// Reads the git state of the folder `root`; none if the repository around it ignores it, because no commit has its files then.
pub fn git_state(root: &Path) -> Option<GitState> {
    let commit = git(root, &["rev-parse", "--verify", "HEAD"])?;
    let is_ignored = git(root, &["check-ignore", "--quiet", "."]).is_some();
    if is_ignored {
        return None;
    }
    let status = git(root, &["status", "--porcelain", "--ignore-submodules=all", "--", "."])?;
    let address = git(root, &["config", "--get", "remote.origin.url"])
        .or_else(|| git(root, &["rev-parse", "--show-toplevel"]))?;
    Some(GitState { commit, dirty: !status.is_empty(), repository: repository_name(&address).to_owned() })
}

/// Returns the last part of a URL, an scp-like address or a path. Only this part is kept: addresses may contain passwords.
fn repository_name(address: &str) -> &str {
    let address = address.trim_end_matches(['/', '\\']);
    let name = address.rsplit(['/', '\\', ':']).next().unwrap_or(address);
    name.strip_suffix(".git").unwrap_or(name)
}

/// Returns a git command in the folder `root` that starts no program that the repository configures: no file monitor, and no
/// transport for objects that a partial clone lacks. Locks are off so as not to disturb the user's own git.
pub(crate) fn git_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-pager", "-c", "core.fsmonitor=false", "-C"]).arg(root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let settings = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", ""),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C"),
    ];
    command.envs(settings);
    for variable in HOOK_VARIABLES {
        command.env_remove(variable);
    }
    command
}

/// Runs git and returns its trimmed output; `None` if it fails or takes too long.
pub(crate) fn git(root: &Path, args: &[&str]) -> Option<String> {
    let mut command = git_command(root);
    command.args(args);
    let mut child = command.spawn().ok()?;
    let text = child.stdout.take().and_then(|output| read_within(GIT_TIMEOUT, output));
    if text.is_none() {
        // It may just have exited.
        drop(child.kill());
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    text.filter(|_| succeeded).map(|text| text.trim_end().to_owned())
}

/// Reads a program's output to its end; `None` after the time limit, or if it is not UTF-8. Starts no thread, because the language server
/// runs git after each change.
#[cfg(unix)]
fn read_within(limit: Duration, mut output: ChildStdout) -> Option<String> {
    let end = Instant::now() + limit;
    let (mut text, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok()?;
        match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return None,
        }
        match output.read(&mut part).ok()? {
            0 => return String::from_utf8(text).ok(),
            read => text.extend_from_slice(&part[..read]),
        }
    }
}

/// Reads a program's output to its end; `None` after the time limit, or if it is not UTF-8. Only a thread can wait for a pipe here.
#[cfg(not(unix))]
fn read_within(limit: Duration, mut output: ChildStdout) -> Option<String> {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        // After a timeout the receiver is gone.
        drop(sender.send(read.map(|_| text)));
    });
    done.recv_timeout(limit).ok()?.ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn git_state_has_commit_and_dirty_flag() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(&root).unwrap();
        assert_eq!(git_state(&root), None, "no repository");
        git(&root, &["init", "--quiet"]).unwrap();
        assert_eq!(git_state(&root), None, "no commit");
        fs::write(root.join("a.py"), "x = 1\n").unwrap();
        git(&root, &["add", "."]).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        git(&root, &[&author[..], &["commit", "--quiet", "--message=a"]].concat()).unwrap();
        let clean = git_state(&root).unwrap();
        assert_eq!((clean.commit.len(), clean.dirty, clean.repository.as_str()), (40, false, "project"));
        fs::write(root.join("b.py"), "y = 2\n").unwrap();
        assert_eq!(git_state(&root), Some(GitState { dirty: true, ..clean }));
        fs::write(root.join(".gitignore"), "/vendor/\n").unwrap();
        for folder in ["vendor/lib", "own"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        assert_eq!(git_state(&root.join("vendor/lib")), None, "not part of the commit");
        assert!(git_state(&root.join("own")).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn output_is_read_to_its_end_or_to_the_time_limit() {
        let read = |script: &str, limit: Duration| {
            let mut shell = Command::new("sh");
            let mut child = shell.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            let text = read_within(limit, child.stdout.take().unwrap());
            drop(child.kill());
            child.wait().unwrap();
            text
        };
        let long = Duration::from_secs(60);
        let more_than_a_pipe_holds = read("yes | head -c 300000", long);
        assert_eq!(more_than_a_pipe_holds.map(|text| text.len()), Some(300_000));
        assert_eq!(read(r"printf '\377'", long), None, "not UTF-8");
        assert_eq!(read("echo begun; exec sleep 60", Duration::from_millis(100)), None);
    }

    #[test]
    fn repository_name_is_the_last_part_of_its_url() {
        for (address, name) in [
            ("https://user:password@example.org/pallets/flask.git", "flask"),
            ("git@example.org:flask.git", "flask"),
            ("git@example.org:pallets/flask", "flask"),
            ("/home/someone/flask/", "flask"),
            ("C:\\code\\flask", "flask"),
        ] {
            assert_eq!(repository_name(address), name);
        }
    }
}
