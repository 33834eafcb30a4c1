//! Metric values, and the table of all metrics of one prediction.
//!
//! Counts are kept with ratios: a table divides sums and never averages ratios.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Div};

/// The value of one metric for one prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A plain number, with the weight of one prediction.
    Value(f64),
    /// `num` of `den`.
    Ratio {
        /// Numerator.
        num: f64,
        /// Denominator; 0 if there was nothing to measure.
        den: f64,
    },
}

impl MetricValue {
    /// Returns numerator and denominator; the denominator of a plain number is one.
    pub fn counts(self) -> Counts {
        match self {
            MetricValue::Value(num) => Counts { num, den: 1.0 },
            MetricValue::Ratio { num, den } => Counts { num, den },
        }
    }
}

/// A numerator and a denominator, or sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Sum of the numerators.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
}

impl Counts {
    /// Returns the ratio; `None` if there was nothing to measure.
    pub fn ratio(self) -> Option<f64> {
        (self.den != 0.0).then(|| self.num / self.den)
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts { num: self.num + other.num, den: self.den + other.den }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
    }
}

impl Div<f64> for Counts {
    type Output = Counts;

    fn div(self, divisor: f64) -> Counts {
        Counts { num: self.num / divisor, den: self.den / divisor }
    }
}

/// The metrics of one prediction by name; metrics that do not apply are absent.
pub type Metrics = BTreeMap<String, MetricValue>;

/// The quantity that a metric's denominator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricUnit {
    /// Cases, all with the same weight.
    Cases,
    /// Answers that begin with the whole truth.
    WholeTruths,
    /// Answers without a wrong token before their own end or the truth's, whichever comes first.
    RightSoFar,
    /// Unicode scalar values of the truths.
    Characters,
    /// Distinct identifiers.
    Identifiers,
}

/// A row of the table of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name in files and reports.
    pub name: &'static str,
    /// Quantity of the denominator; every value is a share of it, from 0 to 1.
    pub unit: MetricUnit,
    /// Whether higher values are better.
    pub higher_is_better: bool,
    /// One line of documentation, also for reports.
    pub doc: &'static str,
}

/// Exact match as CrossCodeEval counts it, on the untruncated answer.
pub const EXACT_MATCH: &str = "exact_match";
/// Exact match of the token sequences.
pub const TOKEN_EXACT: &str = "token_exact";
/// Indel similarity.
pub const EDIT_SIMILARITY: &str = "edit_similarity";
/// Ratcliff-Obershelp similarity.
pub const EDIT_SIMILARITY_DIFFLIB: &str = "edit_similarity_difflib";
/// Exact match of the identifier lists.
pub const IDENTIFIER_EXACT: &str = "identifier_exact";
/// Share of the answer's identifiers that the truth has.
pub const IDENTIFIER_PRECISION: &str = "identifier_precision";
/// Share of the truth's identifiers that the answer has.
pub const IDENTIFIER_RECALL: &str = "identifier_recall";
/// Harmonic mean of the two.
pub const IDENTIFIER_F1: &str = "identifier_f1";
/// Characters of the truth that the answer starts with.
pub const CORRECT_PREFIX: &str = "correct_prefix";
/// Exact match of the first lines.
pub const FIRST_LINE_EXACT: &str = "first_line_exact";
/// The file parses with the answer in it.
pub const PARSES: &str = "parses";
/// Lines are indented as the truth's are.
pub const RIGHT_INDENTATION: &str = "right_indentation";
/// No text for cases whose truth is empty.
pub const RESTRAINT: &str = "restraint";
/// Of the answers that begin with the whole truth, those that end there.
pub const STOPPING: &str = "stopping";
/// Of the answers that begin with the whole truth, those that continue after it.
pub const GOES_ON: &str = "goes_on";
/// Of the answers without a wrong token, those that end before the truth does.
pub const STOPS_SHORT: &str = "stops_short";
/// [`STOPPING`] of the engine's own text.
pub const RAW_STOPPING: &str = "raw_stopping";
/// [`GOES_ON`] of the engine's own text.
pub const RAW_GOES_ON: &str = "raw_goes_on";
/// Of the engine's own texts that begin with the whole truth, those whose reading stopped at its end: the engine may have stopped
/// there too.
pub const RAW_CUT: &str = "raw_cut";
/// [`STOPS_SHORT`] of the engine's own text.
pub const RAW_STOPS_SHORT: &str = "raw_stops_short";
/// The engine had finished before the deadline.
pub const IN_TIME: &str = "in_time";
/// Exact match of the answers that were complete before the deadline.
pub const EXACT_IN_TIME: &str = "exact_in_time";

