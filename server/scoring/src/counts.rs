//! Counts are kept with ratios: a table divides sums and never averages ratios.

use std::ops::{Add, AddAssign, Div};

use cases::MetricValue;

/// A numerator and a denominator, or sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Sum of the numerators.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
}

impl Counts {
    /// Returns the ratio; `None` if there was nothing to measure.
    pub fn ratio(self) -> Option<f64> {
        (self.den != 0.0).then(|| self.num / self.den)
    }
}

impl From<MetricValue> for Counts {
    /// Returns numerator and denominator; the denominator of a plain number is one.
    fn from(value: MetricValue) -> Counts {
        match value {
            MetricValue::Value(num) => Counts { num, den: 1.0 },
            MetricValue::Ratio { num, den } => Counts { num, den },
        }
    }
}

impl From<Counts> for MetricValue {
    fn from(Counts { num, den }: Counts) -> MetricValue {
        MetricValue::Ratio { num, den }
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts { num: self.num + other.num, den: self.den + other.den }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
    }
}

impl Div<f64> for Counts {
    type Output = Counts;

    fn div(self, divisor: f64) -> Counts {
        Counts { num: self.num / divisor, den: self.den / divisor }
    }
}
