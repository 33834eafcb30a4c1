//! Fuzz targets: functions that read input of others, each called with any bytes.
//!
//! A target panics if an invariant breaks, and must not depend on anything but its input. `cargo xtask fuzz` looks for such inputs with
//! libFuzzer (the package in `driver`, outside of this workspace: it links a runtime in C++). The tests of this package run the targets
//! on the inputs in `corpus`, so that one that was repaired stays repaired.

mod targets {
    pub(crate) mod answers;
    pub(crate) mod cassettes;
    pub(crate) mod edits;
    pub(crate) mod importers;
    pub(crate) mod indexes;
    pub(crate) mod messages;
    pub(crate) mod replies;
    pub(crate) mod rows;
    pub(crate) mod settings;
    pub(crate) mod trees;
}

use targets::{answers, cassettes, edits, importers, indexes, messages, replies, rows, settings, trees};

/// A target: its name, which is also that of its folder in `corpus`, and the function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 10] = [
    ("answers", answers::run),
    ("cassettes", cassettes::run),
    ("edits", edits::run),
    ("importers", importers::run),
    ("indexes", indexes::run),
    ("messages", messages::run),
    ("replies", replies::run),
    ("rows", rows::run),
    ("settings", settings::run),
    ("trees", trees::run),
];

/// Returns the function of a target.
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}

/// Splits off the first byte; 0 if there is none.
fn first(input: &[u8]) -> (u8, &[u8]) {
    input.split_first().map_or((0, input), |(&first, rest)| (first, rest))
}
