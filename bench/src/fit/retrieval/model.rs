//! A listwise linear model: softmax over the candidates of a question, fitted by Adam (Kingma and Ba, 2015) on all questions at once.

use index::hybrid::{FEATURES, weights};

use super::ranking_queries::{RankingCandidate, RankingQuery};

/// Steps of the fit; after about two hundred the loss only changes in its fourth digit.
const STEPS: usize = 400;
const RATE: f64 = 0.05;
const DECAYS: [f64; 2] = [0.9, 0.999];
/// Regularization: strength of the squared norm, for all questions together.
const NORM: f64 = 3.0;

/// One weight per feature.
pub(crate) struct LinearModel(Vec<f64>);

impl LinearModel {
    /// Returns the crate's current weights.
    pub(crate) fn current() -> LinearModel {
        LinearModel(weights().iter().map(|&weight| f64::from(weight)).collect())
    }

    /// Returns the weights that maximize the probability of the right answers; `fixed` ones are unchanged.
    pub(crate) fn fit(questions: &[&RankingQuery], fixed: &[(&str, f32)]) -> LinearModel {
        let mut model = LinearModel(vec![0.0; FEATURES.len()]);
        let fixed: Vec<Option<f64>> = FEATURES
            .iter()
            .map(|name| fixed.iter().find(|(fixed, _)| fixed == name).map(|(_, weight)| f64::from(*weight)))
            .collect();
        let mut moments = [vec![0.0; FEATURES.len()], vec![0.0; FEATURES.len()]];
        for step in 1..=STEPS {
            let slope = model.slope(questions);
            for (place, slope) in slope.into_iter().enumerate().filter(|(place, _)| fixed[*place].is_none()) {
                let mut corrected = [0.0; 2];
                for (power, moments) in (1..).zip(&mut moments) {
                    let decay = DECAYS[power - 1];
                    moments[place] = decay * moments[place] + (1.0 - decay) * slope.powi(power as i32);
                    corrected[power - 1] = moments[place] / (1.0 - decay.powi(step as i32));
                }
                model.0[place] -= RATE * corrected[0] / (corrected[1].sqrt() + 1e-8);
            }
        }
        for (weight, fixed) in model.0.iter_mut().zip(fixed) {
            *weight = fixed.unwrap_or(*weight);
        }
        model
    }

    /// Returns the weights in the order of [`FEATURES`].
    pub(crate) fn weights(&self) -> &[f64] {
        &self.0
    }

    /// Returns the number of candidates ranked before the definition that is used; `None` if it is not a candidate or unknown.
    pub(crate) fn rank(&self, question: &RankingQuery) -> Option<usize> {
        if !question.is_resolved {
            return None;
        }
        let scores: Vec<f64> = question.candidates.iter().map(|candidate| self.score(candidate)).collect();
        let used = question.candidates.iter().zip(&scores).filter(|(candidate, _)| candidate.is_used);
        let best = used.map(|(_, score)| *score).reduce(f64::max)?;
        Some(scores.iter().filter(|score| **score > best).count())
    }

    fn score(&self, candidate: &RankingCandidate) -> f64 {
        candidate.features.iter().zip(&self.0).map(|(value, weight)| f64::from(*value) * weight).sum()
    }

    /// Returns the gradient of the loss, the mean negative log probability of a right answer.
    fn slope(&self, questions: &[&RankingQuery]) -> Vec<f64> {
        let mut slope: Vec<f64> = self.0.iter().map(|weight| NORM * weight).collect();
        for question in questions {
            let scores: Vec<f64> =
                question.candidates.iter().map(|candidate| self.score(candidate)).collect();
            let all = softmax(&scores, |_| true);
            for is_right in [|one: &RankingCandidate| one.is_used, |one: &RankingCandidate| one.is_named] {
                if !question.candidates.iter().any(is_right) {
                    continue;
                }
                let right = softmax(&scores, |place| is_right(&question.candidates[place]));
                for (candidate, change) in
                    question.candidates.iter().zip(all.iter().zip(&right).map(|(all, right)| all - right))
                {
                    for (slope, value) in slope.iter_mut().zip(&candidate.features) {
                        *slope += 0.5 * change * f64::from(*value);
                    }
                }
            }
        }
        slope.iter().map(|slope| slope / questions.len().max(1) as f64).collect()
    }
}

/// Returns the probabilities of the candidates that take part; zero for the others.
fn softmax(scores: &[f64], takes_part: impl Fn(usize) -> bool) -> Vec<f64> {
    let part = |place: usize| Some(scores[place]).filter(|_| takes_part(place));
    let best = (0..scores.len()).filter_map(part).fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> =
        (0..scores.len()).map(|place| part(place).map_or(0.0, |score| (score - best).exp())).collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_used_candidates_get_positive_weight() {
        let candidate = |values: &[(usize, f32)], is_used| {
            let mut features = vec![0.0; FEATURES.len()];
            values.iter().for_each(|&(place, value)| features[place] = value);
            RankingCandidate { features, is_used, is_named: false }
        };
        let question = RankingQuery {
            candidates: vec![
                candidate(&[(0, 1.0), (2, 1.0)], true),
                candidate(&[(1, 1.0), (2, 1.0)], false),
                candidate(&[(2, 1.0)], false),
            ],
            is_resolved: true,
        };
        let questions = vec![&question; 50];
        let model = LinearModel::fit(&questions, &[(FEATURES[3], 7.0)]);
        assert_eq!(model.rank(&question), Some(0));
        let weights = model.weights();
        assert!(weights[0] > 0.5 && weights[1] < -0.1 && weights[2].abs() < 0.1, "{weights:?}");
        assert!((weights[3] - 7.0).abs() < 1e-9);
    }
}
