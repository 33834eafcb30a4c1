//! A workspace in a temporary folder with its own home folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{ProcessOutcome, RunningProcess};

/// Returns the built `ghostbench`: from the environment variable `GHOSTBENCH_BIN`, or the one beside this test.
///
/// # Panics
///
/// If it has not been built.
#[track_caller]
pub fn binary() -> PathBuf {
    let binary = env::var_os("GHOSTBENCH_BIN").map_or_else(
        || {
            let this_test = env::current_exe().expect("a running test has a path");
            let folder = this_test.parent().and_then(Path::parent).expect("tests lie in target/*/deps");
            folder.join(format!("ghostbench{}", env::consts::EXE_SUFFIX))
        },
        PathBuf::from,
    );
    assert!(binary.is_file(), "{} is missing: run `cargo build -p cli`", binary.display());
    binary
}

/// A workspace and Ghostbench's files about it.
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a workspace with the files of a fixture: each begins with a line `//- /path`.
    ///
    /// # Panics
    ///
    /// If the fixture does not start with such a line.
    #[track_caller]
    pub fn new(fixture: &str) -> Project {
        let project = Project { folder: TempDir::new().expect("there is room for temporary files") };
        fs::create_dir_all(project.root()).expect("the temporary folder is ours");
        fs::create_dir_all(project.home()).expect("the temporary folder is ours");
        for (path, text) in test_fixture::files(fixture) {
            project.write(path, text);
        }
        project
    }

    /// Creates a workspace of Python modules that are similar enough for any engine to have suggestions: `modules` files of
    /// some 60 lines.
    pub fn generated(modules: usize) -> Project {
        let project = Project::new("");
        for number in 0..modules {
            project.write(&format!("shop/module_{number}.py"), python_module(number));
        }
        project
    }

    /// Returns the folder of the workspace.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Returns the home folder of the binary.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns a path outside of the workspace.
    pub fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the workspace and returns its path.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("the temporary folder is ours");
        fs::write(&path, content).expect("the temporary folder is ours");
        path
    }

    /// `ghostbench` in the workspace's folder, with arguments as typed in a shell.
    #[track_caller]
    pub fn ghostbench(&self, arguments: &str) -> Command {
        self.command(&binary(), arguments)
    }

    /// As [`Project::ghostbench`], for a copy of the binary.
    pub fn command(&self, program: &Path, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).args(arguments.split_whitespace());
        for variable in ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] {
            command.env(variable, self.home());
        }
        command.env("RUST_BACKTRACE", "0");
        for variable in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs `ghostbench` to its end.
    #[track_caller]
    pub fn run(&self, arguments: &str) -> ProcessOutcome {
        RunningProcess::start(self.ghostbench(arguments)).wait()
    }
}

/// A module with functions, branches, loops and calls, whose names differ between modules.
fn python_module(number: usize) -> String {
    let mut module = format!("import math\nfrom shop.module_{} import total_0\n", number / 2);
    for function in 0..6 {
        module.push_str(&format!(
            "\n\ndef total_{function}(orders_{number}, limit={number}):\n    \
             \"\"\"Sum the prices of the orders below the limit.\"\"\"\n    \
             total = 0\n    \
             for order in orders_{number}:\n        \
             price = order.price * {function}\n        \
             if price < limit:\n            \
             total += math.floor(price)\n            \
             print(total, price)\n    \
             return total\n"
        ));
    }
    module
}
