//! A simulated editor: its own server and home folder, and documents.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Client, ClientSetup, uri};

/// Deadline for engines with a configured delay.
pub(in crate::measure) const DEADLINE_MS: u64 = 600_000;
/// Kinds of changes of a watched file.
pub(in crate::measure) const CREATED: u8 = 1;
pub(in crate::measure) const CHANGED: u8 = 2;
pub(in crate::measure) const DELETED: u8 = 3;

/// Timeout for reading a folder: minutes for the Linux kernel on two cores.
const READING: Duration = Duration::from_secs(1_200);

/// An editor with a server. Dropping it shuts the server down, and asserts that it behaved correctly.
pub(in crate::measure) struct Editor {
    pub(in crate::measure) client: Client,
    /// Folder of the server's files; also a workspace without source files.
    project: Arc<Project>,
}

impl Editor {
    /// A client without a folder and status requests.
    pub(in crate::measure) fn setup() -> ClientSetup {
        ClientSetup::default().allow("ghostbench/didChangeStatus").allow("ghostbench/didChangeTrial")
    }

    /// Starts an editor with the built-in engine.
    pub(in crate::measure) fn builtin(ghostbench: &Path, setup: ClientSetup) -> Editor {
        Editor::start(Project::new(""), ghostbench, &[], setup)
    }

    /// Starts an editor with an engine that answers at once in `fast.py`, and after `delay` in `slow.py`, in an empty folder.
    pub(in crate::measure) fn scripted(ghostbench: &Path, delay: Duration) -> Editor {
        // This character isn't typed, so no answer is reused.
        let answer = "\u{a7}";
        let rules = json!([
            {"path": "fast.py", "text": answer},
            {"path": "slow.py", "text": answer, "delay_ms": delay.as_millis() as u64},
        ]);
        let project = Project::new("");
        let setup = Editor::setup()
            .folder(&project.root())
            .options(json!({"completion": {"deadlineMs": DEADLINE_MS}}));
        Editor::start(project, ghostbench, &["--scripted", &rules.to_string()], setup)
    }

    /// Starts an editor with further arguments of the server, whose home is the project's.
    pub(in crate::measure) fn start(
        project: impl Into<Arc<Project>>,
        ghostbench: &Path,
        arguments: &[&str],
        setup: ClientSetup,
    ) -> Editor {
        let project = project.into();
        let mut command = project.command(ghostbench, "lsp");
        command.args(arguments);
        let (client, _) = Client::start(command, setup);
        Editor { client, project }
    }

    /// Returns the URI of a file of the empty folder.
    pub(in crate::measure) fn uri(&self, path: &str) -> String {
        uri(&self.project.root().join(path))
    }

    /// Opens a document, and waits until the server has processed it.
    pub(in crate::measure) fn open(&self, buffer: &Buffer) {
        self.client.notify("textDocument/didOpen", buffer.did_open());
        self.status();
    }

    /// Closes a document.
    pub(in crate::measure) fn close(&self, buffer: &Buffer) {
        self.client.notify("textDocument/didClose", buffer.did_close());
    }

    /// Sends the parameters of a `didChange`.
    pub(in crate::measure) fn change(&self, params: Value) {
        self.client.notify("textDocument/didChange", params);
    }

    /// Requests a completion and waits for the answer.
    pub(in crate::measure) fn complete(&self, params: Value) -> Value {
        self.client.call("textDocument/inlineCompletion", params)
    }

    /// Requests a completion.
    pub(in crate::measure) fn ask(&self, params: Value) -> i64 {
        self.client.request("textDocument/inlineCompletion", params)
    }

    /// Returns the number of requests in progress.
    pub(in crate::measure) fn busy(&self) -> Result<u64> {
        self.status()["busy"].as_u64().context("`ghostbench/status` tells no `busy`")
    }

    /// Waits until all folders are read.
    pub(in crate::measure) fn wait_for_folders(&self) -> Result<()> {
        let start = Instant::now();
        loop {
            let status = self.status();
            let folders = status["folders"].as_array().context("`ghostbench/status` tells no `folders`")?;
            ensure!(
                folders.iter().all(|folder| folder["state"] != "failed"),
                "a folder cannot be read: {status}"
            );
            if folders.iter().all(|folder| folder["state"] == "ready") {
                return Ok(());
            }
            ensure!(start.elapsed() < READING, "the folders are not read after {READING:?}: {status}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the server's status.
    pub(in crate::measure) fn status(&self) -> Value {
        self.client.call("ghostbench/status", Value::Null)
    }
}
