//! Views of single commands for the terminal: each lays out values that its command passes.

pub(crate) mod engines;
pub(crate) mod explanation;
pub(crate) mod retrieval;
pub(crate) mod score_sheet;
pub(crate) mod trial;
