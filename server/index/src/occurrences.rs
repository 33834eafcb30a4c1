//! Finds the blocks that contain a name, in the order of paths and positions.
//!
//! A common name occurs in hundreds of thousands of blocks of which a request looks at some dozens, so they are counted and sampled
//! without a list of all.

use std::ops::Range;

use crate::index_layer::IndexLayer;
use crate::near_search::partition_near_start;
use crate::terms::Term;
use crate::{Searcher, SegmentFile};

/// A block that contains a name.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// Its file.
    pub file: SegmentFile<'a>,
    /// Number of the block in its file.
    pub block: u32,
}

/// Blocks that contain a name.
pub(crate) struct OccurrenceSample<'a> {
    /// The blocks at equal distances among all of them.
    pub(crate) sample: Vec<Occurrence<'a>>,
    /// The number of all of them.
    pub(crate) total: usize,
}

impl Searcher {
    /// Returns the blocks with `identifier`, by path and position.
    pub fn occurrences(&self, identifier: &str) -> Vec<Occurrence<'_>> {
        self.sample_occurrences(identifier, &[], usize::MAX, &mut Vec::new()).sample
    }

    /// Returns at most `most` blocks with `identifier` outside of the files at `left_out`, by path and position. `buffer` can be reused.
    pub(crate) fn sample_occurrences(
        &self,
        identifier: &str,
        left_out: &[&str],
        most: usize,
        buffer: &mut Vec<u32>,
    ) -> OccurrenceSample<'_> {
        let term = Term::identifier(identifier);
        let Some(largest) = self.layers().iter().max_by_key(|layer| layer.windows().documents) else {
            return OccurrenceSample { sample: Vec::new(), total: 0 };
        };
        let others = self.layers().iter().filter(|layer| !std::ptr::eq(*layer, largest));
        let others: Vec<LayerOccurrences<'_>> =
            others.map(|layer| LayerOccurrences::find(layer, term, left_out, Vec::new())).collect();
        let found = LayerOccurrences::find(largest, term, left_out, std::mem::take(buffer));
        let others = OtherOccurrences::new(&others, &found);
        let total = found.places.len() + others.count();
        let get = |position| others.get(position).unwrap_or_else(|before| found.get(position - before));
        let sample = (0..total).step_by(total.div_ceil(most).max(1)).map(get).collect();
        *buffer = found.places;
        OccurrenceSample { sample, total }
    }
}

/// The blocks of a layer with a term. A quarter of the memory of a list of [`Occurrence`], which would be megabytes.
struct LayerOccurrences<'a> {
    layer: &'a IndexLayer,
    /// Numbers of the blocks in the layer.
    places: Vec<u32>,
}

impl<'a> LayerOccurrences<'a> {
    /// `places` is a buffer for the result.
    fn find(
        layer: &'a IndexLayer,
        term: Term,
        left_out: &[&str],
        mut places: Vec<u32>,
    ) -> LayerOccurrences<'a> {
        let windows = &layer.segment().windows;
        let left_out: Vec<usize> =
            left_out.iter().filter_map(|path| layer.segment().position(path)).collect();
        // Growing would touch twice the memory.
        let expected = (windows.postings.frequency(term) as usize).min(windows.lengths.len());
        places.clear();
        places.reserve(expected);
        let (mut position, mut end, mut is_wanted) = (0, 0, false);
        for (place, _) in windows.postings.list(term) {
            if place >= end {
                position = windows.file_at_or_behind(position, place);
                end = windows.blocks_of_file(position).end;
                is_wanted = layer.is_present(position) && !left_out.contains(&position);
            }
            if is_wanted {
                places.push(place);
            }
        }
        LayerOccurrences { layer, places }
    }

    /// Returns the block at this position.
    fn get(&self, at: usize) -> Occurrence<'a> {
        let segment = self.layer.segment();
        let position = segment.windows.file_of(self.places[at]);
        let start = segment.windows.blocks_of_file(position).start;
        Occurrence { file: segment.file(position), block: self.places[at] - start }
    }

    /// Returns the blocks of each file.
    fn files(&self) -> Vec<FileOccurrences<'_, 'a>> {
        let windows = &self.layer.segment().windows;
        let mut files = Vec::new();
        let (mut position, mut start) = (0, 0);
        while let Some(&place) = self.places.get(start) {
            position = windows.file_at_or_behind(position, place);
            let end = windows.blocks_of_file(position).end;
            let blocks = partition_near_start(&self.places[start..], |&place| place < end);
            files.push(FileOccurrences {
                layer: self,
                file: position,
                places: start..start + blocks,
                at: 0,
                before: 0,
            });
            start += blocks;
        }
        files
    }
}

