//! Cuts the holes of a file when they are first needed, so that mining parses only the files that it samples.

use std::sync::OnceLock;

use cases::BlockKind;
use rayon::prelude::*;

use crate::cut_case::MiningRepository;
use crate::hole_candidates::HoleCounts;
use crate::holes::holes;
use crate::parsed_file::{CutShape, Hole};

/// The holes of all files, for one seed.
pub(crate) struct LazyHoles<'a> {
    repository: &'a MiningRepository<'a>,
    seed: u64,
    /// Number of holes of each file, in the order of the repository's files.
    counts: &'a [HoleCounts],
    cut: Vec<OnceLock<Vec<Hole>>>,
}

impl<'a> LazyHoles<'a> {
    pub(crate) fn new(
        repository: &'a MiningRepository<'a>,
        seed: u64,
        counts: &'a [HoleCounts],
    ) -> LazyHoles<'a> {
        let cut = counts.iter().map(|_| OnceLock::new()).collect();
        LazyHoles { repository, seed, counts, cut }
    }

    pub(crate) fn counts(&self) -> &'a [HoleCounts] {
        self.counts
    }

    /// Returns the holes of a file, ordered by start.
    pub(crate) fn of(&self, file: usize) -> &[Hole] {
        let (Some(cut), Some(source)) = (self.cut.get(file), self.repository.files.get(file)) else {
            return &[];
        };
        cut.get_or_init(|| holes(source, &self.repository.parse(source), self.seed))
    }

    /// Returns one of the holes of a kind and cut in a file, by its number among them; `None` if the counts were wrong.
    pub(crate) fn hole(&self, file: usize, kind: BlockKind, shape: CutShape, number: usize) -> Option<&Hole> {
        self.of(file).iter().filter(|hole| (hole.kind, hole.shape) == (kind, shape)).nth(number)
    }

    /// Whether the holes of a file are cut.
    pub(crate) fn is_cut(&self, file: usize) -> bool {
        self.cut.get(file).is_some_and(|cut| cut.get().is_some())
    }

    /// Cuts the holes of these files on all cores.
    pub(crate) fn cut_all(&self, files: &[usize]) {
        files.par_iter().for_each(|&file| {
            self.of(file);
        });
    }
}
