//! Control groups: hard limits of memory and processes, where this user may set them.
//!
//! Version 2 needs a group that is delegated to the user (systemd does so), version 1 root. Without either, the first process of
//! the sandbox watches and kills.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::limits::Limits;
use crate::temporary_folder::is_left_over;

const ROOT: &str = "/sys/fs/cgroup";

/// Begin of the names of our groups; the id of the process that made them follows.
const NAME: &str = "ghostbench-sandbox-";

/// Groups of one sandbox; they are removed when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    folders: Vec<PathBuf>,
}

impl Cgroups {
    /// Creates groups with limits as far as possible.
    pub(crate) fn create(limits: &Limits) -> Cgroups {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}-{number}", std::process::id());
        let (memory, processes) = (limits.memory_bytes.to_string(), limits.processes.to_string());
        let mut groups = Cgroups::default();
        for (parent, controllers) in parents() {
            let folder = parent.join(&name);
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            groups.folders.push(folder.clone());
            for controller in controllers {
                let written = match controller {
                    Controller::Memory(file) => fs::write(folder.join(file), &memory),
                    Controller::Processes(file) => fs::write(folder.join(file), &processes),
                };
                // The watching process has the same limits.
                let _ = written;
            }
        }
        groups
    }

    /// Returns the folders for [`join`].
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        // The last process may be gone a moment before its group is empty.
        for folder in &self.folders {
            let mut attempts = 0..50;
            while fs::remove_dir(folder).is_err() && folder.exists() && attempts.next().is_some() {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
    }
}

/// Ends what is left in groups of processes that are gone, and removes the groups. Without confinement, what a command started may
/// outlive them.
pub(crate) fn remove_stale() {
    for (parent, _) in parents() {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let left = entries.filter(|entry| is_left_over(&entry.file_name(), NAME)).map(|entry| entry.path());
        let folders: Vec<PathBuf> = left.collect();
        folders.iter().for_each(|folder| kill_all(folder));
        // Dropping removes them.
        drop(Cgroups { folders });
    }
}

/// Kills the processes of a group.
fn kill_all(folder: &Path) {
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// Moves this process into groups.
pub(crate) fn join(folders: &[PathBuf]) -> Result<(), String> {
    for folder in folders {
        let path = folder.join("cgroup.procs");
        fs::write(&path, "0").map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// A file that sets a limit.
#[derive(Clone, Copy, Debug)]
enum Controller {
    Memory(&'static str),
    Processes(&'static str),
}

/// Returns the groups below which this user may create others, with the limits that they have there.
fn parents() -> Vec<(PathBuf, Vec<Controller>)> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    own.lines().filter_map(parent).collect()
}

/// Returns the group for a line of `/proc/self/cgroup`: `number:controllers:path`.
fn parent(line: &str) -> Option<(PathBuf, Vec<Controller>)> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let path = path.trim_start_matches('/');
    if controllers.is_empty() {
        // Version 2: a group with processes cannot limit groups below it, so the new one is beside ours.
        let folder = Path::new(ROOT).join(path).parent()?.to_owned();
        let enabled = fs::read_to_string(folder.join("cgroup.subtree_control")).ok()?;
        let files =
            [("memory", Controller::Memory("memory.max")), ("pids", Controller::Processes("pids.max"))];
        let usable: Vec<Controller> = files
            .into_iter()
            .filter(|(name, _)| enabled.split_whitespace().any(|it| it == *name))
            .map(|it| it.1)
            .collect();
        return (!usable.is_empty()).then_some((folder, usable));
    }
    let controller = match controllers {
        "memory" => Controller::Memory("memory.limit_in_bytes"),
        "pids" => Controller::Processes("pids.max"),
        _ => return None,
    };
    let folder = Path::new(ROOT).join(controllers).join(path);
    folder.is_dir().then(|| (folder, vec![controller]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_removed_with_their_sandbox() {
        let groups = Cgroups::create(&Limits::default());
        let folders = groups.folders().to_vec();
        assert!(folders.iter().all(|folder| folder.is_dir()));
        drop(groups);
        assert!(folders.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn process_in_a_group_that_was_left_is_killed() {
        for (parent, _) in parents() {
            let folder = parent.join(format!("{NAME}{}-0", u32::MAX));
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            let mut process = std::process::Command::new("sleep").arg("600").spawn().expect("a process");
            fs::write(folder.join("cgroup.procs"), process.id().to_string()).expect("it is ours");
            remove_stale();
            assert!(!process.wait().expect("it has ended").success());
            assert!(!folder.exists());
        }
    }

    #[test]
    fn only_limiting_controllers_of_version_1_are_used() {
        for line in ["7:cpuset:/", "6:devices:/", "1:name=systemd:/", "", "3:memory", "x"] {
            assert!(parent(line).is_none(), "{line}");
        }
    }
}
