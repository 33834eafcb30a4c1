//! Workspaces on a real disk: what is read, what is left out, what is noticed.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot write its fixture has nothing to report but that"
)]

mod fixture;
mod follow;
mod load;
mod random;
mod watch;
