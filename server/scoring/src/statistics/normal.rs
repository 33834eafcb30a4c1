//! The normal distribution.

/// Beyond it a tail is below 1e-18 and the series below has no digit of it.
const FARTHEST: f64 = 8.0;
/// Halvings of an interval of length 16 until it is shorter than the precision of the series.
const HALVINGS: u32 = 60;
/// Terms of the series: at the farthest value, later ones are below 1e-16.
const TERMS: u32 = 200;

/// Returns the share of the distribution above `z`, precise to 1e-15 (Abramowitz and Stegun 1964, 26.2.11).
pub(crate) fn tail(z: f64) -> f64 {
    let distance = z.abs().min(FARTHEST);
    let density = (-distance * distance / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let mut term = distance;
    let mut sum = distance;
    for step in 1..=TERMS {
        term *= distance * distance / f64::from(2 * step + 1);
        sum += term;
    }
    let above = (0.5 - density * sum).max(0.0);
    if z < 0.0 { 1.0 - above } else { above }
}

/// Returns the value above which the share `above` (0 to 1) of the distribution lies, from -8 to 8.
pub(crate) fn quantile_above(above: f64) -> f64 {
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if tail(middle) > above {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
    }

    #[test]
    fn tails_and_quantiles_match_published_tables() {
        check(tail(0.0), 0.5);
        check(tail(1.959_963_984_540_054), 0.025);
        check(tail(3.0), 0.001_349_898_031_630_094_6);
        check(tail(-1.0), 0.841_344_746_068_542_9);
        check(quantile_above(0.025), 1.959_963_984_540_054);
        check(quantile_above(0.2), 0.841_621_233_572_914_2);
        check(quantile_above(0.5), 0.0);
        assert_eq!((tail(40.0), tail(-40.0)), (tail(8.0), 1.0 - tail(8.0)));
    }
}
