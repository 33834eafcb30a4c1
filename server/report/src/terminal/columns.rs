//! The columns of the terminal's tables, and the sets of columns for each width.

use std::collections::HashSet;

use cases::EngineIdentity;
use scoring::metric::{
    EDIT_SIMILARITY, EXACT_IN_TIME, EXACT_MATCH, RESTRAINT as RESTRAINT_METRIC, TOKEN_EXACT,
};

use crate::format::{self, Alphabet};
use crate::run_summary::{CellView, EngineLine, FAILED, GATED, SILENT};

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
    Share { title: &'static str, metric: &'static str },
    /// The interval of the metric before it.
    Interval { metric: &'static str },
    /// Answers by status, in one column.
    Quiet,
    /// Number of answers with one status.
    Status { name: &'static str },
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
            Column::Share { title, .. } => title,
            Column::Interval { .. } => "95 %",
            Column::Quiet => "quiet",
            Column::Status { name } => name,
            Column::Latency => "ms",
        };
        title.to_owned()
    }

    /// Whether it is left-aligned.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Column::Label | Column::Engine { .. } | Column::Interval { .. })
    }
}

const ENGINE: Column = Column::Engine { always: false };
const ENGINE_NAME: Column = Column::Engine { always: true };
const EXACT: Column = Column::Share { title: "exact", metric: EXACT_MATCH };
const EXACT_RANGE: Column = Column::Interval { metric: EXACT_MATCH };
const TOKENS: Column = Column::Share { title: "tokens", metric: TOKEN_EXACT };
const TOKENS_RANGE: Column = Column::Interval { metric: TOKEN_EXACT };
const EDIT: Column = Column::Share { title: "edit", metric: EDIT_SIMILARITY };
const EDIT_RANGE: Column = Column::Interval { metric: EDIT_SIMILARITY };
const IN_TIME: Column = Column::Share { title: "in time", metric: EXACT_IN_TIME };
const RESTRAINED: Column = Column::Share { title: "restraint", metric: RESTRAINT_METRIC };
const RESTRAINED_RANGE: Column = Column::Interval { metric: RESTRAINT_METRIC };
const SILENT_COUNT: Column = Column::Status { name: SILENT };
const GATED_COUNT: Column = Column::Status { name: GATED };
const FAILED_COUNT: Column = Column::Status { name: FAILED };

use Column::{Cases, Label, Latency, Quiet};

/// For cases with a non-empty truth, widest first.
pub(super) const RESULTS: &[&[Column]] = &[
    &[
        Label,
        ENGINE,
        Cases,
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
    &[Label, ENGINE, Cases, EXACT, EXACT_RANGE, TOKENS, TOKENS_RANGE, EDIT, EDIT_RANGE, Quiet, Latency],
    &[Label, ENGINE, Cases, EXACT, EXACT_RANGE, TOKENS, EDIT, EDIT_RANGE, Quiet, Latency],
    &[Label, ENGINE, Cases, EXACT, TOKENS, EDIT, EDIT_RANGE, Quiet, Latency],
    &[Label, ENGINE, Cases, EXACT, EDIT, EDIT_RANGE, Latency],
    &[Label, ENGINE, Cases, EXACT, EDIT],
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
    &[ENGINE_NAME, Cases, EXACT, EXACT_RANGE, IN_TIME, TOKENS, EDIT, EDIT_RANGE, RESTRAINED, Quiet, Latency],
    &[ENGINE_NAME, Cases, EXACT, IN_TIME, TOKENS, EDIT, EDIT_RANGE, RESTRAINED, Quiet, Latency],
    &[ENGINE_NAME, Cases, EXACT, IN_TIME, TOKENS, EDIT, RESTRAINED, Quiet, Latency],
    &[ENGINE_NAME, Cases, EXACT, IN_TIME, EDIT],
];

/// Context for formatting cells.
pub(super) struct CellFormatter {
    /// Names of the engines, cut but distinct.
    pub(super) engines: Vec<String>,
    /// Whether a table has rows of several engines, so that each row needs the engine's name.
    pub(super) are_several: bool,
    /// Whether there are late answers, so that exact match in time differs from exact match.
    pub(super) are_late: bool,
    pub(super) alphabet: Alphabet,
}

impl CellFormatter {
    pub(super) fn new(engines: &[EngineIdentity], alphabet: Alphabet) -> CellFormatter {
        CellFormatter {
            engines: names(engines, alphabet),
            are_several: engines.len() > 1,
            are_late: false,
            alphabet,
        }
    }

    pub(super) fn needs(&self, column: Column) -> bool {
        match column {
            ENGINE => self.are_several,
            IN_TIME => self.are_late,
            _ => true,
        }
    }

    pub(super) fn cell(&self, column: Column, name: &str, line: &EngineLine) -> String {
        match column {
            Column::Label => format::escape_invisible(name),
            Column::Engine { .. } => self.engine(line.engine),
            Column::Cases => format::cases(line.cases, line.is_from_other_tree(), self.alphabet),
            Column::Share { metric, .. } => {
                line.metrics.get(metric).map_or_else(|| self.alphabet.range_dash().to_owned(), share)
            }
            Column::Interval { metric } => {
                line.metrics.get(metric).map_or_else(String::new, |cell| self.range(cell))
            }
            Column::Quiet => format::unanswered_counts(line),
            Column::Status { name } => format::status_count(line, name),
            Column::Latency => format::latency(line.latency, self.alphabet.range_dash()),
        }
    }

    pub(super) fn engine(&self, index: usize) -> String {
        self.engines.get(index).cloned().unwrap_or_default()
    }

    fn range(&self, cell: &CellView) -> String {
        cell.interval.map_or_else(String::new, |interval| format::interval(interval, self.alphabet))
    }
}

fn share(cell: &CellView) -> String {
    cell.value.map_or_else(|| format::counts(cell), format::percent)
}

/// Returns the names cut to the width of their column, prefixed with their number if the cut makes them equal.
fn names(engines: &[EngineIdentity], alphabet: Alphabet) -> Vec<String> {
    let cut = |engine: &EngineIdentity, width| {
        format::clipped(&format::escape_invisible(&engine.name), width, alphabet)
    };
    let names: Vec<String> = engines.iter().map(|engine| cut(engine, NAME_WIDTH)).collect();
    if names.iter().collect::<HashSet<_>>().len() == names.len() {
        return names;
    }
    let numbered = |(index, engine)| format!("{} {}", index + 1, cut(engine, NAME_WIDTH - 2));
    engines.iter().enumerate().map(numbered).collect()
}
