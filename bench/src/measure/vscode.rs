//! Ghost text in a real VS Code: time from a key to its suggestion, with our server and with one that answers at once. The
//! difference is our latency; the rest is VS Code's own delay.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use ::tests::{Project, VsCode, WindowOptions, binary, component};
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use xtask::components::code_server;
use xtask::{extension, process};

use super::figures::{self, FigureRow, SortedTimes, TimingTarget};
use super::repositories::Repo;

/// The repository and the file whose lines are typed.
const REPOSITORY: &str = "rich";
const FILE: &str = "rich/console.py";

/// Keys with a suggestion per run.
const KEYS: usize = 20;
/// Maximum keys per run: the built-in engine has no suggestion at some positions.
const MAX_KEYS: usize = 150;
/// Warm-up keys, while a new window is still busy.
const WARM_UP: usize = 20;

const RUNS: usize = 3;

/// Minimum length of a line in characters without indentation.
const MIN_LINE: usize = 24;
/// Characters of a line before the key.
const TYPED_CHARACTERS: usize = 6;

/// Timeout of a suggestion: several times the usual time.
const KEY_TIMEOUT: Duration = Duration::from_millis(600);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum additional time of our suggestions compared to instant ones, in milliseconds: the median.
const MORE_MS: f64 = 15.0;

/// Maximum time from a key to our suggestion, in milliseconds: the 95th percentile.
const KEY_MS: f64 = 150.0;

/// Maximum time in milliseconds in which VS Code loads and activates the extension: the median.
const ACTIVATION_MS: f64 = 100.0;

/// The text of VS Code's list of running extensions with the time of our activation: `Activation: 12ms`.
const ACTIVATION: &str = "[...document.querySelectorAll('.runtime-extensions-editor .monaco-list-row')]\
    .find((row) => row.textContent.includes('Ghostbench'))?.querySelector('.activation-time')?.textContent";

/// Suggestions of one server.
#[derive(Default)]
struct GhostTextTimings {
    times: Vec<Duration>,
    /// Of the extension, in each window.
    activations: Vec<Duration>,
    /// Keys without a suggestion.
    silent: usize,
}

/// Environment variable with the measured program, for [`tests::binary`].
const BINARY: &str = "GHOSTBENCH_BIN";

/// Whether the environment contains the paths that the driver needs.
pub(crate) fn is_prepared() -> bool {
    [code_server::VARIABLE, BINARY].into_iter().all(|variable| env::var_os(variable).is_some())
}

/// Prepares everything and measures in a child process with the required environment.
pub(crate) fn prepare_and_measure() -> Result<()> {
    let (code_server, ghostbench) = (code_server::install()?, super::ghostbench()?);
    extension::build()?;
    let mut again = Command::new(env::current_exe()?);
    again.args(["bench", "vscode"]).env(code_server::VARIABLE, code_server).env(BINARY, ghostbench);
    process::run(&mut again)
}

/// Measures both servers and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let repo = repos.iter().find(|repo| repo.pinned.name == REPOSITORY);
    let repo = repo.with_context(|| format!("no repository is called `{REPOSITORY}`"))?;
    let ghostbench = binary();
    let (mut instant, mut ours) = (GhostTextTimings::default(), GhostTextTimings::default());
    for _ in 0..RUNS {
        instant.add(repo, instant_server)?;
        ours.add(repo, |_| Ok(ghostbench.clone()))?;
    }
    Ok(table(instant, ours))
}

impl GhostTextTimings {
    /// Types into a separate window with this server.
    fn add(&mut self, repo: &Repo, server: impl Fn(&Project) -> Result<PathBuf>) -> Result<()> {
        let project = Project::new("");
        copy(&repo.root, &project.root())?;
        let server = server(&project)?;
        let opening = WindowOptions { settings: json!({}), server: Some(&server), is_trusted: true };
        let editor = VsCode::start(&project, FILE, opening).context("there is no VS Code")?;
        editor.wait_until("Eyes.isServed()");
        let places = places(&fs::read_to_string(project.root().join(FILE))?);
        let wanted = self.times.len() + KEYS;
        // From the end upwards, so that the remaining positions stay valid.
        for (number, (line, column, key)) in places.into_iter().rev().take(MAX_KEYS).enumerate() {
            editor.go_to(line, column);
            editor.press("Shift+End");
            editor.press("Delete");
            editor.press("Escape");
            match time(&editor, &key) {
                _ if number < WARM_UP => {}
                Some(time) => self.times.push(time),
                None => self.silent += 1,
            }
            editor.press("Escape");
            editor.press("Control+z");
            editor.press("Control+z");
            if self.times.len() == wanted {
                self.activations.push(activation(&editor)?);
                return Ok(());
            }
        }
        Err(anyhow!("fewer than {KEYS} keys were answered by a suggestion"))
    }
}

