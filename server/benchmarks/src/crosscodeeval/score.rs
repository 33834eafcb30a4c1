//! The results of a file of predictions.

use std::collections::HashMap;

use scoring::cceval::{self, AggregateScore};
use scoring::similarity::Similarity;
use syntax::Language;

use super::rows::{CcevalItem, CcevalPrediction};
use crate::Rules;

/// Results of a file of predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionSetScore {
    /// The original's results.
    pub aggregate: AggregateScore,
    /// Ids of items without a prediction, in the order of the items.
    pub missing: Vec<String>,
    /// Ids of predictions without an item, in their order.
    pub unknown: Vec<String>,
}

/// Scores the predictions of the items; `similarity` is the variant that the original has installed.
///
/// With [`Rules::Paper`] an item without a prediction counts as an empty one. The original ends with an error then;
/// [`Rules::Faithful`] leaves such items out.
pub fn score_predictions(
    language: Language,
    items: &[CcevalItem],
    predictions: &[CcevalPrediction],
    similarity: Similarity,
    rules: Rules,
) -> PredictionSetScore {
    let by_id: HashMap<&str, &str> =
        predictions.iter().map(|row| (row.task_id.as_str(), row.pred.as_str())).collect();
    let known: HashMap<&str, ()> = items.iter().map(|item| (item.metadata.task_id.as_str(), ())).collect();
    let mut missing = Vec::new();
    let mut scores = Vec::new();
    for item in items {
        let prediction = by_id.get(item.metadata.task_id.as_str()).copied();
        if prediction.is_none() {
            missing.push(item.metadata.task_id.clone());
        }
        if prediction.is_some() || rules == Rules::Paper {
            let prediction = prediction.unwrap_or_default();
            scores.push(cceval::score(language, &item.prompt, prediction, &item.groundtruth));
        }
    }
    let unknown = predictions.iter().filter(|row| !known.contains_key(row.task_id.as_str()));
    PredictionSetScore {
        aggregate: cceval::aggregate(&scores, similarity),
        missing,
        unknown: unknown.map(|row| row.task_id.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_predictions_count_and_unknown_ones_are_named() {
        let item = |id: &str| -> CcevalItem {
            let line = format!(r#"{{"prompt":"","groundtruth":"a;","metadata":{{"task_id":"{id}"}}}}"#);
            cases::parse_line(&line, 1).expect("an item")
        };
        let prediction = |id: &str| CcevalPrediction { task_id: id.to_owned(), pred: "a; b".to_owned() };
        let (items, predictions) = ([item("p/1"), item("p/2")], [prediction("p/1"), prediction("x")]);
        let score =
            |rules| score_predictions(Language::Java, &items, &predictions, Similarity::Difflib, rules);
        let paper = score(Rules::Paper);
        assert_eq!((paper.aggregate.em, paper.aggregate.total), (50.0, 2));
        assert_eq!((paper.missing, paper.unknown), (vec!["p/2".to_owned()], vec!["x".to_owned()]));
        assert_eq!(score(Rules::Faithful).aggregate.em, 100.0);
    }
}
