//! Folders made for a test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Writes files given as `//- /path` sections.
pub(crate) fn folder(fixture: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for section in fixture.split("//- /").skip(1) {
        let (path, text) = section.split_once('\n').unwrap();
        write(folder.path(), path, text);
    }
    folder
}

pub(crate) fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Tests that run once more under special circumstances.
#[cfg(unix)]
pub(crate) mod unix {
    use std::env;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// Set in a process that runs a single test under special circumstances.
    const INSIDE: &str = "GHOSTBENCH_TEST_INSIDE";

    /// Whether permissions bind whoever runs the test called `test`. Root is not bound, and gets the test run by somebody who is.
    pub(crate) fn is_bound_by_permissions(test: &str) -> bool {
        let folder = folder("//- /closed\n");
        let closed = folder.path().join("closed");
        let mut permissions = fs::metadata(&closed).unwrap().permissions();
        permissions.set_mode(0o000);
        fs::set_permissions(&closed, permissions).unwrap();
        fs::read(&closed).is_err() || is_inside(test, &["unshare", "--user"])
    }

    /// Runs the test called `test` once more, in a process that `command` starts. True in that process; false in the one that started
    /// it, which has nothing else to do, and where there is no such command.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn is_inside(test: &str, command: &[&str]) -> bool {
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
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        false
    }
}
