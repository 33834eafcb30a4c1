//! A long day in one server: typing, saving, formatting, checkouts and an engine that fails and comes back, without a pause.
//!
//! ```text
//! WorkingDay (files, buffers, keys) ─► ServerConnection ─stdio─► ghostbench lsp ─► mock server: answers, errors, silence
//!                                         └─ MessageCounts            └─ /proc: memory, threads, open files, every few seconds
//! ```
//!
//! Responsible for what lasts: memory, threads, open files, and one answer for each request. It measures no times, and changes nothing in
//! the workspace but a folder of its own, which it removes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use mock::MockServer;
use serde_json::json;
use tests::Project;
use tests::lsp::uri;

mod connection;
mod own_folder;
mod resources;
mod unreliable_engine;
mod working_day;

use self::connection::ServerConnection;
use self::own_folder::OwnFolder;
use self::resources::{ResourceHistory, ResourceSample};
use self::working_day::{DayCounts, WorkingDay};
use super::indexing::corpus_folder;
use super::indexing::growth::LARGE_FOLDER;
use super::repositories::Repo;

/// Lines of the workspace if no folder is named.
const LINES: usize = 100_000;
/// Environment variable with the length of the day in minutes.
const MINUTES: &str = "GHOSTBENCH_BENCH_MINUTES";
/// Minutes of a day if none are given.
const USUAL_MINUTES: f64 = 20.0;
/// Time between two samples.
const SAMPLING: Duration = Duration::from_secs(5);
/// Time limit of indexing the workspace.
const INDEXING: Duration = Duration::from_secs(1_200);
/// Largest growth of memory and of open files, as a share.
const MAX_GROWTH: f64 = 0.05;

/// Plays the day and returns the Markdown of the section, and whether each request was answered once.
pub(super) fn measure(repos: &[Repo]) -> Result<(String, bool)> {
    let minutes = match std::env::var(MINUTES) {
        Ok(minutes) => minutes.parse().with_context(|| format!("{MINUTES} is no number"))?,
        Err(_) => USUAL_MINUTES,
    };
    let root = match std::env::var_os(LARGE_FOLDER) {
        Some(folder) => PathBuf::from(folder).canonicalize()?,
        None => corpus_folder(repos, LINES)?,
    };
    let ghostbench = super::ghostbench()?;
    let length = Duration::from_secs_f64(minutes * 60.0);
    let folder = OwnFolder::create(&root)?;
    let engine = unreliable_engine::start();
    let project = Project::new("");
    let settings = project.sibling_path("engines.toml");
    std::fs::write(&settings, unreliable_engine::settings(&engine))?;
    let mut command = project.command(&ghostbench, "lsp");
    command.arg("--config").arg(&settings);
    let server = ServerConnection::start(command)?;
    let capabilities = json!({
        "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
        "textDocument": {"inlineCompletion": {}},
    });
    let folders = json!([{"uri": uri(&root), "name": "workspace"}]);
    server.call(
        "initialize",
        json!({"processId": null, "capabilities": capabilities, "workspaceFolders": folders}),
    )?;
    server.notify("initialized", json!({}))?;
    let lines = wait_until_indexed(&server)?;
    eprintln!("{lines} lines are indexed");
    let (history, day) = play(&server, &folder, length)?;
    server.wait_for_all()?;
    let last = ResourceSample::of(server.process_id())?;
    let outcome = DayOutcome { minutes, lines, history, day, last, engine_requests: requests(&engine) };
    let counts = server.end()?;
    let is_right = counts.unanswered() == 0 && counts.answered_twice == 0;
    Ok((outcome.section(&counts), is_right))
}

fn requests(engine: &MockServer) -> usize {
    engine.log().requests
}

/// Waits until the workspace is indexed; returns its lines.
fn wait_until_indexed(server: &ServerConnection) -> Result<u64> {
    let start = Instant::now();
    loop {
        let status = server.call("ghostbench/status", json!(null))?;
        let folder = &status["folders"][0];
        if folder["state"] == "ready" {
            return folder["lines"].as_u64().context("the status has no lines");
        }
        ensure!(start.elapsed() < INDEXING && folder["state"] != "failed", "not indexed: {status}");
        thread::sleep(Duration::from_millis(500));
    }
}

