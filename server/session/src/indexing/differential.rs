//! Differential test: after any history of files and buffers, the server indexes, retrieves and suggests the same as a new
//! server.
//!
//! ```text
//! seed ─► operations ─► disk ──events──► long-running state ─┐
//!                        └─────────────► new state ──────────┴─► compared at every probe
//! ```
//!
//! Both states are built from the parts that serve requests: the indexer with its follower and cache, the tokens,
//! and `completion`. Events are delivered as watchers deliver them, late or not at all, so the result does not depend on a clock.
//! Operations are self-contained: when a probe fails, the list is shrunk by removing operations, and printed with its seed.
//!
//! `GHOSTBENCH_DIFFERENTIAL_SEEDS=100..200 cargo nextest run -p session any_history` runs other seeds.

mod disk;
mod operation;
mod server_under_test;

use std::fmt::Write;
use std::ops::Range;

use operation::Operation;
use server_under_test::ServerUnderTest;
use text::SplitMix64;

/// Number of operations per seed.
const OPERATIONS: usize = 2_000;
/// With more operations than these, removing each pair of them takes too long.
const MAX_OPERATIONS_FOR_PAIRS: usize = 24;
/// Seeds of every test run: about ten seconds each in a debug build.
const SEEDS: Range<u64> = 1..3;
/// Environment variable with other seeds, as `from..to`.
const SEEDS_VARIABLE: &str = "GHOSTBENCH_DIFFERENTIAL_SEEDS";

/// A difference between two states.
struct Difference {
    /// Number of the operation.
    at: usize,
    what: String,
}

fn operations(seed: u64) -> Vec<Operation> {
    let mut random = SplitMix64::new(seed);
    (0..OPERATIONS).map(|number| Operation::draw(&mut random, number)).collect()
}

fn run(operations: &[Operation]) -> Result<(), Difference> {
    let mut state = ServerUnderTest::new();
    for (at, operation) in operations.iter().enumerate() {
        state.apply(*operation).map_err(|what| Difference { at, what })?;
    }
    Ok(())
}

/// Removes the operations that the difference does not need. The last one, the probe, remains.
fn shrink(operations: &[Operation], difference: Difference) -> (Vec<Operation>, Difference) {
    let needed = operations[..=difference.at]
        .iter()
        .enumerate()
        .filter(|(at, operation)| *at == difference.at || !matches!(operation, Operation::Probe { .. }));
    let without_probes: Vec<Operation> = needed.map(|(_, operation)| *operation).collect();
    let (mut smallest, mut difference) = match run(&without_probes) {
        Err(same) => (without_probes, same),
        // An earlier probe is part of the cause.
        Ok(()) => (operations[..=difference.at].to_vec(), difference),
    };
    let mut length = smallest.len() / 2;
    while length > 0 {
        let mut start = 0;
        while start + length < smallest.len() {
            let without = [&smallest[..start], &smallest[start + length..]].concat();
            match run(&without) {
                Err(found) => (smallest, difference) = (without[..=found.at].to_vec(), found),
                Ok(()) => start += length,
            }
        }
        length /= 2;
    }
    shrink_by_pairs(smallest, difference)
}

/// Tries to remove pairs: an operation and its reversal can only be removed together.
fn shrink_by_pairs(mut smallest: Vec<Operation>, mut difference: Difference) -> (Vec<Operation>, Difference) {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    loop {
        if smallest.len() > MAX_OPERATIONS_FOR_PAIRS {
            return (smallest, difference);
        }
        if pairs.is_empty() {
            pairs = (0..smallest.len()).flat_map(|one| (0..one).map(move |other| (other, one))).collect();
        }
        let Some((one, other)) = pairs.pop() else { return (smallest, difference) };
        let rest = smallest.iter().enumerate().filter(|(at, _)| *at != one && *at != other);
        let without: Vec<Operation> = rest.map(|(_, operation)| *operation).collect();
        match run(&without) {
            Err(found) => {
                (smallest, difference) = (without[..=found.at].to_vec(), found);
                pairs.clear();
            }
            Ok(()) if pairs.is_empty() => return (smallest, difference),
            Ok(()) => {}
        }
    }
}

fn check(seed: u64) {
    let operations = operations(seed);
    let Err(difference) = run(&operations) else { return };
    let (smallest, difference) = shrink(&operations, difference);
    let mut list = String::new();
    smallest.iter().for_each(|operation| writeln!(list, "    {operation:?},").expect("a string has room"));
    panic!("seed {seed}: {}\nafter these operations:\n{list}", difference.what);
}

#[test]
fn any_history_matches_a_new_server() {
    let seeds = std::env::var(SEEDS_VARIABLE).map_or(SEEDS, |range| {
        let ends = range.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        ends.unwrap_or_else(|| panic!("{SEEDS_VARIABLE}={range} is not a range such as 100..200"))
    });
    seeds.for_each(check);
}
