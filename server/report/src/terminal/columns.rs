//! The columns of the terminal's tables, and the sets of columns for each width.

use std::collections::HashSet;

use cases::{EngineIdentity, Metric};

use crate::format::{self, Alphabet};
use scoring::MetricCell;
use scoring::run_summary::EngineLine;

/// Longer engine names are cut: the numbers are more important.
const NAME_WIDTH: usize = 18;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Name of the row's cases.
    Label,
    /// The engine; if not `always`, it is shown only with several engines.
    Engine { always: bool },
    /// Number of cases.
    Cases,
    /// A metric's share.
    Share(Metric),
    /// The interval of the metric before it.
    Interval(Metric),
    /// Answers by status, in one column.
    Quiet,
    /// Number of answers with one status.
    Status(Metric),
    /// Median and 95th percentile.
    Latency,
}

impl Column {
    /// Returns its title; `label` is the first column's.
    pub(super) fn title(self, label: &str) -> String {
        let title = match self {
            Column::Label => label,
            Column::Engine { .. } => "engine",
            Column::Cases => "n",
            Column::Share(metric) => metric.spec().short_label,
            Column::Interval(_) => "95 %",
            Column::Quiet => "quiet",
            Column::Status(status) => status.spec().short_label,
            Column::Latency => "ms",
        };
        title.to_owned()
    }

    /// Whether it is left-aligned.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Column::Label | Column::Engine { .. } | Column::Interval(_))
    }
}

const ENGINE: Column = Column::Engine { always: false };
const ENGINE_NAME: Column = Column::Engine { always: true };
const TESTS: Column = Column::Share(Metric::TestsPassed);
const TESTS_RANGE: Column = Column::Interval(Metric::TestsPassed);
const EXACT: Column = Column::Share(Metric::ExactMatch);
const EXACT_RANGE: Column = Column::Interval(Metric::ExactMatch);
const TOKENS: Column = Column::Share(Metric::TokenExact);
const TOKENS_RANGE: Column = Column::Interval(Metric::TokenExact);
const EDIT: Column = Column::Share(Metric::EditSimilarity);
const EDIT_RANGE: Column = Column::Interval(Metric::EditSimilarity);
const IN_TIME: Column = Column::Share(Metric::ExactInTime);
const RESTRAINED: Column = Column::Share(Metric::Restraint);
const RESTRAINED_RANGE: Column = Column::Interval(Metric::Restraint);
const SILENT_COUNT: Column = Column::Status(Metric::Silent);
const GATED_COUNT: Column = Column::Status(Metric::Gated);
const FAILED_COUNT: Column = Column::Status(Metric::Failed);

use Column::{Cases, Label, Latency, Quiet};

/// For cases with a non-empty truth, widest first.
pub(super) const RESULTS: &[&[Column]] = &[
    &[
        Label,
        ENGINE,
        Cases,
        TESTS,
        TESTS_RANGE,
        EXACT,
        EXACT_RANGE,
        TOKENS,
        TOKENS_RANGE,
        EDIT,
        EDIT_RANGE,
        SILENT_COUNT,
        GATED_COUNT,
        FAILED_COUNT,
        Latency,
    ],
    &[
        Label,
        ENGINE,
        Cases,
        TESTS,
        TESTS_RANGE,
        EXACT,
        EXACT_RANGE,
        TOKENS,
        TOKENS_RANGE,
        EDIT,
        EDIT_RANGE,
        Quiet,
        Latency,
    ],
    &[Label, ENGINE, Cases, TESTS, TESTS_RANGE, EXACT, EXACT_RANGE, TOKENS, EDIT, EDIT_RANGE, Quiet, Latency],
    &[Label, ENGINE, Cases, TESTS, EXACT, TOKENS, EDIT, EDIT_RANGE, Quiet, Latency],
    &[Label, ENGINE, Cases, TESTS, EXACT, EDIT, EDIT_RANGE, Latency],
    &[Label, ENGINE, Cases, TESTS, EXACT, EDIT],
];

/// For cases with an empty truth.
pub(super) const RESTRAINT: &[&[Column]] = &[
    &[Label, ENGINE, Cases, RESTRAINED, RESTRAINED_RANGE, SILENT_COUNT, GATED_COUNT, FAILED_COUNT, Latency],
    &[Label, ENGINE, Cases, RESTRAINED, Quiet],
];

