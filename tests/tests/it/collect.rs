//! Traces of a team: sharing developers, the storing server, reading analysts.

mod certificates;
#[cfg(unix)]
mod copies;
#[cfg(unix)]
mod database;
mod deletion;
mod faults;
mod hostile;
mod policy;
mod sharing;

use std::fs;
use std::path::Path;

use cases::{Bundle, Opportunity};
use serde_json::Value;
use tests::collect::{CollectMachine, as_account};
use tests::{ProcessOutcome, Project, RunningProcess};

use crate::trial::{bundle, json};

/// A developer with recorded opportunities and a token.
pub(crate) struct Developer {
    pub(crate) project: Project,
    pub(crate) token: String,
}

impl Developer {
    /// Creates a developer with this number of opportunities, none of which is reviewed.
    #[track_caller]
    pub(crate) fn new(machine: &CollectMachine, name: &str, rows: usize) -> Developer {
        let project = Project::generated(2);
        bundle(&project, "in.jsonl", name, rows);
        project.run("trial import ../in.jsonl").expect_code(0);
        Developer { project, token: machine.token(name, "developer") }
    }

    /// Creates a developer that has reviewed everything and has joined.
    #[track_caller]
    pub(crate) fn joined(machine: &CollectMachine, name: &str, rows: usize) -> Developer {
        let developer = Developer::new(machine, name, rows);
        developer.project.run("trial review --full").expect_code(0);
        developer.run(machine, "collect join --consent agreed --yes").expect_code(0);
        developer
    }

    #[track_caller]
    pub(crate) fn start(&self, machine: &CollectMachine, arguments: &str) -> RunningProcess {
        RunningProcess::start(as_account(&self.project, machine, &self.token, arguments))
    }

    #[track_caller]
    pub(crate) fn run(&self, machine: &CollectMachine, arguments: &str) -> ProcessOutcome {
        self.start(machine, arguments).wait()
    }

    /// Sends and returns the receipt.
    #[track_caller]
    pub(crate) fn send(&self, machine: &CollectMachine) -> Value {
        json(&self.run(machine, "collect send --json").expect_code(0).stdout)
    }

    /// Returns the bundle that was imported.
    pub(crate) fn bundle(&self) -> Bundle {
        let text = fs::read_to_string(self.project.sibling_path("in.jsonl")).expect("a file");
        Bundle::parse(&text).expect("a bundle")
    }
}

/// Returns all rows of the server with their developers.
#[track_caller]
pub(crate) fn stored_rows(machine: &CollectMachine, token: &str) -> Vec<(String, Opportunity)> {
    let (mut rows, mut after) = (Vec::new(), 0);
    loop {
        let reply = machine.get(&format!("/v1/rows?after={after}"), token);
        assert_eq!(reply.status, 200, "{reply:?}");
        let text = String::from_utf8(reply.body).expect("text");
        for line in text.lines() {
            let row = json(line);
            match row["next"].as_i64() {
                None => rows.push((
                    row["developer"].as_str().expect("a name").to_owned(),
                    serde_json::from_value(row["opportunity"].clone()).expect("a row"),
                )),
                Some(next) if row["is_last"] == false => after = next,
                Some(_) => return rows,
            }
        }
    }
}

/// Whether a file of a folder contains a text.
pub(crate) fn is_in_files(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files: Vec<_> = entries.filter(|path| path.is_file()).collect();
    assert!(!files.is_empty());
    files.iter().any(|path| {
        let bytes = fs::read(path).expect("readable");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
