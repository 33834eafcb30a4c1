//! Runs of ten thousand cases and eight engines, reported and compared, and a year of a watched suite.
//!
//! The answers are written without engines: measuring begins with finished runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cases::{
    Case, EngineConfig, EngineIdentity, Metric, Prediction, PredictionTimings, Run, SchemaVersion, Status,
    WatchedEngine, WatchedNight, suite_hash, to_line,
};
use replay::RunFolder;
use tests::{Browser, PageView, ScrollStep, component, scroll_cases};
use text::SplitMix64;

use super::{ANSWERS, mine, quiet, row};
use crate::measure::peak_memory;

/// Cases and engines of a large run, and nights of a long history.
const CASES: usize = 10_000;
const ENGINES: usize = 8;
const NIGHTS: usize = 365;

/// Repetitions; the median counts.
const RUNS: usize = 3;

/// Limits.
const REPORT_SECONDS: f64 = 5.0;
const REPORT_BYTES: u64 = 600_000_000;
const COMPARE_SECONDS: f64 = 3.0;
const PAGE_BYTES: u64 = 15_000_000;
const PAGE_SECONDS: f64 = 1.0;

/// Milliseconds within which a frame is on time: 60 a second, with the inaccuracy of the browser's clock.
const FRAME_MS: f64 = 1000.0 / 60.0 + 1.0;
/// Wanted share of frames on time.
const FRAMES_ON_TIME: f64 = 0.99;

/// The window of the pages.
const VIEW: PageView = PageView { width: 1400, height: 1000, is_dark: false };

/// Whether a page with cases displays the first one.
const HAS_CASE: &str = "document.querySelector('#case-detail h3') !== null";

/// Describes the rows.
pub(super) fn description() -> String {
    format!(
        "The large runs have {CASES} cases of the same code and {ENGINES} engines; their numbers are medians of {RUNS}. A page is ready when \
         Chromium displays its first case, or the curves of all nights."
    )
}

/// Measures and returns the rows of the table.
pub(super) fn measure(ghostbench: &Path, code: &Path, folder: &Path) -> Result<String> {
    let suite = mine(ghostbench, code, CASES)?;
    let cases = replay::read_suite(&suite)?;
    ensure!(cases.len() == CASES, "the histories have only {} cases", cases.len());
    let runs = ["large-1", "large-2"].map(|name| folder.join(name));
    for (seed, run) in runs.iter().enumerate() {
        write_run(run, &cases, seed as u64)?;
    }
    drop(cases);
    let report = median(|| run(quiet(ghostbench).arg("report").arg(&runs[0])))?;
    let compare = median(|| run(quiet(ghostbench).arg("compare").args(&runs)))?;
    let history = folder.join("nights");
    write_history(&history)?;
    let nights = folder.join("nights.html");
    let watch = median(|| {
        let mut watch = quiet(ghostbench);
        run(watch.args(["watch", "--show", "--html"]).arg(&nights).arg("--history").arg(&history))
    })?;
    let page = runs[0].join("report.html");
    let bytes = fs::metadata(&page)?.len();
    let mut rows = vec![
        timed(&format!("`report` of {CASES} cases x {ENGINES} engines"), report.seconds, REPORT_SECONDS),
        row(
            "its peak memory",
            &megabytes(report.peak_bytes),
            &megabytes(REPORT_BYTES),
            report.peak_bytes <= REPORT_BYTES,
        ),
        row("its page", &megabytes(bytes), &megabytes(PAGE_BYTES), bytes <= PAGE_BYTES),
        timed("`compare` of two such runs", compare.seconds, COMPARE_SECONDS),
        format!("| its peak memory | {} |  |  |\n", megabytes(compare.peak_bytes)),
        timed(
            &format!("`watch --show --html` of {NIGHTS} nights x {ENGINES} engines"),
            watch.seconds,
            PAGE_SECONDS,
        ),
    ];
    if let Some(chromium) = component("chromium") {
        let opened = |page: &Path, is_ready: &str| opening_time(&chromium, page, is_ready);
        let curves = format!("document.querySelectorAll('svg.over-nights').length === {ENGINES}");
        rows.push(timed("the page of the report is ready", opened(&page, HAS_CASE)?, PAGE_SECONDS));
        rows.push(timed("the page of the nights is ready", opened(&nights, &curves)?, PAGE_SECONDS));
        rows.extend(scrolling(&chromium, &page)?);
    }
    Ok(rows.concat())
}

fn timed(what: &str, seconds: f64, limit: f64) -> String {
    row(what, &format!("{seconds:.2} s"), &format!("{limit} s"), seconds <= limit)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// One run of a command.
struct CommandRun {
    seconds: f64,
    peak_bytes: u64,
}

fn run(command: &mut Command) -> Result<CommandRun> {
    let start = Instant::now();
    let mut child = command.spawn().context("the program does not start")?;
    let peak_bytes = peak_memory::wait(&mut child)?;
    ensure!(child.wait()?.success(), "{command:?} failed");
    Ok(CommandRun { seconds: start.elapsed().as_secs_f64(), peak_bytes })
}

/// Returns the run with the median time.
fn median(mut once: impl FnMut() -> Result<CommandRun>) -> Result<CommandRun> {
    let mut runs = (0..RUNS).map(|_| once()).collect::<Result<Vec<_>>>()?;
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    Ok(runs.swap_remove(RUNS / 2))
}

/// Returns the median time in seconds until a new browser displays a page.
fn opening_time(chromium: &Path, page: &Path, is_ready: &str) -> Result<f64> {
    let url = file_url(page)?;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let mut browser = Browser::start(chromium);
            let start = Instant::now();
            browser.open(&url, VIEW, is_ready);
            start.elapsed()
        })
        .collect();
    times.sort();
    Ok(times[RUNS / 2].as_secs_f64())
}

