//! Plans the remaining attempts of a run.

use std::collections::HashSet;

use cases::{Case, Prediction};

/// One request to one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// Index of the case in the suite.
    pub case: usize,
    /// Index of the engine in the run.
    pub engine: usize,
    /// Repetition, from 0.
    pub repetition: u32,
}

/// Returns `repeat` attempts of every engine at every case, except for those in `done`. Engines alternate on each case, so
/// that all of them ran on the same cases if a run is stopped early.
pub fn plan<'a>(
    cases: &[Case],
    engines: &[String],
    repeat: u32,
    done: impl IntoIterator<Item = &'a Prediction>,
) -> Vec<Attempt> {
    let done: HashSet<_> = done.into_iter().map(Prediction::key).collect();
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
