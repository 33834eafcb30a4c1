//! How a client introduces itself, and what it answers when the server asks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::line::Manners;

/// Longer than any answer takes on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A client's introduction, and how it behaves. The default offers nothing, knows the server's usual requests and
/// tolerates no notification.
pub struct Setup {
    capabilities: Value,
    folders: Vec<PathBuf>,
    options: Value,
    process_id: Option<u32>,
    pub(super) manners: Manners,
    pub(super) time_limit: Duration,
}

impl Default for Setup {
    fn default() -> Setup {
        let setup = Setup {
            capabilities: json!({"textDocument": {"inlineCompletion": {}}}),
            folders: Vec::new(),
            options: Value::Null,
            process_id: None,
            manners: Manners::default(),
            time_limit: TIME_LIMIT,
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

impl Setup {
    /// Offers these position encodings, the best first.
    pub fn encodings(self, encodings: &[&str]) -> Setup {
        self.capability("/general/positionEncodings", json!(encodings))
    }

    /// Sets one capability; `path` is a JSON pointer to it.
    pub fn capability(mut self, path: &str, value: Value) -> Setup {
        let mut place = &mut self.capabilities;
        for key in path.split('/').skip(1) {
            place = &mut place[key];
        }
        *place = value;
        self
    }

    /// Adds a workspace folder.
    pub fn folder(mut self, folder: &Path) -> Setup {
        self.folders.push(folder.to_owned());
        self
    }

    /// Passes `initializationOptions`.
    pub fn options(mut self, options: Value) -> Setup {
        self.options = options;
        self
    }

    /// Claims to be this process.
    pub fn process_id(mut self, process_id: u32) -> Setup {
        self.process_id = Some(process_id);
        self
    }

    /// Answers requests of the server for `method` like this.
    pub fn answer(mut self, method: &str, answer: impl Fn(&Value) -> Value + Send + 'static) -> Setup {
        self.manners
            .answers
            .insert(method.to_owned(), Box::new(move |params| Some(("result", answer(params)))));
        self
    }

    /// Refuses requests of the server for `method`.
    pub fn refuse(mut self, method: &str) -> Setup {
        let error = json!({"code": -32601, "message": "no such method"});
        let refuse = move |_: &Value| Some(("error", error.clone()));
        self.manners.answers.insert(method.to_owned(), Box::new(refuse));
        self
    }

    /// Never answers requests of the server for `method`.
    pub fn ignore(mut self, method: &str) -> Setup {
        self.manners.answers.insert(method.to_owned(), Box::new(|_| None));
        self
    }

    /// Tolerates these notifications, unread.
    pub fn allow(mut self, method: &str) -> Setup {
        self.manners.allowed.push(method.to_owned());
        self
    }

    /// Waits this long for a message or an end, at most.
    pub fn time_limit(mut self, limit: Duration) -> Setup {
        self.time_limit = limit;
        self
    }

    /// The parameters of `initialize`.
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

/// The URI of a file.
///
/// # Panics
///
/// When the path is relative.
#[track_caller]
pub fn uri(path: &Path) -> String {
    Url::from_file_path(path).expect("paths of files are absolute").into()
}
