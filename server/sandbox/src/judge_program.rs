//! A program that judges code in place of the sandbox: a harness, a container or a cluster.
//!
//! It gets a folder with `request.json` and the changed file below `changed/`, as its last argument, and writes `verdict.json` there.
//! It runs with the rights of the user: what confines the code is its own matter. docs/unit-tests.md describes both files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cases::{CaseTests, TestVerdict};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::spec::{ChangedFile, is_inside};
use crate::temporary_folder;

/// Version of the files; it grows when they change incompatibly.
const VERSION: u32 = 1;
/// Time beyond the limit of the tests: to copy files, or to start a container.
const GRACE: Duration = Duration::from_secs(120);
/// Bytes of a verdict.
const MAX_VERDICT_BYTES: u64 = 8 << 20;
/// Bytes of the program's messages that an error repeats.
const MESSAGE_BYTES: u64 = 4 << 10;
/// Interval of looking whether the program has ended.
const POLL: Duration = Duration::from_millis(10);

/// A program that judges code over one workspace.
#[derive(Clone, Debug)]
pub struct JudgeProgram {
    words: Vec<String>,
    workspace: PathBuf,
    stop: CancellationToken,
}

/// A program's verdict on code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ProgramVerdict {
    /// The verdict.
    pub verdict: TestVerdict,
    /// Ids of the tests that did not pass.
    #[serde(default)]
    pub not_passed: BTreeSet<String>,
    /// Output of the tests.
    #[serde(default)]
    pub output: String,
}

/// A program gave no verdict. It says nothing about the code.
#[derive(Debug, thiserror::Error)]
pub enum JudgeProgramError {
    /// The program of the settings is empty.
    #[error("`judge` in the section [tests] names no program")]
    Unnamed,
    /// A file cannot be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// It cannot be started.
    #[error("the judge {program} cannot be started: {error}; check `judge` in the section [tests]")]
    Start {
        /// The program.
        program: String,
        /// The reason.
        error: io::Error,
    },
    /// It did not end in time, and was killed.
    #[error("the judge {program} has not ended after {seconds} s")]
    Endless {
        /// The program.
        program: String,
        /// The limit.
        seconds: u64,
    },
    /// It was stopped before it had ended.
    #[error("stopped")]
    Stopped,
    /// It ended with an error, or without a valid verdict.
    #[error("the judge {program} gave no verdict ({status}): {reason}{messages}")]
    NoVerdict {
        /// The program.
        program: String,
        /// Its exit status.
        status: ExitStatus,
        /// The fault of `verdict.json`.
        reason: String,
        /// The beginning of its messages, on a line of their own; empty if there are none.
        messages: String,
    },
}

/// Contents of `request.json`.
#[derive(Serialize)]
struct Request<'a> {
    version: u32,
    workspace: &'a Path,
    path: &'a Path,
    runner: &'a str,
    folder: &'a str,
    tests: &'a [String],
    time_limit_seconds: f64,
}

impl JudgeProgram {
    /// Creates a judge from a program with its arguments.
    pub fn new(words: Vec<String>, workspace: PathBuf) -> JudgeProgram {
        JudgeProgram { words, workspace, stop: CancellationToken::new() }
    }

    /// Kills the program once a token is cancelled: it is [stopped](JudgeProgramError::Stopped).
    #[must_use]
    pub fn stopped_by(self, stop: CancellationToken) -> JudgeProgram {
        JudgeProgram { stop, ..self }
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Asks for the verdict on a changed file. Blocks until the program has ended.
    pub fn judge(
        &self,
        tests: &CaseTests,
        change: &ChangedFile,
        limit: Duration,
    ) -> Result<ProgramVerdict, JudgeProgramError> {
        let (program, arguments) = self.words.split_first().ok_or(JudgeProgramError::Unnamed)?;
        let folder = self.write_request(tests, change, limit)?;
        // A file, because a process that the program leaves behind may keep a pipe open for ever.
        let messages = folder.path().join("messages.txt");
        let stderr = fs::File::create(&messages)
            .map_err(|error| JudgeProgramError::File { path: messages.clone(), error })?;
        let mut command = Command::new(program);
        command.args(arguments).arg(folder.path()).current_dir(&self.workspace);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        // Ctrl-C in a terminal goes to all processes of its group: a judgement in flight ends by itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(target_os = "linux")]
        crate::linux::die_with_parent(&mut command);
        let mut child =
            command.spawn().map_err(|error| JudgeProgramError::Start { program: program.clone(), error })?;
        let limit = limit.saturating_add(GRACE);
        let Some(status) = wait(&mut child, limit, &self.stop) else {
            if self.stop.is_cancelled() {
                return Err(JudgeProgramError::Stopped);
            }
            return Err(JudgeProgramError::Endless { program: program.clone(), seconds: limit.as_secs() });
        };
        let read = if status.success() { read_verdict(folder.path()) } else { Err("it failed".to_owned()) };
        read.map_err(|reason| JudgeProgramError::NoVerdict {
            program: program.clone(),
            status,
            reason,
            messages: beginning_of(&messages),
        })
    }

    fn write_request(
        &self,
        tests: &CaseTests,
        change: &ChangedFile,
        limit: Duration,
    ) -> Result<tempfile::TempDir, JudgeProgramError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| JudgeProgramError::File { path, error }
        };
        let folder = temporary_folder::create().map_err(failed(&std::env::temp_dir()))?;
        if !is_inside(&change.path) {
            return Err(failed(&change.path)(io::ErrorKind::InvalidInput.into()));
        }
        let changed = folder.path().join("changed").join(&change.path);
        let written = changed.parent().map_or(Ok(()), fs::create_dir_all);
        written.and_then(|()| fs::write(&changed, &change.text)).map_err(failed(&changed))?;
        let request = Request {
            version: VERSION,
            workspace: &self.workspace,
            path: &change.path,
            runner: tests.runner.name(),
            folder: &tests.folder,
            tests: &tests.ids,
            time_limit_seconds: limit.as_secs_f64(),
        };
        let path = folder.path().join("request.json");
        let text = serde_json::to_vec(&request).map_err(|error| failed(&path)(error.into()))?;
        fs::write(&path, text).map_err(failed(&path))?;
        Ok(folder)
    }
}

