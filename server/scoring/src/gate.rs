//! Gates for continuous integration: rules about the engines of a run that hold or fail, each with the numbers that decided.
//!
//! A rule that cannot be checked fails: a gate without cases would let everything through. Knows no layout; `report` words the
//! results.

mod condition;

use std::cmp::Ordering;
use std::collections::HashMap;

use cases::{Metric, Scenario};
use serde::Serialize;

pub use condition::{Condition, ConditionError};

use crate::compared_runs::{ComparedRuns, SectionKey, ValueTable};
use crate::run_summary::outcome;
use crate::statistics::percentile::percentile;
use crate::summarize_costs;
use crate::verdict::{PairVerdict, VerdictError, VerdictSettings, compare_pairs};
use condition::{Comparison, Expression, Measure};

/// The engines and cases that rules are about.
pub struct GateScope<'a> {
    /// The runs; the first one is checked.
    pub runs: &'a ComparedRuns<'a>,
    /// The cases.
    pub section: SectionKey,
    /// Names of all engines, in the order of the runs' contestants.
    pub names: Vec<String>,
    /// The engines that rules apply to unless they name others.
    pub engines: Vec<usize>,
}

/// A rule names an engine that no run has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{rule}` names the engine `{name}`; the engines are {known}")]
pub struct UnknownEngineError {
    /// The rule.
    pub rule: String,
    /// The engine.
    pub name: String,
    /// Names of the engines.
    pub known: String,
}

/// Results of all rules, and the changes behind them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GateReport {
    /// The checked rules, in the given order, each for every engine that it applies to.
    pub checks: Vec<GateCheck>,
    /// Changes against the baseline, by engine.
    pub changes: Vec<PairChanges>,
}

impl GateReport {
    /// Returns the checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &GateCheck> {
        self.checks.iter().filter(|check| !check.has_passed)
    }
}

/// A rule checked for an engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateCheck {
    /// The rule as written.
    pub rule: String,
    /// Name of the engine; absent if the rule names its engines itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Whether the rule lets the engine through.
    pub has_passed: bool,
    /// The values that decided about a condition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<MeasuredValue>,
    /// The comparison that decided about non-inferiority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<PairVerdict>,
}

/// A measured value of a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredValue {
    /// Measure and slice as written.
    pub measure: String,
    /// Its unit.
    pub unit: ValueUnit,
    /// A share, milliseconds, an amount or a count; absent if there is nothing to measure; `null` in JSON if infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Number of cases, or of answers for latency and cost.
    pub cases: usize,
}

/// Unit of a measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueUnit {
    /// From 0 to 1.
    Share,
    /// Milliseconds.
    Milliseconds,
    /// Amount of money for a thousand answers.
    Cost,
    /// A count.
    Count,
}

/// Checks that each condition holds for no engine. Answers later than `deadline` milliseconds are failures.
pub fn check_conditions(
    scope: &GateScope<'_>,
    conditions: &[Condition],
    deadline: Option<f64>,
) -> Result<Vec<GateCheck>, UnknownEngineError> {
    let mut tables = HashMap::new();
    let mut checks = Vec::new();
    for condition in conditions {
        let comparisons = condition.expression.comparisons();
        for comparison in &comparisons {
            known_engine(scope, condition, comparison)?;
            if let Measure::Metric(metric) = comparison.measure {
                tables.entry(metric).or_insert_with(|| scope.runs.values(scope.section, metric, deadline));
            }
        }
        let names_all = comparisons.iter().all(|comparison| comparison.slice.engine.is_some());
        let engines: Vec<usize> =
            if names_all { scope.engines.iter().copied().take(1).collect() } else { scope.engines.clone() };
        checks.extend(engines.into_iter().map(|engine| {
            let measure = |comparison: &Comparison| measured(scope, &tables, comparison, engine);
            let values = comparisons.iter().map(|comparison| measure(comparison)).collect();
            GateCheck {
                rule: condition.text.clone(),
                engine: (!names_all).then(|| scope.names[engine].clone()),
                // A condition that cannot be evaluated fails.
                has_passed: holds(&condition.expression, &measure) == Some(false),
                values,
                pair: None,
            }
        }));
    }
    Ok(checks)
}

fn known_engine(
    scope: &GateScope<'_>,
    condition: &Condition,
    comparison: &Comparison,
) -> Result<(), UnknownEngineError> {
    match &comparison.slice.engine {
        Some(name) if !scope.names.contains(name) => Err(UnknownEngineError {
            rule: condition.text.clone(),
            name: name.clone(),
            known: scope.names.join(", "),
        }),
        _ => Ok(()),
    }
}

/// Evaluates an expression; `None` if a value is missing that decides.
fn holds(expression: &Expression, measure: &impl Fn(&Comparison) -> MeasuredValue) -> Option<bool> {
    match expression {
        Expression::Comparison(comparison) => {
            Some(comparison.operator.holds(measure(comparison).value?, comparison.limit))
        }
        Expression::Not(inner) => holds(inner, measure).map(|holds| !holds),
        Expression::And(left, right) => match (holds(left, measure), holds(right, measure)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (left, right) => left.zip(right).map(|_| true),
        },
        Expression::Or(left, right) => match (holds(left, measure), holds(right, measure)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (left, right) => left.zip(right).map(|_| false),
        },
    }
}

