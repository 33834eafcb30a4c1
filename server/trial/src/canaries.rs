//! Canary questions: the same few questions, asked of each arm every half day. If an engine answers them differently although its settings
//! are the same, its server has changed during the trial.
//!
//! Answers are kept as hashes in `canaries.jsonl` in the folder for trials, one line a round. Each question is asked twice: an engine that
//! answers at random disagrees with itself in one round, which says nothing about a change.
#![expect(clippy::disallowed_methods, reason = "the answers to canary questions are read and written here")]

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cases::TrialDefinition;
use serde::{Deserialize, Serialize};
use syntax::Language;

use crate::daily_usage::utc_date;

/// Time between two rounds of questions to an arm.
const INTERVAL: Duration = Duration::from_secs(12 * 60 * 60);
/// How often each question is asked in a round.
pub const REPETITIONS: usize = 2;
/// Largest file that is read, bytes: many years of rounds.
const MAX_BYTES: u64 = 4 << 20;

/// A question of which the answer does not depend on a workspace.
#[derive(Clone, Copy, Debug)]
pub struct CanaryQuestion {
    /// Name of its file.
    pub path: &'static str,
    /// Its language.
    pub language: Language,
    /// The code before the cursor.
    pub prefix: &'static str,
    /// The code after it.
    pub suffix: &'static str,
}

/// The questions. Changing one begins a new series.
pub const QUESTIONS: [CanaryQuestion; 2] = [
    CanaryQuestion {
        path: "canary_stack.py",
        language: Language::Python,
        prefix: "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):\n        ",
        suffix: "\n\n    def is_empty(self):\n        return not self.items\n",
    },
    CanaryQuestion {
        path: "canaryRange.ts",
        language: Language::TypeScript,
        prefix: "export function clamp(value: number, low: number, high: number): number {\n    ",
        suffix: "\n}\n\nexport function isInside(value: number, low: number, high: number): boolean {\n    return value >= low && value <= high;\n}\n",
    },
];

/// The answers of an arm to the questions at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryRound {
    /// Name of the arm.
    pub arm: String,
    /// Fingerprint of its engine and settings.
    pub fingerprint: String,
    /// Time in ms since 1970.
    pub at: u64,
    /// Hashes of the answers by question; an answer that failed is left out.
    pub answers: Vec<Vec<String>>,
}

impl CanaryRound {
    /// Creates a round without answers.
    pub fn new(arm: String, fingerprint: String, now: SystemTime) -> CanaryRound {
        let at = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        CanaryRound { arm, fingerprint, at, answers: vec![Vec::new(); QUESTIONS.len()] }
    }

    /// Adds an answer to a question.
    pub fn add(&mut self, question: usize, answer: &str) {
        if let Some(answers) = self.answers.get_mut(question) {
            answers.push(blake3::hash(answer.as_bytes()).to_hex()[..16].to_owned());
        }
    }

    /// Returns the answer to a question on which all repetitions agree.
    fn stable(&self, question: usize) -> Option<&str> {
        let answers = self.answers.get(question)?;
        let first = answers.first()?;
        let is_stable = answers.len() == REPETITIONS && answers.iter().all(|answer| answer == first);
        is_stable.then_some(first)
    }
}

/// A change of an engine whose settings are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanaryChange {
    /// Name of the arm.
    pub arm: String,
    /// Day of the first round with other answers, in UTC, as `2026-01-02`.
    pub day: String,
}

/// Whether a round of questions to an arm is due.
///
/// # Errors
/// The file cannot be read.
pub fn is_due(folder: &Path, arm: &str, now: SystemTime) -> io::Result<bool> {
    let now = CanaryRound::new(String::new(), String::new(), now).at;
    let last = rounds(folder)?.into_iter().rfind(|round| round.arm == arm);
    Ok(last.is_none_or(|last| u128::from(now.abs_diff(last.at)) >= INTERVAL.as_millis()))
}

/// Appends a round.
///
/// # Errors
/// The file cannot be written.
pub fn append(folder: &Path, round: &CanaryRound) -> io::Result<()> {
    let mut line = serde_json::to_string(round)?;
    line.push('\n');
    private_files::own_folder(folder)?;
    private_files::open(OpenOptions::new().append(true).create(true), &file(folder))?
        .write_all(line.as_bytes())
}

/// Returns on which days of a trial arms began to answer differently, in the order of the rounds.
///
/// # Errors
/// The file cannot be read.
pub fn changes(folder: &Path, trial: &TrialDefinition) -> io::Result<Vec<CanaryChange>> {
    let started = humantime::parse_rfc3339(&trial.started_at).unwrap_or(SystemTime::UNIX_EPOCH);
    let since = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut last: HashMap<(String, String, usize), String> = HashMap::new();
    let mut changes: Vec<CanaryChange> = Vec::new();
    for round in rounds(folder)?.iter().filter(|round| u128::from(round.at) >= since) {
        for question in 0..QUESTIONS.len() {
            let Some(answer) = round.stable(question) else { continue };
            let key = (round.arm.clone(), round.fingerprint.clone(), question);
            if last.insert(key, answer.to_owned()).is_none_or(|before| before == answer) {
                continue;
            }
            let time =
                SystemTime::UNIX_EPOCH + Duration::from_millis(round.at.min(u64::from(u32::MAX) * 1_000));
            let change = CanaryChange { arm: round.arm.clone(), day: utc_date(time) };
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
    Ok(changes)
}

/// Returns all rounds that can be read.
fn rounds(folder: &Path) -> io::Result<Vec<CanaryRound>> {
    let path = file(folder);
    match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(found) if found.len() > MAX_BYTES => {
            return Err(io::Error::other(format!("{} is too long; remove it", path.display())));
        }
        found => found?,
    };
    let bytes = fs::read(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn file(folder: &Path) -> PathBuf {
    folder.join("canaries.jsonl")
}

#[cfg(test)]
mod tests {
    use cases::TrialMode;

    use super::*;

    fn round(day: u64, answers: [&str; REPETITIONS]) -> CanaryRound {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(day * 24 * 60 * 60);
        let mut round = CanaryRound::new("a".to_owned(), "f".to_owned(), now);
        answers.into_iter().for_each(|answer| round.add(0, answer));
        round
    }

    #[test]
    fn only_answers_that_an_engine_repeats_show_a_change() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let rounds = [(1, ["x", "x"]), (2, ["y", "x"]), (3, ["x", "x"]), (4, ["y", "y"]), (5, ["y", "y"])];
        for (day, answers) in rounds {
            append(folder.path(), &round(day, answers)).expect("it is written");
        }
        append(folder.path(), &CanaryRound { fingerprint: "g".to_owned(), ..round(6, ["z", "z"]) })
            .expect("it is written");
        let trial = TrialDefinition::new(
            "t".to_owned(),
            TrialMode::Shadow,
            Vec::new(),
            "1970-01-01T00:00:00Z".to_owned(),
        );
        let changes = changes(folder.path(), &trial).expect("it can be read");
        assert_eq!(changes, [CanaryChange { arm: "a".to_owned(), day: "1970-01-05".to_owned() }]);
    }

    #[test]
    fn rounds_are_due_every_half_day() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let at = |hours: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(hours * 60 * 60);
        let is_due = |hours| is_due(folder.path(), "a", at(hours)).expect("it can be read");
        assert!(is_due(48));
        append(folder.path(), &round(2, ["x", "x"])).expect("it is written");
        assert_eq!([49, 59, 60].map(is_due), [false, false, true]);
    }
}
