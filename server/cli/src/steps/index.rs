//! Reading a workspace and deriving what mining and engines need from it.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use builtin::Corpus;
use cache::Cache;
use completion::WorkspaceIndex;
use index::{CopyIndex, Index};
use indexer::{Indexer, LoadedCorpus, OpenStats};
use mining::MiningInput;
use replay::CodeVersion;
use syntax::{Projects, SourceFile};
use workspace::{LoadProgress as Reading, ReadLimits, SkipReason, Skips, Snapshot, Totals};

use crate::folders;
use crate::output::{self, count, print_message};
use crate::progress::Progress;

/// A workspace that was read and indexed.
pub(crate) struct IndexedWorkspace {
    /// Its files.
    pub(crate) snapshot: Snapshot,
    /// Which code that is.
    pub(crate) code: CodeVersion,
    /// What mining and retrieval search.
    pub(crate) index: Index,
    /// What its manifests say.
    pub(crate) projects: Arc<Projects>,
    /// Copies among its files, for mining and replay alike.
    copies: Arc<OnceLock<CopyIndex>>,
    /// How long it took to read and index.
    pub(crate) duration: Duration,
}

/// Reads and indexes the workspace at `path`, and keeps that for the next time.
pub(crate) fn index(path: &Path) -> anyhow::Result<IndexedWorkspace> {
    let start = Instant::now();
    let (mut indexer, _) = open_indexer(path, folders::cache())?;
    let duration = start.elapsed();
    if let Err(error) = indexer.save() {
        print_message(&format!("next time this is done again: {error}"));
    }
    let indexer::IndexedFolder { files: snapshot, index, projects } = indexer.current().clone();
    let code = CodeVersion::new(&snapshot, workspace::git_state(path).as_ref());
    Ok(IndexedWorkspace { snapshot, code, index, projects, copies: Arc::default(), duration })
}

/// Opens the index of the workspace at `path`, with what `cache` has of it.
pub(crate) fn open_indexer(path: &Path, cache: Option<Cache>) -> anyhow::Result<(Indexer, OpenStats)> {
    let start = Instant::now();
    let progress = Progress::new("indexed", "files");
    let (indexer, opening) = Indexer::open(path, &ReadLimits::standard(), cache, &|reading| match reading {
        Reading::Walking { .. } => {}
        Reading::Reading { read, total } => progress.set(read as u64, total as u64),
    })?;
    let snapshot = &indexer.current().files;
    workspace::check_source(path, snapshot)?;
    progress.finish(&summary(snapshot.totals(), &opening, start.elapsed()));
    if let Some(miss) = &opening.miss {
        print_message(&format!("the cache is built anew: {miss}"));
    }
    report_skips(snapshot.skips());
    report_too_complex_files(&indexer.current().index.too_complex());
    Ok((indexer, opening))
}

/// Counts the files that could not be parsed, and names the first of them.
fn report_too_complex_files(paths: &[Arc<str>]) {
    /// As many as of the files that are skipped for another reason.
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

/// The tokens of `files`, kept for the next time where that pays. They are as if nothing had been kept, since what is measured must not
/// depend on it.
pub(crate) fn tokens(root: &Path, files: &[SourceFile], cache: Option<&Cache>) -> Corpus {
    let LoadedCorpus { corpus, is_cached, miss } = LoadedCorpus::open(cache, root, files);
    if let Some(miss) = miss {
        print_message(&format!("the tokens are put together anew: {miss}"));
    }
    let left_out = corpus.stats().excluded_files;
    if left_out > 0 {
        print_message(&format!(
            "the built-in engine leaves out {}, for which there is no room",
            count(left_out, "file")
        ));
    }
    let unsaved = cache.filter(|_| !is_cached).map(|cache| indexer::save_corpus(cache, root, &corpus));
    if let Some(Err(error)) = unsaved {
        print_message(&format!("next time this is done again: {error}"));
    }
    if corpus.changed_tokens() > 0 { corpus.rebuilt(files) } else { corpus }
}

/// What was indexed; if it all was read, how fast that went.
fn summary(totals: Totals, opening: &OpenStats, duration: Duration) -> String {
    let speed = match opening.reused {
        0 => rate(totals.bytes, duration),
        reused => format!(", {reused} from the cache"),
    };
    format!("{}, {}{speed}", count(totals.files, "file"), count(totals.lines, "line"))
}

/// The speed, where there was enough to do for one.
fn rate(bytes: usize, duration: Duration) -> String {
    const ENOUGH: usize = 1_000_000;
    let rate = bytes as f64 / duration.as_secs_f64() / 1e6;
    if bytes >= ENOUGH { format!(" at {rate:.1} MB/s") } else { String::new() }
}

/// Counts what was left out, and names the files that a person may have meant to be there.
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

/// Whether the file is source code that cannot be used as it is, rather than something that is left out on purpose.
fn is_surprising(reason: SkipReason) -> bool {
    use SkipReason as R;
    matches!(reason, R::Unreadable | R::InvalidUtf8 | R::Oversized | R::Minified | R::WorkspaceFull)
}

impl IndexedWorkspace {
    /// What engines may see of it. Their tokens come from the cache, or take about a second for a million lines and are kept.
    pub(crate) fn workspace_index(&self) -> WorkspaceIndex {
        let files = self.snapshot.files();
        let corpus = tokens(self.snapshot.root(), files, folders::cache().as_ref());
        WorkspaceIndex::with_tokens(Arc::clone(files), corpus)
            .with_index(Arc::clone(files), self.index.clone(), Arc::clone(&self.projects))
            .sharing(Arc::clone(&self.copies))
    }

    /// What mining works on.
    pub(crate) fn mining_sources(&self) -> MiningInput<'_> {
        MiningInput {
            files: self.snapshot.files(),
            index: &self.index,
            projects: &self.projects,
            copies: &self.copies,
        }
    }

    /// Sizes and speed, for `--json`.
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
