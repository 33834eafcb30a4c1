//! Another release of the workspace is checked out while somebody types next to an unsaved document, and then the first one again. There, the
//! server's own watcher notices it; on the way back, the client reports it.
//!
//! Each server opens the workspace from a cache, as at the start of most days.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::Value;
use syntax::{Language, SourceFile};
use tests::lsp::Buffer;
use workspace::{ReadLimits, Snapshot};

use super::name_probes::{NameProbes, PROBES, ProbedName, spread};
use super::query_document::NAMES;
use super::release_diff::ReleaseDiff;
use super::server_fixture::{ANCHOR_TEXT, ChangeReporter, ServerFixture};
use super::switch::{self, KeyTimes, Switch};
use super::typing::SteadyTyping;
use crate::measure::background_load;
use crate::measure::figures::SortedTimes;
use crate::measure::indexing::edits;
use crate::measure::lsp::memory::{peak, reset_peak, resident};

/// Time between keys: quick typing, in which a completion that takes some tens of milliseconds does not delay the next one.
const PERIOD: Duration = Duration::from_millis(200);
/// Time between two requests for a name in the new files. Each opens a document, which costs the server as much as a key: the measurement
/// must add little to the load of typing.
const PROBE_PERIOD: Duration = Duration::from_secs(1);
/// Keys before each checkout: so many that a 99th percentile is that of several keys.
const IDLE_KEYS: usize = 300;
/// Timeout of a checkout.
const DEADLINE: Duration = Duration::from_secs(1_200);

/// Results of both ways.
pub(in crate::measure::indexing) struct ReleaseFigures {
    /// Numbers of files on the way to the other release.
    pub(in crate::measure::indexing) changed: usize,
    pub(in crate::measure::indexing) created: usize,
    pub(in crate::measure::indexing) removed: usize,
    /// To the other release, noticed by the server's own watcher.
    pub(in crate::measure::indexing) watcher_reported: CheckoutFigures,
    /// Back, reported by the client.
    pub(in crate::measure::indexing) client_reported: CheckoutFigures,
}

/// Results of one checkout. Times begin with its first change of a file.
pub(in crate::measure::indexing) struct CheckoutFigures {
    /// Time until it is complete.
    pub(in crate::measure::indexing) written: Duration,
    /// Time until completions find new names in the files, the last one included.
    pub(in crate::measure::indexing) searchable: Duration,
    /// Time until the status has the numbers of files and lines of the release, and the tokens of the built-in engine are updated.
    pub(in crate::measure::indexing) known: Duration,
    /// Completion times.
    pub(in crate::measure::indexing) keys: KeyTimes,
    /// Resident set afterwards in bytes.
    pub(in crate::measure::indexing) memory: f64,
    /// Its maximum since the beginning.
    pub(in crate::measure::indexing) peak: f64,
}

/// Measures checkouts in a copy of the folder `old`: that of the folder `new`, and back.
pub(in crate::measure::indexing) fn measure(
    ghostbench: &Path,
    old: &Path,
    new: &Path,
) -> Result<ReleaseFigures> {
    let there = ReleaseDiff::between(old, new)?;
    let back = there.reversed();
    let desk = ServerFixture::copy_of(ghostbench, old)?;
    let language = edits::main_language(&desk.files)?;
    let same = desk.files.iter().filter(|file| there.is_same(Path::new(&*file.path)));
    let same: Vec<&SourceFile> = same.filter(|file| file.language == language).collect();
    let documents = switch::documents(&same, 1)?;
    let scene = ReleaseScene {
        desk: &desk,
        language,
        document: documents[0],
        neighbour: switch::unsaved(&desk, &same, &documents)?,
    };
    let before = desk.files.len() + 1;
    let (files, watcher_reported) = scene.check_out(&there, new, before, ChangeReporter::Watcher)?;
    let (_, client_reported) = scene.check_out(&back, old, files, ChangeReporter::Client)?;
    Ok(ReleaseFigures {
        changed: there.changed.len(),
        created: there.created.len(),
        removed: there.removed.len(),
        watcher_reported,
        client_reported,
    })
}

