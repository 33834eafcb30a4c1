//! Reads and indexes a workspace for mining and engines.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::{Corpus, CorpusLimit};
use cache::Cache;
use completion::WorkspaceIndex;
use config::Config;
use mining::{HoleCandidates, MiningInput};
use replay::CodeVersion;
use session::{IndexMemory, IndexProgress, Indexer, LoadedCorpus, OpenStats, TreeObserver};
use syntax::SourceFile;
use workspace::{ReadLimits, SkipReason, Skips, Snapshot, Totals};

use crate::folders;
use crate::output::{self, count, print_message};
use crate::progress::Progress;
use crate::steps::hole_candidates::CandidateCollector;
use crate::steps::settings_sources::SettingsSources;

/// An indexed workspace.
pub(crate) struct IndexedWorkspace {
    /// Its files.
    pub(crate) snapshot: Snapshot,
    /// Identity of the code.
    pub(crate) code: CodeVersion,
    /// The index for mining, retrieval and engines; without tokens.
    pub(crate) index: WorkspaceIndex,
    /// Time to read and index it.
    pub(crate) duration: Duration,
}

/// Reads and indexes the workspace at `path`, and updates its cache.
pub(crate) fn index(path: &Path) -> anyhow::Result<IndexedWorkspace> {
    index_observed(path, folders::cache(), None)
}

/// Same as [`index()`], also returning the hole candidates of the files, in their order.
pub(crate) fn index_for_mining(path: &Path) -> anyhow::Result<(IndexedWorkspace, Vec<HoleCandidates>)> {
    let cache = folders::cache();
    let collector = CandidateCollector::open(path, cache.as_ref());
    let indexed = index_observed(path, cache, Some(&|file, tree| collector.observe(file, tree)))?;
    let candidates = collector.finish(&indexed);
    Ok((indexed, candidates))
}

fn index_observed(
    path: &Path,
    cache: Option<Cache>,
    on_tree: Option<&TreeObserver<'_>>,
) -> anyhow::Result<IndexedWorkspace> {
    let start = Instant::now();
    let (mut indexer, _) = open_indexer(path, cache, on_tree)?;
    let duration = start.elapsed();
    if let Err(error) = indexer.save() {
        print_message(&format!("the cache is not saved: {error}"));
    }
    let (snapshot, index) = (indexer.files().clone(), indexer.current().clone());
    let code = CodeVersion::new(&snapshot, workspace::git_state(path).as_ref());
    Ok(IndexedWorkspace { snapshot, code, index, duration })
}

/// Opens the index of the workspace at `path`, with the cached parts from `cache`; `on_tree` gets the trees of the other files.
pub(crate) fn open_indexer(
    path: &Path,
    cache: Option<Cache>,
    on_tree: Option<&TreeObserver<'_>>,
) -> anyhow::Result<(Indexer, OpenStats)> {
    let start = Instant::now();
    let progress = Progress::new("indexed", "files");
    let show = |indexing: IndexProgress| match indexing {
        IndexProgress::Loading(_) => {}
        IndexProgress::Deriving { done, total } => progress.set(done as u64, total as u64),
    };
    let (limits, memory) = (ReadLimits::standard(), memory(path));
    let (indexer, opening) = Indexer::open_observed(path, &limits, cache, memory, &show, on_tree)?;
    let snapshot = indexer.files();
    workspace::check_source(path, snapshot)?;
    progress.finish(&summary(snapshot.totals(), &opening, start.elapsed()));
    if let Some(miss) = &opening.miss {
        print_message(&format!("rebuilding the cache: {miss}"));
    }
    report_skips(snapshot.skips());
    report_too_complex_files(&indexer.current().index().too_complex());
    Ok((indexer, opening))
}

/// Returns the memory budget of the workspace's index. Problems of the settings are printed by the commands that depend on them.
fn memory(path: &Path) -> IndexMemory {
    let sources = SettingsSources::new(None);
    IndexMemory::of_settings(&Config::new(&sources.layers(path), &sources.variables).index)
}

