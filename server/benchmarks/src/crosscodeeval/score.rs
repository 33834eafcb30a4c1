//! The results of files of predictions.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use scoring::cceval::{self, AggregateScore, CcevalScore};
use scoring::similarity::Similarity;
use syntax::Language;

use super::rows::{CcevalItem, CcevalPrediction};
use crate::score_sheet::{RuleDifference, ScoreSheet, ScoreTable, TablePicture};
use crate::{BrokenRow, ImportedRow, ScoringRules};

/// Prefix of the original's task ids, before the language.
const ID_PREFIX: &str = "project_cc_";

impl CcevalItem {
    /// Returns the language that the item's id or the ending of its file names.
    pub fn language(&self) -> Option<Language> {
        let named = self.metadata.task_id.strip_prefix(ID_PREFIX).and_then(|rest| rest.split('/').next());
        let by_id = named.and_then(Language::from_name);
        by_id.or_else(|| Language::from_path(self.metadata.file.as_deref()?))
    }
}

/// Scores the items of files with their predictions, a few items at a time.
#[derive(Debug)]
pub struct PredictionScorer {
    predictions: HashMap<String, String>,
    language: Option<Language>,
    rules: ScoringRules,
    seen: HashSet<String>,
    scores: BTreeMap<&'static str, Vec<CcevalScore>>,
    sheet: ScoreSheet,
}

impl PredictionScorer {
    /// Creates a scorer; `language` is that of all items, if their ids and files name none.
    ///
    /// With [`ScoringRules::Paper`] an item without a prediction counts as an empty one. The original ends with an error then;
    /// [`ScoringRules::Faithful`] leaves such items out.
    pub fn new(
        predictions: impl IntoIterator<Item = CcevalPrediction>,
        language: Option<Language>,
        rules: ScoringRules,
    ) -> PredictionScorer {
        let mut sheet = ScoreSheet::default();
        let mut by_id = HashMap::new();
        for row in predictions {
            match by_id.entry(row.task_id) {
                Entry::Occupied(known) => sheet.repeated.add(known.key()),
                Entry::Vacant(place) => {
                    place.insert(row.pred);
                }
            }
        }
        PredictionScorer {
            predictions: by_id,
            language,
            rules,
            seen: HashSet::new(),
            scores: BTreeMap::new(),
            sheet,
        }
    }

    /// Scores some items, on all threads, and returns those that cannot be scored.
    pub fn add(&mut self, items: Vec<ImportedRow<CcevalItem>>) -> Vec<BrokenRow> {
        let mut broken = Vec::new();
        let mut known = Vec::new();
        for ImportedRow { line, item, .. } in items {
            let Some(language) = self.language.or_else(|| item.language()) else {
                let reason = format!(
                    "the language of `{}` is unknown; name it with --language",
                    item.metadata.task_id
                );
                broken.push(BrokenRow { line, reason });
                continue;
            };
            if !self.seen.insert(item.metadata.task_id.clone()) {
                let reason = format!("the id `{}` is also in another file", item.metadata.task_id);
                broken.push(BrokenRow { line, reason });
                continue;
            }
            known.push((language, item));
        }
        let scored: Vec<_> = known.par_iter().map(|(language, item)| self.score(*language, item)).collect();
        for ((language, item), (is_predicted, score)) in known.iter().zip(scored) {
            self.sheet.cases += 1;
            if is_predicted {
                self.sheet.predictions += 1;
            } else {
                self.sheet.missing.add(&item.metadata.task_id);
            }
            if let Some(score) = score {
                self.scores.entry(language.name()).or_default().push(score);
            }
        }
        broken
    }

    /// Returns whether the item has a prediction, and its score; `None` if it is left out.
    fn score(&self, language: Language, item: &CcevalItem) -> (bool, Option<CcevalScore>) {
        let prediction = self.predictions.get(&item.metadata.task_id).map(String::as_str);
        let scored = match self.rules {
            ScoringRules::Paper => Some(prediction.unwrap_or_default()),
            ScoringRules::Faithful => prediction,
        };
        let score = scored.map(|text| cceval::score(language, &item.prompt, text, &item.groundtruth));
        (prediction.is_some(), score)
    }

