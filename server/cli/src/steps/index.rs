//! Reading a workspace and deriving what mining and engines need from it.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use builtin::Corpus;
use cache::Cache;
use completion::World;
use index::{CopyIndex, Index};
use indexer::{Indexer, Opening, Tokens};
use mining::Sources;
use replay::Code;
use syntax::{Projects, SourceFile};
use workspace::{Limits, Progress as Reading, SkipReason, Skips, Snapshot, Totals};

use crate::folders;
use crate::output::{self, count, say};
use crate::progress::Progress;

/// A workspace that was read and indexed.
pub(crate) struct Indexed {
    /// Its files.
    pub(crate) snapshot: Snapshot,
    /// Which code that is.
    pub(crate) code: Code,
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
pub(crate) fn index(path: &Path) -> anyhow::Result<Indexed> {
    let start = Instant::now();
    let (mut indexer, _) = open(path, folders::caches())?;
    let duration = start.elapsed();
    if let Err(error) = indexer.save() {
        say(&format!("next time this is done again: {error}"));
    }
    let indexer::Indexed { files: snapshot, index, projects } = indexer.indexed().clone();
    let code = Code::new(&snapshot, workspace::git_state(path).as_ref());
    Ok(Indexed { snapshot, code, index, projects, copies: Arc::default(), duration })
}

/// Opens the index of the workspace at `path`, with what `cache` has of it.
pub(crate) fn open(path: &Path, cache: Option<Cache>) -> anyhow::Result<(Indexer, Opening)> {
    let start = Instant::now();
    let progress = Progress::new("indexed", "files");
    let (indexer, opening) = Indexer::open(path, &Limits::standard(), cache, &|reading| match reading {
        Reading::Walking { .. } => {}
        Reading::Reading { read, total } => progress.set(read as u64, total as u64),
    })?;
    let snapshot = &indexer.indexed().files;
    workspace::check_source(path, snapshot)?;
    progress.finish(&summary(snapshot.totals(), &opening, start.elapsed()));
    if let Some(miss) = &opening.miss {
        say(&format!("the cache is built anew: {miss}"));
    }
    tell_skips(snapshot.skips());
    tell_too_complex(&indexer.indexed().index.too_complex());
    Ok((indexer, opening))
}

/// Counts the files that could not be parsed, and names the first of them.
fn tell_too_complex(paths: &[Arc<str>]) {
    /// As many as of the files that are skipped for another reason.
    const EXAMPLES: usize = 3;
    if paths.is_empty() {
        return;
    }
    say(&format!("{} too complex to parse: searched as plain text, never mined", count(paths.len(), "file")));
    for path in paths.iter().take(EXAMPLES) {
        say(&format!("  {}: too complex", output::path(Path::new(&**path))));
    }
    if paths.len() > EXAMPLES {
        say(&format!("  and {} more", paths.len() - EXAMPLES));
    }
}

/// The tokens of `files`, kept for the next time where that pays. They are as if nothing had been kept, since what is measured must not
/// depend on it.
pub(crate) fn tokens(root: &Path, files: &[SourceFile], cache: Option<&Cache>) -> Corpus {
    let Tokens { corpus, is_cached, miss } = Tokens::open(cache, root, files);
    if let Some(miss) = miss {
        say(&format!("the tokens are put together anew: {miss}"));
    }
    let left_out = corpus.stats().left_out;
    if left_out > 0 {
        say(&format!(
            "the built-in engine leaves out {}, for which there is no room",
            count(left_out, "file")
        ));
    }
    let unsaved = cache.filter(|_| !is_cached).map(|cache| indexer::save_tokens(cache, root, &corpus));
    if let Some(Err(error)) = unsaved {
        say(&format!("next time this is done again: {error}"));
    }
    if corpus.changed_tokens() > 0 { corpus.renewed(files) } else { corpus }
}

/// What was indexed; if it all was read, how fast that went.
fn summary(totals: Totals, opening: &Opening, duration: Duration) -> String {
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
fn tell_skips(skips: &Skips) {
    if skips.iter().next().is_none() {
        return;
    }
    say(&format!("skipped {skips}"));
    for (reason, number, examples) in skips.iter().filter(|(reason, ..)| is_surprising(*reason)) {
        for skipped in examples {
            let error = skipped.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            say(&format!("  {}: {}{error}", output::path(Path::new(&skipped.path)), reason.name()));
        }
        if number > examples.len() {
            say(&format!("  and {} more {}", number - examples.len(), reason.name()));
        }
    }
}

/// Whether the file is source code that cannot be used as it is, rather than something that is left out on purpose.
fn is_surprising(reason: SkipReason) -> bool {
    use SkipReason as R;
    matches!(reason, R::Unreadable | R::InvalidUtf8 | R::Oversized | R::Minified | R::WorkspaceFull)
}

impl Indexed {
    /// What engines may see of it. Their tokens come from the cache, or take about a second for a million lines and are kept.
    pub(crate) fn world(&self) -> World {
        let files = self.snapshot.files();
        let corpus = tokens(self.snapshot.root(), files, folders::caches().as_ref());
        World::with_tokens(Arc::clone(files), corpus)
            .with_index(Arc::clone(files), self.index.clone(), Arc::clone(&self.projects))
            .sharing(Arc::clone(&self.copies))
    }

    /// What mining works on.
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
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
