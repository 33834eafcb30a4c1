//! Combines the indexes of many files, so that a term leads to the documents that contain it.
//!
//! A segment is immutable. [`crate::index_layer`] handles changes of its files.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use stored::{PodArray, StoredArray, StoredData};

use crate::FileIndex;
use crate::bags::Bags;
use crate::bm25::CollectionStats;
use crate::file_index::{LazyFields, SegmentFile, WINDOW_BLOCKS, windows};
use crate::file_passes::FilePasses;
use crate::inverted_bags::TermDocument;
use crate::name_table::NameTable;
use crate::near_search::partition_near_start;
use crate::postings::{FileBags, InvertedFiles, Postings};

/// Files with an inverted index of their terms.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Sorted by their paths, which are distinct.
    files: Arc<[Arc<FileIndex>]>,
    /// By position of the file.
    lazy: Box<[LazyFields]>,
    /// The documents are blocks; windows, which begin at blocks, are searched, counted and measured.
    pub(crate) windows: Arc<Collection>,
    pub(crate) functions: Arc<Collection>,
    pub(crate) names: Arc<NameTable>,
}

/// Documents of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collection {
    pub(crate) postings: Postings,
    /// By position of the file: its first document; with one additional entry for the end.
    starts: PodArray<u32>,
    /// Number of unused entries after the last document of a file.
    margin: u32,
    /// Number of terms in each document, including repeats, saturated: BM25 hardly distinguishes longer ones.
    pub(crate) lengths: PodArray<u16>,
}

impl Segment {
    /// Builds a segment of files with distinct paths. The data about all of them is in the store of the passes, if
    /// they have one.
    pub(crate) fn build(mut files: Vec<Arc<FileIndex>>, passes: FilePasses<'_>) -> Segment {
        files.sort_unstable_by(|one, other| one.path().cmp(other.path()));
        let (windows, (functions, names)) = passes.threads.join(
            || passes.stored(window_collection(&files, passes)),
            || {
                let names = NameTable::build(passes.each(&files).map(|file| (file.path(), file.outline())));
                (passes.stored(function_collection(&files, passes)), passes.stored(names))
            },
        );
        Segment::new(files, windows, functions, names)
    }

    /// Creates a segment of files, in the order of their paths, with stored data; `None` if that does not belong to these files.
    pub(crate) fn from_stored(files: Vec<Arc<FileIndex>>, stored: StoredSegment) -> Option<Segment> {
        let StoredSegment { windows, functions, names } = stored;
        let windows = Collection { margin: WINDOW_MARGIN, ..windows };
        let is_sorted = files.is_sorted_by(|one, other| one.path() < other.path());
        let is_sound = is_sorted
            && windows.is_sound(&files, FileIndex::windows)
            && functions.is_sound(&files, |file| file.functions().len());
        let names = is_sound.then(|| names.completed_for(files.iter().map(|file| file.path())))??;
        Some(Segment::new(files, windows, functions, names))
    }

    fn new(
        files: Vec<Arc<FileIndex>>,
        windows: Collection,
        functions: Collection,
        names: NameTable,
    ) -> Segment {
        let lazy = files.iter().map(|_| LazyFields::default()).collect();
        let (windows, functions, names) = (Arc::new(windows), Arc::new(functions), Arc::new(names));
        Segment { files: files.into(), lazy, windows, functions, names }
    }

    /// Returns a copy of its data apart from its files, to save it. Arrays in a store are not copied.
    pub(crate) fn to_stored(&self) -> StoredSegment {
        let [windows, functions] =
            [&self.windows, &self.functions].map(|collection| Collection::clone(collection));
        StoredSegment { windows, functions, names: NameTable::clone(&self.names) }
    }

    /// Returns the same segment without the lazy fields of files in a store that are out of use; `None` without any.
    pub(crate) fn without_unused(&self) -> Option<Segment> {
        let mut is_changed = false;
        let mut keep = |file: &FileIndex, lazy: &LazyFields| {
            let is_dropped = file.is_stored() && lazy.are_out_of_use();
            is_changed |= is_dropped;
            if is_dropped { LazyFields::default() } else { lazy.clone() }
        };
        let lazy = self.files.iter().zip(&self.lazy).map(|(file, lazy)| keep(file, lazy)).collect();
        let [windows, functions] = [&self.windows, &self.functions].map(Arc::clone);
        let (files, names) = (Arc::clone(&self.files), Arc::clone(&self.names));
        is_changed.then(|| Segment { files, lazy, windows, functions, names })
    }

    pub(crate) fn files(&self) -> &[Arc<FileIndex>] {
        &self.files
    }

    /// Returns the file at a position.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(crate) fn file(&self, position: usize) -> SegmentFile<'_> {
        SegmentFile { index: &self.files[position], lazy: &self.lazy[position] }
    }

    /// Returns the position of the file of this path.
    pub(crate) fn position(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|file| file.path().cmp(path)).ok()
    }
}

/// The data of a segment that is saved in blocks of its own.
#[derive(Default)]
pub(crate) struct StoredSegment {
    pub(crate) windows: Collection,
    pub(crate) functions: Collection,
    pub(crate) names: NameTable,
}

impl StoredData for Collection {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        self.postings.arrays(visit)?;
        visit(&mut self.starts)?;
        visit(&mut self.lengths)
    }
}

/// Number of unused entries after the last window of a file.
const WINDOW_MARGIN: u32 = 1;

