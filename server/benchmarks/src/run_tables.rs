//! The originals' own tables for the answers of a run to imported cases: the same numbers as `ghostbench score` gives for its export.
//!
//! ```text
//! cases + predictions --export--> rows --the original's scorer--> a sheet per engine --merge--> tables with a row per engine
//! ```

use std::collections::{BTreeMap, HashMap};

use cases::{Case, Prediction};
use syntax::Language;

use crate::codev_bench::{CodevFile, CodevPrediction, CodevResultFiles, CodevShard};
use crate::crosscodeeval::{CcevalItem, CcevalPrediction, PredictionScorer};
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use crate::row_reader::{BenchmarkItem, ImportedRow};
use crate::score_sheet::{RuleDifference, ScoreSheet, ScoreTable};
use crate::{Rules, export_cceval_row, export_codev_row, repoqa, yabloco};

/// Milliseconds of a second.
const MS_PER_S: f64 = 1000.0;

/// The tables of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkTables {
    /// Name of the benchmark: `codev-bench`, `crosscodeeval`, `repoqa` or `yabloco`.
    pub benchmark: &'static str,
    /// Number of the run's cases of it.
    pub cases: usize,
    /// The original's tables; each row belongs to an engine.
    pub tables: Vec<ScoreTable>,
    /// Where the original's program differs from its description, by engine.
    pub differences: Vec<(String, RuleDifference)>,
    /// Remarks on the numbers.
    pub notes: Vec<String>,
}

/// Returns the tables of the benchmarks that a run's cases are imported from. A case without an answer counts by the original's rules
/// for missing answers.
pub fn run_tables(cases: &[Case], predictions: &[Prediction], rules: Rules) -> Vec<BenchmarkTables> {
    let mut engines: Vec<&str> = Vec::new();
    for prediction in predictions {
        if !engines.contains(&prediction.engine.name.as_str()) {
            engines.push(&prediction.engine.name);
        }
    }
    let benchmarks: [(&'static str, SheetOf); 4] = [
        ("codev-bench", codev_sheet),
        ("crosscodeeval", cceval_sheet),
        (repoqa::REPOQA, repoqa::run_sheet),
        (yabloco::YABLOCO, yabloco::run_sheet),
    ];
    let mut found = Vec::new();
    for (benchmark, sheet) in benchmarks {
        let of_benchmark: Vec<&Case> =
            cases.iter().filter(|case| case.origin.benchmark.as_deref() == Some(benchmark)).collect();
        if of_benchmark.is_empty() {
            continue;
        }
        let mut tables = BenchmarkTables {
            benchmark,
            cases: of_benchmark.len(),
            tables: Vec::new(),
            differences: Vec::new(),
            notes: Vec::new(),
        };
        for engine in &engines {
            let answers = RunAnswersOf::new(engine, predictions);
            tables.add(engine, sheet(&of_benchmark, &answers, rules));
        }
        found.push(tables);
    }
    found
}

/// Computes the sheet of one engine's answers.
type SheetOf = fn(&[&Case], &RunAnswersOf<'_>, Rules) -> ScoreSheet;

/// The answers of one engine by case, in the order of their repetitions.
pub(crate) struct RunAnswersOf<'a>(HashMap<&'a str, BTreeMap<u32, &'a Prediction>>);

impl<'a> RunAnswersOf<'a> {
    fn new(engine: &str, predictions: &'a [Prediction]) -> RunAnswersOf<'a> {
        let mut answers: HashMap<&str, BTreeMap<u32, &Prediction>> = HashMap::new();
        for prediction in predictions.iter().filter(|prediction| prediction.engine.name == engine) {
            answers.entry(&prediction.case).or_default().insert(prediction.repetition, prediction);
        }
        RunAnswersOf(answers)
    }

    /// Returns the first answer to a case.
    pub(crate) fn first(&self, case: &Case) -> Option<&'a Prediction> {
        self.all(case).next()
    }

    /// Returns all answers to a case.
    pub(crate) fn all(&self, case: &Case) -> impl Iterator<Item = &'a Prediction> {
        self.0.get(case.id.as_str()).into_iter().flat_map(|answers| answers.values().copied())
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

fn codev_sheet(cases: &[&Case], answers: &RunAnswersOf<'_>, rules: Rules) -> ScoreSheet {
    let mut by_file: BTreeMap<CodevFile, Vec<ImportedRow<CodevPrediction>>> = BTreeMap::new();
    for case in cases {
        let Some((file, exported)) = CodevFile::of_case(case).zip(export_codev_row(case)) else { continue };
        let answer = answers.first(case);
        let (raw, text) = answer.map_or(("", ""), |answer| (&*answer.raw, &*answer.text));
        let seconds = answer.map_or(0.0, |answer| answer.ms.total / MS_PER_S);
        let row = exported.with_response(raw, text, seconds).and_then(|row| imported(&row));
        by_file.entry(file).or_default().extend(row);
    }
    let mut results = CodevResultFiles::default();
    for (file, rows) in by_file {
        results.add(CodevShard { file, part: 0 }, &rows);
    }
    results.finish(rules)
}

fn cceval_sheet(cases: &[&Case], answers: &RunAnswersOf<'_>, rules: Rules) -> ScoreSheet {
    let mut by_language: BTreeMap<&str, (Vec<ImportedRow<CcevalItem>>, Vec<CcevalPrediction>)> =
        BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let Some(exported) = export_cceval_row(case, number) else { continue };
        let answer = answers.first(case).and_then(|answer| exported.prediction(&answer.text));
        let (rows, predictions) = by_language.entry(&case.language).or_default();
        let Some(row) = imported(&exported.row) else { continue };
        rows.push(row);
        predictions.extend(answer.and_then(|row| imported(&row)).map(|row| row.item));
    }
    let mut merged = ScoreSheet::default();
    for (language, (rows, predictions)) in by_language {
        let mut scorer = PredictionScorer::new(predictions, Language::from_name(language), rules);
        scorer.add(rows);
        merged.merge(scorer.finish());
    }
    merged
}

/// Returns a row as if it was read from a file.
fn imported<T: BenchmarkItem>(row: &OrderedMap<JsonText>) -> Option<ImportedRow<T>> {
    let text = serde_json::to_string(row).ok()?;
    Some(ImportedRow { line: 0, item: cases::parse_document(&text).ok()?, text })
}
