//! The time that recording, and arms in shadow, add to a completion: for each key, on servers that are measured in turn.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cases::{TrialArm, TrialDefinition, TrialMode};
use mock::{MockServer, Reply, ReplyStep};
use replay::DataFolder;
use serde_json::{Value, json};
use tests::lsp::{Buffer, Encoding};
use tests::{Project, wait_until};

use super::TrialBench;
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget};
use crate::measure::lsp::editor::{DEADLINE_MS, Editor};
use crate::measure::lsp::typed_file::Typist;

/// Keys that are measured, and those before.
const KEYS: usize = 2_000;
const WARM_UP: usize = 100;
/// Pause after each key: a fraction of what the fastest typists need, in which the servers finish what follows an answer.
const PAUSE: Duration = Duration::from_millis(20);
/// Lines of the document.
const LINES: usize = 1_000;
/// Maximum that recording adds.
const RECORDING: &[TimingTarget] = &[TimingTarget { percentile: 99, ms: 1.0 }];
/// The scripted engine: the character isn't typed, so no answer is reused.
const RULES: &str = r#"[{"path": ".py", "text": "§"}]"#;
/// The arms in shadow; the last one is a slow server.
const SHADOW: [&str; 3] = ["builtin", "nearest-line", "slow"];
/// Time in which the slow server answers.
const SLOW: Duration = Duration::from_millis(300);
/// Maximum of the median difference of the same key that three arms in shadow may make, in ms: less than a tenth of a frame.
const MAX_SHADOW_MS: f64 = 1.0;
/// Quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.96;

pub(super) fn measure(bench: &TrialBench) -> Result<Vec<FigureRow>> {
    let event = format!("data: {}\n\n", json!({"content": "total", "stop": true}));
    let slow = MockServer::scripted(move |_| {
        Reply::stream("text/event-stream").chunk(event.as_bytes()).end().preceded_by(ReplyStep::Pause(SLOW))
    });
    let mut servers = [
        Typing::start(bench, None, &slow)?,
        Typing::start(bench, Some((TrialMode::Single, &[])), &slow)?,
        Typing::start(bench, Some((TrialMode::Shadow, &SHADOW)), &slow)?,
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for number in 0..WARM_UP + KEYS {
        // Each is the first in turn: what a server does after its answer may slow down the next one.
        for turn in 0..servers.len() {
            let server = (number + turn) % servers.len();
            let time = servers[server].key();
            thread::sleep(PAUSE);
            if number >= WARM_UP {
                times[server].push(time);
            }
        }
    }
    ensure!(slow.log().requests > 0, "the slow arm was not asked");
    let recorded = difference("recording adds to the same key", &times[1], &times[0], RECORDING[0].ms);
    let shadowed =
        difference("three arms in shadow add to the same key", &times[2], &times[1], MAX_SHADOW_MS);
    let [off, single, shadow] = times.map(SortedTimes::new);
    // A percentile of all differences would be that of the noise; the difference of percentiles is the longer wait.
    let limit = off.plus(RECORDING[0].ms);
    let same = single.plus(RECORDING[0].ms);
    Ok(vec![
        FigureRow::times("didChange and inlineCompletion, no trial", &off, &[]),
        FigureRow::times("the same, recorded", &single, &limit[2..]),
        FigureRow::times(
            format!(
                "the same, recorded, with two built-in engines and a server that takes {} ms in shadow",
                SLOW.as_millis()
            ),
            &shadow,
            &same[2..],
        ),
        recorded,
        shadowed,
    ])
}

/// Row of the median of the differences of pairs, with its interval of 95 %, which assumes no distribution: two order statistics.
fn difference(what: &str, longer: &[Duration], shorter: &[Duration], max_ms: f64) -> FigureRow {
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let mut differences: Vec<f64> =
        longer.iter().zip(shorter).map(|(longer, shorter)| ms(longer) - ms(shorter)).collect();
    differences.sort_by(f64::total_cmp);
    let count = differences.len() as f64;
    let at = |rank: f64| {
        let rank = rank.clamp(1.0, count.max(1.0)) as usize;
        differences.get(rank - 1).copied().unwrap_or(f64::NAN)
    };
    let half = Z * count.sqrt() / 2.0;
    let [low, median, high] =
        [count / 2.0 - half, (count / 2.0).ceil(), (count / 2.0 + half).ceil() + 1.0].map(at);
    FigureRow::value(
        format!("{what}, median of {count:.0} pairs with its interval of 95 %"),
        format!("{median:+.3} [{low:+.3}, {high:+.3}]"),
        &format!("{max_ms}"),
        high <= max_ms,
    )
}

/// A server and typing in it.
struct Typing {
    editor: Editor,
    typist: Typist,
}

impl Typing {
    fn start(bench: &TrialBench, trial: Option<(TrialMode, &[&str])>, slow: &MockServer) -> Result<Typing> {
        let project = Project::new("");
        let settings = project.sibling_path("engines.toml");
        let engine = format!(
            "[[engine]]\nname = \"slow\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
            slow.url()
        );
        fs::write(&settings, engine)?;
        let settings = settings.to_str().context("temporary folders have plain names")?.to_owned();
        if let Some((mode, others)) = trial {
            let folder =
                DataFolder::new(project.home().join(".local/share/ghostbench")).trial(&project.root());
            let written = trial::definition::write_definition(&folder, &definition(mode, others));
            written.context("the definition of the trial cannot be written")?;
        }
        let setup = Editor::setup()
            .folder(&project.root())
            .options(json!({"completion": {"deadlineMs": DEADLINE_MS}}));
        let editor =
            Editor::start(project, &bench.ghostbench, &["--scripted", RULES, "--config", &settings], setup);
        editor.wait_for_folders()?;
        if trial.is_some() {
            wait_until("the trial runs", || editor.status()["trial"] != Value::Null);
        }
        let (before, after) = document();
        let cursor = before.len();
        let buffer =
            Buffer::new(editor.uri("typed.py"), "python", Encoding::Utf16, &[before, after].concat());
        let typist = Typist::new(buffer, cursor);
        editor.open(&typist.buffer);
        Ok(Typing { editor, typist })
    }

    /// Types a character, and returns the time until the answer to its request.
    fn key(&mut self) -> Duration {
        let (change, completion) = (self.typist.key(), self.typist.completion());
        super::super::lsp::time(|| {
            self.editor.change(change);
            self.editor.complete(completion)
        })
        .0
    }
}

/// The text before and after the cursor; the developer types the latter once more.
fn document() -> (String, String) {
    let lines = |from: usize, to: usize| {
        (from..to).map(|line| format!("total_{line} = compute(price_{line}, rate)\n")).collect()
    };
    (lines(0, LINES / 2), lines(LINES / 2, LINES))
}

fn definition(mode: TrialMode, others: &[&str]) -> TrialDefinition {
    let arm = |name: &str| TrialArm::new(name.to_owned());
    let arms = ["scripted"].iter().chain(others).map(|name| arm(name)).collect();
    TrialDefinition::new("measured".to_owned(), mode, arms, "2026-01-01T00:00:00Z".to_owned())
}
