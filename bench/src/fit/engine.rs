//! Fits the models of the built-in engine: ranking of the next token, choice and confidence of proposals, and continuation of a
//! block.
//!
//! ```text
//! cases ─► examples ─► ranking of tokens (of either half of the repositories, and of all)
//!   │                       │ that of the other half
//!   └──► proposals ◄────────┘ ─► choosing, trusting      cases on blank lines ─► stopping
//! ```
//!
//! Figures come from repositories that the figure's model has not seen: the token ranking is fitted on the other half, and
//! everything else once for each repository without it.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use builtin::{
    BoostedTrees, Corpus, CorpusView, Models, OpenFile, PROPOSAL_FEATURES, STOP_FEATURES, TOKEN_FEATURES,
};
use rayon::prelude::*;
use scoring::similarity::Similarity;
use syntax::SourceFile;
use xtask::process;

use crate::measure::builtin::cases::{StudyCase, StudyScenario, mine};
use crate::measure::builtin::{load, significant};
use crate::measure::{Repo, fit_repositories};
use boosting::{BoostingPlan, FeatureRows, Loss, boost};

mod boosting;

/// Cases per scenario and repository.
const CASES: usize = 100;
/// Seed of the cases.
const SEED: u64 = 11;
/// Training tokens per statement and per block.
const STATEMENT_EXAMPLES: usize = 60;
const BLOCK_EXAMPLES: usize = 24;
/// Folder of the weights.
const FOLDER: &str = "server/builtin/src/weights";

const RANKING: BoostingPlan = BoostingPlan { loss: Loss::Logistic, trees: 200, rate: 0.1 };
const CHOOSING: BoostingPlan = BoostingPlan { loss: Loss::Squared, trees: 150, rate: 0.1 };
const TRUSTING: BoostingPlan = BoostingPlan { loss: Loss::Logistic, trees: 150, rate: 0.1 };
const STOPPING: BoostingPlan = BoostingPlan { loss: Loss::Logistic, trees: 100, rate: 0.1 };

/// A training repository.
struct TrainingRepository {
    name: &'static str,
    files: Vec<SourceFile>,
    corpus: Corpus,
    cases: Vec<StudyCase>,
}

/// Fits all models, reports their quality, and writes them into the crate.
pub(crate) fn run() -> Result<()> {
    let repos = fit_repositories()?;
    let subjects = repos.iter().map(TrainingRepository::new).collect::<Result<Vec<_>>>()?;
    let examples: Vec<FeatureRows> = subjects.par_iter().map(TrainingRepository::training_rows).collect();
    println!("{} choices of tokens", examples.iter().map(FeatureRows::len).sum::<usize>());
    let halves = [0, 1].map(|half| boost(&concatenate(&examples, |place| place % 2 != half), &RANKING));
    let ranking = boost(&concatenate(&examples, |_| true), &RANKING);
    println!("tokens are ranked");

    let answered: Vec<TrainingAnswers> = subjects
        .iter()
        .zip(halves.iter().cycle())
        .map(|(subject, ranking)| {
            let answered = subject.answer(&Models { ranking: ranking.clone(), ..Models::shipped().clone() });
            println!("{}: {} proposals", subject.name, answered.choosing.len());
            answered
        })
        .collect();
    let models = |keep: &(dyn Fn(usize) -> bool + Sync), ranking: &BoostedTrees| Models {
        ranking: ranking.clone(),
        choosing: boost(&concatenate(answered.iter().map(|one| &one.choosing), keep), &CHOOSING),
        trusting: boost(&concatenate(answered.iter().map(|one| &one.trusting), keep), &TRUSTING),
        stopping: boost(&concatenate(answered.iter().map(|one| &one.stopping), keep), &STOPPING),
    };
    let mut figures = HoldoutFigures::default();
    for (place, answered) in answered.iter().enumerate() {
        let others = models(&|other| other != place, &ranking);
        figures.add(answered, &others);
    }
    let table = figures.table(&subjects);
    println!("\n{table}");
    write(&models(&|_| true, &ranking), &table)
}

/// Concatenates the rows that `keep` selects.
fn concatenate<'r>(
    all: impl IntoIterator<Item = &'r FeatureRows>,
    keep: impl Fn(usize) -> bool,
) -> FeatureRows {
    let mut kept = all.into_iter().enumerate().filter(|(place, _)| keep(*place)).map(|(_, rows)| rows);
    let mut rows = kept.next().cloned().unwrap_or_default();
    kept.for_each(|other| rows.extend(other));
    rows
}

impl TrainingRepository {
    fn new(repo: &Repo) -> Result<TrainingRepository> {
        let snapshot = load(&repo.root).with_context(|| format!("failed to read {}", repo.pinned.name))?;
        let files: Vec<SourceFile> =
            snapshot.files().iter().filter(|file| repo.pinned.measures(file.language)).cloned().collect();
        let corpus = Corpus::build(&files);
        Ok(TrainingRepository { name: repo.pinned.name, cases: mine(&files, CASES, SEED), files, corpus })
    }

