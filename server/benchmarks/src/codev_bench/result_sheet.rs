//! The tables of result files.

use std::collections::BTreeMap;

use rayon::prelude::*;
use scoring::similarity::Similarity;
use serde::Deserialize;

use super::judges::{has_right_indent, is_empty, is_on_one_line};
use super::rows::{CodevBlock, CodevFile};
use super::table::{CodevColumn, CodevGroup, CodevResult, CodevTable};
use crate::ScoringRules;
use crate::row_reader::{BenchmarkItem, check_path};
use crate::score_sheet::{RuleDifference, ScoreSheet, ScoreTable, TablePicture};

/// Number of files that the original splits a run into.
const SHARDS: u8 = 4;

/// The fields of a result row that count for the tables.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CodevPrediction {
    /// Kind of the block, such as `IF`.
    pub block_type: String,
    /// The truth.
    pub middle: String,
    /// The engine's response.
    #[serde(default)]
    pub response: Option<String>,
    /// Whether tests and judges pass.
    #[serde(default)]
    pub is_all_passed: Option<bool>,
    /// Seconds until the response.
    #[serde(default)]
    pub latency: Option<f64>,
    /// The block: `path#La-Lb`.
    #[serde(default)]
    pub block_key: Option<String>,
    /// The file before the cursor.
    #[serde(default)]
    pub prefix: Option<String>,
}

impl BenchmarkItem for CodevPrediction {
    const HAS_UNIQUE_ID: bool = false;

    fn id(&self) -> &str {
        self.block_key.as_deref().unwrap_or_default()
    }

    fn check(&self) -> Result<(), String> {
        if CodevGroup::from_block_type(&self.block_type).is_none() {
            return Err(format!("the benchmark has no block_type {:?}", self.block_type));
        }
        if self.latency.is_some_and(|latency| !latency.is_finite() || latency < 0.0) {
            return Err("the latency is not a duration".to_owned());
        }
        match &self.block_key {
            Some(key) => {
                let block = CodevBlock::parse(key)
                    .ok_or_else(|| format!("the block_key {key:?} has not the form `path#L1-L2`"))?;
                check_path(block.path)
            }
            None => Ok(()),
        }
    }
}

impl CodevPrediction {
    /// Returns the first line of the block in the original file, which the texts before the cursor and of the truth contain.
    fn block_first_line(&self) -> Option<String> {
        let block = CodevBlock::parse(self.block_key.as_deref()?)?;
        let text = [self.prefix.as_deref()?, &self.middle].concat();
        text.split('\n').nth(block.first_line - 1).map(str::to_owned)
    }
}

/// Place of a result file in a run: its scenario and its number among the files that the run is split into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodevShard {
    /// The benchmark's file.
    pub file: CodevFile,
    /// Number of the part, from 0.
    pub part: u8,
}

impl CodevShard {
    /// Finds the place in a path: one of its folders, or the file itself, begins with the mode's name, and the file may end with the
    /// number of its part (`.0` to `.3`). `None` without a mode.
    pub fn from_path(path: &str) -> Option<CodevShard> {
        let file = path.rsplit(['/', '\\']).find_map(CodevFile::from_name)?;
        let name = path.strip_suffix(".gz").unwrap_or(path);
        let part = name.rsplit_once('.').and_then(|(_, end)| end.parse().ok());
        Some(CodevShard { file, part: part.filter(|part| *part < SHARDS).unwrap_or(0) })
    }
}

/// A response with all that the tables need.
#[derive(Clone, Copy, Debug)]
struct JudgedRow {
    group: CodevGroup,
    /// By difflib and by python-Levenshtein.
    similarities: [f64; 2],
    lines: usize,
    latency: f64,
    is_passed: Option<bool>,
    is_missing: bool,
    has_right_indent: [Option<bool>; 2],
    is_on_one_line: bool,
    is_empty: [bool; 2],
}

