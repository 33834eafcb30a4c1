//! Workspaces on a real disk: reading, skipping and detecting changes.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot write its fixture has nothing to report but that"
)]

mod fixture;
mod follow;
mod load;
mod random;
mod watch;
