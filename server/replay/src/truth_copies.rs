//! Cases whose removed text also occurs in other files, and which of them are requested again without those files.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cases::{Case, CaseCopies, CaseId, NO_COPIES_SUFFIX};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use index::RemovedCode;
use rayon::prelude::*;
use syntax::Language;

use crate::case_snapshot::case_snapshot;

/// Files that contain copies, by case.
#[derive(Clone, Debug, Default)]
pub struct TruthCopies {
    by_case: BTreeMap<CaseId, Vec<Arc<str>>>,
    /// Whether engines without copies run on every case.
    includes_all_cases: bool,
    /// Requests that do not change when the files are hidden: the name of the engine without copies, and the case.
    same_requests: HashSet<(String, CaseId)>,
}

impl TruthCopies {
    /// Finds the truths of `cases` in `world`. With `asks_all`, engines without copies run on every case, not only on those
    /// with copies.
    pub fn find(cases: &[Case], world: &WorkspaceIndex, asks_all: bool) -> TruthCopies {
        // The other cases run without other files, so they cannot leak copies.
        let seen: Vec<&Case> = cases.iter().filter(|case| case.allows_workspace()).collect();
        let codes: Vec<RemovedCode<'_>> = seen.iter().filter_map(|case| removed_code(case)).collect();
        let found = seen.iter().zip(world.copies(&codes)).filter(|(_, files)| !files.is_empty());
        TruthCopies {
            by_case: found.map(|(case, files)| (case.id.clone(), files)).collect(),
            includes_all_cases: asks_all,
            same_requests: HashSet::new(),
        }
    }

    /// Finds the requests of engines without copies that equal those of the same engines with all files: their context contains none of
    /// the hidden files. Engines that read the whole workspace always differ. Chooses context twice for each case with copies and each
    /// setting of context, on all threads.
    #[must_use]
    pub fn with_same_requests(
        self,
        cases: &[Case],
        engines: &[ConfiguredEngine],
        world: &WorkspaceIndex,
    ) -> TruthCopies {
        let without: Vec<&ConfiguredEngine> = engines
            .iter()
            .filter(|engine| base_name(engine).is_some() && !engine.engine.reads_workspace())
            .collect();
        let asked: Vec<&Case> = cases
            .iter()
            .filter(|case| self.includes_all_cases || self.by_case.contains_key(&case.id))
            .collect();
        let of_case = |case: &&Case| -> Vec<(String, CaseId)> {
            // Context depends on these only.
            let mut known: Vec<(bool, &CompletionSettings, bool)> = Vec::new();
            let mut same = Vec::new();
            for &engine in &without {
                let (reads_context, settings) = (engine.engine.reads_context(), &engine.settings);
                let found =
                    known.iter().find(|&&(reads, other, _)| reads == reads_context && other == settings);
                let is_same =
                    found.map_or_else(|| self.has_same_context(case, engine, world), |&(_, _, same)| same);
                known.push((reads_context, settings, is_same));
                same.extend(is_same.then(|| (engine.name().to_owned(), case.id.clone())));
            }
            same
        };
        let same_requests = asked.par_iter().flat_map_iter(of_case).collect();
        TruthCopies { same_requests, ..self }
    }

    fn has_same_context(&self, case: &Case, engine: &ConfiguredEngine, world: &WorkspaceIndex) -> bool {
        let snapshot = case_snapshot(case, world, self);
        let context = |hide_near_duplicates| {
            let settings = CompletionSettings { hide_near_duplicates, ..engine.settings.clone() };
            completion::gathered_context(&snapshot, case.prefix.len(), &*engine.engine, &settings)
        };
        context(true) == context(false)
    }

    /// Returns the copies of these rows, which are known already.
    pub fn from_rows(rows: impl IntoIterator<Item = CaseCopies>) -> TruthCopies {
        let known = |row: CaseCopies| (row.case, row.files.into_iter().map(Arc::from).collect());
        TruthCopies { by_case: rows.into_iter().map(known).collect(), ..TruthCopies::default() }
    }

    /// Returns the cases with copies and the files that contain these.
    pub fn rows(&self) -> Vec<CaseCopies> {
        let files = |files: &[Arc<str>]| files.iter().map(|file| file.to_string()).collect();
        let row =
            |(case, found): (&CaseId, &Vec<Arc<str>>)| CaseCopies { case: case.clone(), files: files(found) };
        self.by_case.iter().map(row).collect()
    }

    /// Returns the files that contain a copy of the case's truth.
    pub(crate) fn files_with_copies(&self, case: &Case) -> Vec<Arc<str>> {
        self.by_case.get(&case.id).cloned().unwrap_or_default()
    }

    /// Whether the engine has a row for the case; without copies to hide, the answer would equal that of the same engine with all files.
    pub(crate) fn needs_row(&self, engine: &ConfiguredEngine, case: &Case) -> bool {
        !engine.settings.hide_near_duplicates
            || self.includes_all_cases
            || self.by_case.contains_key(&case.id)
    }

    /// Returns the name of the engine that gets the same request for the case, if there is one.
    pub(crate) fn engine_with_same_request<'e>(
        &self,
        engine: &'e ConfiguredEngine,
        case: &Case,
    ) -> Option<&'e str> {
        let base = base_name(engine)?;
        self.same_requests.contains(&(engine.name().to_owned(), case.id.clone())).then_some(base)
    }
}

/// Returns the name of the same engine with all files, for an engine without copies.
fn base_name(engine: &ConfiguredEngine) -> Option<&str> {
    engine.name().strip_suffix(NO_COPIES_SUFFIX).filter(|_| engine.settings.hide_near_duplicates)
}

/// Returns the removed code of a case, to search for copies; `None` if its language is not supported.
pub(crate) fn removed_code(case: &Case) -> Option<RemovedCode<'_>> {
    Some(RemovedCode {
        path: &case.path,
        language: Language::from_name(&case.language)?,
        prefix: &case.prefix,
        removed: &case.truth,
        suffix: &case.suffix,
    })
}
