//! Arguments that judge a run: what ranks its engines, and what fails the command.

use std::path::PathBuf;

use cases::Metric;
use scoring::VerdictSettings;
use scoring::gate::Condition;

use super::values::{parse_condition, parse_margin, parse_ranking_metric};

/// Longest deadline of a verdict, as for `deadline_ms` in the settings: ten minutes.
const MAX_DEADLINE_MS: i64 = 600_000;

/// Heading of the options of [`GateArgs`].
const GATES: &str = "Gates (exit code 1 if one fails)";

/// Rules that fail the command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct GateArgs {
    /// Fail unless each engine is proven to be less than this worse than the baseline, such as 1pt.
    #[arg(long, value_name = "POINTS", value_parser = parse_margin, requires = "baseline", help_heading = GATES)]
    pub(crate) non_inferior: Option<f64>,
    /// Fail if a measure of any engine is below a value: exact_match=40%, or restraint[language=python]=80%; may be given more than once.
    #[arg(long, value_name = "MEASURE=VALUE", value_parser = Condition::below, help_heading = GATES)]
    pub(crate) fail_under: Vec<Condition>,
    /// Fail if a condition holds for any engine; may be given more than once. Measures are the metrics, p50, p95 and p99 (latency), cost
    /// (of 1,000 answers) and cases; a slice in brackets has engine, scenario, language or block_kind; and, or, not and parentheses
    /// combine: 'failed > 2% or exact_match[scenario=full_block, engine=qwen] < 40% and p95 >= 800ms'.
    #[arg(long, value_name = "CONDITION", value_parser = parse_condition, help_heading = GATES)]
    pub(crate) fail_on: Vec<Condition>,
    /// File for the results of these rules as JUnit's XML.
    #[arg(long, value_name = "FILE", help_heading = GATES)]
    pub(crate) junit: Option<PathBuf>,
}

impl GateArgs {
    /// Returns the conditions that must not hold.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.fail_under.iter().chain(&self.fail_on).cloned().collect()
    }

    /// Whether there is no rule.
    pub(crate) fn is_empty(&self) -> bool {
        self.non_inferior.is_none() && self.fail_under.is_empty() && self.fail_on.is_empty()
    }
}

/// The baseline of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct BaselineArgs {
    /// Engine of the run to compare every other one with, or the folder of another run, whose engines of the same names are compared.
    #[arg(long, value_name = "ENGINE | RUN")]
    pub(crate) baseline: Option<String>,
}

/// The question that ranks engines.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct VerdictArgs {
    /// Metric that ranks the engines, such as exact_match, token_exact, edit_similarity or restraint.
    #[arg(long, value_name = "METRIC", default_value_t = Metric::ExactMatch, value_parser = parse_ranking_metric)]
    pub(crate) primary: Metric,
    /// Time within which an answer counts, in milliseconds; a later one is a failure [default: as long as the run waited].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=MAX_DEADLINE_MS))]
    pub(crate) deadline: Option<u32>,
    /// Difference that does not matter, as points (1pt) or percent of cases (1%): shows which engines are equivalent or not inferior.
    #[arg(long, value_name = "POINTS", value_parser = parse_margin)]
    pub(crate) margin: Option<f64>,
}

impl VerdictArgs {
    /// Returns the settings of the verdict, with the seed of its random tests.
    pub(crate) fn settings(self, seed: u64) -> VerdictSettings {
        VerdictSettings {
            metric: self.primary,
            deadline: self.deadline.map(f64::from),
            margin: self.margin,
            ..VerdictSettings::new(seed)
        }
    }
}
