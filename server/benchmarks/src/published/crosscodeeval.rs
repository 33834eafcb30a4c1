//! CrossCodeEval's published results: exact matches of code in percent.
//!
//! Source: table 2 of the paper, <https://arxiv.org/abs/2310.11248>, with BM25 as its retriever. Only the rows that a public summary of
//! the table confirms are here.

use std::collections::HashSet;

use cases::Case;

use super::{PublishedTables, rows_of};

/// The languages of the public files in the order of the columns, and the numbers of their cases.
const LANGUAGES: [(&str, usize); 4] =
    [("python", 2_665), ("java", 2_139), ("typescript", 3_356), ("csharp", 1_768)];

/// Models and settings with their exact matches.
pub(super) const ROWS: &str = "\
StarCoder-15.5B,~in~file 8.82 9.96 6.35 4.47
StarCoder-15.5B,~retrieval 15.72 17.48 8.31 13.57
StarCoder-15.5B,~retrieval~with~the~truth 21.01 19.92 11.02 20.08
GPT-3.5-Turbo,~in~file - 12.30 - -
GPT-3.5-Turbo,~retrieval - 19.12 - -
GPT-3.5-Turbo,~retrieval~with~the~truth - 22.72 - -
";

/// Returns the published results in the languages of which the cases are the public ones.
pub(super) fn published(cases: &[&Case]) -> Option<PublishedTables> {
    let is_public = |(language, count): &(&'static str, usize)| {
        let prefix = format!("project_cc_{language}/");
        let ids = cases.iter().filter_map(|case| case.origin.benchmark_id.as_deref());
        let ids: HashSet<&str> = ids.filter(|id| id.starts_with(&prefix)).collect();
        (*language, ids.len() == *count)
    };
    PublishedTables::new(
        "table 2 of arXiv 2310.11248",
        [("results", "em", LANGUAGES.iter().map(is_public).collect(), rows_of(ROWS))],
    )
}
