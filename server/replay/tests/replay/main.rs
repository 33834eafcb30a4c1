//! Suites and runs on disk, and how they are made.

mod cassettes;
mod cleaning;
mod context;
mod data_folder;
mod fixture;
mod latest;
mod real;
mod recorded;
mod runs;
