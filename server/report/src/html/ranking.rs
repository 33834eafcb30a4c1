//! The verdict of a section: the order of the engines in groups, each engine compared with the next one, and all pairs.

use scoring::Verdict;
use scoring::run_summary::ReportSection;
use scoring::verdict::{Claim, PairVerdict, Quality, Standing};
use serde::Serialize;

use crate::format::{self, Alphabet};
use crate::verdict_text;

/// With fewer engines, the table of neighbours shows all pairs.
const MATRIX_ENGINES: usize = 3;

#[derive(Serialize)]
pub(super) struct Ranking {
    metric: &'static str,
    /// Time within which an answer counts.
    deadline: Option<String>,
    lower_is_better: bool,
    /// Cases of the qualities.
    basis: String,
    /// How long the runs waited for answers.
    time_limits: Option<String>,
    /// Tells in how many of them silence is right.
    without_code: Option<String>,
    groups: Vec<Vec<usize>>,
    unranked: Vec<usize>,
    /// The engine that all others are compared with, if there is one; otherwise each is compared with the next one.
    baseline: Option<usize>,
    rows: Vec<RankRow>,
    copies: Vec<PairCell>,
    /// All pairs: one row and one column per engine, in the order of the ranking.
    matrix: Vec<MatrixRow>,
}

#[derive(Serialize)]
struct RankRow {
    engine: usize,
    /// Its rank, marked if it shares it: engines of a group have one rank.
    rank: String,
    rank_number: usize,
    quality: String,
    counts: String,
    value: Option<f64>,
    pair: Option<PairCell>,
}

#[derive(Serialize)]
struct MatrixRow {
    engine: usize,
    cells: Vec<Option<PairCell>>,
}

/// One engine compared with another.
#[derive(Serialize)]
struct PairCell {
    engine: usize,
    baseline: usize,
    /// In points.
    difference: String,
    interval: Option<String>,
    p: Option<String>,
    better: usize,
    worse: usize,
    /// Marked if there are cases from another tree than the workspace.
    ties: String,
    verdict: String,
    /// `better`, `worse` or `open`, for its colour.
    class: &'static str,
    /// Links to the cases in which the engine is better, and worse.
    better_link: String,
    worse_link: String,
    /// How well the cases resolve the pair.
    sample_size: Option<String>,
    /// Values to sort by.
    value: Option<f64>,
    p_value: Option<f64>,
}

/// Returns the engines of the section, the best first, each followed by the same engine without near-copies.
pub(super) fn order(section: &ReportSection, copy_of: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let Verdict { standings, unranked, .. } = &section.verdict;
    let lines = || section.overall.lines.iter().map(|line| line.engine);
    let ranked = standings.iter().map(|standing| standing.engine).chain(unranked.iter().copied());
    let mut order: Vec<usize> = Vec::new();
    for engine in ranked.chain(lines().filter(|&engine| copy_of(engine).is_none())).chain(lines()) {
        if !order.contains(&engine) {
            order.push(engine);
            order.extend(lines().filter(|&copy| copy_of(copy) == Some(engine)));
        }
    }
    order
}

/// Returns the view of a verdict; `None` if there is nothing to compare. `cases_link` selects the verdict's cases.
pub(super) fn ranking(
    verdict: &Verdict,
    cases_link: &str,
    name: impl Fn(usize) -> String,
) -> Option<Ranking> {
    if verdict.standings.len() + verdict.unranked.len() < 2 && verdict.copies.is_empty() {
        return None;
    }
    let cell = |pair: &PairVerdict| pair_cell(pair, cases_link);
    let spec = verdict.metric.spec();
    Some(Ranking {
        metric: spec.label,
        deadline: verdict.deadline.map(format::duration),
        lower_is_better: spec.direction == cases::Direction::Lower,
        basis: basis(verdict),
        time_limits: verdict_text::time_limits(verdict, name).map(|limits| format::escape_invisible(&limits)),
        without_code: verdict_text::without_code(verdict).filter(|_| verdict.is_on_shared_cases),
        groups: verdict.groups.clone(),
        unranked: verdict.unranked.clone(),
        baseline: verdict.baseline,
        rows: rank_rows(verdict, cases_link),
        copies: verdict.copies.iter().map(cell).collect(),
        matrix: pair_matrix(verdict, cases_link),
    })
}

/// Describes the cases of the standings.
pub(super) fn basis(verdict: &Verdict) -> String {
    let cases = format::count_of(verdict.cases, "case");
    let files = format::count_of(verdict.files, "file");
    match verdict.is_on_shared_cases {
        true => format!("on {cases} from {files} that all engines answered"),
        false => format!("on the cases of each engine, because all of them answered only {cases}"),
    }
}

fn rank_rows(verdict: &Verdict, cases_link: &str) -> Vec<RankRow> {
    let ranks = verdict.ranks();
    let next = |index: usize| verdict.standings.get(index + 1).map(|standing| standing.engine);
    let row = |(index, standing): (usize, &Standing)| {
        let rank = ranks[index];
        let is_shared = ranks.iter().filter(|other| **other == rank).count() > 1;
        let other = verdict.baseline.or_else(|| next(index));
        let pair = other.and_then(|other| verdict.pair(standing.engine, other));
        RankRow {
            engine: standing.engine,
            rank: format!("{rank}{}", if is_shared { "=" } else { "" }),
            rank_number: rank,
            quality: verdict_text::quality(&standing.quality, Alphabet::Unicode),
            counts: counts(&standing.quality),
            value: standing.quality.value,
            pair: pair.map(|pair| pair_cell(pair, cases_link)),
        }
    };
    verdict.standings.iter().enumerate().map(row).collect()
}

fn pair_matrix(verdict: &Verdict, cases_link: &str) -> Vec<MatrixRow> {
    let engines = || verdict.standings.iter().map(|standing| standing.engine);
    let cell = |one, other| {
        let pair = verdict.pairs.iter().find(|pair| (pair.engine, pair.baseline) == (one, other))?;
        Some(pair_cell(pair, cases_link))
    };
    let row = |one| MatrixRow { engine: one, cells: engines().map(|other| cell(one, other)).collect() };
    if engines().count() < MATRIX_ENGINES { Vec::new() } else { engines().map(row).collect() }
}

fn pair_cell(pair: &PairVerdict, cases_link: &str) -> PairCell {
    let difference = &pair.difference;
    let link = |relation| {
        let (engine, baseline) = (pair.engine, pair.baseline);
        format!("{cases_link}&engine={engine}&other={baseline}&pair={relation}&sort=gap")
    };
    PairCell {
        engine: pair.engine,
        baseline: pair.baseline,
        difference: difference.value.map_or_else(|| "–".to_owned(), format::signed_percent),
        interval: difference.interval.map(format::signed_interval),
        p: verdict_text::corrected_p(pair),
        better: difference.better,
        worse: difference.worse,
        ties: format::cases(pair.ties, difference.other_tree > 0, Alphabet::Unicode),
        verdict: verdict_text::conclusion(pair),
        class: class(pair.claim),
        better_link: link("better"),
        worse_link: link("worse"),
        sample_size: verdict_text::sample_size_text(pair),
        value: difference.value,
        p_value: pair.test.map(|test| test.corrected_p),
    }
}

fn class(claim: Claim) -> &'static str {
    match claim {
        Claim::Better => "better",
        Claim::Worse => "worse",
        Claim::Undecided | Claim::TooFewCases | Claim::TooFewFiles => "open",
    }
}

fn counts(quality: &Quality) -> String {
    format!("{}/{}", format::one_decimal(quality.num), format::one_decimal(quality.den))
}
