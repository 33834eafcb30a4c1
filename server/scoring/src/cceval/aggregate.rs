//! The results of a file of predictions.

use text::python;

use super::CcevalScore;
use crate::similarity::Similarity;

/// The contents of the original's results file: percentages rounded to two places.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AggregateScore {
    /// Exact matches.
    pub em: f64,
    /// Mean edit similarity.
    pub es: f64,
    /// Exact matches of the identifier lists.
    pub id_em: f64,
    /// Mean precision of identifiers.
    pub id_precision: f64,
    /// Mean recall of identifiers.
    pub id_recall: f64,
    /// Mean F1 of identifiers.
    pub id_f1: f64,
    /// Number of predictions.
    pub total: usize,
}

/// Returns the results over `scores`, in the order of the file, with the given variant of edit similarity. All are 0 if there are
/// no scores.
pub fn aggregate(scores: &[CcevalScore], similarity: Similarity) -> AggregateScore {
    if scores.is_empty() {
        return AggregateScore::default();
    }
    let mean =
        |value: &dyn Fn(&CcevalScore) -> f64| scores.iter().map(value).sum::<f64>() / scores.len() as f64;
    let percent = |value: &dyn Fn(&CcevalScore) -> f64| python::round(100.0 * mean(value), 2);
    let flag = |set: bool| f64::from(u8::from(set));
    AggregateScore {
        em: percent(&|score| flag(score.exact_match)),
        es: python::round(mean(&|score| score.similarity(similarity)), 2),
        id_em: percent(&|score| flag(score.identifiers.exact)),
        id_precision: percent(&|score| score.identifiers.precision()),
        id_recall: percent(&|score| score.identifiers.recall()),
        id_f1: percent(&|score| score.identifiers.f1()),
        total: scores.len(),
    }
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::super::score;
    use super::*;

    #[test]
    fn aggregate_averages_matches_and_ratios_in_percent() {
        let scores = [("a;", "a;"), ("b;", "a;"), ("a + b;", "a;")]
            .map(|(prediction, truth)| score(Language::Java, "", prediction, truth));
        let expected = AggregateScore {
            em: 33.33,
            es: 66.67,
            id_em: 33.33,
            id_precision: 50.0,
            id_recall: 66.67,
            id_f1: 55.56,
            total: 3,
        };
        assert_eq!(aggregate(&scores, Similarity::Indel), expected);
    }

    #[test]
    fn aggregate_of_no_scores_is_zero() {
        assert_eq!(aggregate(&[], Similarity::Difflib), AggregateScore::default());
    }
}
