//! The tables of an output file.

use std::collections::BTreeMap;

use super::aggregate::{THRESHOLDS, ThresholdCurve};
use super::output_scores::{NeedleDepth, RepoqaTask, score_outputs};
use super::rows::{RepoqaDataset, RepoqaOutput};
use crate::ScoringRules;
use crate::score_sheet::{CountedIds, RuleDifference, ScoreSheet, ScoreTable, TablePicture};

/// Index of the published threshold, 0.8.
const PUBLISHED: usize = 8;

/// Returns pass@1 at each threshold by language, for both comment modes, and pass@1 at the published threshold by the size of the
/// context and the tenth of it with the function.
pub fn output_sheet(dataset: &RepoqaDataset, outputs: &[RepoqaOutput], rules: ScoringRules) -> ScoreSheet {
    let scores = score_outputs(dataset, outputs, rules);
    let mut sheet = ScoreSheet {
        cases: dataset.repositories().flatten().map(|(_, repository)| repository.needles.len()).sum(),
        missing: counted(&scores.missing),
        unknown: counted(&scores.unknown),
        repeated: counted(&scores.repeated),
        ..ScoreSheet::default()
    };
    sheet.predictions = outputs.len() - sheet.unknown.count - sheet.repeated.count;
    let rows = |mode: usize| -> CurveRows {
        scores.curves.iter().map(|(name, curves)| (name.clone(), curves[mode])).collect()
    };
    sheet.tables = tables([rows(0), rows(1)], &scores.depths);
    sheet.differences = differences(sheet.missing.count, scores.differently_read);
    sheet
}

/// Names with their results, in the order of a table.
pub(super) type CurveRows = Vec<(String, ThresholdCurve)>;

/// Returns where the original's program differs from its description, with the numbers of functions and answers that this affects.
pub(super) fn differences(missing: usize, differently_read: usize) -> Vec<RuleDifference> {
    vec![
        RuleDifference {
            topic: "missing outputs",
            paper: "a function without an output counts as not found",
            faithful: "a function without an output is left out",
            affected: missing,
        },
        RuleDifference {
            topic: "code in an answer",
            paper: "fenced blocks by Markdown's rules",
            faithful: "fences of three backticks with at most one word after them only",
            affected: differently_read,
        },
    ]
}

/// Returns the tables of the results with comments and without them, and by the place of the function.
pub(super) fn tables(
    [compared, ignored]: [CurveRows; 2],
    by_depth: &BTreeMap<NeedleDepth, ThresholdCurve>,
) -> Vec<ScoreTable> {
    let mut tables = vec![curves("pass@1", compared), curves("pass@1, comments ignored", ignored)];
    if !by_depth.is_empty() {
        tables.push(depths(by_depth));
    }
    tables
}

fn counted(tasks: &[RepoqaTask]) -> CountedIds {
    let mut ids = CountedIds::default();
    tasks.iter().for_each(|(language, repo, name)| ids.add(&format!("{language}::{repo}::{name}")));
    ids
}

fn curves(name: &str, rows: CurveRows) -> ScoreTable {
    let columns = THRESHOLDS.iter().map(|threshold| format!("{threshold:.1}"));
    let row = |(name, curve): (String, ThresholdCurve)| {
        let shares = curve.pass_at_1().into_iter().chain([curve.total as f64]);
        (name, shares.map(Some).collect())
    };
    ScoreTable {
        name: name.to_owned(),
        columns: columns.chain(["total".to_owned()]).collect(),
        rows: rows.into_iter().map(row).collect(),
        picture: TablePicture::Curves,
    }
}

fn depths(by_depth: &BTreeMap<NeedleDepth, ThresholdCurve>) -> ScoreTable {
    let mut sizes: Vec<u64> = by_depth.keys().map(|(tokens, _)| *tokens).collect();
    sizes.dedup();
    let share = |tokens, tenth| by_depth.get(&(tokens, tenth)).map(|curve| curve.pass_at_1()[PUBLISHED]);
    let row = |tokens: u64| (format!("{tokens} tokens"), (0..10).map(|tenth| share(tokens, tenth)).collect());
    ScoreTable {
        name: "pass@1 at 0.8 by size of the context and depth of the function".to_owned(),
        columns: (0..10).map(|tenth| format!("{}%", tenth * 10)).collect(),
        rows: sizes.into_iter().map(row).collect(),
        picture: TablePicture::HeatMap,
    }
}
