//! Reading a workspace and deriving what mining and engines need from it.

use std::path::Path;
use std::time::{Duration, Instant};

use completion::World;
use index::Index;
use mining::Sources;
use replay::Code;
use syntax::Projects;
use workspace::{Limits, Progress as Reading, SkipReason, Skips, Snapshot};

use crate::output::{count, say};
use crate::progress::Progress;

/// A workspace that was read and indexed.
pub(crate) struct Indexed {
    /// Its files.
    pub(crate) snapshot: Snapshot,
    /// Which code that is.
    pub(crate) code: Code,
    /// What engines may see of it.
    pub(crate) world: World,
    /// What mining and retrieval search.
    pub(crate) index: Index,
    /// What its manifests say.
    pub(crate) projects: Projects,
    /// How long it took to read and index.
    pub(crate) duration: Duration,
}

/// Reads and indexes the workspace at `path`.
pub(crate) fn index(path: &Path) -> anyhow::Result<Indexed> {
    let start = Instant::now();
    let snapshot = read(path)?;
    let files = snapshot.files();
    let progress = Progress::spin("indexed");
    let (world, index) = rayon::join(|| World::new(files.clone()), || Index::build(files));
    let duration = start.elapsed();
    let totals = snapshot.totals();
    progress.finish(&format!("{}{}", count(totals.lines, "line"), rate(totals.bytes, duration)));
    let code = Code::new(&snapshot, workspace::git_state(path).as_ref());
    let projects = Projects::new(snapshot.manifests());
    Ok(Indexed { snapshot, code, world, index, projects, duration })
}

fn read(path: &Path) -> anyhow::Result<Snapshot> {
    let progress = Progress::new("read", "files");
    let snapshot = workspace::load(path, &Limits::standard(), &|reading| match reading {
        Reading::Walking { .. } => {}
        Reading::Reading { read, total } => progress.set(read as u64, total as u64),
    })?;
    progress.finish(&count(snapshot.files().len(), "file"));
    tell_skips(snapshot.skips());
    Ok(snapshot)
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
            say(&format!("  {}: {}{error}", skipped.path, reason.name()));
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
    /// What mining works on.
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources { files: self.snapshot.files(), index: &self.index, projects: &self.projects }
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