/// Both rules, in the order of the pairs in [`JudgedRow`].
const BOTH_RULES: [ScoringRules; 2] = [ScoringRules::Paper, ScoringRules::Faithful];

impl JudgedRow {
    fn new(row: &CodevPrediction) -> Option<JudgedRow> {
        let group = CodevGroup::from_block_type(&row.block_type)?;
        let response = row.response.as_deref().unwrap_or_default();
        let first_line = row.block_first_line();
        let indent = |rules| first_line.as_ref().map(|line| has_right_indent(response, line, rules));
        let is_missing = row.response.is_none();
        let similarity =
            |variant: Similarity| if is_missing { 0.0 } else { variant.percent(response, &row.middle) };
        Some(JudgedRow {
            group,
            similarities: Similarity::ALL.map(similarity),
            lines: super::line_length(response),
            latency: row.latency.unwrap_or(0.0),
            is_passed: if is_missing { Some(false) } else { row.is_all_passed },
            is_missing,
            has_right_indent: BOTH_RULES.map(indent),
            is_on_one_line: is_on_one_line(response),
            is_empty: BOTH_RULES.map(|rules| is_empty(response, rules)),
        })
    }

    fn result(&self, variant: usize, is_passed: bool) -> CodevResult {
        CodevResult {
            group: self.group,
            is_passed,
            similarity: self.similarities[variant],
            lines: self.lines,
            latency: self.latency,
        }
    }
}

/// A column of the original's table: its files.
const SCENARIOS: [(&str, &[CodevFile]); 4] = [
    ("full_block", &[CodevFile::FullBlock]),
    ("inner_block", &[CodevFile::InnerBlock, CodevFile::InnerBlockEmpty]),
    ("incomplete_suffix", &[CodevFile::FunctionSuffixEmpty, CodevFile::FileSuffixEmpty]),
    ("rag", &[CodevFile::Rag]),
];

/// Collects the rows of the result files of one run.
#[derive(Debug, Default)]
pub struct CodevResultFiles {
    shards: BTreeMap<CodevShard, Vec<JudgedRow>>,
    sheet: ScoreSheet,
    unjudged: usize,
}

impl CodevResultFiles {
    /// Adds rows of a file, in their order; judges them on all threads.
    pub fn add(&mut self, shard: CodevShard, rows: &[CodevPrediction]) {
        let judged = self.shards.entry(shard).or_default();
        let results: Vec<Option<JudgedRow>> = rows.par_iter().map(JudgedRow::new).collect();
        for (row, result) in rows.iter().zip(results) {
            let Some(result) = result else { continue };
            self.sheet.cases += 1;
            if result.is_missing {
                self.sheet.missing.add(row.id());
            } else {
                self.sheet.predictions += 1;
            }
            self.unjudged += usize::from(result.is_passed.is_none());
            judged.push(result);
        }
    }

    /// Returns the original's tables with a column for each group of blocks.
    ///
    /// [`ScoringRules::Faithful`] takes the first rows of each part up to the scenario's number, and leaves rows without a response out.
    /// [`ScoringRules::Paper`] takes that number of rows from all parts together, and a row without a response counts as failed. See
    /// [`has_right_indent`] and [`is_empty`] for the rules of shape.
    pub fn finish(mut self, rules: ScoringRules) -> ScoreSheet {
        for (name, files) in SCENARIOS {
            let counted = self.counted(files, rules);
            if !counted.is_empty() {
                self.sheet.tables.push(table(name, &counted, rules));
            }
            let notes: Vec<String> = files.iter().filter_map(|&file| self.note_of_cap(file, rules)).collect();
            self.sheet.notes.extend(notes);
        }
        self.sheet.differences = self.differences();
        if self.unjudged > 0 {
            self.sheet.notes.push(format!(
                "{} rows have no is_all_passed: run the unit tests for a pass rate over all rows",
                self.unjudged
            ));
        }
        self.sheet
    }

