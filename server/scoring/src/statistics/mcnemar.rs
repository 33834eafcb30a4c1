//! McNemar's exact test of two engines that are right or wrong in the same independent cases.

/// Result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct McNemar {
    /// Chance of results at least as unequal between equal engines; never claims too often.
    pub(crate) p: f64,
    /// The same, with results that are exactly as unequal counted half: less cautious than `p`, stated for comparison with others.
    pub(crate) mid_p: f64,
}

/// Tests the cases in which exactly one of the engines is right: `wins` of the one, `losses` of the other.
pub(crate) fn mcnemar(wins: usize, losses: usize) -> McNemar {
    let (fewer, cases) = (wins.min(losses), wins + losses);
    let chances = binomial_chances(cases, fewer);
    let below: f64 = chances[..fewer].iter().sum();
    let equal = chances[fewer];
    McNemar { p: (2.0 * (below + equal)).min(1.0), mid_p: (2.0 * below + equal).min(1.0) }
}

/// Returns the chances of 0 to `last` heads in `flips` flips of a fair coin.
fn binomial_chances(flips: usize, last: usize) -> Vec<f64> {
    let mut logarithm = -(flips as f64) * std::f64::consts::LN_2;
    let mut chances = Vec::with_capacity(last + 1);
    for heads in 0..=last {
        chances.push(logarithm.exp());
        logarithm += ((flips - heads) as f64).ln() - ((heads + 1) as f64).ln();
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_discordant_case_tells_nothing() {
        assert_eq!(mcnemar(0, 0), McNemar { p: 1.0, mid_p: 1.0 });
        assert_eq!(mcnemar(4, 4).p, 1.0);
    }

    #[test]
    fn the_direction_does_not_matter() {
        assert_eq!(mcnemar(3, 9), mcnemar(9, 3));
        assert_eq!(mcnemar(0, 5), McNemar { p: 2.0 / 32.0, mid_p: 1.0 / 32.0 });
    }

    #[test]
    fn many_cases_do_not_underflow() {
        let result = mcnemar(5_100, 4_900);
        assert!((result.p - 0.0467).abs() < 5e-4, "{result:?}");
    }
}
