//! Completions: how they can end, what an engine sees, how answers are used again, and how often an engine is asked while somebody types.

mod alternatives;
mod complete;
mod explain;
mod generation;
mod live;
mod recent;
