//! Suites that the user opened in a folder: files of mined or imported cases. They are read at their place and never changed.
//!
//! A suite is untrusted data: rows, cases and problems are bounded, and no path of a case is read.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use replay::{DataFolder, ReplayError};

use crate::locks::lock;
use crate::recorded_cases::RecordedCases;

/// Maximum number of open suites of a folder; opening another one closes the one that was opened first. Each keeps its cases in memory
/// without their texts.
const MAX_OPEN_SUITES: usize = 8;

/// The open suites of a folder.
pub struct OpenedSuites {
    data: DataFolder,
    root: PathBuf,
    /// In the order of opening.
    suites: Mutex<Vec<(PathBuf, Arc<RecordedCases>)>>,
}

impl OpenedSuites {
    pub(crate) fn new(data: DataFolder, root: PathBuf) -> OpenedSuites {
        OpenedSuites { data, root, suites: Mutex::default() }
    }

    /// Opens the suite in a file, or returns it if it is open. Waits for the disk.
    ///
    /// # Errors
    ///
    /// There is no such file, or it is a folder or a device.
    pub fn open(&self, file: &Path) -> Result<Arc<RecordedCases>, ReplayError> {
        let metadata =
            fs::metadata(file).map_err(|reason| ReplayError::Read { path: file.to_owned(), reason })?;
        if !metadata.is_file() {
            let reason = io::Error::new(ErrorKind::InvalidInput, "it is not a file");
            return Err(ReplayError::Read { path: file.to_owned(), reason });
        }
        if let Some(suite) = self.get(file) {
            return Ok(suite);
        }
        let suite = Arc::new(RecordedCases::of_suite_file(self.data.clone(), self.root.clone(), file));
        let mut suites = lock(&self.suites);
        if suites.len() == MAX_OPEN_SUITES {
            suites.remove(0);
        }
        suites.push((file.to_owned(), Arc::clone(&suite)));
        Ok(suite)
    }

    /// Returns the open suite in a file.
    pub fn get(&self, file: &Path) -> Option<Arc<RecordedCases>> {
        let suites = lock(&self.suites);
        suites.iter().find(|(path, _)| path == file).map(|(_, suite)| Arc::clone(suite))
    }

    /// Returns the open suites in the order of opening.
    pub fn all(&self) -> Vec<Arc<RecordedCases>> {
        lock(&self.suites).iter().map(|(_, suite)| Arc::clone(suite)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_suite_is_closed_for_one_more_than_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let suites = OpenedSuites::new(DataFolder::new(folder.path().join("data")), folder.path().to_owned());
        let file = |number: usize| folder.path().join(format!("{number}.jsonl"));
        for number in 0..=MAX_OPEN_SUITES {
            fs::write(file(number), "").expect("ours");
            suites.open(&file(number)).expect("a file");
            suites.open(&file(number)).expect("open already");
        }
        assert_eq!(suites.all().len(), MAX_OPEN_SUITES);
        assert!(suites.get(&file(0)).is_none() && suites.get(&file(1)).is_some());
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let suites = OpenedSuites::new(DataFolder::new(folder.path().join("data")), folder.path().to_owned());
        for path in [folder.path().to_owned(), folder.path().join("missing.jsonl")] {
            let refused = suites.open(&path).err().expect("refused").to_string();
            assert!(refused.contains(&*path.to_string_lossy()), "{refused}");
        }
    }
}
