//! (skeleton)
#![deny(clippy::disallowed_methods)]
