//! Renders the dashboard of a server that collects traces as one HTML page without scripts. Computes no numbers.

use serde::Serialize;

use crate::format;
use crate::html::page::{Head, render};
use crate::html::plain_tables::PlainTable;

/// What the dashboard shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionView {
    /// Names with values, below the title.
    pub facts: Vec<(&'static str, String)>,
    /// The tables, in order.
    pub tables: Vec<TableView>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableView {
    /// Its title.
    pub title: &'static str,
    /// A remark; may be empty.
    pub caption: &'static str,
    /// Titles of the columns.
    pub header: &'static [&'static str],
    /// Number of leading columns that contain words.
    pub words: usize,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct CollectionPage {
    tables: Vec<PlainTable>,
}

/// Renders the page.
pub fn html(view: &CollectionView) -> String {
    let facts = view.facts.iter().map(|(name, value)| (*name, format::on_one_line(value))).collect();
    let head = Head { kind: "collection", title: "Traces of the team".to_owned(), facts, script: None };
    let page = CollectionPage { tables: view.tables.iter().map(page_table).collect() };
    render("collection.html", &head, &page)
}

fn page_table(table: &TableView) -> PlainTable {
    let cells = |row: &Vec<String>| row.iter().map(|cell| format::on_one_line(cell)).collect();
    let rows = table.rows.iter().map(cells).collect();
    PlainTable::new(table.title, table.caption, table.header, table.words, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_and_the_page_runs_nothing() {
        let view = CollectionView {
            facts: vec![("opportunities", "<b>1</b>".to_owned())],
            tables: vec![TableView {
                title: "Engines",
                caption: "plain counts",
                header: &["arm", "answers"],
                words: 1,
                rows: vec![vec!["<script>alert(1)</script>".to_owned(), "3".to_owned()]],
            }],
        };
        let page = html(&view);
        assert!(page.contains("default-src 'none'") && !page.contains("<script") && !page.contains("<b>1"));
        assert!(page.contains("&lt;script&gt;") && page.contains(r#"<td class="num">3</td>"#));
    }
}