/// The blocks of a file with a term.
struct FileOccurrences<'l, 'a> {
    layer: &'l LayerOccurrences<'a>,
    /// Position in the layer.
    file: usize,
    /// Positions in the layer's places.
    places: Range<usize>,
    /// Position of the first one among the blocks of all layers.
    at: usize,
    /// Number of blocks before it that are not in the largest layer.
    before: usize,
}

impl FileOccurrences<'_, '_> {
    fn path(&self) -> &str {
        self.layer.layer.segment().files()[self.file].path()
    }
}

/// The blocks outside of the largest layer by file: after a checkout they may be a fifth of all.
struct OtherOccurrences<'l, 'a> {
    /// In the order of their paths.
    files: Vec<FileOccurrences<'l, 'a>>,
}

impl<'l, 'a> OtherOccurrences<'l, 'a> {
    fn new(layers: &'l [LayerOccurrences<'a>], largest: &LayerOccurrences<'_>) -> OtherOccurrences<'l, 'a> {
        let mut files: Vec<FileOccurrences<'_, '_>> =
            layers.iter().flat_map(LayerOccurrences::files).collect();
        // Each layer is sorted: a stable sort only has to merge these runs.
        files.sort_by(|one, other| one.path().cmp(other.path()));
        let segment = largest.layer.segment();
        // Numbers of files and blocks of the largest layer before a path.
        let (mut before_path, mut in_largest, mut before) = (0, 0, 0);
        for file in &mut files {
            let path = file.path();
            before_path += partition_near_start(&segment.files()[before_path..], |other| other.path() < path);
            let end = segment.windows.first_behind(before_path);
            in_largest += partition_near_start(&largest.places[in_largest..], |&place| place < end);
            (file.at, file.before) = (in_largest + before, before);
            before += file.places.len();
        }
        OtherOccurrences { files }
    }

    /// Returns their number.
    fn count(&self) -> usize {
        self.files.last().map_or(0, |last| last.before + last.places.len())
    }

    /// Returns the block at this position among those of all layers, or the number of these blocks before it if it is in the largest layer.
    fn get(&self, position: usize) -> Result<Occurrence<'a>, usize> {
        let behind = self.files.partition_point(|file| file.at <= position);
        let Some(file) = behind.checked_sub(1).map(|at| &self.files[at]) else { return Err(0) };
        let in_file = position - file.at;
        if in_file < file.places.len() {
            Ok(file.layer.get(file.places.start + in_file))
        } else {
            Err(file.before + file.places.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syntax::{Language, SourceFile};

    use super::*;
    use crate::{FileIndex, Index};

    fn file(number: usize, lines: usize) -> Arc<FileIndex> {
        let text =
            (0..lines).map(|line| format!("shared(v{line})\nother = 1\nnext = 2\n\n")).collect::<String>();
        let path = format!("{:02}/{number:02}.py", number % 7).into();
        Arc::new(FileIndex::new(SourceFile { path, language: Language::Python, text: text.into() }))
    }

    #[test]
    fn samples_are_taken_at_equal_distances_in_all_layers() {
        let mut index = Index::from_files((0..40).map(|number| file(number, number % 5)).collect());
        for number in [3, 11, 35, 50] {
            index = index.apply(vec![file(number, 2)], &[]);
        }
        let open = vec![file(17, 3), file(60, 4)];
        let searcher = index.hide(&["02/09.py"]).overlay(open);
        assert!(searcher.layers().len() > 2);
        let found = |sample: &[Occurrence<'_>]| -> Vec<(String, u32)> {
            sample.iter().map(|found| (found.file.path().to_owned(), found.block)).collect()
        };
        let left_out = ["04/18.py", "03/17.py"];
        let mut expected = Vec::new();
        for file in searcher.files() {
            let blocks = if left_out.contains(&file.path()) { 0 } else { file.blocks() as u32 };
            expected.extend((0..blocks).map(|block| (file.path().to_owned(), block)));
        }
        let mut buffer = vec![1, 2];
        for most in [1, 2, 7, 30, usize::MAX] {
            let OccurrenceSample { sample, total } =
                searcher.sample_occurrences("shared", &left_out, most, &mut buffer);
            assert_eq!(total, expected.len());
            let distance = total.div_ceil(most);
            let of_expected: Vec<_> = expected.iter().step_by(distance).cloned().collect();
            assert_eq!(found(&sample), of_expected, "{most}");
        }
        assert!(searcher.occurrences("absent").is_empty());
    }
}
