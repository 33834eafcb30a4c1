//! Filters on an engine's answer, each a pure function of the answer and the text around it.
//!
//! A filter only cuts; it never adds or rewrites text. What it cut goes into the trace.

mod suffix_overlap;

use crate::trace::Cut;

/// The text around the cursor.
pub(crate) struct Surroundings<'a> {
    pub(crate) suffix: &'a str,
}

/// A filter's name, and the number of bytes of the answer that it keeps.
type Filter = (&'static str, fn(&str, &Surroundings<'_>) -> usize);

const FILTERS: [Filter; 2] = [("suffix_overlap", suffix_overlap::keep), ("trailing_blanks", trailing_blanks)];

/// Runs all filters in order; the cuts that changed something are returned with what they removed.
pub(crate) fn clean(answer: &str, around: &Surroundings<'_>) -> (String, Vec<Cut>) {
    let mut text = answer.to_owned();
    let mut cuts = Vec::new();
    for (filter, keep) in FILTERS {
        let removed = text.split_off(keep(&text, around));
        if !removed.is_empty() {
            cuts.push(Cut { filter, removed });
        }
    }
    (text, cuts)
}

/// An answer of blanks only is nothing, and blanks at the end of a line are nobody's code.
fn trailing_blanks(answer: &str, _around: &Surroundings<'_>) -> usize {
    answer.trim_end_matches([' ', '\t', '\r', '\n']).len()
}
