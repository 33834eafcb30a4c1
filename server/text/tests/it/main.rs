//! Documents, tracked ranges and edits against a naive model: a `String` and its characters.

mod documents;
mod edit_log;
mod edits;
mod naive_model;
mod tracked_ranges;
