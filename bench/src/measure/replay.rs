//! A run of usual size over real code: asking a server with a fixed number of slots, scoring, and the report.
//!
//! The commands are those of users, in processes of their own. The server is the `mock` crate's, in this process and on this machine.

mod large_runs;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cases::Case;
use mock::{MockServer, ReceivedRequest, Reply, ReplyStep, TemplateMarks};
use serde_json::json;
use xtask::process;

/// Number of cases in the suite; the page of the report holds 3,000.
const CASES: usize = 2_500;
const PAGE_CASES: usize = 3_000;

/// Time of the server for an answer, and the number of answers at a time.
const ANSWER_TIME: Duration = Duration::from_millis(50);
const SLOTS: usize = 32;

/// Header by which the server knows the engine.
const ENGINE_HEADER: &str = "x-engine";

/// Characters of the text before the cursor by which the server knows a case.
const KEY_BYTES: usize = 200;

/// Number of reports; the table shows the median.
const REPORTS: usize = 5;

/// The ways in which the engines answer, by their number.
const ANSWERS: [fn(&str, &str) -> String; 4] = [
    |truth, _| truth.to_owned(),
    |truth, _| truth[..truth.floor_char_boundary(truth.len() * 2 / 3)].to_owned(),
    |_, other| other.to_owned(),
    |truth, _| format!("{truth} + other(1)"),
];

/// Measures and returns the Markdown of the section.
pub(crate) fn measure() -> Result<String> {
    let ghostbench = super::ghostbench()?;
    let folder = tempfile_folder()?;
    let rows = measure_in(&ghostbench, &folder);
    fs::remove_dir_all(&folder)?;
    let rows = rows?;
    Ok(format!(
        "{CASES} cases from the eight histories of the tests (GHOSTBENCH_HISTORIES), four engines at a server on this machine that takes {} ms \
         for an answer and gives {SLOTS} at a time. The engines answer with the truth, two thirds of it, the truth of another case, and the \
         truth and more. The ideal time is that of the server alone. Scoring is that of all answers by all cores, without a request. The \
         report is the median of {REPORTS}. {}\n\n\
         | measure | value | target | reached |\n|---|---|---|---|\n{rows}",
        ANSWER_TIME.as_millis(),
        large_runs::description(),
    ))
}

fn tempfile_folder() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("ghostbench-replay-{}", std::process::id()));
    fs::create_dir(&folder)?;
    Ok(folder)
}

fn measure_in(ghostbench: &Path, folder: &Path) -> Result<String> {
    let code = folder.join("code");
    fs::create_dir(&code)?;
    tests::check_out_histories(&code).context("set GHOSTBENCH_HISTORIES to the folder of histories")?;
    let run = folder.join("run");
    let asking = replay_run(ghostbench, &mine(ghostbench, &code, CASES)?, &run)?;
    let (score_time, answers) = score(&run)?;
    let reports = (0..REPORTS).map(|_| report(ghostbench, &run)).collect::<Result<Vec<_>>>()?;
    let report_time = median(reports);
    let page = page_bytes(ghostbench, &code, folder)?;
    let ideal = ANSWER_TIME.as_secs_f64() * answers as f64 / SLOTS as f64;
    let whole = asking.wall.as_secs_f64();
    let rows = [
        row(
            &format!("replay of {answers} requests, with scores and report; times the ideal time"),
            &format!("{whole:.1} s; {:.2}", whole / ideal),
            "1.15",
            whole / ideal <= 1.15,
        ),
        row(
            "slots of the server that are busy from the first request to the last answer",
            &format!("{:.1} %", asking.busy * 100.0),
            "97 %",
            asking.busy >= 0.97,
        ),
        row(
            &format!("scoring {answers} predictions"),
            &format!("{:.1} s", score_time.as_secs_f64()),
            "10 s",
            score_time.as_secs_f64() <= 10.0,
        ),
        row(
            &format!("`ghostbench report` of {answers} scored predictions"),
            &format!("{:.2} s", report_time.as_secs_f64()),
            "2 s",
            report_time.as_secs_f64() <= 2.0,
        ),
        row(
            &format!(
                "HTML of {PAGE_CASES} cases with the answers of the built-in engine and its three baselines"
            ),
            &format!("{:.1} MB", page as f64 / 1e6),
            "4 MB",
            page <= 4_000_000,
        ),
    ];
    Ok(rows.concat() + &large_runs::measure(ghostbench, &code, folder)?)
}

fn row(what: &str, value: &str, target: &str, is_reached: bool) -> String {
    format!("| {what} | {value} | {target} | {} |\n", if is_reached { "yes" } else { "no" })
}

