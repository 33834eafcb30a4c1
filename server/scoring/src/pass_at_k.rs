//! The probability that one of `k` answers passes, estimated from more answers.

/// Returns the unbiased estimate of pass@`k` from `passed` of `answers`: the share of draws of `k` answers with at least one that
/// passes. It is 1 if fewer than `k` answers failed, so fewer answers than `k` always give 1; as in the usual program.
pub fn pass_at_k(answers: usize, passed: usize, k: usize) -> f64 {
    let failed = answers.saturating_sub(passed);
    if failed < k {
        return 1.0;
    }
    let none_passes: f64 = (failed + 1..=answers).map(|i| 1.0 - k as f64 / i as f64).product();
    1.0 - none_passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_the_share_of_draws_with_a_passing_answer() {
        assert!((pass_at_k(10, 3, 1) - 0.3).abs() < 1e-12);
        assert!((pass_at_k(4, 1, 2) - 0.5).abs() < 1e-12);
        assert_eq!(pass_at_k(4, 0, 2), 0.0);
        assert_eq!(pass_at_k(2, 1, 2), 1.0);
    }

    #[test]
    fn more_passes_than_answers_do_not_panic() {
        assert_eq!(pass_at_k(1, 9, 1), 1.0);
    }
}
