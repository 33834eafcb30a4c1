//! The sandbox on Linux: an overlay in a mount namespace of its own, bubblewrap around it, and the kernel's further rules inside.

mod bubblewrap;
pub(crate) mod cgroup;
pub(crate) mod kernel_rules;
mod mounts;

pub(crate) use mounts::die_with_parent;

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::spec::{self, MountSpec};

/// Reads a [`MountSpec`] from standard input, mounts, and becomes bubblewrap. Returns only on failure.
pub(crate) fn mount_and_confine() -> String {
    let text = match spec::standard_input().and_then(|mut input| spec::read_framed(&mut input)) {
        Ok(text) => text,
        Err(error) => return format!("cannot read the description of the sandbox: {error}"),
    };
    let spec: MountSpec = match serde_json::from_str(&text) {
        Ok(spec) => spec,
        Err(error) => return format!("invalid description of the sandbox: {error}"),
    };
    match prepare(&spec) {
        Ok(mut command) => format!("cannot start {}: {}", spec.bubblewrap.display(), command.exec()),
        Err(message) => message,
    }
}

fn prepare(spec: &MountSpec) -> Result<Command, String> {
    cgroup::join(&spec.cgroups)?;
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let user = mounts::enter_namespaces()?;
    let mounted = mounts::mount_copies(spec)?;
    Ok(bubblewrap::command(spec, &mounted, user, &program))
}