/// Every file has one more entry than windows, and there is one before the first file: so a window that begins before the first
/// block of a file, or with its last one, has an entry too, which is never read. Postings can then be traversed without
/// checking for the end of a file.
fn window_collection(files: &[Arc<FileIndex>], passes: FilePasses<'_>) -> Collection {
    let entries = |windows: u32| if windows > 0 { windows + WINDOW_MARGIN } else { 0 };
    let starts = starts(1, files.iter().map(|file| entries(file.windows() as u32)));
    let bags = file_bags(files, &starts, FileIndex::block_terms);
    let InvertedFiles { postings, lengths: blocks } = Postings::build(&bags, window_frequency, passes);
    let mut blocks = &blocks[..];
    let mut lengths = vec![0];
    for (position, file) in files.iter().enumerate() {
        let of_file = blocks.split_off(..file.blocks()).expect("each block has a length");
        lengths.extend(window_lengths(of_file));
        lengths.resize(starts[position + 1] as usize, 0);
    }
    Collection { postings, starts: starts.into(), margin: WINDOW_MARGIN, lengths: lengths.into() }
}

fn function_collection(files: &[Arc<FileIndex>], passes: FilePasses<'_>) -> Collection {
    let starts = starts(0, files.iter().map(|file| file.functions().len() as u32));
    let bags = file_bags(files, &starts, FileIndex::function_words);
    let InvertedFiles { postings, lengths } = Postings::build(&bags, function_frequency, passes);
    let lengths = lengths.into_iter().map(saturated_length).collect();
    Collection { postings, starts: starts.into(), margin: 0, lengths }
}

/// Returns the first document of each file and the end, given the number of the first one and those of the files' documents.
fn starts(first: u32, documents: impl Iterator<Item = u32>) -> Vec<u32> {
    let ends = documents.scan(first, |end, documents| {
        *end += documents;
        Some(*end)
    });
    std::iter::once(first).chain(ends).collect()
}

fn file_bags<'a>(
    files: &'a [Arc<FileIndex>],
    starts: &[u32],
    of: fn(&FileIndex) -> &Bags,
) -> Vec<FileBags<'a>> {
    files.iter().zip(starts).map(|(file, &first)| FileBags { bags: of(file), first }).collect()
}

/// Returns the number of terms in each window of a file, including repeats, given those in its blocks.
fn window_lengths(blocks: &[u32]) -> impl Iterator<Item = u16> {
    let window = |first| saturated_length(blocks.iter().skip(first).take(WINDOW_BLOCKS).sum());
    (0..windows(blocks.len())).map(window)
}

/// Returns the stored form of a length.
pub(crate) fn saturated_length(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Returns the number of windows of a file that contain a term, given the blocks that do.
pub(crate) fn window_frequency(file: FileBags<'_>, blocks: &[TermDocument]) -> u32 {
    let windows = windows(file.bags.len());
    let (mut frequency, mut counted) = (0, 0);
    for block in blocks {
        let block = (block.document - file.first) as usize;
        let (first, end) = ((block + 1).saturating_sub(WINDOW_BLOCKS), windows.min(block + 1));
        frequency += end.saturating_sub(first.max(counted));
        counted = end;
    }
    frequency as u32
}

/// Returns the number of functions of a file that contain a word.
pub(crate) fn function_frequency(_: FileBags<'_>, functions: &[TermDocument]) -> u32 {
    functions.len() as u32
}

impl Collection {
    /// Whether it has as many documents of each of these files as `documents` returns.
    fn is_sound(&self, files: &[Arc<FileIndex>], documents: impl Fn(&FileIndex) -> usize) -> bool {
        let starts = &*self.starts;
        starts.len() == files.len() + 1
            && starts.is_sorted()
            && starts.last().is_some_and(|&end| end as usize <= self.lengths.len())
            && files
                .iter()
                .enumerate()
                .all(|(position, file)| self.of_file(position).len() == documents(file))
            && self.postings.is_sound()
    }

    /// Returns the documents of a file.
    pub(crate) fn of_file(&self, file: usize) -> Range<u32> {
        let starts = &*self.starts;
        let (start, end) = (starts[file], starts[file + 1]);
        start..end.saturating_sub(self.margin).max(start)
    }

    /// Returns the documents of a file and the unused entries behind them.
    pub(crate) fn blocks_of_file(&self, file: usize) -> Range<u32> {
        let starts = &*self.starts;
        starts[file]..starts[file + 1]
    }

    /// Returns the number of the first document behind those of the first `files` files.
    pub(crate) fn first_behind(&self, files: usize) -> u32 {
        self.starts[files]
    }

    /// Returns the file of a document.
    pub(crate) fn file_of(&self, document: u32) -> usize {
        self.starts.partition_point(|&start| start <= document).saturating_sub(1)
    }

    /// Returns the file of a document that is in the file `from` or behind it: usually near, among documents in their order.
    pub(crate) fn file_at_or_behind(&self, from: usize, document: u32) -> usize {
        let behind = partition_near_start(&self.starts[from..], |&start| start <= document);
        from + behind.saturating_sub(1)
    }

    /// Returns the number and total length of a file's documents.
    pub(crate) fn totals_of(&self, file: usize) -> CollectionStats {
        let Range { start, end } = self.of_file(file);
        CollectionStats::from_lengths(self.lengths[start as usize..end as usize].iter().copied())
    }

    /// Returns the number and total length of the documents.
    pub(crate) fn totals(&self) -> CollectionStats {
        (0..self.starts.len() - 1)
            .map(|file| self.totals_of(file))
            .fold(CollectionStats::default(), CollectionStats::plus)
    }
}
