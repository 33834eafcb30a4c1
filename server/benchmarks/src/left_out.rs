//! Counts of what a built benchmark leaves out, by reason.

use std::collections::BTreeMap;

/// Number of left out items by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOutCounts(pub BTreeMap<&'static str, usize>);

impl LeftOutCounts {
    /// Counts an item.
    pub fn add(&mut self, reason: &'static str) {
        *self.0.entry(reason).or_default() += 1;
    }
}
