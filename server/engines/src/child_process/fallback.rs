//! Platforms without process groups: only the program itself is killed. If Ghostbench is killed, the program has to notice that
//! its standard input has ended.

use tokio::process::{Child, Command};

/// Empty: there is no group to kill.
pub(super) struct ProcessGroup;

impl ProcessGroup {
    pub(super) fn begin(_: &mut Command) {}

    pub(super) fn of(_: &Child) -> ProcessGroup {
        ProcessGroup
    }
}
