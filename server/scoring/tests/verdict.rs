//! Verdicts on made-up engines whose true properties are known, and on real models' recorded answers.
//!
//! The simulations here are short versions of `examples/verdict_simulation.rs`, with fixed seeds and limits of several standard
//! deviations, so that they fail when a method breaks and never by chance.

#[path = "verdict/gates.rs"]
mod gates;
#[path = "verdict/mock_runs.rs"]
mod mock_runs;
#[path = "verdict/real_models.rs"]
mod real_models;
#[path = "verdict/rules.rs"]
mod rules;
#[path = "verdict/simulated.rs"]
mod simulated;
#[path = "verdict/simulation.rs"]
mod simulation;
