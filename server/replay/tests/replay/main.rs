//! Suites and runs on disk, and how they are made.

mod fixture;
mod latest;
mod recorded;
mod runs;
