//! Fits the weights of the strategy `hybrid`.
//!
//! A training question is a cursor that needs a name from another file, with the candidates that the strategy ranks there. The
//! model is the strategy's own: the probability of a candidate is the softmax of its weighted features over all candidates. It
//! is fitted to two kinds of right answers with equal weight: the definition used next, and those whose names are written next,
//! because a strategy is evaluated by both. The features of a partial name keep their weights, because cases are cut between
//! names.

use std::fs;

use anyhow::{Context, Result};
use index::hybrid::FEATURES;
use xtask::process;

use crate::measure::{MinedRepository, fit_repositories};

mod model;
mod ranking_queries;

use model::LinearModel;
use ranking_queries::RankingQuery;

/// File of the weights.
const WEIGHTS_FILE: &str = "server/index/src/hybrid/weights.rs";
/// Features without training data, with their fixed weights.
const FIXED: [(&str, f32); 2] = [("begun", 2.0), ("not_begun", -2.0)];
/// Number of folds for the cross-validation.
const FOLDS: usize = 4;

/// Fits the weights, reports their quality, and writes them into the crate.
pub(crate) fn run() -> Result<()> {
    let mut groups: Vec<Vec<RankingQuery>> = Vec::new();
    for repo in fit_repositories()? {
        let mined =
            MinedRepository::new(&repo).with_context(|| format!("failed to mine {}", repo.pinned.name))?;
        let questions = ranking_queries::ranking_queries(&mined);
        println!("{}: {} questions", repo.pinned.name, questions.len());
        groups.push(questions);
    }
    let all: Vec<&RankingQuery> = groups.iter().flatten().collect();
    println!("\nrank of the definition, share of questions | first | first 5 | first 10 | first 20");
    println!("as they are, on all {} | {}", all.len(), shares(&LinearModel::current(), &all));
    let (mut asked, mut ranks) = (0, Vec::new());
    for fold in 0..FOLDS {
        let is_left_out = |place: &usize| place % FOLDS == fold;
        let part = |left_out: bool| -> Vec<&RankingQuery> {
            let groups = groups.iter().enumerate().filter(|(place, _)| is_left_out(place) == left_out);
            groups.flat_map(|(_, group)| group).collect()
        };
        let (rest, left_out) = (part(false), part(true));
        let model = LinearModel::fit(&rest, &FIXED);
        asked += left_out.len();
        ranks.extend(left_out.iter().filter_map(|question| model.rank(question)));
    }
    println!("fitted, on repositories left out | {}", share_text(&ranks, asked));
    let model = LinearModel::fit(&all, &FIXED);
    println!("fitted, on all | {}", shares(&model, &all));
    fs::write(WEIGHTS_FILE, render(&model)).with_context(|| format!("failed to write {WEIGHTS_FILE}"))?;
    process::run(process::cargo().args(["fmt", "--package", "index"]))?;
    println!("written to {WEIGHTS_FILE}");
    Ok(())
}

fn shares(model: &LinearModel, questions: &[&RankingQuery]) -> String {
    let ranks: Vec<usize> = questions.iter().filter_map(|question| model.rank(question)).collect();
    share_text(&ranks, questions.len())
}

fn share_text(ranks: &[usize], questions: usize) -> String {
    let share = |limit| ranks.iter().filter(|&&rank| rank < limit).count() as f64 / questions.max(1) as f64;
    [1, 5, 10, 20].map(|limit| format!("{:.3}", share(limit))).join(" | ")
}

fn render(model: &LinearModel) -> String {
    let rows =
        FEATURES.iter().zip(model.weights()).map(|(name, weight)| format!("    {weight:.2}, // {name}\n"));
    format!(
        "//! The weights of the features. Written by `cargo xtask fit`.\n\nuse super::features::COUNT;\n\n\
         /// In the order of [`super::FEATURES`].\npub(super) const WEIGHTS: [f32; COUNT] = [\n{}];\n",
        rows.collect::<String>()
    )
}