/// Mines a suite and returns its path.
fn mine(ghostbench: &Path, code: &Path, cases: usize) -> Result<PathBuf> {
    let suite = code.with_file_name(format!("suite-{cases}.jsonl"));
    let mut mine = quiet(ghostbench);
    process::run(mine.arg("mine").arg(code).args(["--cases", &cases.to_string(), "--out"]).arg(&suite))?;
    Ok(suite)
}

fn quiet(ghostbench: &Path) -> Command {
    let mut command = Command::new(ghostbench);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A replay against the server.
struct Asking {
    wall: Duration,
    /// Share of the slots that were busy.
    busy: f64,
}

fn replay_run(ghostbench: &Path, suite: &Path, run: &Path) -> Result<Asking> {
    let server = server(&replay::read_suite(suite)?);
    let settings = run.with_file_name("engines.toml");
    let engine = |number: usize| {
        let headers = format!("{{ {ENGINE_HEADER} = \"{number}\" }}");
        let (url, fim) = (server.url(), "qwen2.5-coder");
        format!(
            "[[engine]]\nname = \"engine {number}\"\nkind = \"llama-cpp\"\nurl = \"{url}\"\nfim = \"{fim}\"\nheaders = {headers}\n"
        )
    };
    fs::write(&settings, (0..ANSWERS.len()).map(engine).collect::<String>())?;
    let start = Instant::now();
    let mut replay = quiet(ghostbench);
    replay.arg("replay").arg(suite).args(["--jobs", &SLOTS.to_string()]);
    process::run(replay.arg("--config").arg(&settings).arg("--out").arg(run))?;
    let wall = start.elapsed();
    let log = server.log();
    let span = log.answered_at.zip(log.first_at).context("the server was not asked")?;
    let span = span.0.saturating_duration_since(span.1);
    Ok(Asking { wall, busy: log.busy.as_secs_f64() / (span.as_secs_f64() * SLOTS as f64) })
}

/// Starts the server, which knows the cases by the text before the cursor.
fn server(suite: &[Case]) -> MockServer {
    let truths: Vec<String> = suite.iter().map(|case| case.truth.clone()).collect();
    let cases: HashMap<String, usize> =
        suite.iter().enumerate().map(|(place, case)| (key(&case.prefix).to_owned(), place)).collect();
    let known = Arc::new((truths, cases));
    MockServer::scripted(move |received| reply(received, &known.0, &known.1))
}

fn reply(received: &ReceivedRequest, truths: &[String], cases: &HashMap<String, usize>) -> Reply {
    let answer = || {
        let prompt = received.json()["prompt"].as_str()?.to_owned();
        let hole = TemplateMarks::QWEN.hole(&prompt)?;
        let case = *cases.get(key(&hole.prefix))?;
        let engine: usize = received.header(ENGINE_HEADER)?.parse().ok()?;
        Some(ANSWERS.get(engine)?(&truths[case], &truths[(case + 1) % truths.len()]))
    };
    match answer() {
        None => Reply::json(404, &json!({})),
        Some(answer) => {
            let event = json!({ "content": answer, "stop": true }).to_string();
            Reply::events([event.as_str()]).preceded_by(ReplyStep::Pause(ANSWER_TIME))
        }
    }
}

fn key(prefix: &str) -> &str {
    &prefix[prefix.ceil_char_boundary(prefix.len().saturating_sub(KEY_BYTES))..]
}

/// Scores all answers of a run in this process; returns the time and their number.
fn score(run: &Path) -> Result<(Duration, usize)> {
    let contents = replay::read_run(run)?;
    let start = Instant::now();
    let scores = replay::score_all(&contents.cases, &contents.predictions);
    let time = start.elapsed();
    ensure!(scores == replay::scores_of(run, &contents).scores, "the run was scored otherwise");
    Ok((time, scores.len()))
}

fn report(ghostbench: &Path, run: &Path) -> Result<Duration> {
    let start = Instant::now();
    process::run(quiet(ghostbench).arg("report").arg(run))?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns the size of the page of a run with the built-in engine and its baselines.
fn page_bytes(ghostbench: &Path, code: &Path, folder: &Path) -> Result<u64> {
    let suite = mine(ghostbench, code, PAGE_CASES)?;
    let run = folder.join("page");
    let mut replay = quiet(ghostbench);
    replay
        .arg("replay")
        .arg(suite)
        .arg("--workspace")
        .arg(code)
        .args(["--no-copies", "off", "--out"])
        .arg(&run);
    for engine in ["builtin", "longest-match", "nearest-line", "empty"] {
        replay.args(["--engine", engine]);
    }
    process::run(&mut replay)?;
    Ok(fs::metadata(run.join("report.html"))?.len())
}
