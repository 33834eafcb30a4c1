//! Completions: how they can end, what an engine sees, and how answers are used again.

mod complete;
mod recent;
