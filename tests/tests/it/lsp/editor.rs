//! A simulated editor: a server in a workspace, open documents, requests at their cursors.

use std::path::PathBuf;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Client, ClientSetup, Encoding, uri};

/// Trigger kind of an automatic request.
pub(crate) const AUTOMATIC: u8 = 2;
/// Trigger kind of an explicit invocation.
pub(crate) const INVOKED: u8 = 1;

/// The protocol's error codes.
pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
pub(crate) const NOT_INITIALIZED: i64 = -32002;
pub(crate) const REQUEST_CANCELLED: i64 = -32800;
pub(crate) const REQUEST_FAILED: i64 = -32803;

/// An editor with a project open.
pub(crate) struct Editor {
    pub(crate) client: Client,
    /// The server's result of `initialize`.
    pub(crate) introduction: Value,
    pub(crate) encoding: Encoding,
    root: PathBuf,
}

/// Longer than any test takes, so that only tests of the deadline reach it.
pub(super) const DEADLINE_MS: u64 = 600_000;

/// A client without a folder and without status updates, which accepts requests to refresh lenses.
pub(crate) fn bare_setup() -> ClientSetup {
    ClientSetup::default()
        .allow("ghostbench/didChangeStatus")
        .allow("ghostbench/didChangeTrial")
        .capability("/workspace/codeLens/refreshSupport", true.into())
        .options(json!({"completion": {"deadlineMs": DEADLINE_MS}}))
}

/// As [`bare_setup`], with the project's folder.
pub(crate) fn setup(project: &Project) -> ClientSetup {
    bare_setup().folder(&project.root())
}

impl Editor {
    /// Starts an editor with the built-in engine.
    #[track_caller]
    pub(crate) fn new(project: &Project) -> Editor {
        Editor::start(project, &[], setup(project))
    }

    /// Starts an editor with an engine that follows rules.
    #[track_caller]
    pub(crate) fn scripted(project: &Project, rules: &Value) -> Editor {
        Editor::start(project, &["--scripted", &rules.to_string()], setup(project))
    }

    /// Starts an editor with additional server arguments and another client.
    #[track_caller]
    pub(crate) fn start(project: &Project, arguments: &[&str], setup: ClientSetup) -> Editor {
        let mut command = project.ghostbench("lsp");
        command.args(arguments);
        Editor::initialized(project, Client::spawn(command, setup))
    }

    /// Completes the handshake of a client.
    #[track_caller]
    pub(crate) fn initialized(project: &Project, client: Client) -> Editor {
        let introduction = client.initialize();
        let name = &introduction["capabilities"]["positionEncoding"];
        let encoding = Encoding::ALL.into_iter().find(|encoding| name == encoding.name());
        let encoding = encoding.unwrap_or_else(|| panic!("no position encoding: {introduction}"));
        Editor { client, introduction, encoding, root: project.root() }
    }

    /// Returns the URI of a file of the workspace.
    pub(crate) fn uri(&self, path: &str) -> String {
        uri(&self.root.join(path))
    }

    /// Opens a file of the workspace with this text, independent of the file on disk.
    #[track_caller]
    pub(crate) fn open(&self, path: &str, text: &str) -> Buffer {
        self.open_uri(&self.uri(path), text)
    }

    /// Opens any document.
    #[track_caller]
    pub(crate) fn open_uri(&self, uri: &str, text: &str) -> Buffer {
        let buffer = Buffer::new(uri, "python", self.encoding, text);
        self.client.notify("textDocument/didOpen", buffer.did_open());
        buffer
    }

    /// Closes a document.
    #[track_caller]
    pub(crate) fn close(&self, buffer: &Buffer) {
        self.client.notify("textDocument/didClose", buffer.did_close());
    }

    /// Sends the parameters of a `didChange`.
    #[track_caller]
    pub(crate) fn change(&self, params: Value) {
        self.client.notify("textDocument/didChange", params);
    }

    /// Requests a completion at an offset, as typing does.
    #[track_caller]
    pub(crate) fn ask(&self, buffer: &Buffer, offset: usize) -> i64 {
        self.client.request("textDocument/inlineCompletion", completion_params(buffer, offset, AUTOMATIC))
    }

    /// Requests a completion at the end.
    #[track_caller]
    pub(crate) fn ask_at_end(&self, buffer: &Buffer) -> i64 {
        self.ask(buffer, buffer.text().len())
    }

    /// Returns the only item at an offset.
    ///
    /// Fails if there is none.
    #[track_caller]
    pub(crate) fn item(&self, buffer: &Buffer, offset: usize) -> Value {
        let id = self.ask(buffer, offset);
        let answer = self.client.wait(id).expect("a completion is answered");
        let mut items = items(&answer);
        assert_eq!(items.len(), 1, "{answer}");
        items.remove(0)
    }

    /// Returns the ghost text at an offset.
    ///
    /// Fails if there is none.
    #[track_caller]
    pub(crate) fn ghost_text(&self, buffer: &Buffer, offset: usize) -> String {
        buffer.ghost_text(offset, &self.item(buffer, offset))
    }

    /// `ghostbench/status`.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.client.call("ghostbench/status", Value::Null)
    }

    /// Reports that the suggestion that is shown in a document disappears.
    pub(crate) fn dismiss(&self, buffer: &Buffer, reason: &str) {
        let params = json!({"textDocument": buffer.id(), "reason": reason});
        self.client.notify("ghostbench/didDismissCompletion", params);
    }

    /// Returns the outcome of the last completion request.
    #[track_caller]
    pub(crate) fn last_completion(&self) -> String {
        let status = self.status();
        let word = status["lastCompletion"]["status"].as_str();
        word.unwrap_or_else(|| panic!("no completion was asked for: {status}")).to_owned()
    }

    /// Returns the number of requests in progress.
    #[track_caller]
    pub(crate) fn busy(&self) -> u64 {
        let status = self.status();
        status["busy"].as_u64().unwrap_or_else(|| panic!("no busy count: {status}"))
    }

    /// Notifies the server that a file of the workspace was created (1), changed (2) or deleted (3).
    #[track_caller]
    pub(crate) fn watched(&self, path: &str, kind: u8) {
        let change = json!({"uri": self.uri(path), "type": kind});
        self.client.notify("workspace/didChangeWatchedFiles", json!({"changes": [change]}));
    }
}

/// Returns the parameters of `textDocument/inlineCompletion`.
#[track_caller]
pub(crate) fn completion_params(buffer: &Buffer, offset: usize, trigger: u8) -> Value {
    let position = buffer.position(offset);
    json!({"textDocument": buffer.id(), "position": position, "context": {"triggerKind": trigger}})
}

/// Returns the items of an answer, in either of the protocol's two forms.
#[track_caller]
pub(crate) fn items(answer: &Value) -> Vec<Value> {
    let list = answer.get("items").unwrap_or(answer).as_array();
    list.unwrap_or_else(|| panic!("no items: {answer}")).clone()
}

/// Returns the offset of a text that occurs exactly once.
#[track_caller]
pub(crate) fn find(text: &str, needle: &str) -> usize {
    assert_eq!(text.matches(needle).count(), 1, "`{needle}` occurs once in the text");
    text.find(needle).expect("it was counted")
}