/// Shared by both ways.
struct ReleaseScene<'a> {
    desk: &'a ServerFixture,
    /// The language of most files.
    language: Language,
    /// The edited file, which is the same in both releases, like the unsaved one.
    document: &'a SourceFile,
    neighbour: Buffer,
}

/// What a server has absorbed after a checkout.
struct ExpectedRelease {
    /// Numbers of files and lines.
    size: (usize, usize),
    /// The added names, in the order in which they are written.
    names: Vec<(PathBuf, ProbedName)>,
}

impl ReleaseScene<'_> {
    /// Checks out a release in front of a server that has read `before` files; also returns the number of files afterwards.
    fn check_out(
        &self,
        diff: &ReleaseDiff,
        release: &Path,
        before: usize,
        teller: ChangeReporter,
    ) -> Result<(usize, CheckoutFigures)> {
        let ReleaseScene { desk, language, document, neighbour } = self;
        let expected = self.expect(diff, release, teller)?;
        let ExpectedRelease { size, names } = expected;
        desk.index()?;
        let editor = desk.start_and_wait_for(teller, before)?;
        editor.open(neighbour);
        // The tokens of the built-in engine are read after the index.
        background_load::wait_until_idle(editor.client.process_id())?;
        let mut typing = SteadyTyping::begin(desk, &editor, document, PERIOD)?;
        let absent = ProbedName { language: *language, name: format!("{NAMES}absent") };
        let probes_for = |names| NameProbes::new(desk, &editor, names, PROBE_PERIOD);
        let idle = switch::type_idle(&mut typing, probes_for(vec![absent]), IDLE_KEYS)?;
        let report = match teller {
            ChangeReporter::Client => diff.report(&desk.root),
            ChangeReporter::Watcher => Value::Null,
        };
        let added = names.iter().map(|(path, probed)| (path.clone(), probed.name.clone()));
        let added: BTreeMap<PathBuf, String> = added.collect();
        let names = names.into_iter().map(|(_, probed)| probed).collect();
        let switch = Switch { desk, editor: &editor, probes: probes_for(names), size, deadline: DEADLINE };
        reset_peak(&editor)?;
        let timings = switch.run(
            &mut typing,
            || diff.check_out(release, &desk.root, &added),
            || {
                if !report.is_null() {
                    editor.client.notify("workspace/didChangeWatchedFiles", report);
                }
            },
        )?;
        let figures = CheckoutFigures {
            written: timings.written,
            searchable: timings.searchable,
            known: timings.known,
            keys: KeyTimes { idle: SortedTimes::new(idle), meanwhile: SortedTimes::new(timings.keys) },
            memory: resident(&editor)?,
            peak: peak(&editor)?,
        };
        typing.end();
        editor.close(neighbour);
        eprintln!("{} is checked out, {:?}", release.display(), figures.known);
        Ok((size.0, figures))
    }

    /// Returns what is there after a checkout, with names in files of the most frequent language.
    fn expect(&self, diff: &ReleaseDiff, release: &Path, teller: ChangeReporter) -> Result<ExpectedRelease> {
        let snapshot = workspace::load(release, &ReadLimits::standard(), &|_| {})?;
        let is_probed = |path: &&Path| self.is_probed(&snapshot, path);
        let written: Vec<&Path> = diff.written().into_iter().filter(is_probed).collect();
        ensure!(written.len() >= PROBES, "the releases differ in too few files");
        let name = |number: usize| format!("{NAMES}{teller:?}_{number}").to_lowercase();
        let names: Vec<(PathBuf, ProbedName)> = (0..)
            .zip(spread(&written))
            .map(|(number, path)| {
                (path.to_path_buf(), ProbedName { language: self.language, name: name(number) })
            })
            .collect();
        let totals = snapshot.totals();
        let lines = totals.lines + ANCHOR_TEXT.lines().count() + names.len() * switch::NAME_LINES;
        Ok(ExpectedRelease { size: (totals.files + 1, lines), names })
    }

    fn is_probed(&self, snapshot: &Snapshot, path: &Path) -> bool {
        let file = path.to_str().and_then(|path| snapshot.get(path));
        file.is_some_and(|file| file.language == self.language)
    }
}
