//! How many cases would decide between two engines.

use super::{POWER, SampleSize};
use crate::statistics::paired_sample::Estimate;
use crate::statistics::{beta, normal};

/// More cases than any suite has: the engines are then as good as equal.
const MOST_CASES: f64 = 1e7;

/// Returns the sample size for an estimate from `cases` cases that is tested at the level `alpha`. `informative_files` are those in
/// which the engines differ; the test can claim nothing with fewer than `files_needed` of them.
pub(super) fn sample_size(
    estimate: Estimate,
    difference: f64,
    cases: usize,
    (informative_files, files_needed): (usize, usize),
    alpha: f64,
) -> Option<SampleSize> {
    let error = estimate.standard_error()?;
    let certain = normal::quantile_above(1.0 - POWER);
    let limit = match estimate {
        Estimate::Student { degrees, .. } => beta::student_quantile(degrees, alpha),
        Estimate::Proportions(_) | Estimate::Constant { .. } => normal::quantile_above(alpha / 2.0),
    };
    // Many cases have many files, so that the limit is a normal distribution's.
    let growth = ((normal::quantile_above(alpha / 2.0) + certain) * error / difference).powi(2);
    let growth = growth.max(
        files_needed as f64 / informative_files.max(1) as f64
            * f64::from(u8::from(informative_files < files_needed)),
    );
    let needed = Some(growth * cases as f64)
        .filter(|needed| *needed <= MOST_CASES)
        .map(|needed| needed.ceil().max(1.0) as usize);
    Some(SampleSize {
        detectable: (limit + certain) * error,
        power: normal::tail(limit - difference.abs() / error),
        needed,
        resolution: needed.map(|needed| cases as f64 / needed as f64),
        more_cases: needed.map(|needed| needed.saturating_sub(cases)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::tango::PairedProportions;

    fn of(wins: f64, losses: f64, cases: f64) -> SampleSize {
        let estimate = Estimate::Proportions(PairedProportions { wins, losses, cases });
        sample_size(estimate, (wins - losses) / cases, cases as usize, (60, 6), 0.05).expect("a sample size")
    }

    /// The formula for paired proportions with a discordant share of 20 % and a difference of 5 points gives 626 cases (Connor 1987);
    /// this one takes the observed variance for that without a difference, too.
    #[test]
    fn needed_cases_agree_with_the_published_formula() {
        let size = of(25.0, 15.0, 200.0);
        let needed = size.needed.expect("a number");
        assert!((600..=640).contains(&needed), "{size:?}");
        assert_eq!(size.more_cases, Some(needed - 200));
        assert!((size.resolution.expect("a ratio") - 200.0 / needed as f64).abs() < 1e-12);
        assert!((0.3..0.4).contains(&size.power), "{size:?}");
        assert!((0.085..0.09).contains(&size.detectable), "{size:?}");
    }

    #[test]
    fn a_clear_difference_is_resolved() {
        let size = of(40.0, 2.0, 200.0);
        assert_eq!(size.more_cases, Some(0));
        assert!(size.resolution > Some(1.0) && size.power > 0.99, "{size:?}");
    }

    #[test]
    fn no_number_of_cases_shows_a_difference_of_zero() {
        let size = of(10.0, 10.0, 200.0);
        assert_eq!((size.needed, size.resolution, size.more_cases), (None, None, None));
    }

    #[test]
    fn too_few_files_with_a_difference_need_more() {
        let estimate = Estimate::Student { difference: 0.3, error: 0.05, degrees: 4.0 };
        let size = sample_size(estimate, 0.3, 50, (5, 10), 0.05).expect("a sample size");
        assert_eq!((size.needed, size.more_cases), (Some(100), Some(50)));
    }
}