    /// Returns the original's results by language, and of all languages if there are several.
    pub fn finish(mut self) -> ScoreSheet {
        let mut unknown: Vec<&String> =
            self.predictions.keys().filter(|id| !self.seen.contains(*id)).collect();
        unknown.sort_unstable();
        unknown.into_iter().for_each(|id| self.sheet.unknown.add(id));
        let mut rows: Vec<_> =
            self.scores.iter().map(|(name, scores)| ((*name).to_owned(), values(scores))).collect();
        if rows.len() > 1 {
            let all: Vec<CcevalScore> = self.scores.into_values().flatten().collect();
            rows.push(("all".to_owned(), values(&all)));
        }
        let columns = COLUMNS.map(str::to_owned).to_vec();
        self.sheet.tables.push(ScoreTable {
            name: "results".to_owned(),
            columns,
            rows,
            picture: TablePicture::None,
        });
        self.sheet.differences.push(RuleDifference {
            topic: "missing predictions",
            paper: "a case without a prediction counts as an empty one",
            faithful: "a case without a prediction is left out (the original's program stops)",
            affected: self.sheet.missing.count,
        });
        self.sheet
    }
}

/// The original's results; its edit similarity is that of the packages that it lists, the second one with python-Levenshtein.
const COLUMNS: [&str; 8] =
    ["em", "es", "es_levenshtein", "id_em", "id_precision", "id_recall", "id_f1", "total"];

fn values(scores: &[CcevalScore]) -> Vec<Option<f64>> {
    let score = cceval::aggregate(scores, Similarity::Difflib);
    let indel = cceval::aggregate(scores, Similarity::Indel);
    let AggregateScore { em, es, id_em, id_precision, id_recall, id_f1, total } = score;
    [em, es, indel.es, id_em, id_precision, id_recall, id_f1, total as f64].map(Some).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str) -> ImportedRow<CcevalItem> {
        let line = format!(r#"{{"prompt":"","groundtruth":"a;","metadata":{{"task_id":"{id}"}}}}"#);
        ImportedRow { line: 7, item: cases::parse_line(&line, 1).expect("an item"), text: line }
    }

    fn prediction(id: &str) -> CcevalPrediction {
        CcevalPrediction { task_id: id.to_owned(), pred: "a; b".to_owned() }
    }

    #[test]
    fn missing_predictions_count_and_unknown_ones_are_named() {
        let sheet = |rules| {
            let predictions = [prediction("project_cc_java/1"), prediction("x"), prediction("x")];
            let mut scorer = PredictionScorer::new(predictions, None, rules);
            let broken = scorer.add(vec![item("project_cc_java/1"), item("project_cc_java/2")]);
            assert_eq!(broken, []);
            scorer.finish()
        };
        let paper = sheet(ScoringRules::Paper);
        assert_eq!(paper.tables[0].rows[0].1[0], Some(50.0));
        assert_eq!((paper.cases, paper.predictions), (2, 1));
        assert_eq!(paper.missing.first, ["project_cc_java/2"]);
        assert_eq!((paper.unknown.first, paper.repeated.count), (vec!["x".to_owned()], 1));
        assert_eq!(sheet(ScoringRules::Faithful).tables[0].rows[0].1[0], Some(100.0));
    }

    #[test]
    fn items_of_unknown_languages_and_repeated_ones_are_set_apart() {
        let mut scorer = PredictionScorer::new([], None, ScoringRules::Paper);
        let broken = scorer.add(vec![item("p/1"), item("project_cc_csharp/1"), item("project_cc_csharp/1")]);
        let reasons: Vec<_> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(
            reasons,
            [
                "line 7: the language of `p/1` is unknown; name it with --language",
                "line 7: the id `project_cc_csharp/1` is also in another file",
            ]
        );
        assert_eq!(scorer.finish().cases, 1);
    }
}
