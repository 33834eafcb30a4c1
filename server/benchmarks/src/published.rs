//! The results that the originals published, shown beside the tables of a run over all their public cases.
//!
//! The public suites are recognized by their ids, repositories and numbers of cases. A part of one is another suite, whose numbers
//! cannot be compared with the published ones. YABLoCo's are missing, because its paper's tables were not at hand. Public data is not part of
//! Ghostbench; each module names the source of its numbers.

use cases::Case;

use crate::score_sheet::{ScoreTable, TablePicture};

mod codev_bench;
mod crosscodeeval;
mod repoqa;

/// Beginning of the names of tables with published results.
const PUBLISHED: &str = "published: ";

/// The published results for a run's cases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PublishedTables {
    /// Tables, each with the name of the own table that it belongs to.
    tables: Vec<(&'static str, ScoreTable)>,
    /// Where the numbers were published.
    source: &'static str,
}

/// A name with its values by column; `None` where nothing was published.
type PublishedRow = (String, Vec<Option<f64>>);

/// The own table that a published one belongs to, the metric, the columns and whether each is shown, and the rows.
type TableParts<'a> = (&'static str, &'a str, Vec<(&'a str, bool)>, Vec<PublishedRow>);

impl PublishedTables {
    /// Returns the tables with the columns that are shown; `None` without any.
    fn new<'a>(
        source: &'static str,
        tables: impl IntoIterator<Item = TableParts<'a>>,
    ) -> Option<PublishedTables> {
        let table = |(own, metric, columns, rows): TableParts<'a>| {
            let shown: Vec<bool> = columns.iter().map(|(_, is_shown)| *is_shown).collect();
            let of_shown = |(name, values): PublishedRow| {
                let values = values.into_iter().zip(&shown).filter(|(_, is_shown)| **is_shown);
                (name, values.map(|(value, _)| value).collect::<Vec<_>>())
            };
            let rows: Vec<PublishedRow> = rows
                .into_iter()
                .map(of_shown)
                .filter(|(_, values)| values.iter().any(Option::is_some))
                .collect();
            let columns = columns.into_iter().filter(|(_, is_shown)| *is_shown);
            let table = ScoreTable {
                name: format!("{PUBLISHED}{own}, {metric}"),
                columns: columns.map(|(name, _)| name.to_owned()).collect(),
                rows,
                picture: TablePicture::None,
            };
            (!table.rows.is_empty()).then_some((own, table))
        };
        let tables: Vec<_> = tables.into_iter().filter_map(table).collect();
        (!tables.is_empty()).then_some(PublishedTables { tables, source })
    }

    /// Inserts each table behind the own one, and says where it is from.
    pub(crate) fn add_to(self, tables: &mut Vec<ScoreTable>, notes: &mut Vec<String>) {
        for (own, table) in self.tables {
            let place = tables.iter().position(|known| known.name == own).map_or(tables.len(), |own| own + 1);
            tables.insert(place, table);
        }
        notes.push(format!(
            "published results: {}; the original's program computed them, as `--faithful` does",
            self.source
        ));
    }
}

/// Returns the published results if the cases are all the public ones of a benchmark, or of a part with results of its own.
pub(crate) fn published_tables(benchmark: &str, cases: &[&Case]) -> Option<PublishedTables> {
    match benchmark {
        "codev-bench" => codev_bench::published(cases),
        "crosscodeeval" => crosscodeeval::published(cases),
        "repoqa" => repoqa::published(cases),
        _ => None,
    }
}

/// Returns the rows of lines with a name and values, separated by blanks; `-` is no value. Names have no blanks but `~`.
fn rows_of(lines: &str) -> Vec<PublishedRow> {
    let row = |line: &str| {
        let mut parts = line.split(' ');
        let name = parts.next().unwrap_or_default().replace('~', " ");
        (name, parts.map(|value| value.parse().ok()).collect())
    };
    lines.lines().map(row).collect()
}

#[cfg(test)]
mod tests {
    use cases::{
        BlockCut, CompletionTask, ContextComments, CrossFileContext, FindFunction, FunctionQuestion, Task,
    };
    use syntax::Language;

    use super::*;
    use crate::imported_case::{CaseParts, imported_case};

    fn case(benchmark: &str, id: &str, repository: &str, language: Language, task: Task, path: &str) -> Case {
        let parts = CaseParts {
            benchmark,
            id,
            repository: Some(repository),
            task,
            language,
            block_kind: None,
            path,
            prefix: "",
            suffix: "",
            truth: "x",
            context: Vec::new(),
        };
        imported_case(parts).expect("a short prefix")
    }

