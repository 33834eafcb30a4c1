//! Sums of the costs of answers.

/// A sum of costs with its counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostSummary {
    /// Answers whose cost is known.
    pub answers: usize,
    /// Known answers whose tokens were estimated.
    pub estimated: usize,
    /// Answers whose cost is unknown.
    pub unknown: usize,
    /// Total of the known costs.
    pub amount: f64,
    /// Cost of a thousand such answers; `None` if no cost is known.
    pub per_thousand: Option<f64>,
}

/// Sums up the costs of answers; each cost comes with whether it is estimated.
pub fn summarize_costs(costs: impl IntoIterator<Item = Option<(f64, bool)>>) -> CostSummary {
    let mut sum = CostSummary::default();
    for cost in costs {
        match cost {
            None => sum.unknown += 1,
            Some((amount, is_estimated)) => {
                sum.answers += 1;
                sum.estimated += usize::from(is_estimated);
                sum.amount += amount;
            }
        }
    }
    sum.per_thousand = (sum.answers > 0).then(|| sum.amount / sum.answers as f64 * 1e3);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_costs_are_counted_but_not_added() {
        let sum = summarize_costs([Some((0.5, false)), None, Some((0.25, true))]);
        let expected =
            CostSummary { answers: 2, estimated: 1, unknown: 1, amount: 0.75, per_thousand: Some(375.0) };
        assert_eq!(sum, expected);
        assert_eq!(summarize_costs([None]), CostSummary { unknown: 1, ..CostSummary::default() });
    }
}
