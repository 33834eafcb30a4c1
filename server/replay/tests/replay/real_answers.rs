//! Real models' answers to real tasks, with their recorded prompts (CrossCodeEval, by granite-completebench).
//!
//! `GHOSTBENCH_GOLDEN` is their folder; without it, the tests that read them print a message and check nothing.

#![expect(clippy::print_stderr, reason = "says why nothing is checked")]

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;
use syntax::Language;

/// The tasks by id, and the answers.
pub(crate) struct RealAnswers {
    tasks: HashMap<String, Value>,
    pub(crate) answers: Vec<Value>,
}

impl RealAnswers {
    /// Reads all of them; prints a message and returns `None` if they are missing.
    pub(crate) fn read(what: &str) -> Option<RealAnswers> {
        let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN").map(PathBuf::from) else {
            eprintln!("{what}: skipped, GHOSTBENCH_GOLDEN is not set");
            return None;
        };
        let rows = |file: &str| -> Vec<Value> {
            let path = folder.join(file);
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            text.lines().map(|line| serde_json::from_str(line).expect("a row of JSON")).collect()
        };
        let tasks = rows("cceval_real_inputs.jsonl").into_iter();
        let tasks = tasks.map(|row| (text(&row["metadata"], "task_id").to_owned(), row)).collect();
        Some(RealAnswers { tasks, answers: rows("cceval_real_outputs.jsonl") })
    }

    /// Returns the task of an answer.
    pub(crate) fn task(&self, answer: &Value) -> &Value {
        &self.tasks[text(answer, "task_id")]
    }
}

/// Returns a text of a row.
#[track_caller]
pub(crate) fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {row}"))
}

/// Returns the language of an answer.
#[track_caller]
pub(crate) fn language(answer: &Value) -> Language {
    Language::from_name(text(answer, "language")).expect("a supported language")
}
