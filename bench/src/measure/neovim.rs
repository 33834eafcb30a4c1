//! Ghost text in a real Neovim: time from a key to its suggestion, with our server and with one that answers at once. The
//! difference is our latency; the rest is the plugin's pause after a key.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use xtask::{components, process};

use super::repositories::Repo;

/// The repository and the file whose lines are typed.
const REPOSITORY: &str = "rich";
const FILE: &str = "rich/console.py";

/// Keys with a suggestion per run.
const KEYS: usize = 20;

/// Maximum positions per run: the built-in engine has no suggestion at some.
const PLACES: usize = 120;

const RUNS: usize = 3;

/// The program that asks for suggestions and draws them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DrawnBy {
    /// Neovim 0.12 itself.
    Neovim,
    /// The plugin, as in older versions.
    Plugin,
}

impl DrawnBy {
    const ALL: [DrawnBy; 2] = [DrawnBy::Neovim, DrawnBy::Plugin];

    fn name(self) -> &'static str {
        match self {
            DrawnBy::Neovim => "Neovim",
            DrawnBy::Plugin => "the plugin",
        }
    }
}

/// The program that draws, and the runs of the instant server and of ours.
type Measured = (DrawnBy, Vec<NeovimRun>, Vec<NeovimRun>);

/// Milliseconds from a key to Neovim's request, to the server's answer, and to the suggestion.
struct KeyTimings {
    sent: f64,
    answered: f64,
    drawn: f64,
}

/// One run of a server.
struct NeovimRun {
    /// Sorted by the time to the suggestion.
    keys: Vec<KeyTimings>,
    /// Keys without a suggestion.
    silent: u64,
    /// Neovim's version.
    version: String,
}

/// Measures both servers and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let neovim = components::neovim::install()?;
    let repo = repos.iter().find(|repo| repo.pinned.name == REPOSITORY);
    let repo = repo.with_context(|| format!("no repository is called `{REPOSITORY}`"))?;
    let script = process::repository_root().join("bench/src/measure/neovim/instant_server.lua");
    let instant = [neovim.clone(), "-l".into(), script];
    let ghostbench = super::ghostbench()?;
    let ours = [ghostbench, "lsp".into(), "--stdio".into()];
    let mut measured = Vec::new();
    for drawn_by in DrawnBy::ALL {
        let (mut instant_runs, mut our_runs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            instant_runs.push(run_once(&neovim, &repo.root, &instant, drawn_by)?);
            our_runs.push(run_once(&neovim, &repo.root, &ours, drawn_by)?);
        }
        measured.push((drawn_by, instant_runs, our_runs));
    }
    table(&measured)
}

fn run_once(neovim: &Path, folder: &Path, server: &[PathBuf], drawn_by: DrawnBy) -> Result<NeovimRun> {
    let root = process::repository_root();
    let home = root.join("target/bench-repos/neovim-home");
    std::fs::create_dir_all(&home)?;
    let options = json!({
        "configuration": root.join("editors/neovim"),
        "server": server,
        "is_native": drawn_by == DrawnBy::Neovim,
        "keys": KEYS,
        "places": PLACES,
    });
    let mut command = Command::new(neovim);
    command.args(["--headless", "-i", "NONE", "-n", "-u"]);
    command.arg(root.join("bench/src/measure/neovim/keys.lua")).arg(FILE);
    command.current_dir(folder).env("HOME", home).env("GHOSTBENCH_BENCH", options.to_string());
    parse_run(&serde_json::from_str(&process::output(&mut command)?)?)
}

/// Parses the script's output.
fn parse_run(printed: &Value) -> Result<NeovimRun> {
    if let Some(error) = printed["error"].as_str() {
        bail!("failed to measure in Neovim: {error}");
    }
    let number =
        |key: &Value, name: &str| key[name].as_f64().with_context(|| format!("a key has no `{name}`"));
    let keys = printed["keys"].as_array().context("no keys were measured")?;
    let mut keys = keys
        .iter()
        .map(|key| {
            let (sent, answered) = (number(key, "sent")?, number(key, "answered")?);
            Ok(KeyTimings { sent, answered, drawn: number(key, "drawn")? })
        })
        .collect::<Result<Vec<KeyTimings>>>()?;
    ensure!(keys.len() == KEYS, "only {} of {KEYS} keys were answered by a suggestion", keys.len());
    keys.sort_by(|a, b| a.drawn.total_cmp(&b.drawn));
    let silent = printed["silent"].as_u64().context("no count of silent keys")?;
    Ok(NeovimRun { keys, silent, version: printed["version"].as_str().unwrap_or_default().to_owned() })
}

