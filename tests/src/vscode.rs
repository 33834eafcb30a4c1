//! A real VS Code with the extension of `vscode-extension` and the real server.
//!
//! It is code-server, drawn by a headless Chromium. A script in Node starts both, presses keys and looks at what is drawn;
//! it ends them when its input ends, so that nothing outlives a test. Nothing waits for a time to pass: what takes a while
//! is asked about until it is so.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::wire::Wire;
use crate::component::{component, missing};
use crate::process::TIME_LIMIT;
use crate::{Project, binary, wait_until};

mod wire;

/// Folder of what `npm run package` builds.
const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vscode-extension/dist");

/// Time between two looks into the window.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// How long everything may take to end in order.
const FAREWELL: Duration = Duration::from_secs(30);

/// A window with a file of a project; dropping it ends it.
pub struct VsCode {
    driver: Child,
    requests: RefCell<Option<ChildStdin>>,
    answers: Receiver<String>,
    wire: Wire,
    file: PathBuf,
    settings: PathBuf,
}

/// How a window is opened.
pub struct Opening<'a> {
    /// The user's settings; for everything but the server itself.
    pub settings: Value,
    /// The server; ours when there is none.
    pub server: Option<&'a Path>,
    /// Whether the workspace is trusted.
    pub is_trusted: bool,
}

impl VsCode {
    /// Opens a file of a project and waits until the server, started with some more arguments, serves it. `None`, said
    /// aloud, where there is no VS Code.
    ///
    /// # Panics
    ///
    /// When the server is not up in time.
    #[track_caller]
    pub fn open(project: &Project, file: &str, server_arguments: &[&str]) -> Option<VsCode> {
        let settings = json!({"ghostbench.server.arguments": server_arguments});
        let editor = VsCode::start(project, file, Opening { settings, server: None, is_trusted: true })?;
        editor.wait_until_served();
        Some(editor)
    }

    /// Opens a file of a project and waits until it can be typed into. `None`, said aloud, where there is no VS Code.
    ///
    /// # Panics
    ///
    /// When the window is not up in time.
    #[track_caller]
    pub fn start(project: &Project, file: &str, opening: Opening<'_>) -> Option<VsCode> {
        let (code_server, chromium, node) =
            (component("code-server")?, component("chromium")?, component("node")?);
        let [script, extension] =
            ["test/driver.mjs", "ghostbench.vsix"].map(|built| Path::new(BUILT).join(built));
        if !script.is_file() || !extension.is_file() {
            missing("the VS Code extension is not built; `cargo xtask test` builds it");
            return None;
        }
        let wire = Wire::new(project, &binary());
        let profile = project.beside("vscode");
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
        editor.wait_until("document.querySelector('.editor-instance .view-lines') !== null");
        editor.ask(&json!({"do": "click", "selector": ".editor-instance .view-lines"}));
        editor.wait_until("Eyes.focus() === 'text'");
        Some(editor)
    }

    fn drive(mut command: Command, wire: Wire, file: PathBuf, settings: PathBuf) -> VsCode {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut driver = command.spawn().expect("Node can be started");
        let output = driver.stdout.take().expect("the output is piped");
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            // Once the test is over, nobody hears.
            BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let requests = RefCell::new(driver.stdin.take());
        VsCode { driver, requests, answers, wire, file, settings }
    }

    /// Waits until the server runs and has read the workspace.
    #[track_caller]
    pub fn wait_until_served(&self) {
        self.wait_until("Eyes.status()?.endsWith('Ghostbench: ready')");
        let is_read = |message: &Value| {
            message["method"] == "ghostbench/didChangeStatus" && message["params"]["busy"] == false
        };
        wait_until("the workspace is read", || self.sent_by_server().iter().any(is_read));
    }

