//! A language server for tests: this test's own program, started once more. The document of a request selects its misbehaviour,
//! or its arguments if that comes before any document. It logs all messages that it receives.
//!
//! The test harness prints a few lines first, as many a real server's runtime does.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use config::Secret;
use engines::Program;
use serde_json::{Value, json};

/// Its mode: `offers`, `registers`, `lists`, `nothing`, `hangs`, `dies`.
const BEGINNING: &str = "GHOSTBENCH_TEST_SERVER";
/// Path of its log.
const LOG: &str = "GHOSTBENCH_TEST_SERVER_LOG";

/// The text that it inserts.
pub(crate) const INSERTED: &str = "width * height";

/// The program, with its log at `log`.
pub(crate) fn program(beginning: &str, log: &Path) -> Program {
    let this = env::current_exe().expect("a running test has a path");
    let arguments = ["language_servers::server::server_main", "--exact", "--nocapture", "--test-threads=1"];
    let variables =
        [(BEGINNING, beginning), (LOG, log.to_str().expect("temporary folders have plain names"))];
    Program {
        command: [this.to_str().expect("targets have plain names")]
            .into_iter()
            .chain(arguments)
            .map(str::to_owned)
            .collect(),
        env: variables.map(|(name, value)| (name.to_owned(), Secret::new(value))).into(),
        folder: None,
    }
}

/// The logged messages and starts.
pub(crate) fn heard(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Not a test, but the server's `main`; does nothing unless started as a server.
#[test]
fn server_main() {
    if let (Ok(beginning), Ok(log)) = (env::var(BEGINNING), env::var(LOG)) {
        Serving { beginning, log: log.into(), document: String::new(), held: Vec::new() }.run();
    }
}

struct Serving {
    beginning: String,
    log: PathBuf,
    /// The latest opened document.
    document: String,
    /// Requests that wait for another one.
    held: Vec<Value>,
}

impl Serving {
    fn run(mut self) -> ! {
        let here = env::current_dir().expect("it has a folder");
        let files = fs::read_dir(&here).expect("its folder can be read").count();
        self.note(&json!({"started": here, "files": files}));
        match self.beginning.as_str() {
            "dies" => fail("no licence"),
            "hangs" => loop {
                thread::sleep(Duration::from_secs(600));
            },
            _ => {}
        }
        while let Some(message) = read() {
            self.note(&message);
            self.hear(&message);
        }
        std::process::exit(0)
    }

    fn note(&self, message: &Value) {
        let mut log = OpenOptions::new().create(true).append(true).open(&self.log).expect("the log is ours");
        log.write_all(format!("{message}\n").as_bytes()).expect("the log is ours");
    }

    fn hear(&mut self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = match self.beginning.as_str() {
                    "offers" => json!({"inlineCompletionProvider": {}, "positionEncoding": "utf-8"}),
                    "lists" => json!({"completionProvider": {}}),
                    _ => json!({}),
                };
                answer(id, &json!({"capabilities": capabilities}));
            }
            Some("initialized") => {
                say(
                    &json!({"id": "settings", "method": "workspace/configuration", "params": {"items": [{"section": "vendor"}]}}),
                );
                if self.beginning == "registers" {
                    let registrations = json!([{"id": "1", "method": "textDocument/inlineCompletion"}]);
                    let params = json!({"registrations": registrations});
                    say(&json!({"id": "register", "method": "client/registerCapability", "params": params}));
                }
            }
            Some("textDocument/didOpen") => {
                self.document =
                    message["params"]["textDocument"]["text"].as_str().unwrap_or_default().to_owned();
            }
            Some("textDocument/inlineCompletion") => self.complete(id),
            // Too late, and for a request that is no longer pending.
            Some("$/cancelRequest") => answer(&message["params"]["id"], &item("late")),
            Some("shutdown") => answer(id, &Value::Null),
            Some("exit") => std::process::exit(0),
            _ => {}
        }
    }

    fn complete(&mut self, id: &Value) {
        let does = |word: &str| self.document.contains(word);
        if does("# crashes") {
            fail("out of memory");
        } else if does("# rubbish") {
            write("Content-Length: 7\r\n\r\nrubbish");
        } else if does("# babbles") {
            write(&"y\n".repeat(100_000));
        } else if does("# endless") {
            write("Content-Length: 104857600\r\n\r\n");
        } else if does("# refuses") {
            let key = env::var("TOKEN").unwrap_or_default();
            say(&json!({"method": "window/showMessage", "params": {"type": 1, "message": "sign in first"}}));
            say(&json!({"id": id, "error": {"code": 1000, "message": format!("bad token {key}")}}));
        } else if does("# confuses") {
            answer(&json!(4711), &item("of nobody"));
            answer(&json!("0"), &item("of nobody"));
            answer(id, &item(INSERTED));
        } else if does("# pairs") {
            self.held.push(id.clone());
            if self.held.len() == 2 {
                self.held.drain(..).for_each(|id| answer(&id, &item(INSERTED)));
            }
        } else if does("# a choice") {
            // The second one is for another position.
            let elsewhere = json!({"line": 0, "character": 0});
            let elsewhere = json!({"insertText": "x", "range": {"start": elsewhere, "end": elsewhere}});
            let texts = [INSERTED, "other", "third"].map(|text| json!({"insertText": text}));
            let [first, second, third] = texts;
            answer(id, &json!({"items": [first, elsewhere, second, third]}));
        } else if does("# another place") {
            let start = json!({"line": 0, "character": 0});
            let end = json!({"line": 0, "character": 1});
            let item = json!({"insertText": "//", "range": {"start": start, "end": end}});
            answer(id, &json!({"items": [item]}));
        } else if !does("# ignores") {
            answer(id, &item(INSERTED));
        }
    }
}

fn item(text: &str) -> Value {
    json!({"items": [{"insertText": text}]})
}

fn answer(id: &Value, result: &Value) {
    say(&json!({"id": id, "result": result}));
}

fn say(message: &Value) {
    let body = message.to_string();
    write(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
}

/// The client may have closed the pipe.
fn write(text: &str) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

fn fail(reason: &str) -> ! {
    let _ = writeln!(io::stderr(), "starting\n{reason}");
    std::process::exit(3)
}

/// Reads the next message; `None` at the end.
fn read() -> Option<Value> {
    let mut input = io::stdin().lock();
    let mut header = Vec::new();
    while !header.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        input.read_exact(&mut byte).ok()?;
        header.push(byte[0]);
    }
    let header = String::from_utf8(header).ok()?;
    let length = header.trim().strip_prefix("Content-Length: ")?.parse().ok()?;
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
