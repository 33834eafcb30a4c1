//! A client's `initialize` parameters and its responses to the server's requests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::server_pipes::AutoReplies;
use crate::process;

/// Default timeout; generous for a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A client's `initialize` parameters and behaviour. The default has no capabilities, answers the server's usual requests and
/// allows no notification.
pub struct ClientSetup {
    capabilities: Value,
    folders: Vec<PathBuf>,
    options: Value,
    process_id: Option<u32>,
    pub(super) auto_replies: AutoReplies,
    pub(super) time_limit: Duration,
    pub(super) lifetime: Duration,
}

impl Default for ClientSetup {
    fn default() -> ClientSetup {
        let setup = ClientSetup {
            capabilities: json!({"textDocument": {"inlineCompletion": {}}}),
            folders: Vec::new(),
            options: Value::Null,
            process_id: None,
            auto_replies: AutoReplies::default(),
            time_limit: TIME_LIMIT,
            lifetime: process::TIME_LIMIT,
        };
        setup
            .answer("workspace/configuration", |params| {
                let items = params["items"].as_array().map_or(0, Vec::len);
                vec![Value::Null; items].into()
            })
            .answer("window/workDoneProgress/create", |_| Value::Null)
            .answer("workspace/codeLens/refresh", |_| Value::Null)
            .answer("client/registerCapability", |_| Value::Null)
    }
}

impl ClientSetup {
    /// Sets the position encodings, best first.
    pub fn encodings(self, encodings: &[&str]) -> ClientSetup {
        self.capability("/general/positionEncodings", json!(encodings))
    }

    /// Sets one capability; `path` is a JSON pointer to it.
    pub fn capability(mut self, path: &str, value: Value) -> ClientSetup {
        let mut place = &mut self.capabilities;
        for key in path.split('/').skip(1) {
            place = &mut place[key];
        }
        *place = value;
        self
    }

    /// Adds a workspace folder.
    pub fn folder(mut self, folder: &Path) -> ClientSetup {
        self.folders.push(folder.to_owned());
        self
    }

    /// Passes `initializationOptions`.
    pub fn options(mut self, options: Value) -> ClientSetup {
        self.options = options;
        self
    }

    /// Sets the client's process id.
    pub fn process_id(mut self, process_id: u32) -> ClientSetup {
        self.process_id = Some(process_id);
        self
    }

    /// Answers the server's requests for `method` with this function.
    pub fn answer(mut self, method: &str, answer: impl Fn(&Value) -> Value + Send + 'static) -> ClientSetup {
        self.auto_replies
            .answers
            .insert(method.to_owned(), Box::new(move |params| Some(("result", answer(params)))));
        self
    }

    /// Rejects the server's requests for `method`.
    pub fn refuse(mut self, method: &str) -> ClientSetup {
        let error = json!({"code": -32601, "message": "no such method"});
        self.auto_replies
            .answers
            .insert(method.to_owned(), Box::new(move |_| Some(("error", error.clone()))));
        self
    }

    /// Never answers the server's requests for `method`.
    pub fn ignore(mut self, method: &str) -> ClientSetup {
        self.auto_replies.answers.insert(method.to_owned(), Box::new(|_| None));
        self
    }

    /// Allows unread notifications of this method.
    pub fn allow(mut self, method: &str) -> ClientSetup {
        self.auto_replies.allowed.push(method.to_owned());
        self
    }

    /// Sets the timeout for a message or the end.
    pub fn time_limit(mut self, limit: Duration) -> ClientSetup {
        self.time_limit = limit;
        self
    }

    /// Sets the time after which the server is killed.
    pub fn lifetime(mut self, lifetime: Duration) -> ClientSetup {
        self.lifetime = lifetime;
        self
    }

    /// Returns the parameters of `initialize`.
    pub fn initialize_params(&self) -> Value {
        let folder = |path: &PathBuf| json!({"uri": uri(path), "name": path.file_name().unwrap_or_default().to_string_lossy()});
        json!({
            "processId": self.process_id,
            "clientInfo": {"name": "mini"},
            "rootUri": self.folders.first().map(|path| uri(path)),
            "capabilities": self.capabilities,
            "workspaceFolders": self.folders.iter().map(folder).collect::<Vec<_>>(),
            "initializationOptions": self.options,
        })
    }
}

/// Returns the URI of a file.
///
/// # Panics
///
/// If the path is relative.
#[track_caller]
pub fn uri(path: &Path) -> String {
    Url::from_file_path(path).expect("paths of files are absolute").into()
}