    /// Types text, one key after the other.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.ask(&json!({"do": "type", "text": text}));
    }

    /// Presses keys together, such as `Control+End`.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.ask(&json!({"do": "press", "keys": keys}));
    }

    /// Waits until a list with an entry of this name is shown, and chooses it.
    #[track_caller]
    pub fn answer(&self, label: &str) {
        self.wait_until(&format!("Eyes.choices().includes({})", Value::from(label)));
        self.choose(label);
    }

    /// Clicks at what a selector of the window names.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.ask(&json!({"do": "click", "selector": selector}));
    }

    /// Puts the cursor at a line and a column, both from 1.
    #[track_caller]
    pub fn go_to(&self, line: usize, column: usize) {
        self.press("Control+g");
        self.wait_until("Eyes.focus() === 'question'");
        self.type_text(&format!("{line}:{column}"));
        self.press("Enter");
        self.wait_until(&format!("Eyes.focus() === 'text' && Eyes.cursor() === 'Ln {line}, Col {column}'"));
    }

    /// Runs a command as it is called in the list of commands.
    #[track_caller]
    pub fn run(&self, title: &str) {
        self.press("F1");
        self.wait_until("Eyes.focus() === 'question'");
        self.choose(title);
    }

    /// Chooses an entry of the list that is shown, by its name.
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
    /// When that fails.
    #[track_caller]
    pub fn set(&self, settings: &Value) {
        std::fs::write(&self.settings, settings.to_string()).expect("the temporary folder is ours");
    }

    /// The program that the setting for the server names, to reach the real one with an account of every message.
    pub fn server(&self) -> &Path {
        self.wire.server()
    }

    /// The value of an expression in the window, where `Eyes` is.
    #[track_caller]
    pub fn evaluate(&self, script: &str) -> Value {
        self.ask(&json!({"do": "evaluate", "script": script}))
    }

    /// Waits until an expression is true in the window.
    ///
    /// # Panics
    ///
    /// When that takes too long.
    #[track_caller]
    pub fn wait_until(&self, script: &str) {
        wait_until(&format!("`{script}` in VS Code"), || {
            let is_so = self.evaluate(&format!("Boolean({script})")) == true;
            if !is_so {
                thread::sleep(BETWEEN_LOOKS);
            }
            is_so
        });
    }

    /// Waits until a suggestion is drawn that is not the text on the left, and returns it.
    #[track_caller]
    pub fn wait_for_ghost_text(&self) -> String {
        self.wait_until("Eyes.ghostText() !== null");
        self.evaluate("Eyes.ghostText()").as_str().expect("ghost text is text").to_owned()
    }

    /// Waits until the user is told something with these words.
    #[track_caller]
    pub fn wait_for_message(&self, words: &str) {
        self.wait_until(&format!("Eyes.messages().some((text) => text.includes({}))", Value::from(words)));
    }

    /// Saves the file and waits until it holds this text.
    ///
    /// # Panics
    ///
    /// When it holds another one.
    #[track_caller]
    pub fn check_saved(&self, expected: &str) {
        self.press("Control+s");
        wait_until(&format!("the saved text is {expected:?}"), || {
            std::fs::read_to_string(&self.file).is_ok_and(|text| text == expected)
        });
    }

    /// All messages that the editor sent so far.
    pub fn sent_by_editor(&self) -> Vec<Value> {
        self.wire.sent_by_editor()
    }

    /// All messages that the server sent so far.
    pub fn sent_by_server(&self) -> Vec<Value> {
        self.wire.sent_by_server()
    }

    /// All requests of a method that the editor sent, each with its answer so far.
    pub fn requests(&self, method: &str) -> Vec<(Value, Option<Value>)> {
        let answers = self.sent_by_server();
        let mut requests = self.sent_by_editor();
        requests.retain(|message| message["method"] == method);
        let with_answer = |request: Value| {
            let answers_it = |answer: &&Value| answer["method"].is_null() && answer["id"] == request["id"];
            let answer = answers.iter().find(answers_it).cloned();
            (request, answer)
        };
        requests.into_iter().map(with_answer).collect()
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
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline && matches!(self.driver.try_wait(), Ok(None)) {
            thread::sleep(BETWEEN_LOOKS);
        }
        // It has ended, most likely.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
