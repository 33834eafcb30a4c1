//! The tables of `plain_tables.html`: columns of words, then columns of numbers.

use serde::Serialize;

/// A table as the template reads it.
#[derive(Serialize)]
pub(crate) struct PlainTable {
    title: &'static str,
    caption: &'static str,
    header: Vec<HeaderCell>,
    words: usize,
    rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct HeaderCell {
    title: &'static str,
    is_number: bool,
}

impl PlainTable {
    /// Creates a table whose first `words` columns contain words. The caption may be empty.
    pub(crate) fn new(
        title: &'static str,
        caption: &'static str,
        header: &[&'static str],
        words: usize,
        rows: Vec<Vec<String>>,
    ) -> PlainTable {
        let header = header.iter().enumerate();
        let header = header.map(|(column, &title)| HeaderCell { title, is_number: column >= words });
        PlainTable { title, caption, header: header.collect(), words, rows }
    }
}
