//! Wilson's score interval of a share (1927), for cases that are equivalent to a number of independent ones.
//!
//! It contains the shares whose own spread explains the observed one: (observed - share)^2 <= limit^2 * share * (1 - share) / cases.
//! Franco, Little, Louis and Slud (2019, "Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys") recommend
//! it among eight, with an effective number of cases from a model of the clusters; Kott (2017, "A note on Wilson coverage intervals for
//! proportions estimated from complex samples") extends it to such samples. Student's quantile as the limit covers the uncertainty of
//! the effective number.

/// Returns the ends of the interval of `share` (0 to 1) over `cases` independent cases (more than 0, may be fractional); `limit` is the
/// quantile of the score.
pub(crate) fn interval(share: f64, cases: f64, limit: f64) -> (f64, f64) {
    let weight = limit * limit / cases;
    let middle = (share + weight / 2.0) / (1.0 + weight);
    let margin = (weight * (share * (1.0 - share) + weight / 4.0)).sqrt() / (1.0 + weight);
    ((middle - margin).clamp(0.0, share), (middle + margin).clamp(share, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Brown, Cai and DasGupta (2001) and of Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn interval_matches_published_values() {
        for (right, cases, low, high) in [
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ] {
            let ends = interval(right / cases, cases, 1.959_963_984_540_054);
            assert!((ends.0 - low).abs() < 5e-5 && (ends.1 - high).abs() < 5e-5, "{right}/{cases}: {ends:?}");
        }
    }
}
