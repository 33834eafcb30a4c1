//! Temporary folders for mounts, copies and judges. A killed process cannot remove its own; the next one does.

use std::ffi::OsStr;
use std::io;

use tempfile::{Builder, TempDir};

/// Begin of their names; the id of the process that made them follows.
const NAME: &str = "ghostbench-sandbox-";

/// Creates an empty folder, which is removed when it is dropped.
pub(crate) fn create() -> io::Result<TempDir> {
    Builder::new().prefix(&format!("{NAME}{}-", std::process::id())).tempdir()
}

/// Removes folders of processes that are gone, where the system tells.
pub(crate) fn remove_stale() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        // A link to a folder is no folder here.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_left_over(&entry.file_name(), NAME) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether something with this name belongs to a process that is gone: `prefix`, its id, and a hyphen.
#[cfg(target_os = "linux")]
pub(crate) fn is_left_over(name: &OsStr, prefix: &str) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
    let owner = rest.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
    owner.is_some_and(|owner| !std::path::Path::new("/proc").join(owner.to_string()).exists())
}

#[cfg(not(target_os = "linux"))]
fn is_left_over(_name: &OsStr, _prefix: &str) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_ended_process_left_is_removed() {
        let left = std::env::temp_dir().join(format!("{NAME}{}-left", u32::MAX));
        std::fs::create_dir_all(left.join("inner")).expect("a folder");
        let own = create().expect("a folder");
        remove_stale();
        assert!(own.path().is_dir() && !left.exists());
    }

    #[test]
    fn other_names_are_no_leftovers() {
        let is_ours = |name: &str| is_left_over(OsStr::new(name), NAME);
        assert!(is_ours(&format!("{NAME}{}-x", u32::MAX)));
        for name in
            ["ghostbench-sandbox-x-1", "ghostbench-sandbox-", "ghostbench-sandbox-4294967295", "other"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }
}
