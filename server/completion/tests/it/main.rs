//! Completions: how they can end, what an engine sees, how answers are used again, and how often an engine is asked while somebody types.

mod complete;
mod generation;
mod live;
mod recent;
