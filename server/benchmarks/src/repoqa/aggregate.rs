//! Results over many answers: the share that passes at each threshold.

use super::score::FindScore;

/// Thresholds of similarity at which results are reported. The published one is 0.8.
pub const THRESHOLDS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Answers that pass at each of [`THRESHOLDS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThresholdCurve {
    /// Number of answers that pass, by threshold.
    pub passed: [usize; THRESHOLDS.len()],
    /// Number of answers; a missing answer counts as failed.
    pub total: usize,
}

impl ThresholdCurve {
    /// Counts the scores; `missing` tasks have no answer.
    pub fn new<'a>(scores: impl IntoIterator<Item = &'a FindScore>, missing: usize) -> ThresholdCurve {
        let mut curve = ThresholdCurve { total: missing, ..ThresholdCurve::default() };
        for score in scores {
            curve.total += 1;
            for (passed, threshold) in curve.passed.iter_mut().zip(THRESHOLDS) {
                *passed += usize::from(score.passes(threshold));
            }
        }
        curve
    }

    /// Adds the counts of further answers.
    pub fn add(&mut self, other: &ThresholdCurve) {
        self.total += other.total;
        for (passed, more) in self.passed.iter_mut().zip(other.passed) {
            *passed += more;
        }
    }

    /// Returns pass@1 by threshold, from 0 to 1; all 0 without answers. The original asks once per task, so this is all it reports.
    pub fn pass_at_1(&self) -> [f64; THRESHOLDS.len()] {
        self.passed.map(|passed| passed as f64 / self.total.max(1) as f64)
    }
}