/// Prints the number of files too complex to parse, and some of their names.
fn report_too_complex_files(paths: &[Arc<str>]) {
    /// As many as for skipped files.
    const EXAMPLES: usize = 3;
    if paths.is_empty() {
        return;
    }
    print_message(&format!(
        "{} too complex to parse: searched as plain text, never mined",
        count(paths.len(), "file")
    ));
    for path in paths.iter().take(EXAMPLES) {
        print_message(&format!("  {}: too complex", output::path(Path::new(&**path))));
    }
    if paths.len() > EXAMPLES {
        print_message(&format!("  and {} more", paths.len() - EXAMPLES));
    }
}

/// Returns the tokens of `files`, cached if that is worthwhile. Measurements must not depend on the cache, so the result is the same
/// without it.
pub(crate) fn tokens(root: &Path, files: &[SourceFile], cache: Option<&Cache>) -> Corpus {
    let LoadedCorpus { corpus, is_cached, miss } =
        LoadedCorpus::open(cache, root, files, CorpusLimit::default(), None);
    if let Some(miss) = miss {
        print_message(&format!("rebuilding the tokens: {miss}"));
    }
    let coverage = corpus.coverage(files);
    if coverage.excluded_files > 0 {
        let files = count(coverage.excluded_files, "file");
        print_message(&format!("the built-in engine holds {coverage}: nearest code first, without {files}"));
    }
    let unsaved = cache.filter(|_| !is_cached).map(|cache| session::save_corpus(cache, root, &corpus));
    if let Some(Err(error)) = unsaved {
        print_message(&format!("the cache is not saved: {error}"));
    }
    if corpus.changed_tokens() > 0 { corpus.rebuilt(files) } else { corpus }
}

/// Formats the size of the index, and the speed if everything was read.
fn summary(totals: Totals, opening: &OpenStats, duration: Duration) -> String {
    let speed = match opening.reused {
        0 => rate(totals.bytes, duration),
        reused => format!(", {reused} from the cache"),
    };
    format!("{}, {}{speed}", count(totals.files, "file"), count(totals.lines, "line"))
}

/// Formats the speed if there was enough work to measure it.
fn rate(bytes: usize, duration: Duration) -> String {
    const ENOUGH: usize = 1_000_000;
    let rate = bytes as f64 / duration.as_secs_f64() / 1e6;
    if bytes >= ENOUGH { format!(" at {rate:.1} MB/s") } else { String::new() }
}

/// Prints the number of skipped files, and names those that the user may miss.
fn report_skips(skips: &Skips) {
    if skips.iter().next().is_none() {
        return;
    }
    print_message(&format!("skipped {skips}"));
    for (reason, number, examples) in skips.iter().filter(|(reason, ..)| is_surprising(*reason)) {
        for skipped in examples {
            let error = skipped.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            print_message(&format!("  {}: {}{error}", output::path(Path::new(&skipped.path)), reason.name()));
        }
        if number > examples.len() {
            print_message(&format!("  and {} more {}", number - examples.len(), reason.name()));
        }
    }
}

/// Returns whether the file is source code that could not be read, rather than excluded on purpose.
fn is_surprising(reason: SkipReason) -> bool {
    use SkipReason as R;
    matches!(reason, R::Unreadable | R::InvalidUtf8 | R::Oversized | R::Minified | R::WorkspaceFull)
}

impl IndexedWorkspace {
    /// Returns the index with tokens for engines, which come from the cache or take about a second for a million lines.
    pub(crate) fn index_with_tokens(&self) -> WorkspaceIndex {
        let corpus = tokens(self.snapshot.root(), self.snapshot.files(), folders::cache().as_ref());
        self.index.clone().with_corpus(corpus)
    }

    /// Returns the input of mining.
    pub(crate) fn mining_sources<'a>(&'a self, candidates: &'a [HoleCandidates]) -> MiningInput<'a> {
        MiningInput {
            files: self.index.files(),
            index: self.index.index(),
            projects: self.index.projects(),
            copies: self.index.copy_index(),
            candidates,
        }
    }

    /// Returns sizes and speed, for `--json`.
    pub(crate) fn report(&self) -> serde_json::Value {
        let totals = self.snapshot.totals();
        serde_json::json!({
            "files": totals.files,
            "lines": totals.lines,
            "bytes": totals.bytes,
            "seconds": self.duration.as_secs_f64(),
        })
    }
}