/// Waits for the end of a program; kills it and its group at the limit or once it is stopped, and returns `None`.
fn wait(child: &mut Child, limit: Duration, stop: &CancellationToken) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if start.elapsed() < limit && !stop.is_cancelled() => thread::sleep(POLL),
            Ok(None) | Err(_) => {
                kill(child);
                return None;
            }
        }
    }
}

fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // The group may have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn read_verdict(folder: &Path) -> Result<ProgramVerdict, String> {
    let file = fs::File::open(folder.join("verdict.json"))
        .map_err(|error| format!("verdict.json cannot be read: {error}"))?;
    let mut text = String::new();
    let read = file.take(MAX_VERDICT_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| format!("verdict.json cannot be read: {error}"))?;
    if text.len() as u64 > MAX_VERDICT_BYTES {
        return Err(format!("verdict.json has more than {} MB", MAX_VERDICT_BYTES >> 20));
    }
    serde_json::from_str(&text).map_err(|error| format!("verdict.json is invalid: {error}"))
}

/// Returns the beginning of a program's messages, after a line end; nothing if there are none.
fn beginning_of(messages: &Path) -> String {
    let mut kept = Vec::new();
    // Messages only explain an error that is reported anyway.
    let _ = fs::File::open(messages).and_then(|file| file.take(MESSAGE_BYTES).read_to_end(&mut kept));
    let text = String::from_utf8_lossy(&kept).trim().to_owned();
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(all(test, unix))]
mod tests {
    use cases::TestRunnerKind;

    use super::*;

    fn judge(script: &str, limit: Duration) -> Result<ProgramVerdict, JudgeProgramError> {
        let workspace = tempfile::tempdir().expect("a folder");
        let words = ["sh", "-c", script, "judge"].map(str::to_owned).to_vec();
        judge_with(&JudgeProgram::new(words, workspace.path().to_owned()), limit)
    }

    fn judge_with(program: &JudgeProgram, limit: Duration) -> Result<ProgramVerdict, JudgeProgramError> {
        let tests = CaseTests {
            runner: TestRunnerKind::Pytest,
            folder: String::new(),
            ids: vec!["t.py::a".to_owned()],
            seconds: 1.0,
            must_return: false,
        };
        let change = ChangedFile { path: "src/a.py".into(), text: "x = 1\n".to_owned() };
        program.judge(&tests, &change, limit)
    }

    #[test]
    fn program_reads_the_request_and_the_changed_file() {
        let script = r#"grep -q '"tests":\["t.py::a"\]' $1/request.json && grep -q 'x = 1' $1/changed/src/a.py &&
            echo '{"verdict":"failed","not_passed":["t.py::a"],"output":"no"}' > $1/verdict.json"#;
        let verdict = judge(script, Duration::from_secs(5)).expect("a verdict");
        let expected = ProgramVerdict {
            verdict: TestVerdict::Failed,
            not_passed: ["t.py::a".to_owned()].into(),
            output: "no".to_owned(),
        };
        assert_eq!(verdict, expected);
    }

    #[test]
    fn programs_without_a_verdict_are_errors_that_say_why() {
        for (script, why) in [
            ("echo broken >&2; exit 3", "broken"),
            ("sleep 60 & echo left behind >&2; exit 4", "left behind"),
            ("exit 0", "verdict.json cannot be read"),
            ("echo '{\"verdict\":\"maybe\"}' > $1/verdict.json", "verdict.json is invalid"),
            ("head -c 9000000 /dev/zero > $1/verdict.json", "more than 8 MB"),
        ] {
            let error = judge(script, Duration::from_secs(5)).expect_err(script).to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn stopped_program_is_killed() {
        let stop = CancellationToken::new();
        let words = ["sh", "-c", "sleep 600", "judge"].map(str::to_owned).to_vec();
        let program = JudgeProgram::new(words, std::env::temp_dir()).stopped_by(stop.clone());
        stop.cancel();
        let stopped = judge_with(&program, Duration::from_secs(600));
        assert!(matches!(stopped, Err(JudgeProgramError::Stopped)), "{stopped:?}");
    }

    #[test]
    fn missing_program_names_the_setting() {
        let program = JudgeProgram::new(vec!["/no/such/judge".to_owned()], std::env::temp_dir());
        let error = judge_with(&program, Duration::ZERO).expect_err("no program").to_string();
        assert!(error.contains("[tests]"), "{error}");
    }
}