    /// Returns the own table, the columns and the number of rows of each published table.
    fn published(benchmark: &str, cases: &[Case]) -> Vec<(&'static str, usize, usize)> {
        let cases: Vec<&Case> = cases.iter().collect();
        let found = published_tables(benchmark, &cases).map_or_else(Vec::new, |found| found.tables);
        found.into_iter().map(|(own, table)| (own, table.columns.len(), table.rows.len())).collect()
    }

    /// Checks that the cases have these tables, and that they have none without the last case.
    #[track_caller]
    fn check(benchmark: &str, cases: &[Case], expected: &[(&'static str, usize, usize)]) {
        assert_eq!(published(benchmark, cases), expected);
        assert_eq!(published(benchmark, &cases[1..]), []);
    }

    fn cceval_cases(language: Language, count: usize) -> Vec<Case> {
        let task = Task::Complete(CompletionTask::CrossFile(CrossFileContext::InFile));
        let id = |number| format!("project_cc_{}/{number}", language.name());
        (0..count).map(|number| case("crosscodeeval", &id(number), "r", language, task, "a")).collect()
    }

    #[test]
    fn crosscodeeval_is_recognized_by_language() {
        let java = cceval_cases(Language::Java, 2_139);
        check("crosscodeeval", &java, &[("results", 1, 6)]);
        let mut both = cceval_cases(Language::Python, 2_665);
        assert_eq!(published("crosscodeeval", &both), [("results", 1, 3)]);
        both.extend(java);
        assert_eq!(published("crosscodeeval", &both), [("results", 2, 6)]);
        both[0].origin.benchmark_id = Some("another/1".to_owned());
        assert_eq!(published("crosscodeeval", &both), [("results", 1, 6)]);
    }

    #[test]
    fn codev_bench_is_recognized_by_repositories_and_rows() {
        let task = Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart));
        let of = |path: &str| case("codev-bench", "a#L1-L1", "", Language::Python, task, path);
        let cases: Vec<Case> = (0..312).map(|_| of("./Source_Code/searcharray/a.py")).collect();
        check("codev-bench", &cases, &[("full_block", 6, 16)]);
        let own: Vec<Case> = (0..312).map(|_| of("src/a.py")).collect();
        assert_eq!(published("codev-bench", &own), []);
    }

    fn find(repository: &str, language: Language, name: String) -> Case {
        let question = FindFunction {
            description: String::new(),
            name,
            candidates: Vec::new(),
            depth: 0.5,
            size: 16_384,
            tokens_before: 0,
            tokens_of_function: 0,
            tokens_after: 0,
            tokenizer: "estimate".to_owned(),
            comments: ContextComments::Kept,
        };
        let function = Some(Box::new(FunctionQuestion::Find(question)));
        Case { function, ..case("repoqa", "1", repository, language, Task::FindFunction, "a") }
    }

    #[test]
    fn repoqa_is_recognized_by_language() {
        let of_language = |(name, repositories): &(&str, [&str; 10])| -> Vec<Case> {
            let language = Language::from_name(name).expect("a language");
            let functions = repositories.iter().flat_map(|name| (0..10).map(move |it| (*name, it)));
            functions.map(|(name, it)| find(name, language, format!("f{it}"))).collect()
        };
        let python = of_language(&repoqa::REPOSITORIES[0]);
        check("repoqa", &python, &[("pass@1", 1, 33)]);
        let all: Vec<Case> = repoqa::REPOSITORIES.iter().flat_map(of_language).collect();
        assert_eq!(published("repoqa", &all), [("pass@1", 6, 33)]);
    }

    #[test]
    fn every_published_value_is_a_number_or_left_out() {
        for (lines, columns) in codev_bench::ALL_ROWS
            .iter()
            .map(|lines| (*lines, 6))
            .chain([(repoqa::ROWS, 6), (crosscodeeval::ROWS, 4)])
        {
            for (line, (name, values)) in lines.lines().zip(rows_of(lines)) {
                assert!(!name.is_empty() && values.len() == columns, "{line}");
                let left_out = line.split(' ').filter(|value| *value == "-").count();
                assert_eq!(values.iter().filter(|value| value.is_none()).count(), left_out, "{line}");
            }
        }
    }
}
