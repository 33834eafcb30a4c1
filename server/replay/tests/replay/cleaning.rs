//! What cleaning makes of real models' raw answers: exact answers gained and lost.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with the answers; without it this test says so and checks nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use completion::{Document, Settings, World, complete};
use engines::{Script, ScriptedEngine};
use scoring::cceval;
use serde_json::Value;
use syntax::Language;
use tokio_util::sync::CancellationToken;

fn rows(folder: &std::ffi::OsStr, file: &str) -> Vec<Value> {
    let path = PathBuf::from(folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a row of JSON")).collect()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {row}"))
}

/// What an editor would show of an answer to a task.
async fn shown(task: &Value, language: Language, answer: &str) -> String {
    let (prefix, suffix) = (text(task, "prompt"), text(task, "right_context"));
    let document = Document { path: "main".into(), language, text: [prefix, suffix].concat().into() };
    let script =
        Script { pieces: answer.split_inclusive('\n').map(str::to_owned).collect(), ..Script::default() };
    let engine = ScriptedEngine::new("real", script);
    let snapshot = World::empty().open(document);
    complete(&snapshot, prefix.len(), &engine, &Settings::for_replay(), &CancellationToken::new()).await.text
}

/// Exact answers by what was done to the raw ones: the original's post-processors and "cleaned", with what cleaning gained and lost.
#[derive(Debug, Default)]
struct Counts {
    exact: BTreeMap<String, usize>,
    gained: usize,
    lost: usize,
}

#[tokio::test]
async fn golden_cleaning_of_real_answers() {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN") else {
        eprintln!("cleaning of real answers: skipped, GHOSTBENCH_GOLDEN is not set");
        return;
    };
    let inputs = rows(&folder, "cceval_real_inputs.jsonl");
    let tasks: HashMap<&str, &Value> =
        inputs.iter().map(|row| (text(&row["metadata"], "task_id"), row)).collect();
    let mut counts = Counts::default();
    for row in &rows(&folder, "cceval_real_outputs.jsonl") {
        let task = tasks[text(row, "task_id")];
        let language = Language::from_name(text(row, "language")).expect("a supported language");
        let is_exact =
            |answer: &str| cceval::score_truncated(language, answer, text(task, "groundtruth")).exact_match;
        for (name, result) in row["results"].as_object().expect("an object") {
            *counts.exact.entry(name.clone()).or_default() +=
                usize::from(is_exact(text(result, "postprocessed")));
        }
        let (raw, cleaned) =
            (is_exact(text(row, "output")), is_exact(&shown(task, language, text(row, "output")).await));
        *counts.exact.entry("cleaned".to_owned()).or_default() += usize::from(cleaned);
        counts.gained += usize::from(cleaned && !raw);
        counts.lost += usize::from(raw && !cleaned);
    }
    eprintln!("{counts:?}");
    let best = counts.exact.iter().filter(|(name, _)| *name != "cleaned").map(|(_, exact)| *exact).max();
    assert!(Some(counts.exact["cleaned"]) >= best, "another post-processor is better: {counts:?}");
    assert!(counts.lost * 4 <= counts.gained, "{counts:?}");
}
