//! The call of bubblewrap.
//!
//! The root is empty; a folder that is not named here does not exist inside.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::mounts::{Mounted, UserIds};
use crate::INIT_COMMAND;
use crate::spec::MountSpec;

/// Folders of the system that can be read. Links are kept as links.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files and folders of `/etc` that programs need and that hold no secret.
const CONFIGURATION: [&str; 27] = [
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "fonts",
    "gai.conf",
    "group",
    "hosts",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "maven",
    "mime.types",
    "nsswitch.conf",
    "passwd",
    "pki",
    "profile.d",
    "protocols",
    "python3",
    "python3.11",
    "services",
    "ssl/certs",
    "timezone",
];

/// Where the program is inside.
const PROGRAM: &str = "/run/ghostbench/ghostbench";
const INIT_SPEC: &str = "/run/ghostbench/init.json";

/// Returns the call; `program` is this one.
pub(super) fn command(spec: &MountSpec, mounted: &Mounted, user: UserIds, program: &Path) -> Command {
    let mut command = Command::new(&spec.bubblewrap);
    command.args([
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--as-pid-1",
        "--new-session",
    ]);
    command.args(["--uid", &user.user.to_string(), "--gid", &user.group.to_string()]);
    command.args(["--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"]);
    for folder in SYSTEM {
        system_folder(&mut command, Path::new(folder));
    }
    for name in CONFIGURATION {
        let path = format!("/etc/{name}");
        command.args(["--ro-bind-try", &path, &path]);
    }
    command.args(["--proc", "/proc", "--dev", "/dev"]);
    bind(&mut command, "--bind", &mounted.shared_memory, Path::new("/dev/shm"));
    bind(&mut command, "--bind", &mounted.temporary, Path::new("/tmp"));
    bind(&mut command, "--bind", &mounted.temporary, Path::new("/var/tmp"));
    bind(&mut command, "--bind", &mounted.home, &spec.home);
    let is_of_system = |folder: &Path| SYSTEM.iter().any(|system| folder.starts_with(system));
    for folder in spec.readable.iter().filter(|folder| !is_of_system(folder)) {
        bind(&mut command, "--ro-bind-try", folder, folder);
    }
    for (place, copy) in &mounted.caches {
        bind(&mut command, "--bind", copy, place);
    }
    bind(&mut command, "--bind", &mounted.workspace, &spec.init.workspace);
    bind(&mut command, "--ro-bind", program, Path::new(PROGRAM));
    bind(&mut command, "--ro-bind", &mounted.init_spec, Path::new(INIT_SPEC));
    command.args(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir"]).arg(&spec.init.workspace);
    command.args(["--", PROGRAM, INIT_COMMAND, INIT_SPEC]);
    command
}

fn bind(command: &mut Command, how: &str, source: &Path, place: &Path) {
    command.arg(how).args([source, place]);
}

/// Makes a folder of the system readable; on most systems `/bin` is a link.
fn system_folder(command: &mut Command, folder: &Path) {
    match fs::read_link(folder) {
        Ok(target) => command.arg("--symlink").args([OsString::from(target), folder.into()]),
        Err(_) => command.arg("--ro-bind-try").args([folder, folder]),
    };
}