fn table(measured: &[Measured]) -> Result<String> {
    let version =
        measured.first().and_then(|(_, instant, _)| instant.first()).context("there are no runs")?;
    let silent: u64 = measured.iter().flat_map(|(_, _, ours)| ours).map(|run| run.silent).sum();
    let mut lines = vec![
        format!(
            "{KEYS} keys x {RUNS} runs in Neovim {}, at lines of {REPOSITORY} `{FILE}`, milliseconds. The clock starts when \
             the key enters Neovim's queue and stops when the extmark of the suggestion is set. The plugin waits 75 ms \
             before the request, whether it draws itself, as in older versions, or Neovim does. {silent} further positions without a suggestion of the \
             built-in engine are not counted.",
            version.version
        ),
        String::new(),
        "| drawn by | server | key to suggestion | by run | all keys | key to request | request to answer |"
            .to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (drawn_by, instant, ours) in measured {
        lines.push(row(*drawn_by, "answers at once", instant));
        lines.push(row(*drawn_by, "`ghostbench lsp`, built-in engine", ours));
    }
    lines.push(String::new());
    for (drawn_by, instant, ours) in measured {
        let added = median(ours, |key| key.drawn) - median(instant, |key| key.drawn);
        lines.push(format!("Added by Ghostbench, drawn by {}: {added:.1} ms.", drawn_by.name()));
    }
    Ok(lines.join("\n"))
}

fn row(drawn_by: DrawnBy, server: &str, runs: &[NeovimRun]) -> String {
    let by_run = runs.iter().map(|run| format!("{:.1}", median(std::slice::from_ref(run), |key| key.drawn)));
    let drawn = sorted(runs, |key| key.drawn);
    let ends = [drawn.first(), drawn.last()].map(|ms| ms.copied().unwrap_or_default());
    format!(
        "| {} | {server} | {:.1} | {} | {:.1}-{:.1} | {:.1} | {:.1} |",
        drawn_by.name(),
        median(runs, |key| key.drawn),
        by_run.collect::<Vec<_>>().join(", "),
        ends[0],
        ends[1],
        median(runs, |key| key.sent),
        median(runs, |key| key.answered - key.sent),
    )
}

fn median(runs: &[NeovimRun], time: impl Fn(&KeyTimings) -> f64) -> f64 {
    let times = sorted(runs, time);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn sorted(runs: &[NeovimRun], time: impl Fn(&KeyTimings) -> f64) -> Vec<f64> {
    let mut times: Vec<f64> = runs.iter().flat_map(|run| &run.keys).map(time).collect();
    times.sort_by(f64::total_cmp);
    times
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn run(drawn: &[f64]) -> NeovimRun {
        let key = |&drawn: &f64| KeyTimings { sent: 200.5, answered: drawn - 0.25, drawn };
        NeovimRun { keys: drawn.iter().map(key).collect(), silent: 2, version: "0.12.4".to_owned() }
    }

    #[test]
    fn a_row_gives_medians_and_range() {
        let runs = [run(&[201.0, 202.0, 209.5]), run(&[200.75, 201.5, 203.0])];
        expect!["| Neovim | x | 202.0 | 202.0, 201.5 | 200.8-209.5 | 200.5 | 1.2 |"].assert_eq(&row(
            DrawnBy::Neovim,
            "x",
            &runs,
        ));
    }

    #[test]
    fn too_few_answered_keys_are_an_error() {
        let printed =
            json!({"keys": [{"sent": 1.0, "answered": 2.0, "drawn": 3.0}], "silent": 0, "version": "0.12.4"});
        assert!(parse_run(&printed).is_err());
        assert!(parse_run(&json!({"error": "waited in vain"})).is_err());
    }
}
