//! The trees that cases are mined from: the newest ones of real histories.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The histories that cases are mined from; together ten languages.
const HISTORIES: [&str; 8] =
    ["JSON-java", "click", "cobra", "dotnet", "fd", "hiredis", "react-redux", "spdlog"];

/// Names a folder of source trees that are measured in place of the histories: other code than the floors were set on.
const OTHER_TREES: &str = "GHOSTBENCH_ORACLE_TREES";

/// Whether the trees are not those that the floors were set on.
pub(crate) fn are_others() -> bool {
    env::var_os(OTHER_TREES).is_some()
}

/// The trees in the folder that [`OTHER_TREES`] names, by name.
fn other_trees() -> Option<Vec<(String, PathBuf)>> {
    let folder = PathBuf::from(env::var_os(OTHER_TREES)?);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut trees: Vec<(String, PathBuf)> = paths
        .filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), path)))
        .filter(|(_, path)| path.is_dir())
        .collect();
    trees.sort();
    Some(trees)
}

/// The heads of all histories, checked out below `folder`, by name; `None`, with a word, where there are none.
pub(crate) fn check_out(folder: &Path) -> Option<Vec<(String, PathBuf)>> {
    if let Some(trees) = other_trees() {
        return Some(trees);
    }
    let Some(histories) = env::var_os("GHOSTBENCH_HISTORIES").map(PathBuf::from) else {
        eprintln!("skipped: GHOSTBENCH_HISTORIES is not set");
        return None;
    };
    let check_out = |name: &'static str| {
        let packed = histories.join(format!("{name}.git.tar"));
        assert!(packed.is_file(), "{} is missing", packed.display());
        run(Command::new("tar").arg("xf").arg(&packed).arg("-C").arg(folder));
        let tree = folder.join(name);
        let bare = folder.join(format!("{name}.git"));
        run(Command::new("git").args(["clone", "--quiet"]).arg(bare).arg(&tree));
        (name.to_owned(), tree)
    };
    Some(HISTORIES.map(check_out).to_vec())
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
