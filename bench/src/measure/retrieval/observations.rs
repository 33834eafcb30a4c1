//! Rows in the form that the statistics require: clustered by repository, and with equal weight for every language.

use std::collections::BTreeMap;

use cases::{Metric, MetricValue};
use scoring::{Counts, Interval, Observation};
use syntax::Language;

use super::SEED;
use super::strategy_results::StrategyResult;

/// An observation with the keys by which it is grouped.
#[derive(Clone)]
pub(super) struct KeyedObservation {
    /// Name of the strategy or context.
    pub(super) asked: &'static str,
    pub(super) language: Language,
    pub(super) observation: Observation<'static>,
}

/// Converts a row to an observation.
pub(super) fn observation(row: &StrategyResult) -> KeyedObservation {
    let mut metrics = row.retrieval_score.metrics(row.is_resolved.then_some(row.is_defined));
    metrics.insert(Metric::Tokens, MetricValue::Value(row.tokens));
    KeyedObservation {
        asked: row.variant.name(),
        language: row.language,
        observation: Observation::new(row.case.clone(), row.repo, metrics, Some(row.milliseconds)),
    }
}

/// Weights the observations so that the ratio of sums is the mean over the languages.
pub(super) fn equal_languages(mut observations: Vec<KeyedObservation>) -> Vec<KeyedObservation> {
    let mut totals: BTreeMap<(Language, Metric), f64> = BTreeMap::new();
    for keyed in &observations {
        for (&metric, &value) in &*keyed.observation.metrics {
            *totals.entry((keyed.language, metric)).or_default() += Counts::from(value).den;
        }
    }
    for keyed in &mut observations {
        for (&metric, value) in keyed.observation.metrics.to_mut() {
            let counts = Counts::from(*value) / totals[&(keyed.language, metric)];
            if counts.den > 0.0 {
                *value = counts.into();
            }
        }
    }
    observations
}

/// The figures of all strategies.
pub(super) struct StrategyFigures(BTreeMap<&'static str, scoring::TableRow>);

impl StrategyFigures {
    pub(super) fn new(observations: &[KeyedObservation]) -> StrategyFigures {
        let keyed = observations.iter().map(|keyed| (keyed.asked, &keyed.observation));
        StrategyFigures(scoring::summarize(keyed, SEED))
    }

    pub(super) fn row(&self, asked: &str) -> Option<&scoring::TableRow> {
        self.0.get(asked)
    }

    /// A share in percent with its interval, if there is one; a share of zero needs none.
    pub(super) fn percent(&self, asked: &str, metric: Metric) -> String {
        let Some(cell) = self.row(asked).and_then(|row| row.cells.get(&metric)) else { return String::new() };
        match (cell.value, cell.interval) {
            (Some(value), Some(Interval { low, high, .. })) if value > 0.0 => {
                format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high)
            }
            (Some(value), _) => format!("{:.1}", 100.0 * value),
            (None, _) => String::new(),
        }
    }

    /// The plain value.
    pub(super) fn value(&self, asked: &str, metric: Metric) -> Option<f64> {
        self.row(asked)?.cells.get(&metric)?.value
    }
}

/// `b` minus `a` in points, with the interval.
pub(super) fn difference(observations: &[KeyedObservation], a: &str, b: &str, metric: Metric) -> String {
    let of = |asked| {
        let own = observations.iter().filter(move |keyed| keyed.asked == asked);
        own.map(|keyed| &keyed.observation)
    };
    let compared = scoring::compare(of(a), of(b), metric, SEED);
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
    use super::*;

    #[test]
    fn languages_weigh_the_same_for_any_number_of_cases() {
        let observation = |(number, language, value): (usize, Language, f64)| KeyedObservation {
            asked: "hybrid",
            language,
            observation: Observation::new(
                number.to_string(),
                number.to_string(),
                [(Metric::NewIdentifiers, MetricValue::Ratio { num: value, den: 2.0 })].into(),
                None,
            ),
        };
        let python = (0..30).map(|number| (number, Language::Python, 2.0));
        let java = (30..40).map(|number| (number, Language::Java, 0.0));
        let observations: Vec<KeyedObservation> = python.chain(java).map(observation).collect();
        let mean = StrategyFigures::new(&equal_languages(observations))
            .value("hybrid", Metric::NewIdentifiers)
            .expect("there are cases");
        assert!((mean - 0.5).abs() < 1e-9, "{mean}");
    }
}
