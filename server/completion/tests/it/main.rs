//! Completions: their statuses, the data an engine receives, the reuse of answers, and the number of requests while a user types.

mod alternatives;
mod answer_cache;
mod ask;
mod complete;
mod completion_session;
mod counted_work;
mod explain;
mod in_flight_request;
