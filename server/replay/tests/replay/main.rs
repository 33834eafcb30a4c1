//! Suites and runs on disk, and the execution of runs.

mod cassettes;
mod cleaning;
mod context;
mod data_folder;
mod fixture;
mod latest_answers;
mod real_answers;
mod recorded_suite;
mod requests;
mod runs;
mod watch_history;
