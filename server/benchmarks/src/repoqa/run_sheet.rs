//! The tables of a run's answers to imported functions.

use cases::Case;

use super::aggregate::ThresholdCurve;
use super::output_scores::{NeedleDepth, OutputScores, depth_of};
use super::output_sheet::tables;
use super::score::CommentMode;
use crate::FunctionScorer;
use crate::Rules;
use crate::run_tables::RunAnswersOf;
use crate::score_sheet::ScoreSheet;

/// Returns the tables of [`super::output_sheet()`] for the first answers of an engine. A case without an answer counts as not found.
pub(crate) fn run_sheet(cases: &[&Case], answers: &RunAnswersOf<'_>, _rules: Rules) -> ScoreSheet {
    let [compared, ignored] =
        [CommentMode::Compare, CommentMode::Ignore].map(|mode| curves(cases, answers, mode));
    let predictions = cases.iter().filter(|case| answers.first(case).is_some()).count();
    ScoreSheet {
        cases: cases.len(),
        predictions,
        tables: tables(&compared, &ignored),
        ..ScoreSheet::default()
    }
}

fn curves(cases: &[&Case], answers: &RunAnswersOf<'_>, mode: CommentMode) -> OutputScores {
    let mut scores = OutputScores::default();
    for case in cases {
        let Some((question, scorer)) = case.find_function().zip(FunctionScorer::new(case)) else { continue };
        let score = answers.first(case).and_then(|answer| scorer.find_score(answer, mode));
        let curve = ThresholdCurve::new(&score, usize::from(score.is_none()));
        for language in [case.language.as_str(), "all"] {
            scores.curves.entry(language.to_owned()).or_default().add(&curve);
        }
        let depth: Option<NeedleDepth> = depth_of(question.size as u64, question.depth);
        if let Some(depth) = depth {
            scores.depths.entry(depth).or_default().add(&curve);
        }
    }
    scores
}
