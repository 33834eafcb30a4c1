//! Tango's score interval of the difference of two paired proportions (1998), for independent cases.
//!
//! It inverts the score test of every difference, with the proportions of discordant cases estimated under that difference, so it
//! holds for few cases and also where no case is discordant.

use super::normal;

/// Halvings until an end of the interval is as precise as a number can be.
const HALVINGS: u32 = 60;

/// The cases of two engines that are each right or wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairedProportions {
    /// Cases that only the engine has right.
    pub(crate) wins: f64,
    /// Cases that only the baseline has right.
    pub(crate) losses: f64,
    /// All cases, more than 0.
    pub(crate) cases: f64,
}

impl PairedProportions {
    fn difference(self) -> f64 {
        (self.wins - self.losses) / self.cases
    }

    /// Returns the interval of the difference of which `outside` (0 to 1) of the repeats miss the true one.
    pub(crate) fn interval(self, outside: f64) -> (f64, f64) {
        let limit = normal::quantile_above(outside / 2.0);
        let end = |far: f64, is_outside: &dyn Fn(f64) -> bool| {
            let (mut inside, mut beyond) = (self.difference(), far);
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(inside, beyond);
                if is_outside(middle) {
                    beyond = middle;
                } else {
                    inside = middle;
                }
            }
            inside
        };
        (
            end(-1.0, &|difference| self.score(difference) > limit),
            end(1.0, &|difference| self.score(difference) < -limit),
        )
    }

    /// Returns by how many standard deviations the observed difference exceeds a true difference of `difference`.
    pub(crate) fn score(self, difference: f64) -> f64 {
        let PairedProportions { wins, losses, cases } = self;
        // The share of cases that only the baseline has right, estimated under this difference: the root of a quadratic equation.
        let linear = (2.0 * cases - wins + losses) * difference - wins - losses;
        let constant = -losses * difference * (1.0 - difference);
        let root = (linear * linear - 8.0 * cases * constant).max(0.0).sqrt();
        let only_baseline = (root - linear) / (4.0 * cases);
        let variance = cases * (2.0 * only_baseline + difference * (1.0 - difference));
        let excess = wins - losses - cases * difference;
        if excess == 0.0 { 0.0 } else { excess / variance.max(f64::MIN_POSITIVE).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_the_engines_negates_the_interval() {
        let (low, high) = PairedProportions { wins: 7.0, losses: 2.0, cases: 30.0 }.interval(0.05);
        let back = PairedProportions { wins: 2.0, losses: 7.0, cases: 30.0 }.interval(0.05);
        assert!((low + back.1).abs() < 1e-12 && (high + back.0).abs() < 1e-12, "{low} {high} {back:?}");
    }

    #[test]
    fn ends_stay_within_one() {
        for (wins, losses) in [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (2.0, 2.0)] {
            let (low, high) = PairedProportions { wins, losses, cases: 4.0 }.interval(0.05);
            let difference = (wins - losses) / 4.0;
            assert!(-1.0 <= low && low <= difference && difference <= high && high <= 1.0, "{low} {high}");
            assert!(high - low > 0.3, "{low} {high}");
        }
    }
}
