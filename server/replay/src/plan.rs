//! What is still to be asked.

use std::collections::HashSet;

use cases::{Case, Prediction};

/// One question to one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Place of the case in the suite.
    pub case: usize,
    /// Place of the engine in the run.
    pub engine: usize,
    /// Counts from 0.
    pub repetition: u32,
}

/// Every case for every engine of these names `repeat` times, without what `done` holds. Engines take turns on one case, so that a
/// run that is stopped early has asked all of them the same.
pub fn plan(cases: &[Case], engines: &[String], repeat: u32, done: &[Prediction]) -> Vec<Attempt> {
    let done: HashSet<_> = done.iter().map(Prediction::key).collect();
    let mut attempts = Vec::new();
    for repetition in 0..repeat {
        for (case, row) in cases.iter().enumerate() {
            let open = |name: &String| !done.contains(&(row.id.as_str(), name.as_str(), repetition));
            let asked = engines.iter().enumerate().filter(|(_, name)| open(name));
            attempts.extend(asked.map(|(engine, _)| Attempt { case, engine, repetition }));
        }
    }
    attempts
}
