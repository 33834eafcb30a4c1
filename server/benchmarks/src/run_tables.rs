//! The originals' own tables for the answers of a run to imported cases: the same numbers as `ghostbench score` gives for its export.
//!
//! ```text
//! cases + predictions --export--> rows --the original's scorer--> a sheet per engine --merge--> tables with a row per engine
//! ```

use std::collections::{BTreeMap, HashMap};

use cases::{Case, CrossFileContext, NO_COPIES_SUFFIX, Prediction};
use rayon::prelude::*;
use syntax::Language;

use crate::codev_bench::{CodevFile, CodevPrediction, CodevResultFiles, CodevShard};
use crate::crosscodeeval::{CcevalItem, CcevalPrediction, PredictionScorer};
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use crate::published::published_tables;
use crate::row_reader::{BenchmarkItem, ImportedRow};
use crate::score_sheet::{RuleDifference, ScoreSheet, ScoreTable};
use crate::{ScoringRules, export_cceval_rows, export_codev_rows, repoqa, yabloco};

/// Milliseconds of a second.
const MS_PER_S: f64 = 1000.0;

/// The tables of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkTables {
    /// Name of the benchmark: `codev-bench`, `crosscodeeval`, `repoqa` or `yabloco`.
    pub benchmark: &'static str,
    /// The rules of the numbers.
    pub rules: ScoringRules,
    /// Number of the run's cases of it.
    pub cases: usize,
    /// The original's tables; each row belongs to an engine. If the cases are the public ones, tables with published results follow theirs.
    pub tables: Vec<ScoreTable>,
    /// Where the original's program differs from its description, by engine.
    pub differences: Vec<(String, RuleDifference)>,
    /// Remarks on the numbers.
    pub notes: Vec<String>,
}

/// Returns the tables of the benchmarks that a run's cases are imported from. A case without an answer counts by the original's rules
/// for missing answers. Cases are scored on all threads, each once for all engines.
pub fn run_tables(cases: &[Case], predictions: &[Prediction], rules: ScoringRules) -> Vec<BenchmarkTables> {
    let mut engines = answers_by_engine(predictions);
    leave_out_partial_controls(&mut engines);
    let benchmarks: [(&'static str, BuildSheets); 4] = [
        ("codev-bench", codev_sheets),
        ("crosscodeeval", cceval_sheets),
        (repoqa::REPOQA, repoqa::run_sheets),
        (yabloco::YABLOCO, yabloco::run_sheets),
    ];
    let mut found = Vec::new();
    for (benchmark, sheets) in benchmarks {
        let of_benchmark: Vec<&Case> =
            cases.iter().filter(|case| case.origin.benchmark.as_deref() == Some(benchmark)).collect();
        if of_benchmark.is_empty() {
            continue;
        }
        let mut tables = BenchmarkTables {
            benchmark,
            rules,
            cases: of_benchmark.len(),
            tables: Vec::new(),
            differences: Vec::new(),
            notes: Vec::new(),
        };
        for (engine, sheet) in engines.iter().zip(sheets(&of_benchmark, &engines, rules)) {
            tables.add(engine.engine, sheet);
        }
        if let Some(published) = published_tables(benchmark, &of_benchmark) {
            published.add_to(&mut tables.tables, &mut tables.notes);
        }
        found.push(tables);
    }
    found
}

/// Computes a sheet for the answers of each engine.
type BuildSheets = fn(&[&Case], &[EngineAnswers<'_>], ScoringRules) -> Vec<ScoreSheet>;

/// The answers of one engine by case, in the order of their repetitions.
pub(crate) struct EngineAnswers<'a> {
    engine: &'a str,
    answers: HashMap<&'a str, BTreeMap<u32, &'a Prediction>>,
}

/// Returns the answers of each engine, in the order of their first answers.
fn answers_by_engine(predictions: &[Prediction]) -> Vec<EngineAnswers<'_>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut engines: Vec<EngineAnswers<'_>> = Vec::new();
    for prediction in predictions {
        let engine = prediction.engine.name.as_str();
        let place = *places.entry(engine).or_insert(engines.len());
        if place == engines.len() {
            engines.push(EngineAnswers { engine, answers: HashMap::new() });
        }
        let answers = engines[place].answers.entry(&prediction.case).or_default();
        answers.insert(prediction.repetition, prediction);
    }
    engines
}

/// Removes the second rows of engines, without copies of the truths, that were asked some of the cases only: the originals' tables
/// count cases without an answer as wrong.
fn leave_out_partial_controls(engines: &mut Vec<EngineAnswers<'_>>) {
    let answered: HashMap<&str, usize> =
        engines.iter().map(|engine| (engine.engine, engine.answers.len())).collect();
    engines.retain(|engine| {
        let base = engine.engine.strip_suffix(NO_COPIES_SUFFIX).and_then(|base| answered.get(base));
        base.is_none_or(|base| engine.answers.len() >= *base)
    });
}

impl<'a> EngineAnswers<'a> {
    /// Returns the first answer to a case.
    pub(crate) fn first(&self, case: &Case) -> Option<&'a Prediction> {
        self.all(case).next()
    }

    /// Returns the first answer to a case, unless it is a failure.
    fn response(&self, case: &Case) -> Option<&'a Prediction> {
        self.first(case).filter(|answer| !answer.has_failed())
    }

    /// Returns all answers to a case.
    pub(crate) fn all(&self, case: &Case) -> impl Iterator<Item = &'a Prediction> {
        self.answers.get(case.id.as_str()).into_iter().flat_map(|answers| answers.values().copied())
    }
}