/// Plays for so long, and takes samples meanwhile.
fn play(
    server: &ServerConnection,
    folder: &OwnFolder,
    length: Duration,
) -> Result<(ResourceHistory, DayCounts)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampling = scope.spawn(|| -> Result<ResourceHistory> {
            let mut history = ResourceHistory::new(length);
            let start = Instant::now();
            while !is_over.load(Ordering::Relaxed) {
                history.push(start.elapsed(), ResourceSample::of(server.process_id())?);
                // The day ends in between.
                thread::park_timeout(SAMPLING);
            }
            Ok(history)
        });
        let played = WorkingDay::new(server, folder).and_then(|mut day| day.play(length));
        is_over.store(true, Ordering::Relaxed);
        sampling.thread().unpark();
        let history = sampling.join().ok().context("the thread that takes samples panicked")??;
        Ok((history, played?))
    })
}

/// Everything that is reported.
struct DayOutcome {
    minutes: f64,
    lines: u64,
    history: ResourceHistory,
    day: DayCounts,
    /// At the end, without requests.
    last: ResourceSample,
    engine_requests: usize,
}

impl DayOutcome {
    fn section(&self, counts: &connection::MessageCounts) -> String {
        let DayOutcome { minutes, lines, history, day, last, engine_requests } = self;
        let growth = history.growth(|sample| sample.anonymous);
        let ranges = |value: fn(&ResourceSample) -> u64| {
            let (first, last) = history.ranges(value);
            format!("{first} to {last}")
        };
        let rows = [
            resources::memory_row("anonymous memory, MB", history, |sample| sample.anonymous),
            format!(
                "| growth of that | {:+.1} % | {:.0} % | {} |",
                growth * 100.0,
                MAX_GROWTH * 100.0,
                yes(growth <= MAX_GROWTH)
            ),
            resources::memory_row(
                "mapped pages of files, which the system takes back, MB",
                history,
                |sample| sample.mapped,
            ),
            format!(
                "| at the end, without requests: anonymous; mapped, MB | {:.1}; {:.1} |  |  |",
                last.anonymous as f64 / 1e6,
                last.mapped as f64 / 1e6
            ),
            format!(
                "| threads, smallest and largest | {} | constant | {} |",
                ranges(|sample| sample.threads),
                yes(history.is_constant(|sample| sample.threads))
            ),
            // Each request has a socket, and reading has files: their largest number says little.
            format!(
                "| open files and sockets: means of the second and the last tenth; smallest and largest; at the end, without requests | {}; {}; {} | constant | {} |",
                history.means(|sample| sample.handles).map(|mean| format!("{mean:.1}")).join(" to "),
                ranges(|sample| sample.handles),
                last.handles,
                yes(history.growth(|sample| sample.handles) <= MAX_GROWTH)
            ),
            format!("| requests; answered with an error | {}; {} |  |  |", counts.sent, counts.errors),
            format!(
                "| unanswered; answered twice | {}; {} | 0; 0 | {} |",
                counts.unanswered(),
                counts.answered_twice,
                yes(counts.unanswered() + counts.answered_twice == 0)
            ),
        ];
        format!(
            "{minutes:.0} minutes in a workspace of {lines} lines: {}. The engine is a server on this machine that answers for half of each minute, and \
             else fails, does not answer, or closes the connection; {engine_requests} requests reached it. Resources of the server are sampled every {} s. Amounts \
             of memory are means of the second and the last tenth of the time, then the smallest and the largest after the first tenth.\n\n\
             | measure | value | target | reached |\n|---|---|---|---|\n{}",
            day.summary(),
            SAMPLING.as_secs(),
            rows.join("\n")
        )
    }
}

fn yes(is_reached: bool) -> &'static str {
    if is_reached { "yes" } else { "no" }
}
