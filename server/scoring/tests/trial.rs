//! Scoreboards of made-up trials whose true differences are known.
//!
//! The simulations here are short versions of `examples/trial_simulation.rs`, with fixed seeds and limits of several standard
//! deviations, so that they fail when a method breaks and never by chance.

#[path = "trial/numbers.rs"]
mod numbers;
#[path = "trial/simulated.rs"]
mod simulated;
#[path = "trial/simulated_trial.rs"]
mod simulated_trial;
