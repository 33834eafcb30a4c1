//! The weights of the strategy `hybrid`.
//!
//! A question is a cursor that needs a name of another file; its candidates are what the strategy ranks there. The model is the
//! strategy's own: the probability of a candidate is the softmax of its weighted features among all. It is fitted to two kinds of
//! right answers alike, the definition that is used next and those whose names are written next, since a strategy is judged by both.
//! Features of a name that is begun stay as they are: cases are cut between names.

use std::fs;

use anyhow::{Context, Result};
use index::hybrid::FEATURES;
use xtask::process;

use crate::measure::{Mined, fit_repositories};

mod model;
mod questions;

use model::Model;
use questions::Question;

/// Where the weights stand.
const WEIGHTS_FILE: &str = "server/index/src/hybrid/weights.rs";
/// Features that cases tell nothing about, with the weights that they keep.
const FIXED: [(&str, f32); 2] = [("begun", 2.0), ("not_begun", -2.0)];
/// Repositories that are left out in turn to tell how well the weights do elsewhere.
const FOLDS: usize = 4;

/// Fits the weights, tells how well they do, and writes them into the crate.
pub(crate) fn run() -> Result<()> {
    let mut groups: Vec<Vec<Question>> = Vec::new();
    for repo in fit_repositories()? {
        let mined = Mined::new(&repo).with_context(|| format!("failed to mine {}", repo.pinned.name))?;
        let questions = questions::of(&mined);
        println!("{}: {} questions", repo.pinned.name, questions.len());
        groups.push(questions);
    }
    let all: Vec<&Question> = groups.iter().flatten().collect();
    println!("\nrank of the definition, share of questions | first | first 5 | first 10 | first 20");
    println!("as they are, on all {} | {}", all.len(), shares(&Model::current(), &all));
    let (mut asked, mut ranks) = (0, Vec::new());
    for fold in 0..FOLDS {
        let is_left_out = |place: &usize| place % FOLDS == fold;
        let part = |left_out: bool| -> Vec<&Question> {
            let groups = groups.iter().enumerate().filter(|(place, _)| is_left_out(place) == left_out);
            groups.flat_map(|(_, group)| group).collect()
        };
        let (rest, left_out) = (part(false), part(true));
        let model = Model::fit(&rest, &FIXED);
        asked += left_out.len();
        ranks.extend(left_out.iter().filter_map(|question| model.rank(question)));
    }
    println!("fitted, on repositories left out | {}", share_text(&ranks, asked));
    let model = Model::fit(&all, &FIXED);
    println!("fitted, on all | {}", shares(&model, &all));
    fs::write(WEIGHTS_FILE, render(&model)).with_context(|| format!("failed to write {WEIGHTS_FILE}"))?;
    process::run(process::cargo().args(["fmt", "--package", "index"]))?;
    println!("written to {WEIGHTS_FILE}");
    Ok(())
}

fn shares(model: &Model, questions: &[&Question]) -> String {
    let ranks: Vec<usize> = questions.iter().filter_map(|question| model.rank(question)).collect();
    share_text(&ranks, questions.len())
}

fn share_text(ranks: &[usize], questions: usize) -> String {
    let share = |limit| ranks.iter().filter(|&&rank| rank < limit).count() as f64 / questions.max(1) as f64;
    [1, 5, 10, 20].map(|limit| format!("{:.3}", share(limit))).join(" | ")
}

fn render(model: &Model) -> String {
    let rows =
        FEATURES.iter().zip(model.weights()).map(|(name, weight)| format!("    {weight:.2}, // {name}\n"));
    format!(
        "//! The weights of the features. Written by `cargo xtask fit`.\n\nuse super::features::COUNT;\n\n\
         /// In the order of [`super::FEATURES`].\npub(super) const WEIGHTS: [f32; COUNT] = [\n{}];\n",
        rows.collect::<String>()
    )
}
