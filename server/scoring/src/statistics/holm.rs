//! Correction for many tests (Holm 1979).

/// A p-value after the correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CorrectedPValue {
    /// The corrected p-value: comparing it with 5 % keeps the chance of any false claim among all tests at 5 %.
    pub(crate) p: f64,
    /// The number of tests that its p-value was multiplied by, from 1 to their number.
    pub(crate) factor: usize,
}

/// Corrects the p-values of all tests, in their order.
pub(crate) fn corrected(p_values: &[f64]) -> Vec<CorrectedPValue> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut results = vec![CorrectedPValue { p: 1.0, factor: 1 }; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, test) in order.into_iter().enumerate() {
        let factor = p_values.len() - rank;
        largest = largest.max(p_values[test] * factor as f64).min(1.0);
        results[test] = CorrectedPValue { p: largest, factor };
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correction_multiplies_by_the_remaining_tests_and_keeps_the_order() {
        let p: Vec<f64> = corrected(&[0.01, 0.04, 0.03, 0.005]).iter().map(|it| it.p).collect();
        assert_eq!(p, [0.03, 0.06, 0.06, 0.02]);
        let factors: Vec<usize> = corrected(&[0.2, 0.1, 0.9]).iter().map(|it| it.factor).collect();
        assert_eq!(factors, [2, 3, 1]);
        assert_eq!(corrected(&[0.9, 0.8]).iter().map(|it| it.p).collect::<Vec<_>>(), [1.0, 1.0]);
        assert_eq!(corrected(&[]), []);
    }
}
