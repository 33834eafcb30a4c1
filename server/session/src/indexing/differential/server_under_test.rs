//! A server's state after a history of operations, compared with a new server's.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use builtin::{BuiltinSettings, CorpusLimit};
use cache::Cache;
use completion::{CompletionSettings, DocumentText, EditorContext, WorkspaceIndex, complete};
use engines::{BuiltinEngine, Engine, ScriptedEngine, ScriptedReply};
use index::{FileIndex, RecentLocation, Strategy, TokenBudget};
use syntax::{Language, SourceFile};
use tempfile::TempDir;
use text::SplitMix64;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use workspace::{ReadLimits, ScanScope};

use super::disk::Disk;
use super::operation::{Operation, Reporter, text};
use crate::index_memory::IndexMemory;
use crate::indexer::{Indexer, OpenRun, save_corpus};
use crate::indexing::corpus_builder;
use crate::step_threads::StepThreads;

/// The long-running server has its index on disk, the new one in memory.
const NO_MEMORY: IndexMemory = IndexMemory::NONE;

/// Cursors of one probe.
const CURSORS: usize = 3;

/// The long-running server and its disk.
pub(super) struct ServerUnderTest {
    disk: Disk,
    caches: TempDir,
    indexer: Indexer,
    reads_tokens: bool,
    /// Seed of the completion settings.
    settings: u64,
    /// Open documents.
    buffers: BTreeMap<String, String>,
    runtime: Runtime,
}

impl ServerUnderTest {
    pub(super) fn new() -> ServerUnderTest {
        let disk = Disk::new();
        let caches = tempfile::tempdir().expect("a temporary folder");
        let indexer = opened(&disk.root(), Some(&cache(&caches)), true, NO_MEMORY);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime can be made");
        ServerUnderTest {
            disk,
            caches,
            indexer,
            reads_tokens: true,
            settings: 0,
            buffers: BTreeMap::new(),
            runtime,
        }
    }

    /// Applies an operation. A probe fails with the differences between this server and a new one.
    pub(super) fn apply(&mut self, operation: Operation) -> Result<(), String> {
        use Operation as O;
        match operation {
            O::Open { at } => self.open(at.text()),
            O::Edit { at, seed } => self.edit(&at.text(), seed),
            O::Save { at } => self.save(&at.text()),
            O::Close { at } => drop(self.buffers.remove(&at.text())),
            O::Tokens => {
                self.reads_tokens = !self.reads_tokens;
                self.renew();
            }
            O::Settings { seed } => self.settings = seed,
            O::Renew => self.renew(),
            O::Restart { saves } => self.restart(saves),
            O::Look { reporter } => self.refresh(reporter),
            O::Prepare { reporter } => {
                let threads = &StepThreads::CALLER;
                let scopes = self.scopes(reporter).into_iter();
                scopes.for_each(|scope| self.indexer.prepare(&scope, threads).expect("the root is there"));
            }
            O::Probe { reporter, seed } => {
                self.refresh(reporter);
                return self.probe(seed);
            }
            operation => self.disk.apply(operation),
        }
        Ok(())
    }

    fn open(&mut self, path: String) {
        let saved = std::fs::read_to_string(self.disk.root().join(&path));
        self.buffers.entry(path).or_insert_with(|| saved.unwrap_or_default());
    }

    fn edit(&mut self, path: &str, seed: u64) {
        let Some(buffer) = self.buffers.get_mut(path) else { return };
        let lines: Vec<&str> = buffer.lines().collect();
        let at = SplitMix64::new(seed).below(lines.len() + 1);
        let new = text(seed);
        let all = lines[..at].iter().copied().chain(new.lines().take(2)).chain(lines[at..].iter().copied());
        *buffer = all.collect::<Vec<_>>().join("\n") + "\n";
    }

    fn save(&mut self, path: &str) {
        let Some(buffer) = self.buffers.get(path).cloned() else { return };
        let tree = self.disk.root().canonicalize().expect("it is there");
        self.disk.write(&tree.join(path), buffer);
    }

    /// Rebuilds the corpus as the server does when it is due.
    fn renew(&mut self) {
        self.apply_prepared();
        let built = match self.reads_tokens {
            true => {
                let index = self.indexer.current();
                let (root, cache) = (self.disk.root(), cache(&self.caches));
                {
                    let (limit, store) = (CorpusLimit::default(), self.indexer.store());
                    corpus_builder::load_or_build(index, &root, Some(&cache), limit, store.as_deref()).0
                }
            }
            false => WorkspaceIndex::empty(),
        };
        self.indexer.adopt_tokens_of(&built);
    }

