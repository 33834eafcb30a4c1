//! Folders created for a test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Writes files given as `//- /path` sections.
pub(crate) fn folder(fixture: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in test_fixture::files(fixture) {
        write(folder.path(), path, text);
    }
    folder
}

pub(crate) fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Runs `run` in a pool of this number of threads.
pub(crate) fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

/// Tests that run again in special environments.
#[cfg(unix)]
pub(crate) mod unix {
    use std::env;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// Set in a process that runs a single test in a special environment.
    const INSIDE: &str = "GHOSTBENCH_TEST_INSIDE";

    /// Whether permissions are enforced for the test called `test`. They are not for root, which runs the test again as another
    /// user.
    pub(crate) fn is_bound_by_permissions(test: &str) -> bool {
        let folder = folder("//- /closed\n");
        let closed = folder.path().join("closed");
        let mut permissions = fs::metadata(&closed).unwrap().permissions();
        permissions.set_mode(0o000);
        fs::set_permissions(&closed, permissions).unwrap();
        fs::read(&closed).is_err() || runs_inside(test, &["unshare", "--user"])
    }

    /// Runs the test called `test` again, in a process started by `command`. Returns true in that process; returns false in the
    /// parent, which has nothing else to do, and if the command does not exist.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn runs_inside(test: &str, command: &[&str]) -> bool {
        if env::var_os(INSIDE).is_some() {
            return true;
        }
        let behind = |program: &Path| {
            let mut behind = Command::new(command[0]);
            behind.args(&command[1..]).arg(program);
            behind
        };
        if !behind(Path::new("true")).output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: `{}` does not work here", command.join(" "));
            return false;
        }
        let output =
            behind(&env::current_exe().unwrap()).args(["--exact", test]).env(INSIDE, "1").output().unwrap();
        let response =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && response.contains("1 passed"), "{response}");
        false
    }
}
