//! The index of cases: all that the list and its filters show, in columns.

use std::collections::{BTreeMap, HashMap};

use cases::{Case, Metric, Score, Status};
use scoring::compared_runs::{ComparedRuns, SectionKey};
use scoring::run_summary::{ScenarioGroup, answer_class};
use scoring::{Counts, Verdict};
use serde::Serialize;

use super::{Answer, AnsweredCase, BLOCK_CASES, case_block};
use crate::format;
use crate::html::engine_views::EngineView;

/// Character of a case without an answer in [`EngineColumn::outcomes`].
const NOT_ASKED: char = '-';

#[derive(Serialize)]
pub(super) struct CaseIndex<'a> {
    lines_kept: usize,
    block_cases: usize,
    engines: &'a [EngineView],
    ids: Vec<&'a str>,
    /// Positions in the order of the blocks.
    places: Vec<usize>,
    lines: Vec<u32>,
    holes: NameColumn,
    paths: NameColumn,
    scenarios: NameColumn,
    variants: NameColumn,
    block_kinds: NameColumn,
    languages: NameColumn,
    origins: NameColumn,
    outcomes: Vec<Outcome>,
    answers: Vec<EngineColumn>,
}

/// Names by case, each distinct one stored once.
#[derive(Serialize)]
struct NameColumn {
    names: Vec<String>,
    of: Vec<usize>,
}

/// Outcome of an answer: the status, with `ok` split by whether the answer is right.
#[derive(Clone, Copy, PartialEq, Serialize)]
struct Outcome {
    name: &'static str,
    status: Status,
}

/// The first answers of one engine, by case.
#[derive(Serialize)]
struct EngineColumn {
    /// One character per case: `0` for the first of [`CaseIndex::outcomes`].
    outcomes: String,
    /// Those of further repetitions, by case.
    repeated: BTreeMap<usize, String>,
    /// Edit similarity in thousandths.
    similarities: Vec<Option<u32>>,
    /// The values that the verdict compares, averaged over repetitions.
    values: Vec<Option<f64>>,
}

/// Values by case and engine.
pub(super) type VerdictValues<'a> = HashMap<&'a str, Vec<Option<f64>>>;

pub(super) fn index<'a>(
    engines: &'a [EngineView],
    cases: &[AnsweredCase<'a>],
    values: &VerdictValues<'_>,
) -> CaseIndex<'a> {
    let names = |of: fn(&Case) -> String| NameColumn::new(cases.iter().map(|row| of(row.case)));
    let mut outcomes = Vec::new();
    let answers =
        (0..engines.len()).map(|engine| engine_column(engine, cases, values, &mut outcomes)).collect();
    CaseIndex {
        lines_kept: case_block::LINES_KEPT,
        block_cases: BLOCK_CASES,
        engines,
        ids: cases.iter().map(|row| row.case.id.as_str()).collect(),
        places: cases.iter().map(|row| row.place).collect(),
        lines: cases.iter().map(|row| row.case.line).collect(),
        holes: names(|case| case.hole.clone()),
        paths: names(|case| case.path.clone()),
        scenarios: names(|case| ScenarioGroup::of(case).to_string()),
        variants: names(|case| case.task.variant().unwrap_or_default().to_owned()),
        block_kinds: names(|case| case.block_kind.map_or("", cases::BlockKind::name).to_owned()),
        languages: names(|case| case.language.clone()),
        origins: names(|case| format::origin(case.origin.kind, case.origin.exposure)),
        outcomes,
        answers,
    }
}

impl NameColumn {
    fn new(names: impl Iterator<Item = String>) -> NameColumn {
        let mut numbers = HashMap::new();
        let mut column = NameColumn { names: Vec::new(), of: Vec::new() };
        for name in names {
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                column.names.push(name.clone());
                column.names.len() - 1
            });
            column.of.push(number);
        }
        column
    }
}

/// Returns the values of the metric that decides in each section.
pub(super) fn verdict_values<'a>(
    runs: &ComparedRuns<'a>,
    verdicts: &[(SectionKey, &Verdict)],
) -> VerdictValues<'a> {
    let of_section =
        |(key, verdict): &(SectionKey, &Verdict)| runs.case_values(*key, verdict.metric, verdict.deadline);
    verdicts.iter().flat_map(of_section).collect()
}

fn engine_column(
    engine: usize,
    cases: &[AnsweredCase<'_>],
    values: &VerdictValues<'_>,
    outcomes: &mut Vec<Outcome>,
) -> EngineColumn {
    let mut column = EngineColumn {
        outcomes: String::new(),
        repeated: BTreeMap::new(),
        similarities: Vec::new(),
        values: Vec::new(),
    };
    for (number, row) in cases.iter().enumerate() {
        let answers = row.answers.iter().filter(|answer| answer.engine == engine);
        let mut codes = answers.clone().map(|answer| code(answer, outcomes));
        column.outcomes.push(codes.next().unwrap_or(NOT_ASKED));
        let repeated: String = codes.collect();
        if !repeated.is_empty() {
            column.repeated.insert(number, repeated);
        }
        let first = answers.clone().next().and_then(|answer| answer.score);
        column.similarities.push(first.and_then(similarity));
        let value = values.get(row.case.id.as_str()).and_then(|of_case| *of_case.get(engine)?);
        column.values.push(value);
    }
    column
}

/// Returns the character of an answer's outcome, and appends the outcome if it is the first of its kind.
fn code(answer: &Answer<'_>, outcomes: &mut Vec<Outcome>) -> char {
    let Answer { prediction, score, .. } = *answer;
    let outcome = Outcome { name: answer_class(prediction, score).name(), status: prediction.status };
    let known = outcomes.iter().position(|known| *known == outcome);
    let number = known.unwrap_or_else(|| {
        outcomes.push(outcome);
        outcomes.len() - 1
    });
    // There are about a dozen combinations of outcome and status: all are printable characters.
    char::from(b'0' + u8::try_from(number).unwrap_or(0))
}

fn similarity(score: &Score) -> Option<u32> {
    let share = Counts::from(*score.metrics.get(&Metric::EditSimilarity)?).ratio()?;
    Some((share * 1000.0).round() as u32)
}
