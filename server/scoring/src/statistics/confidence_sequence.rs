//! Intervals of a mean that hold at all times together, so that a trial may be watched while it grows and stopped at any moment.
//!
//! The limits are those of the two-sided normal mixture (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021, section 3.2, the
//! `normal_mixture_bound` of PyPI's `confseq`), used for means of any distribution as an asymptotic confidence sequence (Waudby-Smith,
//! Arbour, Sinha, Kennedy and Ramdas 2024, theorem 2.2). Its time is information: the number of independent cases that the cases so far
//! are equivalent to. Successive estimates have independent increments in this time (Scharfstein, Tsiatis and Robins 1997).

use super::beta::student_quantile;
use super::normal;

/// Independent cases at which the intervals are narrowest, compared with those of other mixtures. From 40 to 5,000 cases they are at
/// most a quarter wider than the narrowest possible ones.
const NARROWEST_AT: f64 = 200.0;
/// Level for which [`NARROWEST_AT`] is exact; others are close.
const NARROWEST_FOR: f64 = 0.05;
/// Farthest limit, in standard errors. Beyond it, which is below some 20 independent cases, no estimate of a variance holds.
const FARTHEST: f64 = 7.0;
/// Halvings of a factor of 2^60 until it is precise to a thousandth.
const HALVINGS: u32 = 24;

/// The two-sided normal mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NormalMixture {
    rho: f64,
}

impl NormalMixture {
    /// The mixture of all trials.
    pub(crate) fn of_trials() -> NormalMixture {
        NormalMixture::narrowest_at(NARROWEST_AT, NARROWEST_FOR)
    }

    /// Returns the mixture whose limit is closest to 0 at this time (above 0) and level (between 0 and 1).
    pub(crate) fn narrowest_at(time: f64, alpha: f64) -> NormalMixture {
        let evidence = 2.0 * (1.0 / alpha).ln();
        NormalMixture { rho: time / (evidence + (1.0 + evidence).ln()) }
    }

    /// Returns the limit of a sum of independent numbers with mean 0 and variance 1 after `time` of them: it is ever exceeded, to
    /// either side, with a probability of at most `alpha`.
    pub(crate) fn limit(self, time: f64, alpha: f64) -> f64 {
        ((time + self.rho) * ((1.0 + time / self.rho).ln() + 2.0 * (1.0 / alpha).ln())).sqrt()
    }

    /// Returns the distance of the limits from the estimate in standard errors, after `cases` independent cases, for a standard error
    /// with these degrees of freedom: as improbable for Student's distribution as the limit is for the normal one. `None` for too few
    /// cases.
    pub(crate) fn standard_errors(self, cases: f64, degrees: f64, alpha: f64) -> Option<f64> {
        let normal_errors = self.limit(cases, alpha) / cases.sqrt();
        let is_usable = normal_errors.is_finite() && normal_errors <= FARTHEST && degrees >= 1.0;
        is_usable.then(|| student_quantile(degrees, 2.0 * normal::tail(normal_errors)))
    }

    /// Returns the chance that a sum whose mean grows by `drift` per case, with variance 1, exceeds the limit until `time`.
    ///
    /// The limit is replaced by its tangent at `time`, which a Brownian motion crosses with a known probability (Bachelier-Lévy;
    /// Siegmund 1985, formula 3.15).
    pub(crate) fn crossing_chance(self, drift: f64, time: f64, alpha: f64) -> f64 {
        let limit = self.limit(time, alpha);
        let slope = (limit * limit / (time + self.rho) + 1.0) / (2.0 * limit);
        let start = limit - slope * time;
        let ascent = drift - slope;
        let above = normal::tail((start - ascent * time) / time.sqrt());
        let returned = normal::tail((start + ascent * time) / time.sqrt());
        (above + (2.0 * ascent * start).min(500.0).exp() * returned).min(1.0)
    }

    /// Returns the number of independent cases until which a mean of `drift` standard deviations is found with this chance; `None` if it
    /// is 0.
    pub(crate) fn cases_to_find(self, drift: f64, chance: f64, alpha: f64) -> Option<f64> {
        let drift = drift.abs();
        if drift <= 0.0 || !drift.is_finite() {
            return None;
        }
        // The chance is above one half at twice the limit of the largest factor, and near 0 at its other end.
        let (mut low, mut high) = (0.0, 60.0);
        let scale = drift.powi(-2);
        for _ in 0..HALVINGS {
            let middle: f64 = (low + high) / 2.0;
            if self.crossing_chance(drift, scale * middle.exp2(), alpha) < chance {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(scale * high.exp2())
    }
}

#[cfg(test)]
mod tests {
    use text::SplitMix64;

    use super::*;

    /// Returns a standard normal number (Box and Muller 1958).
    fn gaussian(random: &mut SplitMix64) -> f64 {
        let mut uniform = || (random.number() >> 11) as f64 / (1_u64 << 53) as f64;
        (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }

    /// Returns the case at which the limit is exceeded first, within `cases`.
    fn first_crossing(random: &mut SplitMix64, drift: f64, cases: usize) -> Option<usize> {
        let mixture = NormalMixture::of_trials();
        let mut sum = 0.0;
        (1..=cases).find(|&case| {
            sum += drift + gaussian(random);
            f64::abs(sum) > mixture.limit(case as f64, 0.05)
        })
    }

    #[test]
    fn a_sum_without_drift_exceeds_the_limit_in_at_most_five_percent_of_the_repeats_at_any_time() {
        let mut random = SplitMix64::new(5);
        let crossed = (0..1_000).filter(|_| first_crossing(&mut random, 0.0, 2_000).is_some()).count();
        assert!((5..=50).contains(&crossed), "{crossed} of 1,000");
    }

    #[test]
    fn a_drift_is_found_in_the_promised_time() {
        let mut random = SplitMix64::new(9);
        for drift in [0.1, 0.2] {
            let promised = NormalMixture::of_trials().cases_to_find(drift, 0.8, 0.05).expect("a number");
            let found = (0..500)
                .filter(|_| first_crossing(&mut random, drift, promised as usize).is_some())
                .count() as f64;
            assert!((0.74..=0.9).contains(&(found / 500.0)), "{drift}: {found} of 500 by {promised}");
        }
    }

    #[test]
    fn few_degrees_of_freedom_move_the_limit_outwards() {
        let mixture = NormalMixture::of_trials();
        let errors = |degrees| mixture.standard_errors(200.0, degrees, 0.05).expect("a limit");
        assert!((errors(1e6) - mixture.limit(200.0, 0.05) / 200.0_f64.sqrt()).abs() < 1e-3);
        assert!(errors(4.0) > 2.0 * errors(1e6), "{}", errors(4.0));
        assert_eq!(mixture.standard_errors(3.0, 2.0, 0.05), None);
    }

    #[test]
    fn nothing_finds_a_difference_of_zero() {
        assert_eq!(NormalMixture::of_trials().cases_to_find(0.0, 0.8, 0.05), None);
        assert_eq!(NormalMixture::of_trials().cases_to_find(f64::NAN, 0.8, 0.05), None);
    }
}
