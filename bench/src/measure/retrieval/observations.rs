//! Rows in the form that the statistics require: clustered by repository, and with equal weight for every language.

use std::collections::BTreeMap;

use scoring::metric::{Counts, MetricValue};
use scoring::{Grouping, Interval, Observation};
use syntax::Language;

use super::SEED;
use super::strategy_results::StrategyResult;

/// Tokens shown.
pub(super) const TOKENS: &str = "tokens";

const ASKED: &str = "asked";
const LANGUAGE: &str = "language";

/// Converts a row to an observation.
pub(super) fn observation(row: &StrategyResult) -> Observation {
    let mut metrics = row.retrieval_score.metrics(row.is_resolved.then_some(row.is_defined));
    metrics.insert(TOKENS.to_owned(), MetricValue::Value(row.tokens));
    let latency = Some(row.milliseconds);
    Observation {
        case: row.case.clone(),
        cluster: row.repo.to_owned(),
        labels: labels(row.variant.name(), row.language),
        metrics,
        latency,
    }
}

/// Labels by which observations are grouped.
pub(super) fn labels(asked: &str, language: Language) -> BTreeMap<String, String> {
    [(ASKED.to_owned(), asked.to_owned()), (LANGUAGE.to_owned(), language.name().to_owned())].into()
}

/// Weights the observations so that the ratio of sums is the mean over the languages.
pub(super) fn equal_languages(mut observations: Vec<Observation>) -> Vec<Observation> {
    let mut totals: BTreeMap<(String, String), f64> = BTreeMap::new();
    for observation in &observations {
        for (metric, value) in &observation.metrics {
            let key = (observation.labels[LANGUAGE].clone(), metric.clone());
            *totals.entry(key).or_default() += value.counts().den;
        }
    }
    for observation in &mut observations {
        let language = &observation.labels[LANGUAGE];
        for (metric, value) in &mut observation.metrics {
            let Counts { num, den } = value.counts() / totals[&(language.clone(), metric.clone())];
            if den > 0.0 {
                *value = MetricValue::Ratio { num, den };
            }
        }
    }
    observations
}

/// The figures of all strategies.
pub(super) struct StrategyFigures(BTreeMap<String, scoring::TableRow>);

impl StrategyFigures {
    pub(super) fn new(observations: &[Observation]) -> StrategyFigures {
        let grouping = Grouping { apart: vec![ASKED.to_owned()], pooled: Vec::new() };
        let rows = scoring::summarize(observations, &grouping, SEED).rows;
        let named = |mut row: scoring::TableRow| Some((row.key.pop()??, row));
        StrategyFigures(rows.into_iter().filter_map(named).collect())
    }

    pub(super) fn row(&self, asked: &str) -> Option<&scoring::TableRow> {
        self.0.get(asked)
    }

    /// A share in percent with its interval, if there is one; a share of zero needs none.
    pub(super) fn percent(&self, asked: &str, metric: &str) -> String {
        let Some(cell) = self.row(asked).and_then(|row| row.cells.get(metric)) else { return String::new() };
        match (cell.value, cell.interval) {
            (Some(value), Some(Interval { low, high, .. })) if value > 0.0 => {
                format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high)
            }
            (Some(value), _) => format!("{:.1}", 100.0 * value),
            (None, _) => String::new(),
        }
    }

    /// The plain value.
    pub(super) fn value(&self, asked: &str, metric: &str) -> Option<f64> {
        self.row(asked)?.cells.get(metric)?.value
    }
}

/// `b` minus `a` in points, with the interval.
pub(super) fn difference(observations: &[Observation], a: &str, b: &str, metric: &str) -> String {
    let of = |asked: &str| -> Vec<Observation> {
        observations.iter().filter(|observation| observation.labels[ASKED] == asked).cloned().collect()
    };
    let compared = scoring::compare(&of(a), &of(b), metric, SEED);
    match (compared.difference, compared.interval) {
        (Some(difference), Some(Interval { low, high, .. })) => {
            format!("{:+.1} [{:+.1}, {:+.1}]", 100.0 * difference, 100.0 * low, 100.0 * high)
        }
        (Some(difference), None) => format!("{:+.1}", 100.0 * difference),
        (None, _) => "too few cases".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use scoring::retrieval_score::NEW_IDENTIFIERS;

    use super::*;

    #[test]
    fn languages_weigh_the_same_whatever_their_cases() {
        let observation = |(number, language, value): (usize, Language, f64)| Observation {
            case: number.to_string(),
            cluster: number.to_string(),
            labels: labels("somebody", language),
            metrics: [(NEW_IDENTIFIERS.to_owned(), MetricValue::Ratio { num: value, den: 2.0 })].into(),
            latency: None,
        };
        let python = (0..30).map(|number| (number, Language::Python, 2.0));
        let java = (30..40).map(|number| (number, Language::Java, 0.0));
        let observations: Vec<Observation> = python.chain(java).map(observation).collect();
        let mean = StrategyFigures::new(&equal_languages(observations))
            .value("somebody", NEW_IDENTIFIERS)
            .expect("there are cases");
        assert!((mean - 0.5).abs() < 1e-9, "{mean}");
    }
}
