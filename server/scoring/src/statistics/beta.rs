//! The beta distribution, the source of Student's quantiles and of exact intervals of shares.

use std::f64::consts::PI;

/// Halvings of an interval of length 1 until it is shorter than the precision of the formulas below.
const HALVINGS: u32 = 60;
/// Terms of the continued fraction; it converges within some sqrt(a + b) of them.
const TERMS: u32 = 1_000;
/// Replaces zero in the continued fraction.
const TINY: f64 = 1e-300;

/// Returns the value below which the share `p` of a beta distribution lies. If `a` is 0, all of it is at 0; if `b` is 0, all of
/// it is at 1.
pub(crate) fn quantile(p: f64, a: f64, b: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    if b <= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if cdf(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// Returns the value that Student's distribution exceeds to either side in the share `outside` (0 to 1) in total, for any number of
/// degrees of freedom above 0.
pub(crate) fn student_quantile(degrees: f64, outside: f64) -> f64 {
    let share = quantile(outside, degrees / 2.0, 0.5);
    (degrees * (1.0 / share - 1.0)).sqrt()
}

/// Returns the share of Student's distribution above `t`.
pub(crate) fn student_tail(t: f64, degrees: f64) -> f64 {
    let above = cdf(degrees / (degrees + t * t), degrees / 2.0, 0.5) / 2.0;
    if t < 0.0 { 1.0 - above } else { above }
}

/// Returns the share of a beta distribution below `x`: the regularized incomplete beta function (Press et al., Numerical Recipes,
/// 6.4).
fn cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let scale = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        scale * continued_fraction(x, a, b) / a
    } else {
        1.0 - scale * continued_fraction(1.0 - x, b, a) / b
    }
}

/// Returns its continued fraction by Lentz's method.
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for term in (1..=TERMS).map(f64::from) {
        let even = term * (b - term) * x / ((a + 2.0 * term - 1.0) * (a + 2.0 * term));
        let odd = -(a + term) * (a + b + term) * x / ((a + 2.0 * term) * (a + 2.0 * term + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / nonzero(1.0 + step * d);
            c = nonzero(1.0 + step / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    result
}

/// Returns the logarithm of the gamma function of a positive number, precise to 1e-13 (Lanczos 1964, with Godfrey's
/// coefficients).
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let terms = (1_u32..).zip(COEFFICIENTS).map(|(place, coefficient)| coefficient / (x + f64::from(place)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expected: f64) {
        assert!((value - expected).abs() < 5e-5, "{value} instead of {expected}");
    }

    #[test]
    fn quantiles_match_published_tables() {
        check(student_quantile(1.0, 0.05), 12.7062);
        check(student_quantile(2.0, 0.05), 4.3027);
        check(student_quantile(9.0, 0.05), 2.2622);
        check(student_quantile(1e6, 0.05), 1.95996);
        check(student_quantile(4.0, 0.1), 2.1318);
        check(student_tail(2.1318, 4.0), 0.05);
        check(student_tail(-12.7062, 1.0), 0.975);
        check(student_tail(0.0, 3.0), 0.5);
        check(quantile(0.5, 1.0, 1.0), 0.5);
        check(quantile(0.025, 3.0, 8.0), 0.0667);
        check(quantile(0.975, 11.0, 10.0), 0.7280);
        assert_eq!((quantile(0.5, 0.0, 1.0), quantile(0.5, 1.0, 0.0)), (0.0, 1.0));
    }
}
