//! Times as percentiles, compared to their limits.

use std::time::Duration;

/// The percentiles of the table.
const PERCENTILES: [usize; 3] = [50, 95, 99];

/// Sorted times.
pub(super) struct SortedTimes(Vec<Duration>);

/// A limit: this percentile of the times must not exceed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimingTarget {
    pub(super) percentile: usize,
    pub(super) ms: f64,
}

/// A line of the table.
pub(super) struct FigureRow {
    what: String,
    value: String,
    target: String,
    is_reached: Option<bool>,
}

impl SortedTimes {
    pub(super) fn new(mut times: Vec<Duration>) -> SortedTimes {
        times.sort();
        SortedTimes(times)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns a percentile in milliseconds.
    pub(super) fn percentile(&self, percentile: usize) -> f64 {
        let rank = (self.0.len() * percentile).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    /// Limits at this many milliseconds above these times, at every percentile of the table.
    pub(super) fn plus(&self, ms: f64) -> [TimingTarget; 3] {
        PERCENTILES.map(|percentile| TimingTarget { percentile, ms: self.percentile(percentile) + ms })
    }
}

impl FigureRow {
    /// Row of times with limits; without limits, for information only.
    pub(super) fn times(what: impl Into<String>, times: &SortedTimes, limits: &[TimingTarget]) -> FigureRow {
        let keeps = |limit: &TimingTarget| times.percentile(limit.percentile) <= limit.ms;
        let limit = |limit: &TimingTarget| format!("p{} {}", limit.percentile, milliseconds(limit.ms));
        FigureRow {
            what: what.into(),
            value: PERCENTILES.map(|percentile| milliseconds(times.percentile(percentile))).join(" / "),
            target: limits.iter().map(limit).collect::<Vec<_>>().join(", "),
            is_reached: (!limits.is_empty()).then(|| limits.iter().all(keeps)),
        }
    }

    /// Row of any other value.
    pub(super) fn value(what: impl Into<String>, value: String, target: &str, is_reached: bool) -> FigureRow {
        FigureRow { what: what.into(), value, target: target.to_owned(), is_reached: Some(is_reached) }
    }
}

/// Formats with two significant digits.
pub(super) fn milliseconds(ms: f64) -> String {
    match ms {
        ..1.0 => format!("{ms:.2}"),
        1.0..100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

pub(super) fn table(rows: &[FigureRow]) -> String {
    let mut lines =
        vec!["| measure | p50 / p95 / p99 | target | reached |".to_owned(), "|---|---|---|---|".to_owned()];
    lines.extend(rows.iter().map(|FigureRow { what, value, target, is_reached }| {
        let reached = is_reached.map_or("", |is_reached| if is_reached { "yes" } else { "no" });
        format!("| {what} | {value} | {target} | {reached} |")
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn times(count: u64) -> SortedTimes {
        SortedTimes::new((1..=count).rev().map(|number| Duration::from_micros(number * 100)).collect())
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        assert_eq!([50, 95, 99].map(|percentile| times(100).percentile(percentile)), [5.0, 9.5, 9.9]);
        assert_eq!([50, 95, 99].map(|percentile| times(1).percentile(percentile)), [0.1, 0.1, 0.1]);
    }

    #[test]
    fn row_is_reached_only_if_all_targets_are_met() {
        let fast = TimingTarget { percentile: 50, ms: 5.0 };
        let slow = TimingTarget { percentile: 99, ms: 9.8 };
        let rows = [
            FigureRow::times("a", &times(100), &[fast]),
            FigureRow::times("b", &times(100), &[fast, slow]),
            FigureRow::times("c", &times(2000), &[]),
            FigureRow::value("d", "3 MB".to_owned(), "2 MB", false),
        ];
        expect![[r"
            | measure | p50 / p95 / p99 | target | reached |
            |---|---|---|---|
            | a | 5.0 / 9.5 / 9.9 | p50 5.0 | yes |
            | b | 5.0 / 9.5 / 9.9 | p50 5.0, p99 9.8 | no |
            | c | 100 / 190 / 198 |  |  |
            | d | 3 MB | 2 MB | no |"]]
        .assert_eq(&table(&rows));
    }
}
