//! Early exits of native test programs, for runners that know exit codes only: code that calls `exit(0)` ends a test as if it had passed.
//!
//! A library that is loaded into each process notes the programs of the workspace that start and those that return from `main`. Without a
//! C compiler, with static programs, or elsewhere than on Linux nothing is known. Code that forges the notes is believed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::outcome::CommandOutcome;
use crate::spec::{ChangedFile, ReportFiles};

/// Folder of our files in the copy of the workspace.
pub(super) const FOLDER: &str = ".ghostbench-tests";

const SOURCE: &str = include_str!("returns.c");

/// Returns a command of the shell that loads the library into all processes started after it. `folder` is the shell's, relative to the
/// workspace.
pub(super) fn load(folder: &Path, nonce: &str) -> String {
    let root = path_to_root(folder);
    format!(
        "export GHOSTBENCH_WORKSPACE=\"$(cd '{root}' && pwd -P)\" && \
         export GHOSTBENCH_RETURNS=\"$GHOSTBENCH_WORKSPACE/{FOLDER}/{nonce}.returns\" && \
         if cc -shared -fPIC -O1 -o /tmp/ghostbench-returns.so '{root}/{FOLDER}/returns.c' -ldl 2>/dev/null; then \
         export LD_PRELOAD=/tmp/ghostbench-returns.so ASAN_OPTIONS=verify_asan_link_order=0:\"$ASAN_OPTIONS\"; fi"
    )
}

/// Returns the path of the workspace relative to one of its folders: `./../..`.
pub(super) fn path_to_root(folder: &Path) -> String {
    folder.components().fold(".".to_owned(), |path, _| path + "/..")
}

/// Returns the library's source.
pub(super) fn source() -> ChangedFile {
    ChangedFile { path: Path::new(FOLDER).join("returns.c"), text: SOURCE.to_owned() }
}

/// Returns the notes.
pub(super) fn report(nonce: &str) -> ReportFiles {
    ReportFiles::File(PathBuf::from(FOLDER).join(format!("{nonce}.returns")))
}

/// Whether all programs that started have returned from `main`; `None` if none was noted.
pub(super) fn all_return(outcome: &CommandOutcome, nonce: &str) -> Option<bool> {
    let name = format!("{nonce}.returns");
    let notes = outcome.reports.iter().find(|report| report.path.ends_with(&name))?;
    let with = |sign: &str| -> BTreeSet<&str> {
        notes.text.lines().filter_map(|line| line.strip_prefix(sign)?.strip_prefix('\t')).collect()
    };
    let started = with("+");
    (!started.is_empty()).then(|| started.is_subset(&with("-")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::{Exit, Report};

    fn outcome(notes: &str) -> CommandOutcome {
        CommandOutcome {
            exit: Exit::Code(0),
            output: String::new(),
            reports: vec![Report { path: Path::new(FOLDER).join("n.returns"), text: notes.to_owned() }],
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    #[test]
    fn every_program_that_starts_has_to_return() {
        for (notes, expected) in [
            ("", None),
            ("+\t1\t/w/a\n-\t1\t/w/a\n", Some(true)),
            ("+\t1\t/w/a\n+\t2\t/w/a\n-\t2\t/w/a\n", Some(false)),
            // A process that was forked returns, too.
            ("+\t1\t/w/a\n-\t7\t/w/a\n-\t1\t/w/a\n", Some(true)),
            ("+\t1\t/w/a\n-\t1\t/w/b\n", Some(false)),
        ] {
            assert_eq!(all_return(&outcome(notes), "n"), expected, "{notes}");
        }
        assert_eq!(all_return(&outcome("+\t1\t/w/a\n"), "other"), None);
    }

    #[test]
    fn workspace_is_found_from_its_folders() {
        assert_eq!(path_to_root(Path::new("")), ".");
        assert_eq!(path_to_root(Path::new("build/a")), "./../..");
    }
}
