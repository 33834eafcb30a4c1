//! The table of results: five groups of block types and their average.

use scoring::similarity::Similarity;
use text::python;

use super::judges::line_length;

/// Group of block types: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodevGroup {
    /// `METHOD`.
    Function,
    /// `IF`.
    Branch,
    /// `FOR` and `WHILE`.
    Loop,
    /// `TRY` and `CATCH`.
    Exception,
    /// `STATEMENT`.
    Statement,
}

impl CodevGroup {
    /// All groups in the order of the original's columns.
    pub const ALL: [CodevGroup; 5] = [
        CodevGroup::Function,
        CodevGroup::Branch,
        CodevGroup::Loop,
        CodevGroup::Exception,
        CodevGroup::Statement,
    ];

    /// Returns the group of a `block_type`; `None` if the benchmark has no such type.
    pub fn from_block_type(block_type: &str) -> Option<CodevGroup> {
        Some(match block_type {
            "METHOD" => CodevGroup::Function,
            "IF" => CodevGroup::Branch,
            "FOR" | "WHILE" => CodevGroup::Loop,
            "TRY" | "CATCH" => CodevGroup::Exception,
            "STATEMENT" => CodevGroup::Statement,
            _ => return None,
        })
    }
}

/// A judged response.
#[derive(Clone, Debug, PartialEq)]
pub struct CodevResult {
    /// Group of the block.
    pub group: CodevGroup,
    /// Whether unit tests and judges pass.
    pub is_passed: bool,
    /// Edit similarity, 0 to 100, whole.
    pub similarity: f64,
    /// Lines of the response.
    pub lines: usize,
    /// Seconds until the response; 0 if unknown.
    pub latency: f64,
}

impl CodevResult {
    /// Creates a result; the similarity compares the raw texts, response first.
    pub fn new(
        group: CodevGroup,
        is_passed: bool,
        response: &str,
        truth: &str,
        latency: f64,
        similarity: Similarity,
    ) -> CodevResult {
        CodevResult {
            group,
            is_passed,
            similarity: similarity.percent(response, truth),
            lines: line_length(response),
            latency,
        }
    }
}

/// A column of the table; all values have two decimals, and are 0 without results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodevColumn {
    /// Passed responses, in percent.
    pub pass_rate: f64,
    /// Mean edit similarity, 0 to 100.
    pub edit_similarity: f64,
    /// Mean number of lines.
    pub line_length: f64,
    /// Mean seconds.
    pub latency: f64,
    /// Number of results.
    pub count: usize,
}

impl CodevColumn {
    fn new<'a>(results: impl Iterator<Item = &'a CodevResult> + Clone) -> CodevColumn {
        let count = results.clone().count();
        let mean = |value: fn(&CodevResult) -> f64| {
            let sum: f64 = results.clone().map(value).sum();
            python::round(if count == 0 { 0.0 } else { sum / count as f64 }, 2)
        };
        CodevColumn {
            pass_rate: mean(|result| if result.is_passed { 100.0 } else { 0.0 }),
            edit_similarity: mean(|result| result.similarity),
            line_length: mean(|result| result.lines as f64),
            latency: mean(|result| result.latency),
            count,
        }
    }
}

/// The results of one file of the benchmark, or of two that share a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodevTable {
    /// A column for each of [`CodevGroup::ALL`].
    pub groups: [CodevColumn; CodevGroup::ALL.len()],
    /// All results with the same weight.
    pub average: CodevColumn,
}

impl CodevTable {
    /// Summarizes results. Each of `files` is one result file with its cap: only that many of its first rows count. The original
    /// splits a run into four such files, so a table has up to four times the cap.
    pub fn new(files: &[(&[CodevResult], usize)]) -> CodevTable {
        let counted = || files.iter().flat_map(|(results, cap)| results.iter().take(*cap));
        let column = |group| CodevColumn::new(counted().filter(move |result| result.group == group));
        CodevTable { groups: CodevGroup::ALL.map(column), average: CodevColumn::new(counted()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(block_type: &str, is_passed: bool) -> CodevResult {
        let group = CodevGroup::from_block_type(block_type).expect("a known type");
        CodevResult::new(group, is_passed, "a\n", "a\n", 0.5, Similarity::Difflib)
    }

    #[test]
    fn cap_applies_to_each_file_and_the_average_to_all_rows() {
        let first = [result("FOR", true), result("WHILE", false), result("IF", true)];
        let second = [result("FOR", false)];
        let table = CodevTable::new(&[(&first, 2), (&second, 2)]);
        assert_eq!(table.groups.map(|group| group.count), [0, 0, 3, 0, 0]);
        assert_eq!(table.groups[2].pass_rate, 33.33);
        assert_eq!(table.average.pass_rate, 33.33);
        assert_eq!(table.groups[0], CodevColumn::default());
    }

    #[test]
    fn unknown_block_types_have_no_group() {
        assert_eq!(CodevGroup::from_block_type("IMPORT"), None);
    }
}
