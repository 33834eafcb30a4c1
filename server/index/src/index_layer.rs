//! A segment of which some files are absent: changed or removed since it was built, or hidden from one search.
//!
//! All statistics are those of a segment built without these files. Files aren't read for that: an absent file's contribution
//! to the frequency of each term is known and subtracted, and the documents of a file are contiguous.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bags::Bags;
use crate::bm25::CollectionStats;
use crate::file_passes::FilePasses;
use crate::inverted_bags::InvertedBags;
use crate::postings::{FileBags, FrequencyInFile};
use crate::segment::{Segment, function_frequency, window_frequency};
use crate::terms::Term;
use crate::{FileIndex, SegmentFile};

/// A layer is worn when more than this share of its files is absent.
const MAX_ABSENT_SHARE: f64 = 0.25;

/// A segment without some of its files; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct IndexLayer {
    segment: Arc<Segment>,
    /// Changed or removed since: up to a share of the whole segment.
    absent: Arc<AbsentFiles>,
    /// Additionally hidden from a request: few, so that no request copies the data of all absent files.
    hidden: Arc<AbsentFiles>,
    /// Windows and functions of the present files.
    windows: CollectionStats,
    functions: CollectionStats,
}

/// Absent files, and their contribution to the frequencies.
#[derive(Clone, Debug, Default)]
struct AbsentFiles {
    /// By position.
    files: FxHashSet<u32>,
    windows: FxHashMap<Term, u32>,
    functions: FxHashMap<Term, u32>,
}

impl IndexLayer {
    /// Creates a layer of `files`, whose paths must be distinct, in memory.
    pub(crate) fn new(files: Vec<Arc<FileIndex>>) -> IndexLayer {
        IndexLayer::build(files, FilePasses::IN_MEMORY)
    }

    /// The same, with the data about all files together in the store of the passes unless that fails.
    pub(crate) fn build(files: Vec<Arc<FileIndex>>, passes: FilePasses<'_>) -> IndexLayer {
        IndexLayer::of(Segment::build(files, passes))
    }

    /// Creates a layer of all files of a segment.
    pub(crate) fn of(segment: Segment) -> IndexLayer {
        let windows = segment.windows.totals();
        let functions = segment.functions.totals();
        IndexLayer {
            segment: Arc::new(segment),
            absent: Arc::default(),
            hidden: Arc::default(),
            windows,
            functions,
        }
    }

    /// Returns the same layer without the lazy fields of files in a store that are out of use; `None` without any.
    pub(crate) fn without_unused(&self) -> Option<IndexLayer> {
        let segment = Arc::new(self.segment.without_unused()?);
        Some(IndexLayer { segment, ..self.clone() })
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Returns the statistics of the present windows.
    pub(crate) fn windows(&self) -> CollectionStats {
        self.windows
    }

    /// Returns the statistics of the present functions.
    pub(crate) fn functions(&self) -> CollectionStats {
        self.functions
    }

    /// Removes the files of these paths permanently, where present. If it is worn then, it must not be searched: the frequencies are
    /// wrong, since reading so many files takes longer than building the layer again.
    pub(crate) fn remove_all<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let mut removed = Vec::new();
        for path in paths {
            if let Some(position) = self.exclude(path) {
                Arc::make_mut(&mut self.absent).files.insert(position as u32);
                removed.push(position);
            }
        }
        if !removed.is_empty() && !self.is_worn() {
            let absent = Arc::make_mut(&mut self.absent);
            removed.iter().for_each(|&position| absent.subtract(&self.segment.files()[position]));
        }
    }

    /// Hides the file of this path from one request, if present.
    pub(crate) fn hide(&mut self, path: &str) {
        if let Some(position) = self.exclude(path) {
            let hidden = Arc::make_mut(&mut self.hidden);
            hidden.files.insert(position as u32);
            hidden.subtract(&self.segment.files()[position]);
        }
    }

