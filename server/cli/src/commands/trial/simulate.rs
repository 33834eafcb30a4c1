//! `ghostbench trial simulate`: types the commits of repositories into a language server and compares the recorded truths with them.

use std::env;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use cases::{Bundle, Opportunity, Provenance};
use report::terminal::{Style, TextTable};
use simulation::{
    EngineScript, LanguageResults, ProvenanceDifference, ServerResources, Simulation, SimulationResults,
    SimulationSettings, StageCounts, WrongTruth, answer_requests,
};
use workspace::GitHistory;

use super::export::write;
use crate::args::TrialSimulateArgs;
use crate::exit::{FindingError, UsageError};
use crate::output;
use crate::progress::Progress;
use crate::steps::history_files::{Admissions, read_files};

/// Wrong truths in the output for people.
const EXAMPLES: usize = 3;
/// Columns of the table.
const COLUMNS: [&str; 8] =
    ["language", "opportunities", "with truth", "right", "wrong", "wrong provenance", "silent", "lost"];

/// Runs the command.
pub(crate) fn run(args: &TrialSimulateArgs) -> anyhow::Result<()> {
    if let Some(file) = &args.answer_with {
        let delay = Duration::from_millis(args.answer_after_ms);
        let script = EngineScript { file: file.clone(), delay };
        return Ok(answer_requests(&script, io::stdin().lock(), io::stdout().lock())?);
    }
    let mut results = SimulationResults::default();
    let mut rows = Vec::new();
    for path in &args.paths {
        let (found, recorded) = simulate(args, path)?;
        results.add(found);
        rows.extend(recorded);
    }
    if results.all.opportunities == 0 {
        return Err(UsageError(format!("`{}` adds no code; name a longer range", args.range)).into());
    }
    if let Some(path) = &args.out {
        write(path, &Bundle::new(rows, Vec::new(), Vec::new()).print())?;
    }
    let text = match args.json {
        true => format!("{:#}\n", serde_json::to_value(&results)?),
        false => table(&results, output::style()),
    };
    output::print(&text)?;
    match results.all.wrong + results.all.wrong_provenance + results.all.silent + results.unknown {
        0 => Ok(()),
        _ => Err(FindingError("recorded truths differ from the commits").into()),
    }
}

/// Types the commits of one repository.
fn simulate(args: &TrialSimulateArgs, path: &Path) -> anyhow::Result<(SimulationResults, Vec<Opportunity>)> {
    let mut history = GitHistory::open(path)?;
    let commits = history.commits(&args.range)?;
    let mut admitted = Admissions::new(path);
    let settings = SimulationSettings {
        program: env::current_exe().context("failed to find this program")?,
        seed: args.seed,
        is_real_time: args.real_time,
        kills: args.kills,
        max_hours: args.hours,
    };
    let mut simulation = Simulation::start(&settings)?;
    let progress = Progress::new("typed", "opportunities");
    let mut opportunities = 0;
    for commit in commits.iter().filter(|commit| !commit.is_merge) {
        if opportunities >= args.opportunities || simulation.is_over() {
            break;
        }
        let changes = history.changes(&[commit])?.pop().context("git reports the changes of a commit")?;
        let read = read_files(&mut history, &mut admitted, changes)?;
        simulation.develop(&commit.id, &read.files)?;
        opportunities = simulation.opportunities()?;
        progress.set(opportunities, args.opportunities);
    }
    progress.finish(&format!("{opportunities} in {}", output::path(path)));
    Ok(simulation.finish()?)
}

fn table(results: &SimulationResults, style: Style) -> String {
    let languages = results.languages.iter().map(|(name, counts)| row(name, counts));
    let rows = languages.chain([row("all", &results.all)]).collect();
    let mut text = TextTable { header: &COLUMNS, words: 1, dispensable: &[], rows }.draw(style);
    let stages: Vec<String> = results
        .all
        .stages
        .iter()
        .map(|(stage, StageCounts { truths, right })| format!("{stage} {right} of {truths}"))
        .collect();
    let answers: Vec<String> =
        results.answers.iter().map(|(answer, count)| format!("{answer} {count}")).collect();
    let server = &results.server;
    text.push_str(&format!("\nright by stage: {}\nanswers: {}\n", stages.join(", "), answers.join(", ")));
    text.push_str(&format!("{:.2} hours of typing; server killed: {}\n", server.hours, server.kills));
    if let Some([first, last]) = server.resources {
        text.push_str(&format!("the server held {}\nat the end {}\n", resources(first), resources(last)));
    }
    if results.unknown > 0 {
        text.push_str(&format!("rows where nothing was requested: {}\n", results.unknown));
    }
    for wrong in results.wrong.iter().take(EXAMPLES).chain(results.silent.iter().take(EXAMPLES)) {
        text.push_str(&example(wrong));
    }
    text
}

fn resources(held: ServerResources) -> String {
    let ServerResources { resident_bytes, new_server_bytes, threads, open_files } = held;
    let [resident, new] = [resident_bytes, new_server_bytes].map(|bytes| bytes as f64 / 1e6);
    format!("{resident:.1} MB (a new one {new:.1} MB), {threads} threads, {open_files} open files")
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
        counts.silent.to_string(),
        lost.join(", "),
    ]
}

fn example(wrong: &WrongTruth) -> String {
    let WrongTruth { path, before, recorded, region, expected, stage, provenance } = wrong;
    let mut text = format!(
        "\n{path}, {stage}, after {before:?}\n  recorded {recorded:?}\n  of       {region:?}\n  expected {expected:?}\n"
    );
    let name = |provenance: Option<Provenance>| provenance.map_or("unknown", Provenance::name);
    for ProvenanceDifference { text: part, recorded, written, .. } in provenance {
        let (recorded, written) = (name(*recorded), name(*written));
        text.push_str(&format!("  {part:?} is recorded as {recorded}, and was {written}\n"));
    }
    text
}