fn measured(
    scope: &GateScope<'_>,
    tables: &HashMap<Metric, ValueTable<'_>>,
    comparison: &Comparison,
    engine: usize,
) -> MeasuredValue {
    let named = comparison.slice.engine.as_ref();
    let engine = named.and_then(|name| scope.names.iter().position(|other| other == name)).unwrap_or(engine);
    let slice = &comparison.slice;
    let answers = || {
        let answers = scope.runs.answers(scope.section, engine);
        answers.filter(|answer| slice.contains(scope.runs.case(answer))).map(|answer| answer.prediction)
    };
    let (unit, value, cases) = match comparison.measure {
        Measure::Metric(metric) => {
            let sums = tables.get(&metric).map(|table| table.sums_of(engine, |case| slice.contains(case)));
            let sums = sums.unwrap_or_default();
            (ValueUnit::Share, sums.counts.ratio(), sums.cases)
        }
        Measure::Latency(share) => {
            let mut times: Vec<f64> = answers().filter_map(outcome::latency).collect();
            times.sort_unstable_by(f64::total_cmp);
            (ValueUnit::Milliseconds, percentile(&times, share), times.len())
        }
        Measure::Cost => {
            let costs = answers().map(|row| row.cost.map(|cost| (cost.amount, cost.is_estimated)));
            let costs = summarize_costs(costs);
            (ValueUnit::Cost, costs.per_thousand, costs.answers)
        }
        Measure::Cases => {
            let mut ids: Vec<&str> = answers().map(|row| row.case.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            (ValueUnit::Count, Some(ids.len() as f64), ids.len())
        }
    };
    MeasuredValue { measure: comparison.subject.clone(), unit, value, cases }
}

/// Checks that each engine is proven not to be worse than its baseline by the margin of the settings or more. `rule` is the rule as
/// written.
pub fn check_non_inferiority(
    scope: &GateScope<'_>,
    rule: &str,
    pairs: &[(usize, usize)],
    settings: &VerdictSettings,
) -> Result<Vec<GateCheck>, VerdictError> {
    let compared = compare_pairs(scope.runs, scope.section, pairs, settings)?;
    let check = |pair: PairVerdict| GateCheck {
        rule: rule.to_owned(),
        engine: Some(scope.names[pair.engine].clone()),
        has_passed: pair.margin.is_some_and(|margin| margin.is_not_inferior),
        values: Vec::new(),
        pair: Some(pair),
    };
    Ok(compared.into_iter().map(check).collect())
}

/// Cases in which an engine and its baseline differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairChanges {
    /// Name of the engine.
    pub engine: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Cases in which the engine is worse.
    pub worse: usize,
    /// Cases in which it is better.
    pub better: usize,
    /// The largest changes for the worse and for the better, at most [`MAX_CHANGES`] of each, the worst first.
    pub cases: Vec<CaseChange>,
}

/// Most listed changes of each kind.
pub const MAX_CHANGES: usize = 20;

/// A case in which an engine and its baseline differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseChange {
    /// Id of the case.
    pub case: String,
    /// Its file.
    pub path: String,
    /// Line of the cursor, from 0.
    pub line: u32,
    /// Its scenario.
    pub scenario: Scenario,
    /// Its language.
    pub language: String,
    /// The baseline's value.
    pub before: f64,
    /// The engine's value.
    pub after: f64,
}

/// Returns the changes of each pair of engine and baseline in the metric of the settings.
pub fn changes(
    scope: &GateScope<'_>,
    pairs: &[(usize, usize)],
    settings: &VerdictSettings,
) -> Vec<PairChanges> {
    let table = scope.runs.values(scope.section, settings.metric, settings.deadline);
    pairs.iter().map(|&(engine, baseline)| pair_changes(scope, &table, engine, baseline)).collect()
}

fn pair_changes(
    scope: &GateScope<'_>,
    table: &ValueTable<'_>,
    engine: usize,
    baseline: usize,
) -> PairChanges {
    let sign = if table.lower_is_better() { -1.0 } else { 1.0 };
    let mut changes: Vec<(f64, CaseChange)> = table
        .paired_values(engine, baseline)
        .filter(|(_, after, before)| after != before)
        .map(|(case, after, before)| {
            let change = CaseChange {
                case: case.id.clone(),
                path: case.path.clone(),
                line: case.line,
                scenario: case.scenario(),
                language: case.language.clone(),
                before,
                after,
            };
            (sign * (after - before), change)
        })
        .collect();
    changes.sort_by(|(left, one), (right, other)| {
        left.total_cmp(right)
            .then_with(|| (&one.path, one.line, &one.case).cmp(&(&other.path, other.line, &other.case)))
    });
    let worse = changes.iter().filter(|(change, _)| change.total_cmp(&0.0) == Ordering::Less).count();
    let better = changes.len() - worse;
    let hidden = worse.min(MAX_CHANGES)..worse + better.saturating_sub(MAX_CHANGES);
    let listed = changes.into_iter().enumerate().filter(|(index, _)| !hidden.contains(index));
    PairChanges {
        engine: scope.names[engine].clone(),
        baseline: scope.names[baseline].clone(),
        worse,
        better,
        cases: listed.map(|(_, (_, change))| change).collect(),
    }
}
