//! The trees from which cases are mined: the latest ones of real histories.

use std::env;
use std::path::{Path, PathBuf};

use tests::check_out_histories;

/// Environment variable with a folder of other source trees: code that was not used to set the floors.
const OTHER_TREES: &str = "GHOSTBENCH_ORACLE_TREES";

/// Whether the trees differ from those that were used to set the floors.
pub(crate) fn are_others() -> bool {
    env::var_os(OTHER_TREES).is_some()
}

/// Returns the trees in the folder of [`OTHER_TREES`], by name.
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

/// Returns the trees by name; prints a message and returns `None` if there are none.
pub(crate) fn check_out(folder: &Path) -> Option<Vec<(String, PathBuf)>> {
    other_trees().or_else(|| check_out_histories(folder))
}