    /// Returns the rows that count for a table.
    fn counted(&self, files: &[CodevFile], rules: ScoringRules) -> Vec<JudgedRow> {
        let mut counted = Vec::new();
        for &file in files {
            let mut left = file.cap();
            for (_, rows) in self.shards.iter().filter(|(shard, _)| shard.file == file) {
                let taken = &rows[..rows.len().min(left)];
                match rules {
                    ScoringRules::Paper => left -= taken.len(),
                    ScoringRules::Faithful => {}
                }
                counted.extend(taken.iter().filter(|row| rules == ScoringRules::Paper || !row.is_missing));
            }
        }
        counted
    }

    /// Returns a note on the rows of a file beyond the number that counts.
    fn note_of_cap(&self, file: CodevFile, rules: ScoringRules) -> Option<String> {
        let (cap, mode) = (file.cap(), file.mode());
        let parts = self.shards.iter().filter(|(shard, _)| shard.file == file);
        let sizes: Vec<usize> = parts.map(|(_, rows)| rows.len()).collect();
        let total: usize = sizes.iter().sum();
        let (left_out, scope) = match rules {
            ScoringRules::Paper => (total.saturating_sub(cap), "a run"),
            ScoringRules::Faithful => {
                (sizes.iter().map(|size| size.saturating_sub(cap)).sum(), "each part of a run")
            }
        };
        (left_out > 0).then(|| {
            format!("{mode}: {left_out} of {total} rows are left out, because the original counts {cap} of {scope}")
        })
    }

    fn differences(&self) -> Vec<RuleDifference> {
        let rows = || self.shards.values().flatten();
        let count = |differs: &dyn Fn(&JudgedRow) -> bool| rows().filter(|row| differs(row)).count();
        let sizes = BOTH_RULES.map(|rules| {
            let present = |files| self.counted(files, rules).iter().filter(|row| !row.is_missing).count();
            SCENARIOS.iter().map(|(_, files)| present(files)).sum::<usize>()
        });
        vec![
            RuleDifference {
                topic: "counted rows",
                paper: "the scenario's number of rows in all parts of a run together",
                faithful: "that number of rows in each of the four parts",
                affected: sizes[1].abs_diff(sizes[0]),
            },
            RuleDifference {
                topic: "missing responses",
                paper: "a row without a response counts as failed",
                faithful: "a row without a response is left out",
                affected: count(&|row| row.is_missing),
            },
            RuleDifference {
                topic: "indentation",
                paper: "white space is compared, blank lines are ignored",
                faithful: "lengths are compared (a tab is one space), and a short blank line fails",
                affected: count(&|row| row.has_right_indent[0] != row.has_right_indent[1]),
            },
            RuleDifference {
                topic: "empty responses",
                paper: "white space alone is empty",
                faithful: "white space alone is not empty",
                affected: count(&|row| row.is_empty[0] != row.is_empty[1]),
            },
        ]
    }
}

fn table(name: &str, rows: &[JudgedRow], rules: ScoringRules) -> ScoreTable {
    let rule = usize::from(rules == ScoringRules::Faithful);
    let share = |verdict: &dyn Fn(&JudgedRow) -> Option<bool>| {
        let judged = rows.iter().filter_map(|row| Some(row.result(0, verdict(row)?)));
        values(&judged.collect::<Vec<_>>(), |column| column.pass_rate)
    };
    let all: [Vec<CodevResult>; 2] =
        [0, 1].map(|variant| rows.iter().map(|row| row.result(variant, false)).collect());
    let first = &all[0];
    let columns = ["function", "branch", "loop", "exception", "statement", "average"];
    let sheet: [(&str, Vec<Option<f64>>); 9] = [
        ("pass_rate", share(&|row| row.is_passed)),
        ("edit_sim", values(first, |column| column.edit_similarity)),
        ("edit_sim_levenshtein", values(&all[1], |column| column.edit_similarity)),
        ("line_length", values(first, |column| column.line_length)),
        ("latency", values(first, |column| column.latency)),
        ("right_indent", share(&|row| row.has_right_indent[rule])),
        ("on_one_line", share(&|row| Some(row.is_on_one_line))),
        ("empty", share(&|row| Some(row.is_empty[rule]))),
        ("count", values(first, |column| column.count as f64)),
    ];
    ScoreTable {
        name: name.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: sheet.map(|(name, values)| (name.to_owned(), values)).to_vec(),
        picture: TablePicture::None,
    }
}