    fn view(&self, case: &StudyCase) -> CorpusView<'_> {
        let file = &self.files[case.file];
        let (path, language, before) = (&*file.path, file.language, case.before(file));
        let after = &file.text[case.hole.end..];
        self.corpus.view(&OpenFile::new(path, language, &before, after))
    }

    fn truth(&self, case: &StudyCase) -> &str {
        &self.files[case.file].text[case.hole.clone()]
    }

    /// Training examples: the candidates at each token of the truths.
    fn training_rows(&self) -> FeatureRows {
        let mut rows = FeatureRows::new(TOKEN_FEATURES.len());
        for case in &self.cases {
            let most = match case.scenario {
                StudyScenario::StatementRestMidName | StudyScenario::CompleteBody => continue,
                StudyScenario::StatementRest => STATEMENT_EXAMPLES,
                _ => BLOCK_EXAMPLES,
            };
            let examples = self.view(case).training_examples(self.truth(case), most);
            for choice in examples.iter().flat_map(|example| &example.choices) {
                rows.push(&choice.features, share(choice.is_right));
            }
        }
        rows
    }

    /// Proposals at each case, and training rows for blank lines.
    fn answer(&self, models: &Models) -> TrainingAnswers {
        let answers: Vec<CaseAnswer> =
            self.cases.par_iter().map(|case| self.answer_case(case, models)).collect();
        let mut choosing = FeatureRows::new(PROPOSAL_FEATURES.len());
        let mut trusting = FeatureRows::new(PROPOSAL_FEATURES.len());
        let mut stopping = FeatureRows::new(STOP_FEATURES.len());
        for answer in &answers {
            for proposal in &answer.proposals {
                choosing.push(&proposal.features, (proposal.exact + proposal.similarity) / 2.0);
                trusting.push(&proposal.features, proposal.exact);
            }
            if let Some(features) = &answer.blank_line {
                stopping.push(features, share(answer.scenario != StudyScenario::CompleteBody));
            }
        }
        TrainingAnswers { answers, choosing, trusting, stopping }
    }

    fn answer_case(&self, case: &StudyCase, models: &Models) -> CaseAnswer {
        let (view, language, truth) = (self.view(case), self.files[case.file].language, self.truth(case));
        // After a complete body, no text is right.
        let proposed = if case.scenario == StudyScenario::CompleteBody {
            Vec::new()
        } else {
            view.training_proposals(models)
        };
        let judged = |proposed: builtin::TrainingProposal| JudgedProposal {
            exact: share(significant(language, &proposed.text) == significant(language, truth)),
            similarity: Similarity::Indel.ratio(proposed.text.trim(), truth.trim()),
            features: proposed.features,
        };
        CaseAnswer {
            scenario: case.scenario,
            proposals: proposed.into_iter().map(judged).collect(),
            blank_line: view.stop_features(),
        }
    }
}

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// A repository's answers, also as training rows.
struct TrainingAnswers {
    answers: Vec<CaseAnswer>,
    choosing: FeatureRows,
    trusting: FeatureRows,
    stopping: FeatureRows,
}

struct CaseAnswer {
    scenario: StudyScenario,
    proposals: Vec<JudgedProposal>,
    blank_line: Option<Vec<f32>>,
}

/// A proposal and its similarity to the truth, 0 to 1.
struct JudgedProposal {
    features: Vec<f32>,
    exact: f64,
    similarity: f64,
}

/// Results on the held-out repositories.
#[derive(Default)]
struct HoldoutFigures {
    /// By scenario: the ranking's first proposal, the chosen one, the best one.
    picked: Vec<(StudyScenario, [[f64; 2]; 3])>,
    /// By scenario: probability that the block continues.
    continuations: Vec<(StudyScenario, f64)>,
}

impl HoldoutFigures {
    fn add(&mut self, answered: &TrainingAnswers, models: &Models) {
        for answer in &answered.answers {
            if let Some(features) = &answer.blank_line {
                self.continuations.push((answer.scenario, models.stopping.probability(features)));
            }
            let right = |judged: &JudgedProposal| [judged.exact, judged.similarity];
            let most = |value: &dyn Fn(&JudgedProposal) -> f64| {
                let best = answer
                    .proposals
                    .iter()
                    .reduce(|best, next| if value(next) > value(best) { next } else { best });
                best.map_or([0.0; 2], right)
            };
            if answer.scenario != StudyScenario::CompleteBody {
                let first = answer.proposals.first().map_or([0.0; 2], right);
                let chosen = most(&|judged| models.choosing.score(&judged.features));
                self.picked.push((
                    answer.scenario,
                    [first, chosen, most(&|judged| judged.exact + judged.similarity)],
                ));
            }
        }
    }

