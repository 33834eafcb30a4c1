//! A repository with the cases cut from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use anyhow::Result;
use cases::{Case, CrossFileContext, ENTITY_TAG, Origin, OriginKind, Scenario, Task};
use index::{CrossFileUse, Index, Searcher};
use mining::{HoleCandidates, MiningInput, MiningOptions, Mix};
use rayon::prelude::*;
use syntax::{Language, Projects, SourceFile};
use workspace::ReadLimits;

use super::SEED;
use crate::measure::repositories::Repo;

/// First uses of names per repository; limited so that no repository outweighs the others.
const FIRST_USES: usize = 110;
/// Later uses per repository.
const LATER_USES: usize = 40;
/// Number of uses that are cut to find the later ones among them.
const LATER_DRAWN: usize = 4 * LATER_USES;
/// Cases per hole.
const VARIANTS: usize = 3;

/// Cases and index of one repository.
pub(crate) struct MinedRepository {
    repo: Repo,
    /// The files of the measured language.
    pub(super) files: Vec<SourceFile>,
    /// Index of these files.
    pub(super) index: Index,
    pub(super) projects: Projects,
    /// Variants of the first use of a name in a file, as in CrossCodeEval, three per hole.
    variants: Vec<Case>,
    /// Those without context.
    pub(super) first: Vec<Case>,
    /// Uses of names that the file has used before.
    pub(super) later: Vec<Case>,
}

/// Row of the table of repositories.
pub(super) struct RepositorySummary {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) language: Language,
    pub(super) lines: usize,
    pub(super) first: usize,
    pub(super) later: usize,
}

impl MinedRepository {
    pub(crate) fn new(repo: &Repo) -> Result<MinedRepository> {
        let snapshot = workspace::load(&repo.root, &ReadLimits::standard(), &|_| {})?;
        let files: Vec<SourceFile> =
            snapshot.files().iter().filter(|file| repo.pinned.measures(file.language)).cloned().collect();
        let index = Index::build(&files);
        let projects = Projects::new(snapshot.manifests());
        let origin = Origin::new(OriginKind::Mined, snapshot.tree_hash());
        let copies = OnceLock::new();
        let candidates: Vec<HoleCandidates> = files.par_iter().map(HoleCandidates::of).collect();
        let sources = MiningInput {
            files: &files,
            index: &index,
            projects: &projects,
            copies: &copies,
            candidates: &candidates,
        };
        let options = |holes, first_uses_only| MiningOptions {
            cases: VARIANTS * holes,
            seed: SEED,
            scenarios: vec![Scenario::CrossFile],
            mix: Mix::Even,
            first_uses_only,
            origin: origin.clone(),
        };
        // Without a judge: cases that an engine answers from the file alone are cases like others here.
        let variants = mining::mine(&sources, &options(FIRST_USES, true), None).cases;
        let drawn = mining::mine(&sources, &options(LATER_DRAWN, false), None).cases;
        let mut later = UseClassifier::new(&sources);
        let later = without_context(&drawn).filter(|case| later.is_later(case)).take(LATER_USES).collect();
        let first = without_context(&variants).collect();
        Ok(MinedRepository { repo: repo.clone(), files, index, projects, variants, first, later })
    }

    pub(super) fn name(&self) -> &'static str {
        self.repo.pinned.name
    }

    pub(crate) fn language(&self) -> Language {
        self.repo.pinned.language
    }

    /// Returns the first uses without context.
    pub(crate) fn first_uses(&self) -> &[Case] {
        &self.first
    }

    /// Returns a searcher over the repository's files.
    pub(crate) fn searcher(&self) -> Searcher {
        self.index.hide(&[])
    }

    /// Returns the data of its manifests.
    pub(crate) fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Returns the first uses in one of CrossCodeEval's three settings.
    pub(super) fn variant(&self, variant: CrossFileContext) -> impl Iterator<Item = &Case> {
        self.variants.iter().filter(move |case| case.task.cross_file_context() == Some(variant))
    }

    pub(super) fn summary(&self) -> RepositorySummary {
        RepositorySummary {
            name: self.name(),
            version: self.repo.pinned.version,
            language: self.language(),
            lines: self.files.iter().map(|file| file.text.lines().count()).sum(),
            first: self.first.len(),
            later: self.later.len(),
        }
    }
}

fn without_context(cases: &[Case]) -> impl Iterator<Item = Case> {
    cases.iter().filter(|case| case.task == Task::IN_FILE).cloned()
}

/// Distinguishes first uses of a name from later ones.
struct UseClassifier<'a> {
    sources: &'a MiningInput<'a>,
    /// The uses of each file, computed on first access.
    uses: BTreeMap<String, Vec<CrossFileUse>>,
}

impl<'a> UseClassifier<'a> {
    fn new(sources: &'a MiningInput<'a>) -> UseClassifier<'a> {
        UseClassifier { sources, uses: BTreeMap::new() }
    }

    /// Whether the case's name is used before the hole; the name is that of its first definition.
    fn is_later(&mut self, case: &Case) -> bool {
        let uses = self.uses.entry(case.path.clone()).or_insert_with(|| uses(self.sources, &case.path));
        let text = self.sources.files.iter().find(|file| *file.path == *case.path).map(|file| &file.text);
        let (Some(text), Some(entity)) = (text, case.tags.get(ENTITY_TAG)) else { return false };
        let Some(asked) = uses
            .iter()
            .find(|used| used.name.start >= case.byte_range.start && text[used.name.clone()] == **entity)
        else {
            return false;
        };
        let before = uses.iter().take_while(|used| used.name.start < case.byte_range.start);
        let known: BTreeSet<_> = before.filter_map(|used| used.definitions.first()).collect();
        asked.definitions.first().is_some_and(|definition| known.contains(definition))
    }
}

fn uses(sources: &MiningInput<'_>, path: &str) -> Vec<CrossFileUse> {
    let Some(file) = sources.files.iter().find(|file| *file.path == *path) else { return Vec::new() };
    let tree = syntax::parse(file.language, &file.text);
    sources.index.hide(&[path]).cross_file_uses(sources.projects, file, &tree)
}
