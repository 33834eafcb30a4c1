//! No text stops the program: generated ones that nest or chain without end, and real files with pieces cut out or doubled. And no copy of
//! what a question removes is in reach of whoever answers it.
//!
//! `GHOSTBENCH_LONG_TESTS` makes the long runs.

#![expect(clippy::print_stderr, reason = "a skip is said aloud, and a long run says how far it is")]

mod copies;
#[expect(dead_code, reason = "the tests of `syntax` also make texts of single pieces")]
#[path = "../../../server/syntax/tests/it/hostile.rs"]
mod forms;
#[expect(dead_code, reason = "only the oracle sets floors on some trees")]
#[path = "../oracle/histories.rs"]
mod histories;
mod hostile;
mod mutations;
mod pipeline;
