//! Rows as the statistics want them: clustered by repository, and with every language weighing the same.

use std::collections::BTreeMap;

use scoring::metric::{Counts, MetricValue};
use scoring::{Grouping, Interval, Observation};
use syntax::Language;

use super::SEED;
use super::rows::Row;

/// Share of the new names that are shown.
pub(super) const NEW: &str = "new_identifier_recall";
/// The same among names that do not stand after the hole.
pub(super) const OUTSIDE: &str = "outside_identifier_recall";
/// Share of the cases with new names of which at least one is shown.
pub(super) const ANY_NEW: &str = "any_new";
/// Share of the resolved cases whose definition is shown.
pub(super) const DEFINED: &str = "definition_hit";
/// Similarity with the best copy.
pub(super) const COPY: &str = "copy_similarity";
/// Tokens shown.
pub(super) const TOKENS: &str = "tokens";

const ASKED: &str = "asked";
const LANGUAGE: &str = "language";

/// A row that was asked somebody, as an observation.
pub(super) fn observation(row: &Row) -> Observation {
    let recall = |Counts { num, den }: Counts| MetricValue::Ratio { num, den };
    let share = |is_true: bool| f64::from(u8::from(is_true));
    let mut metrics = vec![
        (NEW, recall(row.worth.new_identifiers)),
        (OUTSIDE, recall(row.worth.new_beyond_suffix)),
        (COPY, MetricValue::Value(row.worth.copy_with_file)),
        (TOKENS, MetricValue::Value(row.tokens)),
    ];
    if let Some(has_any) = row.worth.has_any_new() {
        metrics.push((ANY_NEW, MetricValue::Value(share(has_any))));
    }
    if row.is_resolved {
        metrics.push((DEFINED, MetricValue::Value(share(row.is_defined))));
    }
    let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let latency = Some(row.milliseconds);
    Observation {
        case: row.case.clone(),
        cluster: row.repo.to_owned(),
        labels: labels(row.asked.name(), row.language),
        metrics,
        latency,
    }
}

/// What observations are grouped by.
pub(super) fn labels(asked: &str, language: Language) -> BTreeMap<String, String> {
    [(ASKED.to_owned(), asked.to_owned()), (LANGUAGE.to_owned(), language.name().to_owned())].into()
}

/// The same observations, weighed so that the ratio of sums is the mean over the languages.
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

/// The figures of everybody who was asked.
pub(super) struct Figures(BTreeMap<String, scoring::Row>);

impl Figures {
    pub(super) fn new(observations: &[Observation]) -> Figures {
        let grouping = Grouping { apart: vec![ASKED.to_owned()], pooled: Vec::new() };
        let rows = scoring::summarize(observations, &grouping, SEED).rows;
        let named = |mut row: scoring::Row| Some((row.key.pop()??, row));
        Figures(rows.into_iter().filter_map(named).collect())
    }

    pub(super) fn of(&self, asked: &str) -> Option<&scoring::Row> {
        self.0.get(asked)
    }

    /// A share in percent with its interval, where there is one. Nothing at all was to be expected, and needs none.
    pub(super) fn percent(&self, asked: &str, metric: &str) -> String {
        let Some(cell) = self.of(asked).and_then(|row| row.cells.get(metric)) else { return String::new() };
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
        self.of(asked)?.cells.get(metric)?.value
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
    use super::*;

    #[test]
    fn languages_weigh_the_same_whatever_their_cases() {
        let observation = |(number, language, value): (usize, Language, f64)| Observation {
            case: number.to_string(),
            cluster: number.to_string(),
            labels: labels("somebody", language),
            metrics: [(NEW.to_owned(), MetricValue::Ratio { num: value, den: 2.0 })].into(),
            latency: None,
        };
        let python = (0..30).map(|number| (number, Language::Python, 2.0));
        let java = (30..40).map(|number| (number, Language::Java, 0.0));
        let observations: Vec<Observation> = python.chain(java).map(observation).collect();
        let mean =
            Figures::new(&equal_languages(observations)).value("somebody", NEW).expect("there are cases");
        assert!((mean - 0.5).abs() < 1e-9, "{mean}");
    }
}
