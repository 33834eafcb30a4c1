//! Completions: how they can end, what an engine sees, how answers are used again, and how often an engine is asked while somebody types.

mod alternatives;
mod answer_cache;
mod complete;
mod completion_session;
mod explain;
mod in_flight_request;
