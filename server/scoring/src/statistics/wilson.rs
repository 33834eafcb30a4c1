//! Wilson's score interval of a share, which stays sensible at 0, at 1 and for few cases.

use super::Z_95;

/// Lower and upper end of the 95 % interval of `share` seen in `cases` independent cases (more than 0, need not be whole).
///
/// For values between 0 and 1 that are not all 0 or 1 it is too wide rather than too narrow: no such values vary more
/// than zeros and ones with the same mean.
pub(crate) fn interval(share: f64, cases: f64) -> (f64, f64) {
    let z2 = Z_95 * Z_95;
    let centre = share + z2 / (2.0 * cases);
    let margin = Z_95 * (share * (1.0 - share) / cases + z2 / (4.0 * cases * cases)).sqrt();
    let scale = 1.0 + z2 / cases;
    (((centre - margin) / scale).clamp(0.0, share), ((centre + margin) / scale).clamp(share, 1.0))
}

/// A share with the ends of its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) share: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Share {
    /// The share seen in so many independent cases.
    pub(crate) fn new(share: f64, cases: f64) -> Share {
        let (low, high) = interval(share, cases);
        Share { share, low, high }
    }
}

/// Lower and upper end of the 95 % interval of `b` minus `a`, seen on the same cases with the given correlation
/// (Newcombe 1998, method 10).
pub(crate) fn difference(a: Share, b: Share, correlation: f64) -> (f64, f64) {
    let difference = b.share - a.share;
    let margin = |x: f64, y: f64| (x * x - 2.0 * correlation * x * y + y * y).max(0.0).sqrt();
    let low = difference - margin(b.share - b.low, a.high - a.share);
    let high = difference + margin(b.high - b.share, a.share - a.low);
    (low.max(-1.0), high.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(share: f64, cases: f64, low: f64, high: f64) {
        let ends = interval(share, cases);
        assert!((ends.0 - low).abs() < 5e-5 && (ends.1 - high).abs() < 5e-5, "{ends:?}");
    }

    #[test]
    fn known_values() {
        check(0.5, 10.0, 0.2366, 0.7634);
        check(0.2, 10.0, 0.0567, 0.5098);
        check(0.0, 10.0, 0.0, 0.2775);
        check(1.0, 10.0, 0.7225, 1.0);
        check(1.0, 1.0, 0.2065, 1.0);
    }

    #[test]
    fn differences_narrow_with_correlation() {
        // 56 of 70 against 48 of 80, the example of Newcombe's paper on unpaired shares.
        let (a, b) = (Share::new(0.6, 80.0), Share::new(0.8, 70.0));
        let (low, high) = difference(a, b, 0.0);
        assert!((low - 0.0524).abs() < 5e-5 && (high - 0.3339).abs() < 5e-5, "{low} {high}");
        let correlated = difference(a, b, 0.8);
        assert!(low < correlated.0 && correlated.1 < high, "{correlated:?}");
        let sure = difference(Share::new(0.0, 1e9), Share::new(1.0, 1e9), 0.0);
        assert!(sure.0 > 0.999 && sure.1 == 1.0, "{sure:?}");
    }
}
