//! Where there are no process groups: what a program started itself is its own affair, and who kills Ghostbench leaves the program to
//! notice that its standard input has ended.

use tokio::process::{Child, Command};

/// Nothing that could be killed together.
pub(super) struct Group;

impl Group {
    pub(super) fn begin(_: &mut Command) {}

    pub(super) fn of(_: &Child) -> Group {
        Group
    }
}
