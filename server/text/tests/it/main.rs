//! Documents, anchors and edits against a naive model: a `String` and its characters.

mod anchors;
mod documents;
mod edits;
mod naive_model;