/// Returns the time of the extension's activation, as VS Code shows it.
fn activation(editor: &VsCode) -> Result<Duration> {
    editor.run("Developer: Show Running Extensions");
    editor.wait_until(&format!("{ACTIVATION} !== undefined"));
    let shown = editor.evaluate(ACTIVATION);
    let text = shown.as_str().unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let ms = digits.parse().with_context(|| format!("`{text}` has no time"))?;
    Ok(Duration::from_millis(ms))
}

/// Returns the time from a key to its suggestion; `None` if there was none.
fn time(editor: &VsCode, key: &str) -> Option<Duration> {
    editor.type_text(key);
    let start = Instant::now();
    while start.elapsed() < KEY_TIMEOUT {
        if let Some(ms) = editor.evaluate("Eyes.delay()").as_f64() {
            return Some(Duration::from_secs_f64(ms / 1e3));
        }
        thread::sleep(POLL_INTERVAL);
    }
    None
}

/// Lines, columns and the typed text: a character in the middle of a line, which replaces the rest of it. Lines and columns
/// count from 1.
fn places(text: &str) -> Vec<(usize, usize, String)> {
    let place = |(number, line): (usize, &str)| {
        let code = line.trim_start();
        let indentation = line.chars().count() - code.chars().count();
        let key = code.chars().nth(TYPED_CHARACTERS).filter(char::is_ascii_alphanumeric)?;
        let is_long = code.chars().count() >= MIN_LINE && !code.starts_with(['#', '"']);
        is_long.then(|| (number + 1, indentation + TYPED_CHARACTERS + 1, key.to_string()))
    };
    text.lines().enumerate().filter_map(place).collect()
}

/// Creates the program of the instant server, which runs the script.
fn instant_server(project: &Project) -> Result<PathBuf> {
    let node = component("node").context("Node is not installed")?;
    let script = process::repository_root().join("bench/src/measure/vscode/instant_server.mjs");
    let program = project.sibling_path("instant-server");
    fs::write(&program, format!("#!/bin/sh\nexec '{}' '{}'\n", node.display(), script.display()))?;
    let status = Command::new("chmod").arg("+x").arg(&program).status()?;
    ensure!(status.success(), "a script of ours cannot be made to run");
    Ok(program)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn table(instant: GhostTextTimings, ours: GhostTextTimings) -> String {
    let silent = ours.silent;
    let activations = SortedTimes::new([instant.activations, ours.activations].concat());
    let (instant, ours) = (SortedTimes::new(instant.times), SortedTimes::new(ours.times));
    let limit = TimingTarget { percentile: 50, ms: instant.percentile(50) + MORE_MS };
    let rows = [
        FigureRow::times("answers at once", &instant, &[]),
        FigureRow::times(
            "`ghostbench lsp`, built-in engine",
            &ours,
            &[limit, TimingTarget { percentile: 95, ms: KEY_MS }],
        ),
        FigureRow::times(
            "the extension is loaded and activated, as VS Code reports it",
            &activations,
            &[TimingTarget { percentile: 50, ms: ACTIVATION_MS }],
        ),
    ];
    format!(
        "{KEYS} keys x {RUNS} runs in VS Code (code-server {}), drawn by Chromium without a screen, in lines of {REPOSITORY} `{FILE}`, \
         milliseconds from the key to the suggestion in the page. VS Code itself waits 50 ms before the request. {silent} further \
         positions without a suggestion of the built-in engine are not counted.\n\n{}",
        code_server::VERSION,
        figures::table(&rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_typed_inside_long_lines() {
        let text = "import os\n    results = calculate(first)\n# a comment that is long enough\n    return calculate(first)\n";
        assert_eq!(places(text), [(2, 11, "s".to_owned())]);
    }
}