/// Returns a row for each way of scrolling through the cases: the share of frames that are on time, and the slowest.
fn scrolling(chromium: &Path, page: &Path) -> Result<Vec<String>> {
    let mut browser = Browser::start(chromium);
    browser.open(&file_url(page)?, VIEW, HAS_CASE);
    let steps = [("a wheel's step", ScrollStep::Wheel), ("1/120 of the list", ScrollStep::Leap)];
    Ok(steps
        .map(|(what, step)| {
            // The first pass compiles the page's scripts.
            scroll_cases(&mut browser, step);
            let times = scroll_cases(&mut browser, step).times;
            let on_time = times.iter().filter(|ms| **ms < FRAME_MS).count() as f64 / times.len() as f64;
            let slowest = times.iter().copied().fold(0.0, f64::max);
            row(
                &format!("frames on time, at 60 a second, while the list of cases scrolls by {what} in each"),
                &format!("{:.1} %; the slowest {slowest:.1} ms", on_time * 100.0),
                &format!("{:.0} %", FRAMES_ON_TIME * 100.0),
                on_time >= FRAMES_ON_TIME,
            )
        })
        .to_vec())
}

fn file_url(page: &Path) -> Result<String> {
    Ok(format!("file://{}", page.canonicalize()?.display()))
}

/// Writes a finished and scored run.
fn write_run(folder: &Path, cases: &[Case], seed: u64) -> Result<()> {
    let engines: Vec<EngineIdentity> = (0..ENGINES).map(identity).collect();
    let configs = engines.iter().map(|engine| EngineConfig {
        engine: engine.clone(),
        price: None,
        cutoff: None,
        settings: Default::default(),
    });
    let described = replay::describe_run("large".to_owned(), cases, &[], None, 1, 1);
    let run = Run { engines: configs.collect(), ..described };
    let mut writer = RunFolder::create(folder, &run, cases)?;
    let mut random = SplitMix64::new(seed);
    for (number, case) in cases.iter().enumerate() {
        for (rank, engine) in engines.iter().enumerate() {
            writer.append(&answer(case, &cases[(number + 1) % cases.len()], rank, engine, &mut random))?;
        }
    }
    // Its lock is released before the scores are stored.
    drop(writer);
    replay::scores_of(folder, &replay::read_run(folder)?);
    Ok(())
}

fn identity(rank: usize) -> EngineIdentity {
    EngineIdentity {
        name: format!("engine {rank}"),
        kind: "openai".to_owned(),
        model: format!("model {rank}"),
        fingerprint: format!("{rank:032x}"),
    }
}

/// Returns an answer: more of them are the truth at higher ranks, and the others are wrong in the ways of [`ANSWERS`].
fn answer(
    case: &Case,
    other: &Case,
    rank: usize,
    engine: &EngineIdentity,
    random: &mut SplitMix64,
) -> Prediction {
    let roll = random.number() % 100;
    let way = if roll < 20 + 5 * rank as u64 { 0 } else { 1 + (roll % 3) as usize };
    let text = ANSWERS[way](&case.truth, &other.truth);
    let total = 50.0 * (rank + 1) as f64 + roll as f64;
    Prediction {
        raw: text.clone(),
        text,
        ms: PredictionTimings { gather: 1.0, first: Some(total / 2.0), total },
        ..Prediction::empty(case.id.clone(), engine.clone(), Status::Ok)
    }
}

/// Writes the history of a year; its runs are empty folders, which showing it does not read.
fn write_history(folder: &Path) -> Result<()> {
    let engine = |night: usize, rank: usize| WatchedEngine {
        name: format!("engine {rank}"),
        fingerprint: format!("{rank:032x}"),
        answers: 300,
        failed: night * rank % 5,
        failures: Vec::new(),
        value: Some(0.3 + 0.05 * rank as f64 + 0.01 * (night * 7 % 5) as f64),
        since: 0,
        change: None,
    };
    let night = |night: usize| WatchedNight {
        schema: SchemaVersion::CURRENT,
        run: (night + 1).to_string(),
        time: format!("2026-{:02}-{:02}T03:00:00Z", 1 + night / 31, 1 + night % 31),
        suite: suite_hash(&[]),
        metric: Metric::ExactMatch,
        tree_hash: None,
        engines: (0..ENGINES).map(|rank| engine(night, rank)).collect(),
    };
    let nights: Vec<WatchedNight> = (0..NIGHTS).map(night).collect();
    for night in &nights {
        let run: PathBuf = folder.join(&night.run);
        fs::create_dir_all(run)?;
    }
    fs::write(folder.join("history.jsonl"), nights.iter().map(to_line).collect::<String>())?;
    Ok(())
}
