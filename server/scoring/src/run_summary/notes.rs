//! Remarks on a run besides its numbers: missing requests, the code that engines could read, rows that mean something else.

use std::collections::{BTreeMap, HashSet};

use cases::{AnswerForm, Case, EngineConfig, EngineIdentity, Metric, Prediction, Run};

use super::failures::{self, EngineFailures, PromptProblem};
use super::observations::RunObservations;
use super::{EngineLine, HIDES_COPIES, RunRows, RunSummary, rows};
use crate::MetricCell;

/// A remark on a run; `report` words it.
#[derive(Clone, Debug, PartialEq)]
pub enum RunNote {
    /// Requests are missing.
    Unfinished {
        /// Answers so far.
        answered: usize,
        /// Requests of the finished run.
        planned: usize,
    },
    /// Cases were cut from another tree than the run's workspace.
    OtherTree,
    /// The run had no workspace.
    NoWorkspace,
    /// Cases that were recorded after the run.
    NewerCases(usize),
    /// Answers to cases that are not in the suite.
    UnknownCases(usize),
    /// Answers without a row of scores.
    Unscored(usize),
    /// Answers from a cassette.
    Recorded {
        /// With the times of the recording.
        timed: usize,
        /// Without times.
        untimed: usize,
    },
    /// Live cases that should be weighted by the probability of their exposure.
    Unweighted(usize),
    /// `cross_file` has several cases per hole.
    Controls,
    /// Cases were selected against an engine of the run.
    Judges,
    /// Answers of an engine were cut at the deadline.
    Late {
        /// Its name.
        engine: String,
        /// Number of such answers; repetitions of one case weigh as one.
        late: f64,
        /// Number of all its answers.
        answers: usize,
        /// Exact match with the text written by then.
        exact: Option<MetricCell>,
        /// Exact match of the answers in time.
        in_time: Option<MetricCell>,
    },
    /// Engines answered cases again without the files that contain copies of their truths.
    Copies {
        /// Cases with copies.
        affected: usize,
        /// All cases.
        cases: usize,
        /// Answers to cases with copies that are reused, because hiding the files did not change the request.
        reused: usize,
    },
    /// Requests to an engine failed too often.
    Failures {
        /// Its name.
        engine: String,
        /// The failures.
        failures: EngineFailures,
    },
    /// How an engine got tasks without a cursor.
    AnswerForms {
        /// Its name.
        engine: String,
        /// The forms with the numbers of answers.
        forms: Vec<(AnswerForm, usize)>,
    },
    /// Answers of an engine show that its prompt has the wrong form.
    WrongPrompt(PromptProblem),
}

/// Returns remarks on the completeness of a run, and on the code that engines could read in it.
pub fn completeness_notes(run: &Run, cases: &[Case], predictions: &[Prediction]) -> Vec<RunNote> {
    let planned: usize = run.engines.iter().map(|engine| requests(run, engine, cases, predictions)).sum();
    let answered = predictions.len();
    let unfinished = (answered < planned).then_some(RunNote::Unfinished { answered, planned });
    let other_tree =
        cases.iter().any(|case| rows::is_from_other_tree(run, case)).then_some(RunNote::OtherTree);
    let without = run.workspace.is_none().then_some(RunNote::NoWorkspace);
    [unfinished, other_tree, without].into_iter().flatten().collect()
}

/// Returns the number of requests that the run makes to an engine. An engine without copies gets only the cases with copies,
/// unless its answers show that it gets all cases (`--no-copies all`, and runs before schema 1.3).
fn requests(run: &Run, engine: &EngineConfig, cases: &[Case], predictions: &[Prediction]) -> usize {
    let affected: HashSet<&str> = run.copies.iter().map(|copies| copies.case.as_str()).collect();
    let hides = engine.settings.get(HIDES_COPIES).is_some_and(|hides| hides == "true");
    let is_unaffected =
        |row: &Prediction| row.engine.name == engine.engine.name && !affected.contains(row.case.as_str());
    let asks_all = !hides || affected.is_empty() || predictions.iter().any(is_unaffected);
    run.repeat as usize * if asks_all { cases.len() } else { affected.len() }
}

/// Returns the remarks on the rows of a run and on its summary.
pub(super) fn notes(
    rows: &RunRows<'_>,
    observed: &RunObservations<'_>,
    summary: &RunSummary,
) -> Vec<RunNote> {
    let counted = |count: usize, note: fn(usize) -> RunNote| (count > 0).then(|| note(count));
    let [timed, untimed] = observed.recorded;
    let of_rows = [
        counted(observed.unknown_cases, RunNote::UnknownCases),
        counted(observed.unscored, RunNote::Unscored),
        (timed + untimed > 0).then_some(RunNote::Recorded { timed, untimed }),
        counted(observed.weighted, RunNote::Unweighted),
        (!observed.left_out.is_empty()).then_some(RunNote::Controls),
        (!observed.judges.is_empty()).then_some(RunNote::Judges),
    ];
    let lines = summary.sections.iter().flat_map(|section| &section.overall.lines);
    let late = lines.filter(|line| line.has_late_answers()).map(|line| late_note(summary, line));
    let has_copies = (0..summary.engines.len()).any(|engine| summary.is_without_copies(engine));
    let reused = rows.predictions.iter().filter(|row| row.reused).count();
    let copies = has_copies.then_some(RunNote::Copies {
        affected: rows.run.copies.len(),
        cases: rows.cases.len(),
        reused,
    });
    let frequent = summary.failures.iter().filter(|failures| failures.is_frequent);
    let failures = frequent.map(|failures| RunNote::Failures {
        engine: engine_name(summary, failures.engine),
        failures: failures.clone(),
    });
    let prompts = failures::prompt_problems(rows, &summary.engines).into_iter().map(RunNote::WrongPrompt);
    let forms = answer_forms(rows.predictions, &summary.engines);
    let of_engines = failures.chain(forms).chain(prompts);
    of_rows.into_iter().flatten().chain(late).chain(copies).chain(of_engines).collect()
}

/// Returns a note for each engine that got tasks without a cursor, in the order of the engines.
fn answer_forms(predictions: &[Prediction], engines: &[EngineIdentity]) -> Vec<RunNote> {
    let mut by_engine: BTreeMap<&str, BTreeMap<AnswerForm, usize>> = BTreeMap::new();
    for row in predictions {
        if let Some(form) = row.form {
            *by_engine.entry(&row.engine.name).or_default().entry(form).or_default() += 1;
        }
    }
    let note = |engine: &EngineIdentity| {
        let forms = by_engine.remove(engine.name.as_str())?.into_iter().collect();
        Some(RunNote::AnswerForms { engine: engine.name.clone(), forms })
    };
    engines.iter().filter_map(note).collect()
}

fn late_note(summary: &RunSummary, line: &EngineLine) -> RunNote {
    let cell = |metric| line.metrics.get(&metric).copied();
    RunNote::Late {
        engine: engine_name(summary, line.engine),
        late: cell(Metric::Late).map_or(0.0, |cell| cell.num),
        answers: line.cases,
        exact: cell(Metric::ExactMatch),
        in_time: cell(Metric::ExactInTime),
    }
}

fn engine_name(summary: &RunSummary, engine: usize) -> String {
    summary.engines.get(engine).map_or_else(String::new, |engine| engine.name.clone())
}
