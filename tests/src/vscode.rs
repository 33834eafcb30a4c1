//! A real VS Code with the extension of `vscode-extension` and the real server.
//!
//! It is code-server, rendered by a headless Chromium. A Node script starts both, presses keys and reads the rendered text; it
//! ends them when its input ends, so that nothing outlives a test. There are no fixed delays: conditions are polled.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::message_log::MessageLog;
use crate::component::{component, missing};
use crate::process::{TIME_LIMIT, wait_at_most};
use crate::{Project, binary, wait_until};

mod message_log;

/// Folder with the output of `npm run package`.
const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vscode-extension/dist");

/// Time after which something without an effect is done again: a busy window loses keys.
const REPEAT_AFTER: Duration = Duration::from_secs(5);

/// Describes a page in which something is missing.
const LOOK_OF_PAGE: &str = "[document.body.className, getComputedStyle(document.body).backgroundColor, \
    document.body.innerText.length, document.visibilityState].join(', ')";

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Timeout of a regular shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(30);

/// A window with a file of a project. Dropping it closes it.
pub struct VsCode {
    driver: Child,
    requests: RefCell<Option<ChildStdin>>,
    answers: Receiver<String>,
    message_log: MessageLog,
    file: PathBuf,
    settings: PathBuf,
}

/// Options of a window.
pub struct WindowOptions<'a> {
    /// The user's settings, except for the server.
    pub settings: Value,
    /// The server; default: ours.
    pub server: Option<&'a Path>,
    /// Whether the workspace is trusted.
    pub is_trusted: bool,
}

impl VsCode {
    /// Opens a file of a project and waits until the server, started with additional arguments, serves it. Prints a message and
    /// returns `None` if VS Code is missing.
    ///
    /// # Panics
    ///
    /// If the server is not ready in time.
    #[track_caller]
    pub fn open(project: &Project, file: &str, server_arguments: &[&str]) -> Option<VsCode> {
        let settings = json!({"ghostbench.server.arguments": server_arguments});
        let editor =
            VsCode::start(project, file, WindowOptions { settings, server: None, is_trusted: true })?;
        editor.wait_until_served();
        Some(editor)
    }

    /// Opens a file of a project and waits until it can be edited. Prints a message and returns `None` if VS Code is missing.
    ///
    /// # Panics
    ///
    /// If the window is not ready in time.
    #[track_caller]
    pub fn start(project: &Project, file: &str, opening: WindowOptions<'_>) -> Option<VsCode> {
        let (code_server, chromium, node) =
            (component("code-server")?, component("chromium")?, component("node")?);
        let [script, extension] =
            ["test/driver.mjs", "ghostbench.vsix"].map(|built| Path::new(BUILT).join(built));
        if !script.is_file() || !extension.is_file() {
            missing("the VS Code extension is not built; `cargo xtask test` builds it");
            return None;
        }
        let wire = MessageLog::new(project, &binary());
        let profile = project.sibling_path("vscode");
        let mut settings = opening.settings;
        settings["ghostbench.server.path"] = json!(opening.server.unwrap_or(wire.server()));
        let options = json!({
            "codeServer": code_server,
            "chromium": chromium,
            "extension": extension,
            "profile": profile,
            "folder": project.root(),
            "file": file,
            "settings": settings,
            "isTrusted": opening.is_trusted,
        });
        let mut command = project.command(&node, "");
        command.arg(script).env("GHOSTBENCH_DRIVER", options.to_string());
        let settings = profile.join("data/Machine/settings.json");
        let editor = VsCode::drive(command, wire, project.root().join(file), settings);
        editor.focus_text();
        Some(editor)
    }

    fn drive(mut command: Command, wire: MessageLog, file: PathBuf, settings: PathBuf) -> VsCode {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut driver = command.spawn().expect("Node can be started");
        let output = driver.stdout.take().expect("the output is piped");
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            // The receiver is dropped once the test is over.
            BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let requests = RefCell::new(driver.stdin.take());
        VsCode { driver, requests, answers, message_log: wire, file, settings }
    }

    /// Waits until the server runs and has read the workspace.
    #[track_caller]
    pub fn wait_until_served(&self) {
        self.wait_until("Eyes.isServed()");
        let is_read = |message: &Value| {
            message["method"] == "ghostbench/didChangeStatus" && message["params"]["busy"] == false
        };
        wait_until("the workspace is read", || self.sent_by_server().iter().any(is_read));
    }

