//! Caches on a real disk: round trips, corruption and several processes.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot write its fixture has nothing to report but that"
)]

mod blocks;
mod corruption;
mod fixture;
mod folder;
mod images;
mod processes;
mod round_trip;
