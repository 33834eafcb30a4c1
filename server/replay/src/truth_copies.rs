//! Cases whose removed text also occurs in other files, and which of them are requested again without those files.

use std::collections::BTreeMap;
use std::sync::Arc;

use cases::{Case, CaseCopies, CaseId};
use completion::{ConfiguredEngine, WorkspaceIndex};
use index::RemovedCode;
use syntax::Language;

/// Files that contain copies, by case.
#[derive(Clone, Debug, Default)]
pub struct TruthCopies {
    by_case: BTreeMap<CaseId, Vec<Arc<str>>>,
    /// Whether engines without copies run on every case.
    includes_all_cases: bool,
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
        }
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

    /// Whether a request is needed; without copies to hide, the answer would equal that of the same engine with all files.
    pub(crate) fn needs_request(&self, engine: &ConfiguredEngine, case: &Case) -> bool {
        !engine.settings.hide_near_duplicates
            || self.includes_all_cases
            || self.by_case.contains_key(&case.id)
    }
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