    /// Opens a file of the workspace in another tab.
    #[track_caller]
    pub fn open_file(&self, name: &str) {
        self.press_until_asked("Control+p");
        self.type_text(name);
        self.wait_until(&format!("Eyes.chosen() === {}", Value::from(name)));
        self.press("Enter");
        self.wait_until(&format!("Eyes.focus() !== 'question' && Eyes.tab() === {}", Value::from(name)));
    }

    /// Evaluates an expression in each page that the extension shows, and returns the results.
    #[track_caller]
    pub fn pages(&self, script: &str) -> Vec<Value> {
        self.ask(&json!({"do": "pages", "script": script})).as_array().cloned().unwrap_or_default()
    }

    /// Waits until a page of the extension contains these words.
    #[track_caller]
    pub fn wait_for_page(&self, words: &str) {
        let shows = |page: &Value| page.as_str().is_some_and(|text| text.contains(words));
        self.wait_for(&format!("a page shows {words:?}"), || {
            self.pages("document.body.innerText").iter().any(shows)
        });
    }

    /// Opens another window with the same file, which is driven from then on. Returns its number; the first window has 0.
    #[track_caller]
    pub fn open_window(&self) -> u64 {
        let number = self.ask(&json!({"do": "openWindow"})).as_u64().expect("it has a number");
        self.focus_text();
        number
    }

    /// Drives another window from now on.
    #[track_caller]
    pub fn use_window(&self, number: u64) {
        self.ask(&json!({"do": "useWindow", "number": number}));
        self.focus_text();
    }

    /// Puts the keyboard's focus into the text.
    #[track_caller]
    pub fn focus_text(&self) {
        self.wait_until("document.querySelector('.editor-instance .view-lines') !== null");
        self.click(".editor-instance .view-lines");
        self.wait_until("Eyes.focus() === 'text'");
    }