    /// Ends a branch switch, as the server does before anything else.
    fn apply_prepared(&mut self) {
        self.indexer.refresh(&ScanScope::default()).expect("the root is there");
        self.indexer.update_tokens(&StepThreads::CALLER);
    }

    fn restart(&mut self, saves: bool) {
        if saves {
            self.apply_prepared();
            self.indexer.save_all().expect("there is room");
            if let Some(corpus) = self.indexer.current().tokens() {
                save_corpus(&cache(&self.caches), &self.disk.root(), corpus).expect("there is room");
            }
        }
        self.disk.events.clear();
        self.indexer = opened(&self.disk.root(), Some(&cache(&self.caches)), self.reads_tokens, NO_MEMORY);
    }

    fn refresh(&mut self, reporter: Reporter) {
        for scope in self.scopes(reporter) {
            self.indexer.refresh(&scope).expect("the root is there");
            self.indexer.update_tokens(&StepThreads::CALLER);
        }
    }

    /// Takes the events; returns what a reporter would have scanned.
    fn scopes(&mut self, reporter: Reporter) -> Vec<ScanScope> {
        let events = std::mem::take(&mut self.disk.events);
        let tree = self.disk.root().canonicalize().expect("it is there");
        let followed: BTreeSet<PathBuf> =
            self.indexer.tracker().folders().map(|folder| tree.join(folder)).collect();
        let paths: Vec<PathBuf> = events
            .into_iter()
            .filter(|path| match reporter {
                Reporter::SystemWatcher => path.parent().is_some_and(|folder| followed.contains(folder)),
                Reporter::Client => path.starts_with(&tree),
                Reporter::FullLook => false,
            })
            .collect();
        match reporter {
            Reporter::SystemWatcher | Reporter::Client => vec![ScanScope::Paths(paths), ScanScope::Unwatched],
            Reporter::FullLook => vec![ScanScope::Everything],
        }
    }

    fn probe(&self, seed: u64) -> Result<(), String> {
        let indexer = opened(&self.disk.root(), None, self.reads_tokens, IndexMemory::of_machine());
        let (old, new) = (self.indexer.files(), indexer.files());
        compare_text("the files", &files(old), &files(new))?;
        compare_text("what is left out", &left_out(old), &left_out(new))?;
        let mut random = SplitMix64::new(seed);
        let named = new.files().iter().map(|file| file.path.to_string());
        let named: BTreeSet<String> = named.chain(self.buffers.keys().cloned()).collect();
        let named: Vec<String> = named.into_iter().collect();
        for _ in 0..CURSORS.min(named.len()) {
            let path = &named[random.below(named.len())];
            let saved = new.get(path).map(|file| file.text.to_string());
            let whole = self.buffers.get(path).cloned().or(saved).unwrap_or_default();
            let Some(language) =
                new.get(path).map(|file| file.language).or_else(|| Language::from_path(path))
            else {
                continue;
            };
            let mut cursor = random.below(whole.len() + 1);
            while !whole.is_char_boundary(cursor) {
                cursor -= 1;
            }
            let asked = ProbeCursor { path, language, text: &whole, cursor, named: &named };
            self.compare(indexer.current(), &asked)?;
        }
        Ok(())
    }

    fn compare(&self, new: &WorkspaceIndex, asked: &ProbeCursor<'_>) -> Result<(), String> {
        let recorder = ScriptedEngine::with_rules(
            "context",
            vec![ScriptedReply { context: true, ..ScriptedReply::default() }],
        );
        for strategy in Strategy::ALL {
            let ask = |index: &WorkspaceIndex| self.ask(index, asked, &recorder, strategy);
            compare_text(&format!("{strategy} at {asked}"), &ask(self.indexer.current()), &ask(new))?;
        }
        if self.reads_tokens {
            let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
            let ask = |index: &WorkspaceIndex| self.ask(index, asked, &engine, Strategy::None);
            compare_text(&format!("the suggestion at {asked}"), &ask(self.indexer.current()), &ask(new))?;
        }
        Ok(())
    }

