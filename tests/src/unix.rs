//! Signals, permissions and small disks.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::component::missing;
use crate::{Project, RunningProcess, binary};

/// User and group id without privileges on all tested systems.
const NOBODY: u32 = 65534;

/// Sends Ctrl-C to a process.
///
/// # Panics
///
/// If there is no such process.
#[track_caller]
pub fn interrupt(process: &RunningProcess) {
    let status = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "the process can be signalled");
}

/// Sets the permission bits of a file or folder.
///
/// # Panics
///
/// If we don't own it.
#[track_caller]
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("the file is ours");
}

/// Returns the ids of the language servers that run with the home folder of a project. A server's own child is none, although it looks
/// like the server until it has become git.
pub fn language_servers(project: &Project) -> Vec<u32> {
    let home = [b"HOME=", project.home().as_os_str().as_bytes()].concat();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let program = binary();
    let is_server = |id: &u32| {
        let folder = Path::new("/proc").join(id.to_string());
        // Processes of others, and those that have just ended, cannot be read.
        let has_home = fs::read(folder.join("environ"))
            .is_ok_and(|variables| variables.split(|byte| *byte == 0).any(|variable| variable == home));
        has_home && fs::read_link(folder.join("exe")).is_ok_and(|path| path == program)
    };
    let found: Vec<u32> = ids.filter(is_server).collect();
    found.iter().copied().filter(|id| parent(*id).is_none_or(|parent| !found.contains(&parent))).collect()
}

/// The process that started another one.
fn parent(id: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Whether a process was started with a variable, written `NAME=value`.
pub fn has_variable(id: u32, variable: &str) -> bool {
    fs::read(format!("/proc/{id}/environ"))
        .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()))
}

/// Kills a process at once.
///
/// # Panics
///
/// If it has ended.
#[track_caller]
pub fn kill(id: u32) {
    let status = Command::new("kill").args(["-KILL", &id.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "the process can be killed");
}

/// `ghostbench` as a user with restricted permissions: root, which may read everything, is replaced by an unprivileged user.
#[track_caller]
pub fn unprivileged(project: &Project, arguments: &str) -> Command {
    if !is_root() {
        return project.ghostbench(arguments);
    }
    // An unprivileged user may have no access to the build folder, so the binary is copied to the project.
    let copy = project.sibling_path("ghostbench");
    fs::copy(binary(), &copy).expect("there is room for a copy");
    set_mode(&copy, 0o755);
    set_mode(copy.parent().expect("a file has a folder"), 0o755);
    set_mode(&project.home(), 0o777);
    let mut command = project.command(&copy, arguments);
    command.uid(NOBODY).gid(NOBODY);
    command
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
}

/// A disk in memory. Dropping it unmounts it.
pub struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts a disk of this size; prints a message and returns `None` if that is not allowed.
    pub fn mount(folder: &Path, bytes: usize) -> Option<SmallDisk> {
        fs::create_dir_all(folder).expect("the temporary folder is ours");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(folder);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk { folder: folder.to_owned() });
        }
        missing("mounting a small disk needs root");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A disk that stays mounted wastes memory, but doesn't fail the test.
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}
