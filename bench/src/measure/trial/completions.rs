//! The time that recording, and arms in shadow, add to a completion.

use std::time::Duration;

use anyhow::{Context, Result};
use cases::{TrialArm, TrialDefinition, TrialMode};
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
/// Lines of the document.
const LINES: usize = 1_000;
/// Maximum that recording adds.
const RECORDING: &[TimingTarget] = &[TimingTarget { percentile: 99, ms: 1.0 }];
/// The scripted engine: the character isn't typed, so no answer is reused.
const RULES: &str = r#"[{"path": ".py", "text": "§"}]"#;
/// The arms in shadow.
const SHADOW: [&str; 3] = ["builtin", "longest-match", "nearest-line"];

pub(super) fn measure(bench: &TrialBench) -> Result<Vec<FigureRow>> {
    let mut off = Typing::start(bench, None)?;
    let mut single = Typing::start(bench, Some((TrialMode::Single, &[])))?;
    let mut shadow = Typing::start(bench, Some((TrialMode::Shadow, &SHADOW)))?;
    let mut times: [Vec<Duration>; 3] = Default::default();
    for number in 0..WARM_UP + KEYS {
        let round = [off.key(), single.key(), shadow.key()];
        if number >= WARM_UP {
            times.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
        }
    }
    let [off, single, shadow] = times.map(SortedTimes::new);
    // A percentile of all differences would be that of the noise; the difference of percentiles is the longer wait.
    let limit = off.plus(RECORDING[0].ms);
    let same = single.plus(RECORDING[0].ms);
    Ok(vec![
        FigureRow::times("didChange and inlineCompletion, no trial", &off, &[]),
        FigureRow::times("the same, recorded", &single, &limit[2..]),
        FigureRow::times("the same, recorded, with three built-in engines in shadow", &shadow, &same[2..]),
    ])
}

/// A server and typing in it.
struct Typing {
    editor: Editor,
    typist: Typist,
}

impl Typing {
    fn start(bench: &TrialBench, trial: Option<(TrialMode, &[&str])>) -> Result<Typing> {
        let project = Project::new("");
        if let Some((mode, others)) = trial {
            let folder =
                DataFolder::new(project.home().join(".local/share/ghostbench")).trial(&project.root());
            let written = trial::definition::write_definition(&folder, &definition(mode, others));
            written.context("the definition of the trial cannot be written")?;
        }
        let setup = Editor::setup()
            .folder(&project.root())
            .options(json!({"completion": {"deadlineMs": DEADLINE_MS}}));
        let editor = Editor::start(project, &bench.ghostbench, &["--scripted", RULES], setup);
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
