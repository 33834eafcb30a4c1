//! Metrics over many generations.

use scoring::similarity::Similarity;
use text::python;

use scoring::pass_at_k::pass_at_k;

/// A generated function and the function written by the developer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationPair<'a> {
    /// The generated code.
    pub prediction: &'a str,
    /// The original code.
    pub truth: &'a str,
}

/// Returns the share of pairs that are equal without white space, in percent with one decimal; 0 without pairs.
pub fn exact_match(pairs: &[GenerationPair<'_>]) -> f64 {
    100.0
        * python::round(
            mean(
                pairs
                    .iter()
                    .filter(|pair| {
                        let characters = |text| without_spaces(text);
                        characters(pair.prediction).eq(characters(pair.truth))
                    })
                    .count() as f64,
                pairs.len(),
            ),
            3,
        )
}

fn without_spaces(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&c| !python::is_space(c))
}

/// Returns the mean edit similarity, 0 to 100 with two decimals; 0 without pairs.
pub fn edit_similarity(pairs: &[GenerationPair<'_>], similarity: Similarity) -> f64 {
    let sum: f64 = pairs.iter().map(|pair| similarity.percent(pair.prediction, pair.truth)).sum();
    python::round(mean(sum, pairs.len()), 2)
}

/// Returns the edit similarity of one pair as the original's viewer shows it, with the truth first; 0 to 100, whole.
pub fn single_edit_similarity(pair: GenerationPair<'_>, similarity: Similarity) -> f64 {
    similarity.percent(pair.truth, pair.prediction)
}

/// Returns the share of functions with a candidate that has the truth's words, from 0 to 1 with two decimals; 0 without functions.
/// Each item has the candidates and the truth.
pub fn accuracy(functions: &[(Vec<&str>, &str)]) -> f64 {
    python::round(
        mean(
            functions
                .iter()
                .filter(|(candidates, truth)| {
                    candidates.iter().any(|candidate| words(candidate).eq(words(truth)))
                })
                .count() as f64,
            functions.len(),
        ),
        2,
    )
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(python::is_space).filter(|word| !word.is_empty())
}

/// Returns the original's estimate of pass@`k`: the usual one, but 0 if none of fewer than `k` answers passed.
pub fn pass_at_k_estimate(answers: usize, passed: usize, k: usize) -> f64 {
    if passed == 0 { 0.0 } else { pass_at_k(answers, passed, k) }
}

/// Returns the reported pass@`k`: the share of functions of which one of the first `k` answers passes, in percent with two
/// decimals; 0 without functions. Each item lists which answers to a function pass.
pub fn any_of_first_passes(functions: &[Vec<bool>], k: usize) -> f64 {
    let passes = functions.iter().filter(|answers| answers.iter().take(k).any(|&passes| passes)).count();
    python::round(100.0 * mean(passes as f64, functions.len()), 2)
}

/// Returns `sum / count`; 0 if there is nothing.
fn mean(sum: f64, count: usize) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_nothing_are_zero() {
        assert_eq!(exact_match(&[]), 0.0);
        assert_eq!(edit_similarity(&[], Similarity::Indel), 0.0);
        assert_eq!(accuracy(&[]), 0.0);
        assert_eq!(any_of_first_passes(&[], 1), 0.0);
    }

    #[test]
    fn exact_match_ignores_and_accuracy_splits_at_white_space() {
        assert_eq!(exact_match(&[GenerationPair { prediction: "int f ( )", truth: "intf()" }]), 100.0);
        assert_eq!(accuracy(&[(vec!["x", "int  f()\n"], "int f()"), (vec!["intf()"], "int f()")]), 0.5);
    }

    #[test]
    fn only_the_first_answers_count() {
        assert_eq!(any_of_first_passes(&[vec![false, true], vec![], vec![true]], 1), 33.33);
        assert_eq!(any_of_first_passes(&[vec![false, true], vec![], vec![true]], 5), 66.67);
    }
}