/// Returns a value of each group and of the average; none without any result, as in the original an empty group has 0.
fn values(results: &[CodevResult], value: impl Fn(&CodevColumn) -> f64) -> Vec<Option<f64>> {
    let table = CodevTable::new(&[(results, results.len())]);
    let is_empty = results.is_empty();
    let columns = table.groups.iter().chain([&table.average]);
    columns.map(|column| (!is_empty).then(|| value(column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: &str = "complete_current_header_empty_completion";

    fn row(response: Option<&str>, is_all_passed: Option<bool>) -> CodevPrediction {
        CodevPrediction {
            block_type: "IF".to_owned(),
            middle: String::new(),
            response: response.map(str::to_owned),
            is_all_passed,
            latency: None,
            block_key: Some("a.py#L2-L2".to_owned()),
            prefix: Some("x\n    ".to_owned()),
        }
    }

    fn value(sheet: &ScoreSheet, row: &str) -> Option<f64> {
        let (_, values) = sheet.tables[0].rows.iter().find(|(name, _)| name == row).expect("a row");
        *values.last().expect("an average")
    }

    fn shard(part: u8) -> CodevShard {
        CodevShard::from_path(&format!("results/{MODE}/model.jsonl.{part}")).expect("a mode")
    }

    #[test]
    fn modes_and_parts_are_read_from_paths() {
        let shard = |path: &str| CodevShard::from_path(path).map(|shard| (shard.file, shard.part));
        assert_eq!(shard("a/prefix_full_suffix_empty_x/m.3.gz"), Some((CodevFile::FileSuffixEmpty, 3)));
        assert_eq!(shard(&format!("{MODE}.jsonl")), Some((CodevFile::InnerBlockEmpty, 0)));
        assert_eq!(shard("a/b.jsonl"), None);
    }

    #[test]
    fn missing_and_unjudged_rows_are_counted() {
        let rows = [row(None, None), row(Some(""), Some(true)), row(Some(" "), None)];
        let sheet = |rules| {
            let mut files = CodevResultFiles::default();
            files.add(shard(0), &rows);
            files.finish(rules)
        };
        let paper = sheet(ScoringRules::Paper);
        assert_eq!((paper.cases, paper.predictions, paper.missing.count), (3, 2, 1));
        assert_eq!((value(&paper, "pass_rate"), value(&paper, "count")), (Some(50.0), Some(3.0)));
        assert_eq!(value(&paper, "empty"), Some(100.0));
        let faithful = sheet(ScoringRules::Faithful);
        assert_eq!((value(&faithful, "pass_rate"), value(&faithful, "empty")), (Some(100.0), Some(50.0)));
        let affected: Vec<usize> = faithful.differences.iter().map(|it| it.affected).collect();
        assert_eq!(affected, [0, 1, 0, 1]);
    }

    #[test]
    fn caps_apply_to_all_parts_or_to_each() {
        let rows = vec![row(Some(""), Some(true)); 80];
        let count = |rules| {
            let mut files = CodevResultFiles::default();
            files.add(shard(0), &rows);
            files.add(shard(1), &rows);
            let sheet = files.finish(rules);
            let of_caps = sheet.notes.iter().filter(|note| note.contains("60 of 160 rows are left out"));
            (value(&sheet, "count"), of_caps.count())
        };
        assert_eq!(
            (count(ScoringRules::Paper), count(ScoringRules::Faithful)),
            ((Some(100.0), 1), (Some(160.0), 0))
        );
    }
}
