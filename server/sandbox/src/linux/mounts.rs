//! The file system of a sandbox: a file system in memory, limited in size, with the changes of each overlay.
//!
//! Everything is mounted in a namespace of this process only, so that it is gone with the last process of the sandbox.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat2};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use crate::spec::{ChangedFile, MountSpec, is_inside};

/// Mounts of a sandbox.
#[derive(Debug)]
pub(super) struct Mounted {
    /// The copy of the workspace.
    pub(super) workspace: PathBuf,
    /// Caches: where they belong, and their writable copies.
    pub(super) caches: Vec<(PathBuf, PathBuf)>,
    /// Empty writable folders for temporary files, shared memory and the home.
    pub(super) temporary: PathBuf,
    pub(super) shared_memory: PathBuf,
    pub(super) home: PathBuf,
    /// The file with the description for the first process.
    pub(super) init_spec: PathBuf,
}

/// The identity that processes see inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserIds {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// User and group in place of root: some tests are skipped for root, or fail.
const ORDINARY: u32 = 1000;

/// Enters a user and a mount namespace. Must be called before any thread is started.
pub(super) fn enter_namespaces() -> Result<UserIds, String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    #[expect(
        unsafe_code,
        reason = "the files of this process are shared with no other thread, because there is none"
    )]
    // SAFETY: neither flag unshares the table of open files.
    let entered = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) };
    entered.map_err(|error| format!("no namespace for users and mounts: {error}"))?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        let path = format!("/proc/self/{file}");
        fs::write(&path, text).map_err(|error| format!("cannot write {path}: {error}"))?;
    }
    let ordinary = |id: u32| if id == 0 { ORDINARY } else { id };
    Ok(UserIds { user: ordinary(user), group: ordinary(group) })
}

/// Mounts the copies and writes the changed files.
pub(super) fn mount_copies(spec: &MountSpec) -> Result<Mounted, String> {
    let failed = |what: &str, error: rustix::io::Errno| format!("cannot mount {what}: {error}");
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| failed("privately", error))?;
    let size = c_string(&format!("size={},mode=0700", spec.init.limits.disk_bytes));
    mount("tmpfs", &spec.mount_point, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(&*size))
        .map_err(|error| failed("a file system in memory", error))?;
    // Options of an overlay are separated by commas and colons; names of our own have none.
    std::env::set_current_dir(&spec.mount_point)
        .map_err(|error| format!("cannot enter the sandbox: {error}"))?;
    let make = |name: &str| -> Result<PathBuf, String> {
        fs::create_dir(name).map_err(|error| format!("cannot create a folder in memory: {error}"))?;
        Ok(spec.mount_point.join(name))
    };
    let workspace = match &spec.copy {
        Some(copy) => copy.clone(),
        None => overlay(&spec.init.workspace, &make("workspace")?)?,
    };
    let caches = spec
        .caches
        .iter()
        .enumerate()
        .map(|(number, cache)| Ok((cache.clone(), overlay(cache, &make(&format!("cache{number}"))?)?)));
    let mounted = Mounted {
        workspace,
        caches: caches.collect::<Result<_, String>>()?,
        temporary: make("temporary")?,
        shared_memory: make("shared_memory")?,
        home: make("home")?,
        init_spec: spec.mount_point.join("init.json"),
    };
    for change in &spec.changes {
        write_inside(&mounted.workspace, change)?;
    }
    let text = serde_json::to_string(&spec.init).map_err(|error| error.to_string())?;
    fs::write(&mounted.init_spec, text).map_err(|error| format!("cannot write in memory: {error}"))?;
    Ok(mounted)
}

/// Mounts an overlay over a folder in `place`, which is in memory, and returns its path.
fn overlay(folder: &Path, place: &Path) -> Result<PathBuf, String> {
    std::env::set_current_dir(place).map_err(|error| format!("cannot enter the sandbox: {error}"))?;
    for name in ["lower", "upper", "work", "merged"] {
        fs::create_dir(name).map_err(|error| format!("cannot create a folder in memory: {error}"))?;
    }
    mount_bind_recursive(folder, "lower")
        .map_err(|error| format!("cannot mount {}: {error}", folder.display()))?;
    let options = c_string("lowerdir=lower,upperdir=upper,workdir=work,userxattr");
    mount("overlay", "merged", "overlay", MountFlags::NOSUID | MountFlags::NODEV, Some(&*options))
        .map_err(|error| format!("cannot mount an overlay over {}: {error}", folder.display()))?;
    std::env::set_current_dir(place.parent().unwrap_or(place)).map_err(|error| error.to_string())?;
    Ok(place.join("merged"))
}

/// Writes a file below a folder. No link is followed: one in the workspace may lead out of it.
fn write_inside(folder: &Path, change: &ChangedFile) -> Result<(), String> {
    let failed =
        |error: rustix::io::Errno| format!("cannot write {} in the copy: {error}", change.path.display());
    if !is_inside(&change.path) {
        return Err(format!("{} is not a path below the workspace", change.path.display()));
    }
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut parent: OwnedFd = rustix::fs::openat(CWD, folder, directory, Mode::empty()).map_err(failed)?;
    let mut components = change.path.components().peekable();
    while let Some(component) = components.next() {
        let name = Path::new(component.as_os_str());
        if components.peek().is_some() {
            let made = mkdirat(&parent, name, Mode::from_raw_mode(0o755));
            made.or_else(|error| if error == rustix::io::Errno::EXIST { Ok(()) } else { Err(error) })
                .map_err(failed)?;
            parent = openat2(&parent, name, directory, Mode::empty(), beneath).map_err(failed)?;
            continue;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = openat2(&parent, name, flags, Mode::from_raw_mode(0o644), beneath).map_err(failed)?;
        File::from(file)
            .write_all(change.text.as_bytes())
            .map_err(|error| format!("cannot write {} in the copy: {error}", change.path.display()))?;
    }
    Ok(())
}

fn c_string(text: &str) -> std::ffi::CString {
    std::ffi::CString::new(text).expect("has no NUL")
}