impl BenchmarkTables {
    fn add(&mut self, engine: &str, sheet: ScoreSheet) {
        for table in sheet.tables {
            let rows = table.rows.into_iter().map(|(name, values)| (format!("{engine}: {name}"), values));
            match self.tables.iter_mut().find(|known| known.name == table.name) {
                Some(known) => known.rows.extend(rows),
                None => self.tables.push(ScoreTable { rows: rows.collect(), ..table }),
            }
        }
        let affected = sheet.differences.into_iter().filter(|difference| difference.affected > 0);
        self.differences.extend(affected.map(|difference| (engine.to_owned(), difference)));
        for note in sheet.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// Failures and unanswered cases have no response, so they count as failed also where the truth is empty.
fn codev_sheets(cases: &[&Case], engines: &[EngineAnswers<'_>], rules: ScoringRules) -> Vec<ScoreSheet> {
    let of_case = |case: &&Case| -> Vec<(CodevFile, CodevPrediction)> {
        let Some(file) = CodevFile::of_case(case) else { return Vec::new() };
        let rows = export_codev_rows(case).into_iter();
        rows.filter_map(|row| Some((file, imported(&row.unanswered().row)?))).collect()
    };
    let rows: Vec<Vec<(CodevFile, CodevPrediction)>> = cases.par_iter().map(of_case).collect();
    let sheet = |answers: &EngineAnswers<'_>| {
        let mut by_file: BTreeMap<CodevFile, Vec<CodevPrediction>> = BTreeMap::new();
        let of_cases = cases.iter().zip(&rows);
        for (case, (file, item)) in of_cases.flat_map(|(case, rows)| rows.iter().map(move |row| (case, row)))
        {
            let answer = answers.response(case);
            by_file.entry(*file).or_default().push(CodevPrediction {
                response: answer.map(|answer| answer.text.clone()),
                latency: answer.map(|answer| answer.ms.total / MS_PER_S),
                ..item.clone()
            });
        }
        let mut results = CodevResultFiles::default();
        for (file, items) in by_file {
            results.add(CodevShard { file, part: 0 }, &items);
        }
        results.finish(rules)
    };
    engines.iter().map(sheet).collect()
}

/// The same task without code from other files and with it has one id in several files of the original, each of which has its own row.
fn cceval_sheets(cases: &[&Case], engines: &[EngineAnswers<'_>], rules: ScoringRules) -> Vec<ScoreSheet> {
    let mut files: BTreeMap<(&str, CrossFileContext), Vec<(&Case, CcevalItem)>> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let Some(context) = case.task.cross_file_context() else { continue };
        for exported in export_cceval_rows(case, number) {
            let item = imported::<CcevalItem>(&exported.row);
            files.entry((&case.language, context)).or_default().extend(item.map(|item| (*case, item)));
        }
    }
    let sheet = |answers: &EngineAnswers<'_>| {
        let mut merged = ScoreSheet::default();
        for ((language, context), items) in &files {
            let prediction = |(case, item): &(&Case, CcevalItem)| {
                let task_id = item.metadata.task_id.clone();
                Some(CcevalPrediction { task_id, pred: answers.response(case)?.text.clone() })
            };
            let predictions: Vec<CcevalPrediction> = items.iter().filter_map(prediction).collect();
            let mut scorer = PredictionScorer::new(predictions, Language::from_name(language), rules);
            let row = |(_, item): &(&Case, CcevalItem)| ImportedRow {
                line: 0,
                item: item.clone(),
                text: String::new(),
            };
            scorer.add(items.iter().map(row).collect());
            let mut sheet = scorer.finish();
            sheet.name_rows(|name| format!("{name}{}", setting(*context)));
            merged.merge(sheet);
        }
        merged
    };
    engines.iter().map(sheet).collect()
}

/// The setting of an evaluation in the words of the original's tables, after the language.
fn setting(context: CrossFileContext) -> &'static str {
    match context {
        CrossFileContext::InFile => "",
        CrossFileContext::Retrieval => ", retrieval",
        CrossFileContext::Oracle => ", retrieval with the truth",
    }
}

