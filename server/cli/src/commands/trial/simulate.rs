//! `ghostbench trial simulate`: types the commits of repositories and compares the recorded truths with them.

use anyhow::Context;
use report::terminal::{Style, TextTable};
use trial::{LanguageResults, RecorderSettings, Simulation, SimulationResults, WrongTruth};
use workspace::GitHistory;

use crate::args::TrialSimulateArgs;
use crate::exit::{FindingError, UsageError};
use crate::output;
use crate::progress::Progress;
use crate::steps::history_files::{Admissions, read_files};

/// Wrong truths in the output for people.
const EXAMPLES: usize = 3;
/// Columns of the table.
const COLUMNS: [&str; 7] =
    ["language", "opportunities", "with truth", "right", "wrong", "wrong provenance", "without truth"];

/// Runs the command.
pub(crate) fn run(args: &TrialSimulateArgs) -> anyhow::Result<()> {
    let mut results = SimulationResults::default();
    for path in &args.paths {
        let mut history = GitHistory::open(path)?;
        let commits = history.commits(&args.range)?;
        let mut admitted = Admissions::new(path);
        let mut simulation = Simulation::new(args.seed, RecorderSettings::default());
        let progress = Progress::new("typed", "opportunities");
        for commit in commits.iter().filter(|commit| !commit.is_merge) {
            if simulation.opportunities() >= args.opportunities {
                break;
            }
            let changes = history.changes(&[commit])?.pop().context("git reports the changes of a commit")?;
            let read = read_files(&mut history, &mut admitted, changes)?;
            simulation.develop(&commit.id, &read.files);
            progress.set(simulation.opportunities() as u64, args.opportunities as u64);
        }
        progress.finish(&format!("{} in {}", simulation.opportunities(), output::path(path)));
        results.add(simulation.results());
    }
    if results.all.opportunities == 0 {
        return Err(UsageError(format!("`{}` adds no code; name a longer range", args.range)).into());
    }
    let text = match args.json {
        true => format!("{:#}\n", serde_json::to_value(&results)?),
        false => table(&results, output::style()),
    };
    output::print(&text)?;
    match results.all.wrong + results.all.wrong_provenance {
        0 => Ok(()),
        _ => Err(FindingError("recorded truths differ from the commits").into()),
    }
}

fn table(results: &SimulationResults, style: Style) -> String {
    let languages = results.languages.iter().map(|(name, counts)| row(name, counts));
    let rows = languages.chain([row("all", &results.all)]).collect();
    let mut text = TextTable { header: &COLUMNS, words: 1, dispensable: &[], rows }.draw(style);
    let stages: Vec<String> =
        results.all.stages.iter().map(|(stage, count)| format!("{stage} {count}")).collect();
    text.push_str(&format!("\nlast stages: {}\n", stages.join(", ")));
    for wrong in results.wrong.iter().take(EXAMPLES) {
        text.push_str(&example(wrong));
    }
    text
}

fn row(name: &str, counts: &LanguageResults) -> Vec<String> {
    let share = |count: usize| match counts.with_truth {
        0 => String::new(),
        all => format!("{count} ({:.1} %)", 100.0 * count as f64 / all as f64),
    };
    let lost: Vec<String> = counts.lost.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    vec![
        name.to_owned(),
        counts.opportunities.to_string(),
        counts.with_truth.to_string(),
        share(counts.right),
        counts.wrong.to_string(),
        counts.wrong_provenance.to_string(),
        lost.join(", "),
    ]
}

fn example(wrong: &WrongTruth) -> String {
    let WrongTruth { path, before, recorded, region, expected, stage } = wrong;
    format!(
        "\n{path}, {stage}, after {before:?}\n  recorded {recorded:?}\n  of       {region:?}\n  expected {expected:?}\n"
    )
}