    /// The context of an answer and the answer, with all alternatives and their sources.
    fn ask(
        &self,
        index: &WorkspaceIndex,
        asked: &ProbeCursor<'_>,
        engine: &dyn Engine,
        strategy: Strategy,
    ) -> String {
        let document =
            DocumentText { path: asked.path.into(), language: asked.language, text: asked.text.into() };
        let recent = asked
            .named
            .iter()
            .rev()
            .take(5)
            .map(|path| RecentLocation { path: path.clone(), line: 3 })
            .collect();
        let documents = self.unsaved(index, asked.path);
        let snapshot = index.snapshot(document).with_editor_context(EditorContext {
            documents,
            recent_visits: recent,
            ..EditorContext::default()
        });
        let mut random = SplitMix64::new(self.settings);
        let settings = CompletionSettings {
            strategy,
            deadline: Duration::from_secs(600),
            invoked: random.choose(&[true, true, false]),
            explain: true,
            budget: TokenBudget { tokens: random.choose(&[1_024, 256, 4_096]) },
            hide_near_duplicates: random.choose(&[true, false]),
            min_confidence: random.choose(&[None, Some(0.3)]),
        };
        let cancel = CancellationToken::new();
        let outcome = self.runtime.block_on(complete(&snapshot, asked.cursor, engine, &settings, &cancel));
        let trace = &outcome.trace;
        let mut text = format!("{:?} {:?}\n", outcome.status, outcome.text);
        outcome.alternatives.iter().for_each(|other| writeln!(text, "{other:?}").expect("a string has room"));
        trace.context.iter().for_each(|item| writeln!(text, "{item:#?}").expect("a string has room"));
        writeln!(text, "{:?}", trace.explanation).expect("a string has room");
        text
    }

    /// The index of the other open documents whose text differs from the saved file.
    fn unsaved(&self, index: &WorkspaceIndex, asked: &str) -> Vec<Arc<FileIndex>> {
        let others = self.buffers.iter().filter(|(path, _)| *path != asked);
        let changed = others.filter_map(|(path, buffer)| {
            let saved = index.file(path);
            if saved.is_some_and(|saved| *saved.text == **buffer) {
                return None;
            }
            let language = saved.map(|saved| saved.language).or_else(|| Language::from_path(path))?;
            let file = SourceFile { path: path.as_str().into(), language, text: buffer.as_str().into() };
            Some(Arc::new(FileIndex::new(file)))
        });
        changed.collect()
    }
}

/// A cursor.
struct ProbeCursor<'a> {
    path: &'a str,
    language: Language,
    text: &'a str,
    cursor: usize,
    /// All files.
    named: &'a [String],
}

impl std::fmt::Display for ProbeCursor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, after) = self.text.split_at(self.cursor);
        write!(f, "{}: {:?} $0 {:?}", self.path, last_line(before), after.lines().next().unwrap_or_default())
    }
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}

fn cache(caches: &TempDir) -> Cache {
    Cache::new(caches.path(), Cache::DEFAULT_LIMIT)
}

/// A folder as opened by the server.
fn opened(root: &Path, cache: Option<&Cache>, reads_tokens: bool, memory: IndexMemory) -> Indexer {
    let (limits, cache) = (ReadLimits::standard(), cache.cloned());
    let opened = Indexer::open_with(root, &limits, cache.clone(), &OpenRun { memory, ..OpenRun::default() });
    let (mut indexer, _) = opened.expect("the root is there");
    if reads_tokens {
        let (limit, store) = (CorpusLimit::default(), indexer.store());
        let (built, _) =
            corpus_builder::load_or_build(indexer.current(), root, cache.as_ref(), limit, store.as_deref());
        indexer.adopt_tokens_of(&built);
    }
    indexer
}

fn files(snapshot: &workspace::Snapshot) -> String {
    let mut all = String::new();
    for SourceFile { path, language, text } in &**snapshot.files() {
        writeln!(all, "{path} {} {text:?}", language.name()).expect("a string has room");
    }
    for manifest in snapshot.manifests().iter() {
        writeln!(all, "{} {:?}", manifest.path, manifest.text).expect("a string has room");
    }
    all
}

fn left_out(snapshot: &workspace::Snapshot) -> String {
    let mut all = String::new();
    for (reason, count, examples) in snapshot.skips().iter() {
        let examples: Vec<&str> = examples.iter().map(|skipped| &*skipped.path).collect();
        writeln!(all, "{count} {}: {examples:?}", reason.name()).expect("a string has room");
    }
    all
}

/// Compares two texts and reports the differences.
fn compare_text(what: &str, old: &str, new: &str) -> Result<(), String> {
    if old == new {
        return Ok(());
    }
    let (old_lines, new_lines): (BTreeSet<&str>, BTreeSet<&str>) =
        (old.lines().collect(), new.lines().collect());
    let only = |these: &BTreeSet<&str>, those: &BTreeSet<&str>| {
        these.difference(those).take(8).map(|line| format!("      {line}\n")).collect::<String>()
    };
    let (long, fresh) = (only(&old_lines, &new_lines), only(&new_lines, &old_lines));
    Err(format!("{what} differs\n  long-running:\n{long}  new:\n{fresh}"))
}
