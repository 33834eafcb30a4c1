//! Order and groups of engines.

use super::{Claim, PairVerdict};

/// Returns the engines in the order of their mean difference from the others, the best first. `better_by` is how much better the
/// first engine is than the second; `None` if they share too few cases. For engines with the same cases, this is the order of their
/// values.
pub(super) fn ranking(engines: &[usize], better_by: impl Fn(usize, usize) -> Option<f64>) -> Vec<usize> {
    let mean = |engine: usize| {
        let differences: Vec<f64> = engines
            .iter()
            .filter(|&&other| other != engine)
            .filter_map(|&other| better_by(engine, other))
            .collect();
        if differences.is_empty() {
            return f64::NEG_INFINITY;
        }
        differences.iter().sum::<f64>() / differences.len() as f64
    };
    let mut ranked: Vec<(usize, f64)> = engines.iter().map(|&engine| (engine, mean(engine))).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    ranked.into_iter().map(|(engine, _)| engine).collect()
}

/// Cuts the ranking where every engine before is better than every engine after, each by a claimed difference.
pub(super) fn groups(ranked: &[usize], pairs: &[PairVerdict]) -> Vec<Vec<usize>> {
    let is_better = |one: usize, other: usize| {
        pairs.iter().any(|pair| match pair.claim {
            Claim::Better => (pair.engine, pair.baseline) == (one, other),
            Claim::Worse => (pair.engine, pair.baseline) == (other, one),
            Claim::Undecided | Claim::TooFewCases | Claim::TooFewFiles => false,
        })
    };
    // A group ends with the farthest engine that any engine of the group is not proven to be better than.
    let mut groups = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (rank, &engine) in ranked.iter().enumerate() {
        let equal = ranked.iter().rposition(|&other| other != engine && !is_better(engine, other));
        end = end.max(rank).max(equal.unwrap_or(rank));
        if end == rank {
            groups.push(ranked[start..=rank].to_vec());
            start = rank + 1;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PairedDifference;

    #[track_caller]
    fn check(engines: usize, claims: &[(usize, usize)], expected: &[&[usize]]) {
        let pairs: Vec<PairVerdict> = claims
            .iter()
            .map(|&(engine, baseline)| PairVerdict {
                engine,
                baseline,
                cases: 40,
                files: 20,
                ties: 0,
                difference: PairedDifference::default(),
                claim: Claim::Better,
                test: None,
                sample_size: None,
                files_needed: 6,
                margin: None,
            })
            .collect();
        let ranked: Vec<usize> = (0..engines).collect();
        assert_eq!(groups(&ranked, &pairs), expected);
    }

    #[test]
    fn groups_are_cut_where_all_differences_are_claimed() {
        check(3, &[], &[&[0, 1, 2]]);
        check(3, &[(0, 1), (0, 2)], &[&[0], &[1, 2]]);
        check(3, &[(0, 2), (1, 2)], &[&[0, 1], &[2]]);
        check(4, &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], &[&[0], &[1, 2], &[3]]);
        check(1, &[], &[&[0]]);
        check(0, &[], &[]);
    }

    #[test]
    fn a_claim_between_the_ends_of_a_group_does_not_cut_it() {
        check(3, &[(0, 2)], &[&[0, 1, 2]]);
    }

    #[test]
    fn a_claim_against_the_ranking_joins_groups() {
        check(3, &[(0, 1), (0, 2), (2, 1)], &[&[0], &[1, 2]]);
        check(2, &[(1, 0)], &[&[0, 1]]);
    }

    #[test]
    fn ranking_is_by_the_mean_difference() {
        let values = [0.2, 0.5, 0.1];
        assert_eq!(ranking(&[0, 1, 2], |one, other| Some(values[one] - values[other])), [1, 0, 2]);
        let unknown =
            |one: usize, other: usize| (one != 2 && other != 2).then(|| values[one] - values[other]);
        assert_eq!(ranking(&[2, 0, 1], unknown), [1, 0, 2], "an engine without shared cases is last");
    }
}