/// Returns the used fields of a row, as if it was read from a file.
fn imported<T: BenchmarkItem>(row: &OrderedMap<JsonText>) -> Option<T> {
    cases::parse_document(&serde_json::to_string(row).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use cases::{EngineIdentity, Status};

    use super::*;
    use crate::codev_bench::CodevItem;

    /// A case whose right completion is empty.
    fn empty_case(path: &str) -> Case {
        let line = format!(
            r#"{{"func_name":"{path}#L1-L3","block_key":"{path}#L2-L2","block_type":"IF","prompt":"","prefix":"if x:\n    y","suffix":"\n","middle":""}}"#
        );
        let item: CodevItem = cases::parse_line(&line, 1).expect("an item");
        item.case(CodevFile::InnerBlockEmpty).expect("a case")
    }

    fn answer(case: &Case, engine: &str, status: Status) -> Prediction {
        let name = || engine.to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        Prediction::empty(case.id.clone(), engine, status)
    }

    #[test]
    fn failures_and_missing_answers_fail_where_the_truth_is_empty() {
        let cases = ["a.py", "b.py", "c.py", "d.py"].map(empty_case);
        let predictions = [
            answer(&cases[0], "e", Status::Timeout),
            answer(&cases[1], "e", Status::Error),
            answer(&cases[2], "e", Status::Silent),
        ];
        let tables = run_tables(&cases, &predictions, ScoringRules::Paper);
        assert_eq!((tables.len(), tables[0].cases), (1, 4));
        let table = &tables[0].tables[0];
        let average = |name: &str| {
            let row = table.rows.iter().find(|(row, _)| row == &format!("e: {name}")).expect("a row");
            row.1.last().copied().flatten()
        };
        assert_eq!((average("edit_sim"), average("count")), (Some(25.0), Some(4.0)));
        let missing = tables[0].differences.iter().find(|(_, it)| it.topic == "missing responses");
        assert_eq!(missing.expect("a difference").1.affected, 3);
    }

    #[test]
    fn rows_beyond_the_originals_number_are_named() {
        let cases: Vec<Case> = (0..130).map(|number| empty_case(&format!("{number}.py"))).collect();
        let predictions: Vec<Prediction> =
            cases.iter().map(|case| answer(case, "e", Status::Silent)).collect();
        let tables = run_tables(&cases, &predictions, ScoringRules::Paper);
        assert!(
            tables[0].notes.iter().any(|note| note.contains("30 of 130 rows are left out")),
            "{tables:?}"
        );
    }
}