    /// Renders the figures as Markdown.
    fn table(&self, subjects: &[TrainingRepository]) -> String {
        let mut out = format!(
            "{} repositories, each left out in turn; token-exact / edit similarity in percent.\n\n\
             | scenario | cases | ranked | chosen | best of all |\n|---|---|---|---|---|\n",
            subjects.len()
        );
        for scenario in
            StudyScenario::ALL.into_iter().filter(|&scenario| scenario != StudyScenario::CompleteBody)
        {
            let rows: Vec<_> = self.picked.iter().filter(|row| row.0 == scenario).map(|row| row.1).collect();
            let mean = |way: usize, metric: usize| {
                100.0 * rows.iter().map(|row| row[way][metric]).sum::<f64>() / rows.len().max(1) as f64
            };
            let cells = [0, 1, 2].map(|way| format!("{:.1} / {:.1}", mean(way, 0), mean(way, 1)));
            let (name, count) = (scenario.name(), rows.len());
            writeln!(out, "| {name} | {count} | {} |", cells.join(" | ")).expect("a string takes everything");
        }
        for lost in [0.02, 0.05, 0.1] {
            let (threshold, alone) = self.left_alone(lost);
            let percent = 100.0 * lost;
            writeln!(
                out,
                "\nBelow a continuation of {threshold:.3}, {percent:.0} % of the rests of bodies and {alone:.0} % of the complete bodies."
            )
            .expect("a string takes everything");
        }
        out
    }

    /// Returns the threshold that loses this share of the remaining bodies, and the percentage of complete bodies that it
    /// leaves unchanged.
    fn left_alone(&self, lost: f64) -> (f64, f64) {
        let of = |scenario: StudyScenario| {
            let likely = self.continuations.iter().filter(|row| row.0 == scenario).map(|row| row.1);
            let mut likely: Vec<f64> = likely.collect();
            likely.sort_by(f64::total_cmp);
            likely
        };
        let (rests, complete) = (of(StudyScenario::FunctionRest), of(StudyScenario::CompleteBody));
        let threshold = rests.get((rests.len() as f64 * lost) as usize).copied().unwrap_or_default();
        let alone = complete.partition_point(|&likely| likely < threshold);
        (threshold, 100.0 * alone as f64 / complete.len().max(1) as f64)
    }
}

/// Writes the models into the crate, with the table above them.
fn write(models: &Models, table: &str) -> Result<()> {
    let Models { ranking, choosing, trusting, stopping } = models;
    let all = [("ranking", ranking), ("choosing", choosing), ("trusting", trusting), ("stopping", stopping)];
    for (name, trees) in all {
        let path = format!("{FOLDER}/{name}.rs");
        fs::write(&path, render(trees)).with_context(|| format!("failed to write {path}"))?;
    }
    let lines: String =
        table.lines().map(|line| format!("//! {line}\n").replace("//! \n", "//!\n")).collect();
    let modules: String = ["choosing", "ranking", "stopping", "trusting"]
        .map(|name| format!("pub(crate) mod {name};\n"))
        .concat();
    let path = format!("{FOLDER}.rs");
    let text = format!(
        "//! The weights of the fitted models. Written by `cargo xtask fit engine`.\n//!\n{lines}\
         #![expect(clippy::approx_constant, reason = \"a threshold may be near anything\")]\n\n{modules}"
    );
    fs::write(&path, text).with_context(|| format!("failed to write {path}"))?;
    process::run(process::cargo().args(["fmt", "--package", "builtin"]))?;
    println!("written to {FOLDER}");
    Ok(())
}

fn render(trees: &BoostedTrees) -> String {
    let list = |numbers: &[f32]| -> String {
        numbers.iter().map(|number| format!("{number:.4}")).collect::<Vec<_>>().join(", ")
    };
    let mut out = format!(
        "//! Written by `cargo xtask fit engine`.\n\nuse crate::boosted_trees::{{BoostedTrees, DecisionTree}};\n\n\
         pub(crate) const TREES: BoostedTrees = BoostedTrees::from_static({:?}, &ALL);\n\n\
         #[rustfmt::skip]\nstatic ALL: [DecisionTree; {}] = [\n",
        trees.base(),
        trees.trees().len(),
    );
    for tree in trees.trees() {
        let splits = tree.splits.map(|(feature, threshold)| match threshold.is_finite() {
            true => format!("({feature}, {threshold:?})"),
            false => format!("({feature}, f32::INFINITY)"),
        });
        let (splits, leaves) = (splits.join(", "), list(&tree.leaves));
        writeln!(out, "    DecisionTree {{ splits: [{splits}], leaves: [{leaves}] }},")
            .expect("a string takes everything");
    }
    out + "];\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_weights_are_written_as_they_are() {
        let Models { ranking, choosing, trusting, stopping } = Models::shipped();
        for (trees, file) in [
            (ranking, include_str!("../../../server/builtin/src/weights/ranking.rs")),
            (choosing, include_str!("../../../server/builtin/src/weights/choosing.rs")),
            (trusting, include_str!("../../../server/builtin/src/weights/trusting.rs")),
            (stopping, include_str!("../../../server/builtin/src/weights/stopping.rs")),
        ] {
            assert!(render(trees) == file, "the file beginning with {:?} differs", &file[..200]);
        }
    }
}
