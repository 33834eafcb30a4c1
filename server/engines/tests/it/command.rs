//! Programs as engines, played by shell scripts.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use config::Secret;
use engines::{
    Answer, AnswerListener, CommandEngine, CommandSettings, Engine, EngineError, FinishReason, Program,
    ProgramError, Request, Usage,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::harness::{FIXTURE, Heard, KEY, ask, ask_for, request, with_context};

/// Timeout; generous for a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

/// Reads the next request and its number.
const READ: &str = "read -r line || exit 0; id=${line#*'\"id\":'}; id=${id%%,*};";

/// A program with its own folder for files.
struct Tested {
    engine: CommandEngine,
    folder: TempDir,
}

impl Tested {
    /// Content of the file `name` in the folder.
    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Waits until that file holds a text.
    async fn until(&self, name: &str, text: &str) {
        let end = Instant::now() + LIMIT;
        while !self.file(name).contains(text) {
            assert!(Instant::now() < end, "no {text} in {name}: {}", self.file(name));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn text(&self) -> String {
        let (answer, heard) = ask(&self.engine).await;
        answer.expect("the program answers");
        heard.text
    }

    async fn message(&self) -> String {
        fault(ask(&self.engine).await.0).to_string()
    }
}

fn settings(script: &str, folder: Option<PathBuf>) -> CommandSettings {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    CommandSettings {
        name: "tested".to_owned(),
        program: Program { command, env: [("KEY".to_owned(), Secret::new(KEY))].into(), folder },
        model: Some("coder".to_owned()),
        max_tokens: 64,
        max_concurrency: None,
        start_timeout: LIMIT,
    }
}

/// An engine that runs a script.
fn program(script: &str) -> Tested {
    program_with(script, |_| {})
}

fn program_with(script: &str, set: impl FnOnce(&mut CommandSettings)) -> Tested {
    let folder = TempDir::new().expect("there is room for temporary files");
    let mut settings = settings(script, Some(folder.path().to_owned()));
    set(&mut settings);
    Tested { engine: CommandEngine::new(settings), folder }
}

/// A program that treats all requests alike.
fn answering(script: &str) -> Tested {
    program(&format!("while :; do {READ} {script}; done"))
}

/// The error of a request; checks that none of its forms contains the key.
#[track_caller]
fn fault(answer: Result<Answer, EngineError>) -> ProgramError {
    let error = answer.expect_err("the test expects no answer");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    match error {
        EngineError::Program { fault, .. } => fault,
        other => panic!("no fault of the program: {other}"),
    }
}

/// A request with a short deadline.
fn urgent(text: &str) -> Request {
    Request { deadline: Some(tokio::time::Instant::now() + Duration::from_millis(100)), ..request(text) }
}

/// Sends a request with a timeout at its deadline, as a completion does.
async fn ask_until_deadline(engine: &CommandEngine, request: Request) {
    let until = request.deadline.expect("the test sets one");
    let answer = tokio::time::timeout_at(until, ask_for(engine, request)).await;
    assert!(answer.is_err(), "{:?}", answer.map(|(answer, heard)| (answer, heard.text)));
}

#[tokio::test]
async fn request_and_response_carry_all_fields() {
    let end = r#"{"id":%s,"text":"dth","done":true,"finish":"length","usage":{"input":7,"output":2},"confidence":0.5}\n"#;
    let tested = answering(&format!(
        r#"printf '%s' "$line" > question; printf '{{"id":%s,"text":"wi"}}\n' $id; printf '{end}' $id"#
    ));
    let asked = Request { invoked: true, ..with_context(request(FIXTURE)) };
    let (answer, heard) = ask_for(&tested.engine, asked).await;
    let usage = Some(Usage { input: 7, output: 2, cached: None });
    let expected = Answer { confidence: Some(0.5), usage, ..Answer::with_finish(FinishReason::Length) };
    assert_eq!((answer.unwrap(), heard.text.as_str()), (expected, "width"));
    let mut question: Value = serde_json::from_str(&tested.file("question")).expect("a question is JSON");
    let left = question["deadline_ms"].take().as_u64().expect("there is a deadline");
    assert!((1..=20_000).contains(&left), "{left}");
    expect_test::expect![[r#"
        {
          "context": [
            {
              "path": "src/near.py",
              "text": "def near():\n    pass\n"
            },
            {
              "path": "src/far.py",
              "text": "def far():\n    pass\n"
            }
          ],
          "deadline_ms": null,
          "id": 1,
          "invoked": true,
          "language": "python",
          "max_tokens": 64,
          "model": "coder",
          "path": "src/area.py",
          "prefix": "def area(width, height):\n    return ",
          "suffix": "\n\nprint(area(2, 3))\n"
        }"#]]
    .assert_eq(&format!("{question:#}"));
}

#[tokio::test]
async fn one_program_serves_all_requests_until_engine_is_dropped() {
    let tested = answering(r#"echo "{\"id\":$id,\"text\":\"$$\",\"done\":true}""#);
    let process = tested.text().await;
    assert_eq!(tested.text().await, process);
    let is_alive =
        || std::process::Command::new("kill").args(["-0", &process]).output().unwrap().status.success();
    assert!(is_alive());
    drop(tested);
    let end = Instant::now() + LIMIT;
    while is_alive() {
        assert!(Instant::now() < end, "{process} lives on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn program_that_exits_after_its_answer_is_restarted() {
    let tested = program(r#"read -r line; echo "{\"text\":\"$$\",\"done\":true}""#);
    let first = tested.text().await;
    assert_ne!(tested.text().await, first);
    let together = futures_util::future::join_all((0..5).map(|_| tested.text())).await;
    let processes: std::collections::BTreeSet<_> = together.iter().collect();
    assert_eq!(processes.len(), 5, "each question has a program of its own: {together:?}");
}

#[tokio::test]
async fn concurrent_answers_may_come_in_any_order() {
    let tested = program(
        r#"
        read -r first; read -r second
        echo '{"id":2,"text":"se"}'; echo '{"id":1,"text":"fir"}'; echo '{"id":99,"text":"unasked"}'
        echo '{"id":2,"text":"cond","done":true}'; echo '{"id":1,"text":"st","done":true}'
        cat > /dev/null"#,
    );
    assert_eq!(tokio::join!(tested.text(), tested.text()), ("first".to_owned(), "second".to_owned()));
}

#[tokio::test]
async fn concurrency_setting_limits_requests_in_flight() {
    let script = format!("{READ} sleep 0.2; printf '{{\"text\":\"%s\",\"done\":true}}\\n' $id; {READ} cat");
    let tested = program_with(&script, |settings| settings.max_concurrency = Some(1));
    let both = async { tokio::join!(tested.text(), ask_until_deadline(&tested.engine, urgent(FIXTURE))).0 };
    assert_eq!(both.await, "1", "the second question waited, and was never asked");
}

#[tokio::test]
async fn byte_order_mark_and_unknown_fields_are_ignored() {
    let tested = program(r#"read -r line; printf '\357\273\277{"text":"é😀\\n","new":{},"done":true}\r\n'"#);
    assert_eq!(tested.text().await, "é😀\n");
}

#[tokio::test]
async fn every_program_failure_has_its_message() {
    for (script, expected) in [
        ("echo \"no model for $KEY\" >&2; exit 3", "`sh` ended with exit code 3: no model for (the key)"),
        ("read -r line; exit 0", "`sh` ended with exit code 0"),
        ("read -r line; kill -s KILL $$", "`sh` ended by signal: 9 (SIGKILL)"),
        (
            "read -r line; echo Loading; cat",
            "`sh` wrote something else than lines of its protocol: expected value at line 1 column 1; messages belong on its \
             standard error",
        ),
        (
            "read -r line; echo '{\"text\":1}'; cat",
            "`sh` wrote something else than lines of its protocol: a field has the wrong type (column 9)",
        ),
        (
            "read -r line; printf '{\"text\":\"\\303\"}\\n'; cat",
            "`sh` wrote something else than lines of its protocol: it is not UTF-8",
        ),
        (
            "read -r line; exec >&-; sleep 600",
            "`sh` wrote something else than lines of its protocol: it closed its standard output",
        ),
        (
            "read -r line; head -c 100000000 /dev/zero | tr '\\0' x; cat",
            "`sh` wrote a line of more than 4 MB",
        ),
        ("read -r line; echo '{\"error\":\"no quota for $KEY\"}'; cat", "`sh` failed: no quota for $KEY"),
        ("read -r line; echo \"{\\\"error\\\":\\\"bad $KEY\\\"}\"; cat", "`sh` failed: bad (the key)"),
    ] {
        assert_eq!(program(script).message().await, expected, "{script}");
    }
    let missing = program_with("", |settings| settings.program.command = vec!["no-such-program".to_owned()]);
    assert_eq!(
        missing.message().await,
        "there is no program `no-such-program`; install it, or correct `command`"
    );
    let (answer, _) = ask(&missing.engine).await;
    let error = answer.expect_err("there is no program");
    assert_eq!(error.cause(), "program_not_found");
    assert!(error.to_string().starts_with("engine `tested`: there is no program"));
}

#[tokio::test]
async fn text_before_a_crash_is_kept() {
    for end in ["exit 1", "printf '{\"te'; exit 1", "printf '\\303'; exit 1"] {
        let tested = program(&format!("read -r line; echo '{{\"text\":\"half\"}}'; echo broken >&2; {end}"));
        let (answer, heard) = ask(&tested.engine).await;
        assert_eq!(fault(answer).to_string(), "`sh` ended with exit code 1: broken", "{end}");
        assert_eq!(heard.text, "half");
    }
}

#[tokio::test]
async fn last_line_needs_no_line_end() {
    assert_eq!(program(r#"read -r line; printf '{"text":"x","done":true}'"#).text().await, "x");
}

#[tokio::test]
async fn stderr_flood_does_not_block_answers() {
    let flood = "yes overflow | head -n 200000 >&2";
    let tested =
        answering(&format!("{flood}; echo \"{{\\\"id\\\":$id,\\\"text\\\":\\\"x\\\",\\\"done\\\":true}}\""));
    assert_eq!((tested.text().await, tested.text().await), ("x".to_owned(), "x".to_owned()));
}

#[tokio::test]
async fn crashing_program_is_not_restarted_for_every_request() {
    let tested = program("echo started >> log; echo 'no model' >&2; exit 1");
    for _ in 0..6 {
        assert_eq!(tested.message().await, "`sh` ended with exit code 1: no model");
    }
    assert_eq!(tested.file("log").lines().count(), 2, "once, and once again");
}

#[tokio::test]
async fn next_request_restarts_a_crashed_program() {
    let tested = program(&format!(
        "{READ} echo \"{{\\\"id\\\":$id,\\\"text\\\":\\\"x\\\",\\\"done\\\":true}}\"; {READ} echo '{{\"text\":\"y\"}}'; exit 1"
    ));
    for _ in 0..3 {
        assert_eq!(tested.text().await, "x");
        assert_eq!(tested.message().await, "`sh` ended with exit code 1");
    }
}

/// Counts the pieces, and stops when it has enough.
async fn ask_for_one_piece(engine: &CommandEngine) -> (Answer, String) {
    let mut heard = Heard { enough: Some(1), ..Heard::default() };
    let answer = engine.complete(request(FIXTURE), &mut heard, &CancellationToken::new()).await;
    (answer.expect("the program answers"), heard.text)
}

#[tokio::test]
async fn stopping_early_cancels_and_late_answers_are_ignored() {
    let tested = program(
        r#"
        read -r line; echo '{"id":1,"text":"first"}'
        read -r line; echo "$line" > cancelled; echo '{"id":1,"text":"late"}'; echo '{"id":1,"done":true}'
        read -r line; echo '{"id":1,"text":"later"}'; echo '{"id":2,"text":"second","done":true}'
        cat > /dev/null"#,
    );
    let (answer, text) = ask_for_one_piece(&tested.engine).await;
    assert_eq!((answer.finish, text.as_str()), (FinishReason::Complete, "first"));
    tested.until("cancelled", "{\"cancel\":1}").await;
    assert_eq!(tested.text().await, "second");
}

#[tokio::test]
async fn cancelling_returns_at_once_and_is_sent_to_the_program() {
    let tested = program("read -r line; echo asked > asked; read -r line; echo \"$line\" > cancelled; cat");
    let (mut heard, cancel) = (Heard::default(), CancellationToken::new());
    let cancelling = async {
        tested.until("asked", "asked").await;
        cancel.cancel();
        Instant::now()
    };
    let asking = async {
        let answer = tested.engine.complete(request(FIXTURE), &mut heard, &cancel).await;
        (answer, Instant::now())
    };
    let ((answer, freed), cancelled) = tokio::join!(asking, cancelling);
    assert!(matches!(answer, Err(EngineError::Cancelled)), "{answer:?}");
    assert!(freed.saturating_duration_since(cancelled) < Duration::from_millis(50));
    tested.until("cancelled", "{\"cancel\":1}").await;
}

/// Accepts everything.
struct Patient(usize);

impl AnswerListener for Patient {
    fn text(&mut self, piece: &str) -> std::ops::ControlFlow<()> {
        self.0 += piece.len();
        std::ops::ControlFlow::Continue(())
    }
}

#[tokio::test]
async fn endless_answer_is_truncated_and_its_program_killed() {
    let piece = "x".repeat(1000);
    let tested = program(&format!("echo $$ >> processes; exec yes '{{\"text\":\"{piece}\"}}'"));
    let mut patient = Patient(0);
    let answer = tested.engine.complete(request(FIXTURE), &mut patient, &CancellationToken::new()).await;
    assert_eq!(answer.expect("there is enough of it").finish, FinishReason::Length);
    assert!((1 << 20..(1 << 20) + 2000).contains(&patient.0), "{}", patient.0);
    let process = tested.file("processes").trim().to_owned();
    let end = Instant::now() + LIMIT;
    while std::process::Command::new("kill").args(["-0", &process]).output().unwrap().status.success() {
        assert!(Instant::now() < end, "{process} goes on writing");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn program_that_reads_nothing_does_not_block_and_is_restarted() {
    let script = "test -e started && { read -r line; echo '{\"text\":\"x\",\"done\":true}'; exit; }; echo > started; sleep 600";
    let tested = program_with(script, |settings| settings.start_timeout = Duration::from_millis(1));
    // More than any pipe's buffer.
    let long = format!("{}$0", "x = 1\n".repeat(100_000));
    for _ in 0..3 {
        ask_until_deadline(&tested.engine, urgent(&long)).await;
    }
    let silence = "`sh` answered no question within 1ms; it has to write each answer to its standard output and flush it (docs/command-engine.md), and `start_timeout_ms` gives it more time to load";
    assert_eq!(tested.message().await, silence);
    let end = Instant::now() + LIMIT;
    while let Err(EngineError::Program { fault, .. }) = ask(&tested.engine).await.0 {
        assert!(Instant::now() < end, "it is not started again: {fault}");
        assert_eq!(fault.to_string(), silence, "the pause");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(tested.text().await, "x");
}

/// Paused time, which only advances while everything waits.
#[tokio::test(start_paused = true)]
async fn program_without_done_is_killed_and_reported_with_a_remedy() {
    let without_done = "echo '{\"text\":\"x\"}'";
    for script in [
        format!("echo >> starts; while :; do {READ} {without_done}; done"),
        // Requests are JSON objects too.
        "echo >> starts; exec cat".to_owned(),
    ] {
        let tested = program(&script);
        let ended = "`sh` began an answer and did not end it within 10s; the last line of an answer needs `\"done\": true` (docs/command-engine.md)";
        for _ in 0..5 {
            assert_eq!(tested.message().await, ended, "{script}");
        }
        assert_eq!(tested.file("starts"), "\n", "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn program_may_pause_after_its_first_complete_answer() {
    let script = format!(
        "{READ} echo '{{\"text\":\"first\",\"done\":true}}'; {READ} echo '{{\"text\":\"sec\"}}'; sleep 0.2; echo '{{\"text\":\"ond\",\"done\":true}}'"
    );
    let tested = program(&script);
    assert_eq!(tested.text().await, "first");
    assert_eq!(tested.text().await, "second");
}

#[tokio::test]
async fn deadlines_do_not_interrupt_the_start_of_a_program() {
    let script = "echo > started; while ! test -e ready; do sleep 0.01; done; exec cat > questions";
    let tested = program(script);
    for _ in 0..5 {
        ask_until_deadline(&tested.engine, urgent(FIXTURE)).await;
    }
    fs::write(tested.folder.path().join("ready"), "").unwrap();
    tested.until("questions", "\"id\":1").await;
    tested.until("questions", "{\"cancel\":1}").await;
}

#[test]
fn description_covers_settings_without_paths_and_keys() {
    let settings = CommandSettings {
        program: Program {
            command: vec!["/opt/bin/complete".to_owned(), "--fast".to_owned(), format!("--key={KEY}")],
            ..settings("", None).program
        },
        ..settings("", None)
    };
    let engine = CommandEngine::new(settings);
    let description = engine.description();
    assert_eq!((description.kind.name(), description.model.as_str()), ("command", "coder"));
    let described: Vec<_> =
        description.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(described, ["command=complete --fast --key=(the key)", "env=KEY", "max_tokens=64"]);
}
