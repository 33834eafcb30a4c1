//! The public benchmarks Codev-Bench, CrossCodeEval, RepoQA and YABLoCo: their rules and their scores, a module each.
//!
//! ```text
//! public file + answers --codev_bench | crosscodeeval | repoqa | yabloco--> the original's numbers
//! ```
//!
//! Pure and deterministic. The crate never opens files, sends requests to engines or lays out tables. CrossCodeEval's metrics and
//! both variants of edit similarity are in `scoring`, which uses them for every run.
#![deny(clippy::disallowed_methods)]

pub mod codev_bench;
mod fences;
pub mod pass_at_k;
pub mod repoqa;
mod rules;
pub mod yabloco;

pub use rules::Rules;
