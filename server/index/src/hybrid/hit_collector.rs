//! Collects the shown hits, within the budget.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::retrieve::{LINE_BYTES, PATH_BYTES, TokenBudget};
use crate::{Hit, HitKind};

/// Longer lines are truncated.
pub(crate) const MAX_LINE_BYTES: usize = 200;
/// Minimum room for another file.
const MIN_ROOM: usize = 40;

/// A line to show, with its number.
pub(crate) type NumberedLine = (u32, String);

/// Why lines are shown.
pub(crate) struct HitReason<'a> {
    pub(crate) kind: HitKind,
    pub(crate) score: f64,
    pub(crate) reason: String,
    /// The line of the reason and a name in it, without which the other lines are not worth showing.
    pub(crate) about: Option<(u32, &'a str)>,
    /// Minimum number of lines worth showing.
    pub(crate) min_lines: usize,
}

/// The shown hits.
pub(crate) struct HitCollector {
    budget: usize,
    used: usize,
    hits: Vec<Hit>,
    covered: FxHashMap<Arc<str>, FxHashSet<u32>>,
}

impl HitCollector {
    pub(crate) fn new(budget: TokenBudget) -> HitCollector {
        HitCollector { budget: budget.bytes(), used: 0, hits: Vec::new(), covered: FxHashMap::default() }
    }

    /// Returns the used bytes.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Whether there is room for another hit.
    pub(crate) fn has_room(&self) -> bool {
        self.used + MIN_ROOM < self.budget
    }

    /// Whether a line is shown already.
    pub(crate) fn covers(&self, path: &str, line: u32) -> bool {
        self.covered.get(path).is_some_and(|lines| lines.contains(&line))
    }

    /// Shows lines of one file, as many as fit into `limit` bytes of all hits and into the budget; returns whether any fit,
    /// including the line of the reason.
    pub(crate) fn add(
        &mut self,
        path: &Arc<str>,
        lines: Vec<NumberedLine>,
        limit: usize,
        why: HitReason<'_>,
    ) -> bool {
        let limit = limit.min(self.budget);
        let continues = self.hits.last().is_some_and(|last| last.path == *path);
        let mut used = self.used + if continues { 0 } else { path.len() + PATH_BYTES };
        let mut kept: Vec<NumberedLine> = Vec::new();
        for (number, mut text) in lines {
            let end = text.trim_end().floor_char_boundary(MAX_LINE_BYTES);
            text.truncate(end);
            if used + line_cost(&text) > limit {
                break;
            }
            used += line_cost(&text);
            kept.push((number, text));
        }
        if kept.len() < why.min_lines
            || !kept.iter().any(|(number, text)| {
                why.about.is_none_or(|(line, name)| *number == line && text.contains(name))
            })
        {
            return false;
        }
        let numbers: Vec<u32> = kept.iter().map(|(number, _)| *number).collect();
        let (Some(&start), Some(&end)) = (numbers.iter().min(), numbers.iter().max()) else { return false };
        let bytes = used - self.used;
        self.used = used;
        self.covered.entry(Arc::clone(path)).or_default().extend(&numbers);
        let text: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
        self.hits.push(Hit {
            path: Arc::clone(path),
            start_line: start,
            end_line: end + 1,
            lines: numbers,
            text: text.join("\n"),
            score: why.score,
            strategy: "",
            kind: why.kind,
            reason: why.reason,
            bytes,
        });
        true
    }

    /// Returns all hits in the order in which they were added.
    pub(crate) fn into_hits(self, strategy: &'static str) -> Vec<Hit> {
        self.hits.into_iter().map(|hit| Hit { strategy, ..hit }).collect()
    }
}

/// Returns the bytes of a line.
pub(crate) fn line_cost(text: &str) -> usize {
    text.len() + LINE_BYTES
}