    /// Types text, key by key.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.ask(&json!({"do": "type", "text": text}));
    }

    /// Presses keys together, such as `Control+ExitReason`.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.ask(&json!({"do": "press", "keys": keys}));
    }

    /// Presses keys until VS Code asks a question: a window that is busy or draws another page may lose keys.
    #[track_caller]
    fn press_until_asked(&self, keys: &str) {
        self.repeat_until(
            "VS Code asks",
            || self.press(keys),
            || self.evaluate("Eyes.focus() === 'question'") == true,
        );
    }

    /// Does something until it has an effect, again after a time that doubles.
    ///
    /// # Panics
    ///
    /// On timeout.
    #[track_caller]
    pub fn repeat_until(&self, what: &str, act: impl Fn(), has_effect: impl Fn() -> bool) {
        let (mut last, mut interval) = (None::<Instant>, REPEAT_AFTER);
        self.wait_for(what, || {
            if last.is_none_or(|last| last.elapsed() > interval) {
                interval *= if last.is_some() { 2 } else { 1 };
                act();
                last = Some(Instant::now());
            }
            has_effect()
        });
    }

    /// Waits for a list with this entry, and chooses the entry.
    #[track_caller]
    pub fn answer(&self, label: &str) {
        self.wait_until(&format!("Eyes.choices().includes({})", Value::from(label)));
        self.choose(label);
    }

    /// Clicks the element of a selector.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.ask(&json!({"do": "click", "selector": selector}));
    }

    /// Moves the cursor to a line and a column, both from 1.
    #[track_caller]
    pub fn go_to(&self, line: usize, column: usize) {
        self.press_until_asked("Control+g");
        self.type_text(&format!("{line}:{column}"));
        self.press("Enter");
        self.wait_until(&format!("Eyes.focus() === 'text' && Eyes.cursor() === 'Ln {line}, Col {column}'"));
    }

    /// Runs a command by its title in the command palette.
    #[track_caller]
    pub fn run(&self, title: &str) {
        let is_chosen = format!("Eyes.focus() === 'question' && Eyes.chosen() === {}", Value::from(title));
        let ask = || {
            self.press_until_asked("F1");
            self.type_text(title);
        };
        // A page that opens meanwhile takes the focus, which closes the palette.
        self.repeat_until(&format!("{title} is chosen"), ask, || self.evaluate(&is_chosen) == true);
        self.press("Enter");
    }

    /// Chooses an entry of the visible list, by its name.
    #[track_caller]
    pub fn choose(&self, label: &str) {
        self.type_text(label);
        self.wait_until(&format!("Eyes.chosen() === {}", Value::from(label)));
        self.press("Enter");
    }

    /// Changes the user's settings.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn set(&self, settings: &Value) {
        std::fs::write(&self.settings, settings.to_string()).expect("the temporary folder is ours");
    }

    /// Returns the program for the server's setting: a script that runs the real server and records every message.
    pub fn server(&self) -> &Path {
        self.message_log.server()
    }

    /// Evaluates an expression in the window, where `Eyes` is defined.
    #[track_caller]
    pub fn evaluate(&self, script: &str) -> Value {
        self.ask(&json!({"do": "evaluate", "script": script}))
    }

    /// Waits until an expression is true in the window.
    ///
    /// # Panics
    ///
    /// On timeout.
    #[track_caller]
    pub fn wait_until(&self, script: &str) {
        self.wait_for(&format!("`{script}`"), || self.evaluate(&format!("Boolean({script})")) == true);
    }

    /// Waits until a condition is true. A failure says what the window shows, and keeps a picture of it.
    #[track_caller]
    pub fn wait_for(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let poll = || {
            let is_so = is_true();
            if !is_so {
                thread::sleep(POLL_INTERVAL);
            }
            is_so
        };
        wait_at_most(TIME_LIMIT, poll, || {
            let picture = Path::new(BUILT).join("test").join(format!("failure-{}.png", std::process::id()));
            self.ask(&json!({"do": "screenshot", "path": picture}));
            let file = std::fs::read_to_string(&self.file);
            let seen = self.evaluate("Eyes.summary()");
            let pages = self.pages(LOOK_OF_PAGE);
            format!(
                "{what} in VS Code, which shows {seen}; pages look like {pages:?}; the file is {file:?}; picture: {}",
                picture.display()
            )
        });
    }

    /// Waits until ghost text other than the text on the left is shown, and returns it.
    #[track_caller]
    pub fn wait_for_ghost_text(&self) -> String {
        let mut ghost = None;
        self.wait_for("ghost text is shown", || {
            ghost = self.evaluate("Eyes.ghostText()").as_str().map(str::to_owned);
            ghost.is_some()
        });
        ghost.expect("it was waited for")
    }

    /// Waits until this ghost text is shown. Several lines are drawn one after another, so that the first text may be a part of it.
    #[track_caller]
    pub fn wait_for_this_ghost_text(&self, text: &str) {
        self.wait_until(&format!("Eyes.ghostText() === {}", Value::from(text)));
    }

    /// Waits for a message to the user with these words.
    #[track_caller]
    pub fn wait_for_message(&self, words: &str) {
        self.wait_until(&format!("Eyes.messages().some((text) => text.includes({}))", Value::from(words)));
    }

    /// Writes an image of the window as PNG.
    #[track_caller]
    pub fn screenshot(&self, path: &Path) {
        self.ask(&json!({"do": "screenshot", "path": path}));
    }

    /// Saves the file and checks its text.
    ///
    /// # Panics
    ///
    /// If the text differs.
    #[track_caller]
    pub fn check_saved(&self, expected: &str) {
        let is_saved = || std::fs::read_to_string(&self.file).is_ok_and(|text| text == expected);
        self.repeat_until(&format!("the saved text is {expected:?}"), || self.press("Control+s"), is_saved);
    }

    /// Returns all messages from the editor so far.
    pub fn sent_by_editor(&self) -> Vec<Value> {
        self.message_log.sent_by_editor()
    }

    /// Returns all messages from the server so far.
    pub fn sent_by_server(&self) -> Vec<Value> {
        self.message_log.sent_by_server()
    }

    /// Returns all requests of a method from the editor, each with its response so far.
    pub fn requests(&self, method: &str) -> Vec<(Value, Option<Value>)> {
        let answers = self.sent_by_server();
        let mut requests = self.sent_by_editor();
        requests.retain(|message| message["method"] == method);
        requests
            .into_iter()
            .map(|request| {
                let answer = answers
                    .iter()
                    .find(|answer| answer["method"].is_null() && answer["id"] == request["id"])
                    .cloned();
                (request, answer)
            })
            .collect()
    }

    #[track_caller]
    fn ask(&self, request: &Value) -> Value {
        let mut requests = self.requests.borrow_mut();
        let stdin = requests.as_mut().expect("it is closed at the end only");
        writeln!(stdin, "{request}").expect("the driver listens");
        let answer = self.answers.recv_timeout(TIME_LIMIT).expect("the driver answers");
        let mut answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert!(answer["error"].is_null(), "{request}: {}", answer["error"]);
        answer["value"].take()
    }
}

impl Drop for VsCode {
    fn drop(&mut self) {
        self.requests.borrow_mut().take();
        let deadline = Instant::now() + SHUTDOWN_LIMIT;
        while Instant::now() < deadline && matches!(self.driver.try_wait(), Ok(None)) {
            thread::sleep(POLL_INTERVAL);
        }
        // It has most likely exited.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
