//! No text crashes the program: generated ones with unlimited nesting or chaining, and real files with pieces removed or
//! duplicated. No copy of the text removed by a case is accessible to an engine.
//!
//! `GHOSTBENCH_LONG_TESTS` enables the long runs.

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
