//! Suites and runs on disk, and how they are made.

mod cleaning;
mod context;
mod data_folder;
mod fixture;
mod latest;
mod recorded;
mod runs;
