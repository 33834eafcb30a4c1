//! Hall's interval of a mean of skewed values (1992, "On the removal of skewness by transformation"), with Student's quantile.
//!
//! The mean of few skewed values and their spread go together: where large values are missing by chance, both are too small, and an
//! interval around the mean ends too early. A cubic transformation of Student's statistic removes its skewness, and its inverse moves the
//! ends of the interval to the long side.

/// Smallest skewness that moves the ends by more than rounding.
const SYMMETRIC: f64 = 1e-6;

/// Values whose mean is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SkewedMean {
    pub(crate) mean: f64,
    /// Standard error of the mean.
    pub(crate) error: f64,
    /// Skewness of the values.
    pub(crate) skewness: f64,
    /// Number of the values.
    pub(crate) count: f64,
}

impl SkewedMean {
    /// Returns the ends of the interval; `limit` is Student's quantile.
    pub(crate) fn interval(self, limit: f64) -> (f64, f64) {
        (self.mean - self.error * self.inverse(limit), self.mean - self.error * self.inverse(-limit))
    }

    /// Returns the value of Student's statistic whose transformed value is `limit`.
    fn inverse(self, limit: f64) -> f64 {
        let (skewness, root) = (self.skewness, self.count.sqrt());
        if skewness.abs() < SYMMETRIC {
            return limit;
        }
        let cubic = 1.0 + skewness * (limit / root - skewness / (6.0 * self.count));
        3.0 * root / skewness * (cubic.cbrt() - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(skewness: f64) -> SkewedMean {
        SkewedMean { mean: 0.5, error: 0.1, skewness, count: 20.0 }
    }

    #[test]
    fn symmetric_values_have_students_interval() {
        for skewness in [0.0, 1e-5] {
            let (low, high) = of(skewness).interval(2.0);
            assert!((low - 0.3).abs() < 1e-5 && (high - 0.7).abs() < 1e-5, "{low} {high}");
        }
    }

    /// The transformation is t + skewness (t^2 / 3 + 1 / 6) / sqrt(n) + skewness^2 t^3 / (27 n) (Hall 1992, g of section 2).
    #[test]
    fn ends_are_at_the_limit_after_the_transformation() {
        for skewness in [-1.5, 0.4, 2.0] {
            let sample = of(skewness);
            let (low, high) = sample.interval(2.0);
            for (end, limit) in [(low, 2.0), (high, -2.0)] {
                let t = (sample.mean - end) / sample.error;
                let n = sample.count;
                let transformed = t
                    + skewness * (t * t / 3.0 + 1.0 / 6.0) / n.sqrt()
                    + skewness.powi(2) * t.powi(3) / (27.0 * n);
                assert!((transformed - limit).abs() < 1e-9, "{skewness}: {transformed}");
            }
            assert_eq!(high - sample.mean > sample.mean - low, skewness > 0.0, "{low} {high}");
        }
    }
}