/// All metrics that [`score_response`](crate::score_response) returns, in the order of reports.
pub const METRICS: &[Metric] = &[
    row(
        EXACT_MATCH,
        MetricUnit::Cases,
        "the non-blank lines equal the truth's, blanks at both ends of a line aside (CrossCodeEval)",
    ),
    row(
        TOKEN_EXACT,
        MetricUnit::Cases,
        "the tokens equal the truth's; white space and comments do not count",
    ),
    row(
        EDIT_SIMILARITY,
        MetricUnit::Cases,
        "1 - insertions and deletions / length of both (indel), surrounding blanks aside",
    ),
    row(
        EDIT_SIMILARITY_DIFFLIB,
        MetricUnit::Cases,
        "Ratcliff-Obershelp similarity as Python's difflib computes it",
    ),
    row(IDENTIFIER_EXACT, MetricUnit::Cases, "the identifiers equal the truth's, in order"),
    row(
        IDENTIFIER_PRECISION,
        MetricUnit::Identifiers,
        "share of the answer's identifiers that are in the truth",
    ),
    row(
        IDENTIFIER_RECALL,
        MetricUnit::Identifiers,
        "share of the truth's identifiers that are in the answer",
    ),
    row(IDENTIFIER_F1, MetricUnit::Identifiers, "harmonic mean of identifier precision and recall"),
    row(CORRECT_PREFIX, MetricUnit::Characters, "share of the truth's characters before the first wrong one"),
    row(
        FIRST_LINE_EXACT,
        MetricUnit::Cases,
        "the first non-blank line equals the truth's, surrounding blanks aside",
    ),
    row(
        PARSES,
        MetricUnit::Cases,
        "the file parses without error with the answer in place, where it does with the truth",
    ),
    row(
        RIGHT_INDENTATION,
        MetricUnit::Cases,
        "every line after the first is indented at least as the truth's least indented one",
    ),
    row(RESTRAINT, MetricUnit::Cases, "the answer is empty where the truth is"),
    row(STOPPING, MetricUnit::WholeTruths, "the shown text ends with the truth's last token"),
    worse(GOES_ON, MetricUnit::WholeTruths, "the shown text continues after the truth's last token"),
    worse(STOPS_SHORT, MetricUnit::RightSoFar, "the shown text ends before the truth does"),
    row(RAW_STOPPING, MetricUnit::WholeTruths, "the engine itself ends with the truth's last token"),
    worse(RAW_GOES_ON, MetricUnit::WholeTruths, "the engine continues after the truth's last token"),
    worse(
        RAW_CUT,
        MetricUnit::WholeTruths,
        "reading ended with the truth's last token, before the engine did",
    ),
    worse(RAW_STOPS_SHORT, MetricUnit::RightSoFar, "the engine itself ends before the truth does"),
    row(IN_TIME, MetricUnit::Cases, "the engine finished before the deadline; failures did not"),
    row(EXACT_IN_TIME, MetricUnit::Cases, "exact match, where an answer that was late counts as none"),
];

const fn row(name: &'static str, unit: MetricUnit, doc: &'static str) -> Metric {
    Metric { name, unit, higher_is_better: true, doc }
}

/// Returns a row whose lower values are better.
const fn worse(name: &'static str, unit: MetricUnit, doc: &'static str) -> Metric {
    Metric { higher_is_better: false, ..row(name, unit, doc) }
}
