//! Documents and anchors against a naive model: a `String` and its characters.

mod anchors;
mod documents;
mod model;
