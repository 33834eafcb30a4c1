//! Records the messages between an editor and the server: a script replaces the server, starts it, and copies both directions
//! into files.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Project;
use crate::lsp::frames;

/// The recorded messages of one server, or of several in sequence.
pub(super) struct MessageLog {
    server: PathBuf,
    from_editor: PathBuf,
    from_server: PathBuf,
}

impl MessageLog {
    /// Writes the script that starts `binary`.
    pub(super) fn new(project: &Project, binary: &Path) -> MessageLog {
        let [server, from_editor, from_server] =
            ["server", "from-editor", "from-server"].map(|name| project.sibling_path(name));
        let [sent, reported] = [&from_editor, &from_server].map(|path| path.display());
        let binary = binary.display();
        let script = format!("#!/bin/sh\ntee -a '{sent}' | '{binary}' \"$@\" | tee -a '{reported}'\n");
        fs::write(&server, script).expect("the temporary folder is ours");
        let is_runnable = Command::new("chmod").arg("+x").arg(&server).status();
        assert!(is_runnable.is_ok_and(|status| status.success()), "a script of ours can be made to run");
        MessageLog { server, from_editor, from_server }
    }

    /// Returns the script.
    pub(super) fn server(&self) -> &Path {
        &self.server
    }

    pub(super) fn sent_by_editor(&self) -> Vec<Value> {
        messages(&self.from_editor)
    }

    pub(super) fn sent_by_server(&self) -> Vec<Value> {
        messages(&self.from_server)
    }
}

/// The complete messages in a file: the last one may be partial.
fn messages(path: &Path) -> Vec<Value> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let mut reader = BufReader::new(file);
    std::iter::from_fn(|| frames::read(&mut reader).ok().flatten()).collect()
}