/// For all cases.
pub(super) const OVERALL: &[&[Column]] = &[
    &[
        ENGINE_NAME,
        Cases,
        TESTS,
        TESTS_RANGE,
        EXACT,
        EXACT_RANGE,
        IN_TIME,
        TOKENS,
        TOKENS_RANGE,
        EDIT,
        EDIT_RANGE,
        RESTRAINED,
        RESTRAINED_RANGE,
        Quiet,
        Latency,
    ],
    &[
        ENGINE_NAME,
        Cases,
        TESTS,
        TESTS_RANGE,
        EXACT,
        EXACT_RANGE,
        IN_TIME,
        TOKENS,
        EDIT,
        EDIT_RANGE,
        RESTRAINED,
        Quiet,
        Latency,
    ],
    &[ENGINE_NAME, Cases, TESTS, EXACT, IN_TIME, TOKENS, EDIT, EDIT_RANGE, RESTRAINED, Quiet, Latency],
    &[ENGINE_NAME, Cases, TESTS, EXACT, IN_TIME, TOKENS, EDIT, RESTRAINED, Quiet, Latency],
    &[ENGINE_NAME, Cases, TESTS, EXACT, IN_TIME, EDIT],
];

/// Context for formatting cells.
pub(super) struct CellFormatter {
    /// Names of the engines, cut but distinct.
    pub(super) engines: Vec<String>,
    /// Whether a table has rows of several engines, so that each row needs the engine's name.
    pub(super) are_several: bool,
    /// Whether there are late answers, so that exact match in time differs from exact match.
    pub(super) are_late: bool,
    /// Whether unit tests judged answers.
    pub(super) are_judged: bool,
    pub(super) alphabet: Alphabet,
}

impl CellFormatter {
    pub(super) fn new(engines: &[EngineIdentity], alphabet: Alphabet) -> CellFormatter {
        CellFormatter {
            engines: names(engines, alphabet),
            are_several: engines.len() > 1,
            are_late: false,
            are_judged: false,
            alphabet,
        }
    }

    pub(super) fn needs(&self, column: Column) -> bool {
        match column {
            ENGINE => self.are_several,
            IN_TIME => self.are_late,
            TESTS | TESTS_RANGE => self.are_judged,
            _ => true,
        }
    }

    pub(super) fn cell(&self, column: Column, name: &str, line: &EngineLine) -> String {
        match column {
            Column::Label => format::escape_invisible(name),
            Column::Engine { .. } => self.engine(line.engine),
            Column::Cases => format::cases(line.cases, line.is_from_other_tree(), self.alphabet),
            Column::Share(metric) => {
                line.metrics.get(&metric).map_or_else(|| self.alphabet.range_dash().to_owned(), share)
            }
            Column::Interval(metric) => {
                line.metrics.get(&metric).map_or_else(String::new, |cell| self.range(cell))
            }
            Column::Quiet => format::unanswered_counts(line),
            Column::Status(status) => format::status_count(line, status),
            Column::Latency => format::latency(line.latency, self.alphabet.range_dash()),
        }
    }

    pub(super) fn engine(&self, index: usize) -> String {
        self.engines.get(index).cloned().unwrap_or_default()
    }

    fn range(&self, cell: &MetricCell) -> String {
        cell.interval.map_or_else(String::new, |interval| format::interval(interval, self.alphabet))
    }
}

fn share(cell: &MetricCell) -> String {
    cell.value.map_or_else(|| format::counts(cell), format::percent)
}

/// Returns the names cut to the width of their column, prefixed with their number if the cut makes them equal.
fn names(engines: &[EngineIdentity], alphabet: Alphabet) -> Vec<String> {
    let cut =
        |engine: &EngineIdentity, width| format::clipped(&format::on_one_line(&engine.name), width, alphabet);
    let names: Vec<String> = engines.iter().map(|engine| cut(engine, NAME_WIDTH)).collect();
    if names.iter().collect::<HashSet<_>>().len() == names.len() {
        return names;
    }
    engines
        .iter()
        .enumerate()
        .map(|(index, engine)| format!("{} {}", index + 1, cut(engine, NAME_WIDTH - 2)))
        .collect()
}
