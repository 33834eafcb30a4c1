//! A separate workspace for the servers, with a shared home folder, so that each finds the caches of the previous ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use syntax::{Language, SourceFile};
use tests::Project;
use tests::lsp::{ClientSetup, uri};
use workspace::{ReadLimits, Snapshot};
use xtask::process;

use super::query_document::{self, QueryDocument};
use super::release_diff::copy_files;
use crate::measure::indexing::corpus::write_file;
use crate::measure::lsp::editor::{DEADLINE_MS, Editor};

/// A name that occurs in one file, and in no corpus.
pub(super) const ANCHOR: &str = "bench_anchor";
const ANCHOR_FILE: &str = "bench_anchor.py";
pub(super) const ANCHOR_TEXT: &str = "def bench_anchor(size):\n    return size\n";

/// Timeout for writing a cache.
const CACHING: Duration = Duration::from_secs(60);
/// Time after which a server is killed: one in the Linux kernel absorbs tens of thousands of changed files.
const LIFETIME: Duration = Duration::from_secs(3_600);
/// Timeout of an answer: a slow one is measured, and does not end the measurement.
const ANSWERING: Duration = Duration::from_secs(600);
/// Poll interval of the cache.
const POLL: Duration = Duration::from_millis(50);

/// Source of file change notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeReporter {
    /// The client notifies the server.
    Client,
    /// The server's own watcher.
    Watcher,
}

/// A copy of a corpus, and servers in it.
pub(super) struct ServerFixture {
    project: Arc<Project>,
    /// Canonical path.
    pub(super) root: PathBuf,
    ghostbench: PathBuf,
    /// The corpus.
    pub(super) files: Arc<[SourceFile]>,
}

impl ServerFixture {
    /// Copies `corpus`, and adds a file that defines [`ANCHOR`].
    pub(super) fn new(ghostbench: &Path, corpus: &Snapshot) -> Result<ServerFixture> {
        ServerFixture::with_files(ghostbench, corpus, |root| {
            for file in corpus.files().iter() {
                write_file(&root.join(&*file.path), &file.text)?;
            }
            for manifest in corpus.manifests().iter() {
                write_file(&root.join(&*manifest.path), &manifest.text)?;
            }
            Ok(())
        })
    }

    /// Copies all files of a folder, those that are not indexed included, and adds the same file.
    pub(super) fn copy_of(ghostbench: &Path, folder: &Path) -> Result<ServerFixture> {
        let corpus = workspace::load(folder, &ReadLimits::standard(), &|_| {})?;
        ServerFixture::with_files(ghostbench, &corpus, |root| copy_files(folder, root))
    }

    fn with_files(
        ghostbench: &Path,
        corpus: &Snapshot,
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<ServerFixture> {
        let project = Project::new("");
        let root = project.root().canonicalize()?;
        write(&root)?;
        fs::write(root.join(ANCHOR_FILE), ANCHOR_TEXT)?;
        Ok(ServerFixture {
            project: Arc::new(project),
            root,
            ghostbench: ghostbench.to_owned(),
            files: corpus.files().clone(),
        })
    }

    /// Starts a server.
    pub(super) fn start(&self, teller: ChangeReporter) -> Editor {
        let rules = query_document::rules().to_string();
        // The built-in engine needs the tokens, which are most of a server's memory besides the index.
        let arguments = ["--scripted", &rules, "--engine", "builtin"];
        Editor::start(Arc::clone(&self.project), &self.ghostbench, &arguments, self.setup(teller))
    }

    /// Starts a server and waits until it has read the folder.
    pub(super) fn start_and_wait(&self, teller: ChangeReporter) -> Result<Editor> {
        self.start_and_wait_for(teller, self.files.len() + 1)
    }

    /// The same if the folder has another number of files meanwhile.
    pub(super) fn start_and_wait_for(&self, teller: ChangeReporter, count: usize) -> Result<Editor> {
        let editor = self.start(teller);
        editor.wait_for_folders()?;
        let files = self.reported_size(&editor)?.0;
        ensure!(files == count, "the server has read {files} files of {count}");
        Ok(editor)
    }

    /// Indexes the workspace and leaves a cache, with all processors.
    pub(super) fn index(&self) -> Result<()> {
        process::output(&mut self.project.command(&self.ghostbench, "index --json"))?;
        Ok(())
    }

    fn setup(&self, teller: ChangeReporter) -> ClientSetup {
        let watches = teller == ChangeReporter::Client;
        Editor::setup()
            .folder(&self.root)
            .lifetime(LIFETIME)
            .time_limit(ANSWERING)
            // Otherwise the server waits for a pause between keys as soon as an answer takes 30 ms.
            .options(json!({"completion": {"deadlineMs": DEADLINE_MS, "debounceMs": 0}}))
            .capability("/workspace/didChangeWatchedFiles/dynamicRegistration", watches.into())
    }

    /// Returns the numbers of files and lines that the server reports.
    pub(super) fn reported_size(&self, editor: &Editor) -> Result<(usize, usize)> {
        let status = editor.status();
        let number = |field: &str| {
            let number = status["folders"][0][field].as_u64();
            number.with_context(|| format!("`ghostbench/status` tells no `{field}` of the folder: {status}"))
        };
        Ok((number("files")? as usize, number("lines")? as usize))
    }

    /// Waits until a server has cached its index.
    pub(super) fn wait_for_cache(&self) -> Result<()> {
        let start = Instant::now();
        loop {
            let listed = process::output(&mut self.project.command(&self.ghostbench, "index --list --json"))?;
            let listed: Value = serde_json::from_str(&listed).context("the list of caches is no JSON")?;
            if listed[0]["files"].as_u64() == Some(self.files.len() as u64 + 1) {
                return Ok(());
            }
            ensure!(start.elapsed() < CACHING, "nothing is cached after {CACHING:?}: {listed}");
            thread::sleep(POLL);
        }
    }

    /// Opens a document that asks for the anchor.
    pub(super) fn ask_for_anchor(&self, editor: &Editor) -> QueryDocument {
        QueryDocument::open(editor, &self.root, Language::Python, ANCHOR)
    }

    /// Returns the URI of a file of the workspace.
    pub(super) fn uri(&self, path: &str) -> String {
        uri(&self.root.join(path))
    }
}
