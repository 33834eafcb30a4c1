//! The latest trees of real histories.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All histories; together ten languages.
const HISTORIES: [&str; 8] =
    ["JSON-java", "click", "cobra", "dotnet", "fd", "hiredis", "react-redux", "spdlog"];

/// Checks out the heads of all histories (`GHOSTBENCH_HISTORIES`) below `folder`; returns them by name. Prints a message and
/// returns `None` if the variable is unset.
///
/// # Panics
///
/// If one of them is missing or cannot be read.
pub fn check_out_histories(folder: &Path) -> Option<Vec<(String, PathBuf)>> {
    HISTORIES.iter().map(|name| Some(((*name).to_owned(), check_out_history(folder, name)?))).collect()
}

/// As [`check_out_histories`], for one of them.
///
/// # Panics
///
/// If it is missing or cannot be read.
pub fn check_out_history(folder: &Path, name: &str) -> Option<PathBuf> {
    let Some(histories) = env::var_os("GHOSTBENCH_HISTORIES").map(PathBuf::from) else {
        let _ = writeln!(io::stderr(), "skipped: GHOSTBENCH_HISTORIES is not set");
        return None;
    };
    let packed = histories.join(format!("{name}.git.tar"));
    assert!(packed.is_file(), "{} is missing", packed.display());
    run(Command::new("tar").arg("xf").arg(&packed).arg("-C").arg(folder));
    let (tree, bare) = (folder.join(name), folder.join(format!("{name}.git")));
    run(Command::new("git").args(["clone", "--quiet"]).arg(bare).arg(&tree));
    Some(tree)
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