    /// Subtracts a present file from the totals.
    fn exclude(&mut self, path: &str) -> Option<usize> {
        let position = self.segment.position(path).filter(|&position| self.is_present(position))?;
        self.windows = self.windows.minus(self.segment.windows.totals_of(position));
        self.functions = self.functions.minus(self.segment.functions.totals_of(position));
        Some(position)
    }

    /// Whether the file at this position of the segment is present.
    pub(crate) fn is_present(&self, position: usize) -> bool {
        let position = position as u32;
        !self.absent.files.contains(&position) && !self.hidden.files.contains(&position)
    }

    /// Returns the present files, sorted by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = SegmentFile<'_>> {
        let present = (0..self.segment.files().len()).filter(|&position| self.is_present(position));
        present.map(|position| self.segment.file(position))
    }

    /// Returns the file of this path, if present.
    pub(crate) fn file(&self, path: &str) -> Option<SegmentFile<'_>> {
        let position = self.segment.position(path).filter(|&position| self.is_present(position))?;
        Some(self.segment.file(position))
    }

    /// Returns the positions of the files that were removed permanently, in order.
    pub(crate) fn absent(&self) -> Vec<u32> {
        let mut absent: Vec<u32> = self.absent.files.iter().copied().collect();
        absent.sort_unstable();
        absent
    }

    /// Returns whether so many files were removed that it must be built again.
    pub(crate) fn is_worn(&self) -> bool {
        self.absent.files.len() as f64 > MAX_ABSENT_SHARE * self.segment.files().len() as f64
    }

    /// Returns the number of windows with `term`.
    pub(crate) fn windows_with(&self, term: Term) -> u64 {
        let left_out =
            [&self.absent, &self.hidden].map(|absent| absent.windows.get(&term).copied().unwrap_or_default());
        u64::from(self.segment.windows.postings.frequency(term) - left_out[0] - left_out[1])
    }

    /// Returns the number of functions with `word`.
    pub(crate) fn functions_with(&self, word: Term) -> u64 {
        let left_out = [&self.absent, &self.hidden]
            .map(|absent| absent.functions.get(&word).copied().unwrap_or_default());
        u64::from(self.segment.functions.postings.frequency(word) - left_out[0] - left_out[1])
    }
}

impl AbsentFiles {
    /// Adds what a file contributes to the frequencies.
    fn subtract(&mut self, file: &FileIndex) {
        add_frequencies(&mut self.windows, file.block_terms(), window_frequency);
        add_frequencies(&mut self.functions, file.function_words(), function_frequency);
    }
}

fn add_frequencies(absent: &mut FxHashMap<Term, u32>, bags: &Bags, frequency: FrequencyInFile) {
    absent.reserve(bags.terms().len());
    let inverted = InvertedBags::new(bags, 0);
    for (position, &term) in bags.terms().iter().enumerate() {
        *absent.entry(term).or_default() +=
            frequency(FileBags { bags, first: 0 }, inverted.documents(position));
    }
}

#[cfg(test)]
mod tests {
    use syntax::{Language, SourceFile};

    use super::*;

    #[test]
    fn hiding_a_file_does_not_copy_the_absent_set() {
        let mut layer = IndexLayer::new(
            ["a", "b", "c", "d"]
                .map(|name| {
                    let (path, text) = (format!("{name}.py").into(), format!("{name} = shared\n").into());
                    Arc::new(FileIndex::new(SourceFile { path, language: Language::Python, text }))
                })
                .to_vec(),
        );
        layer.remove_all(["a.py"].into_iter());
        let mut request = layer.clone();
        request.hide("b.py");
        assert!(Arc::ptr_eq(&layer.absent, &request.absent));
        let shared = Term::identifier("shared");
        assert_eq!((layer.windows_with(shared), request.windows_with(shared)), (3, 2));
        assert_eq!((layer.windows().documents, request.windows().documents), (3, 2));
        assert!(layer.file("b.py").is_some() && request.file("b.py").is_none());
    }
}
