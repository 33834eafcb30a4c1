//! Parses `docs/protocol.md`.

use std::collections::{BTreeMap, BTreeSet};

/// The document.
pub(crate) struct Document(&'static str);

/// The rows of a Markdown table after the header: the second column by the first.
pub(crate) type Table = BTreeMap<&'static str, &'static str>;

impl Document {
    pub(crate) fn read() -> Document {
        Document(include_str!("../../../../../docs/protocol.md"))
    }

    /// Whether it contains `method` as code.
    pub(crate) fn names(&self, method: &str) -> bool {
        self.0.contains(&format!("`{method}`"))
    }

    /// The code in the headings of the sections about our own messages.
    pub(crate) fn names_in_our_headings(&self) -> BTreeSet<&'static str> {
        let headings = self.ours().lines().filter(|line| line.starts_with("### "));
        headings.flat_map(|heading| heading.split('`').skip(1).step_by(2)).collect()
    }

    /// The tables that describe our messages, by section and header of the first column.
    pub(crate) fn our_tables(&self) -> BTreeMap<(&'static str, &'static str), Table> {
        let sections = self.ours().split("\n### ").skip(1);
        sections
            .flat_map(|section| tables(section).map(|(head, table)| ((name(section), head), table)))
            .collect()
    }

    /// The fenced examples, by the two words after `json`.
    pub(crate) fn examples(&self) -> BTreeMap<(&'static str, &'static str), &'static str> {
        let fences = self.0.split("\n```json ").skip(1);
        fences
            .map(|fence| {
                let (label, rest) = fence.split_once('\n').expect("a line");
                let name = label.split_once(' ').expect("a method and its part");
                (name, rest.split("\n```").next().unwrap_or_default())
            })
            .collect()
    }

    /// The part about our own messages.
    fn ours(&self) -> &'static str {
        self.0.split_once("\n## What became of a suggestion\n").expect("the heading is there").1
    }
}

/// Topic of a section: the first code in its heading, otherwise the whole heading.
fn name(section: &'static str) -> &'static str {
    let heading = section.lines().next().unwrap_or_default();
    heading.split('`').nth(1).unwrap_or(heading)
}

/// The tables of a section, each after an empty line.
fn tables(section: &'static str) -> impl Iterator<Item = (&'static str, Table)> {
    let tables = section.split("\n\n").filter(|paragraph| paragraph.starts_with("| "));
    tables.map(|table| {
        let cells = |row: &'static str| row.strip_prefix("| ")?.split_once(" | ");
        let head = cells(table).expect("a table has a head").0;
        let rows = table.lines().skip(2).filter_map(cells);
        let fields =
            rows.map(|(field, rest)| (field.trim_matches('`'), rest.split(" | ").next().unwrap_or_default()));
        (head, fields.collect())
    })
}
