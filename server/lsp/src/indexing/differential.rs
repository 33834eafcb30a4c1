//! Differential test: after any history of files and buffers the server knows, finds and suggests what a new server does.
//!
//! ```text
//! seed ─► operations ─► disk ──events──► long-running state ─┐
//!                        └─────────────► new state ──────────┴─► compared at every probe
//! ```
//!
//! Both states are made of the parts that serve requests: the indexer with its follower and cache, [`with_index`], the tokens, and
//! `completion`. Events are delivered as watchers deliver them, late or not at all, so no clock decides. Operations are complete in
//! themselves: when a probe fails, the list is shrunk by leaving operations out, and printed with its seed.
//!
//! `GHOSTBENCH_DIFFERENTIAL_SEEDS=100..200 cargo nextest run -p lsp any_history` runs other seeds.

mod disk;
mod operation;
mod server_under_test;

use std::fmt::Write;
use std::ops::Range;

use operation::{Operation, SeededRandom};
use server_under_test::ServerUnderTest;

/// Operations of one seed.
const OPERATIONS: usize = 2_000;
/// With more operations than these it takes too long to try without each pair of them.
const MAX_OPERATIONS_FOR_PAIRS: usize = 24;
/// Seeds that run with every test run: some ten seconds each in a debug build.
const SEEDS: Range<u64> = 1..3;
/// Other seeds, as `from..to`.
const SEEDS_VARIABLE: &str = "GHOSTBENCH_DIFFERENTIAL_SEEDS";

/// Where two states differ, and how.
struct Difference {
    /// Number of the operation.
    at: usize,
    what: String,
}

fn operations(seed: u64) -> Vec<Operation> {
    let mut random = SeededRandom(seed);
    (0..OPERATIONS).map(|number| Operation::draw(&mut random, number)).collect()
}

fn run(operations: &[Operation]) -> Result<(), Difference> {
    let mut state = ServerUnderTest::new();
    for (at, operation) in operations.iter().enumerate() {
        state.apply(*operation).map_err(|what| Difference { at, what })?;
    }
    Ok(())
}

/// The operations without those that the difference does not need. The last one, the probe, stays.
fn shrink(operations: &[Operation], difference: Difference) -> (Vec<Operation>, Difference) {
    let is_needed = |(at, operation): &(usize, &Operation)| {
        *at == difference.at || !matches!(operation, Operation::Probe { .. })
    };
    let needed = operations[..=difference.at].iter().enumerate().filter(is_needed);
    let without_probes: Vec<Operation> = needed.map(|(_, operation)| *operation).collect();
    let (mut smallest, mut difference) = match run(&without_probes) {
        Err(same) => (without_probes, same),
        // An earlier probe has a part in it.
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

/// What is done and undone again goes together or not at all.
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
fn any_history_is_like_none() {
    let seeds = std::env::var(SEEDS_VARIABLE).map_or(SEEDS, |range| {
        let ends = range.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        ends.unwrap_or_else(|| panic!("{SEEDS_VARIABLE}={range} is no range such as 100..200"))
    });
    seeds.for_each(check);
}
