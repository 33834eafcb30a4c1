//! The sandbox on Linux: an overlay in namespaces of its own, bubblewrap around it, and the kernel's further rules inside.
//!
//! Bubblewrap is the first process of a namespace of processes, so everything in it ends with bubblewrap, and bubblewrap ends with the
//! process that waits for it here. No moment may be left at which one process ends and another stays.

mod bubblewrap;
pub(crate) mod cgroup;
pub(crate) mod kernel_rules;
mod mounts;
mod process_namespace;

pub(crate) use process_namespace::die_with_parent;

use std::process::{Command, ExitStatus};

use crate::spec::{self, MountSpec};

/// Reads a [`MountSpec`] from standard input, mounts, and runs bubblewrap.
pub(crate) fn mount_and_confine() -> Result<ExitStatus, String> {
    let text = spec::standard_input().and_then(|mut input| spec::read_framed(&mut input));
    let text = text.map_err(|error| format!("cannot read the description of the sandbox: {error}"))?;
    let spec: MountSpec = serde_json::from_str(&text)
        .map_err(|error| format!("invalid description of the sandbox: {error}"))?;
    let mut bubblewrap = prepare(&spec)?;
    process_namespace::run_first(&mut bubblewrap)
        .map_err(|error| format!("cannot start {}: {error}", spec.bubblewrap.display()))
}

fn prepare(spec: &MountSpec) -> Result<Command, String> {
    cgroup::join(&spec.cgroups)?;
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let user = mounts::enter_namespaces()?;
    // New rights have ended the earlier request.
    process_namespace::request_death_with(spec.parent)?;
    let mounted = mounts::mount_copies(spec)?;
    Ok(bubblewrap::command(spec, &mounted, user, &program))
}
