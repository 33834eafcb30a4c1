//! Inverted lists: for each term the documents that contain it, over many files.
//!
//! A document is a block of lines or a function. The documents of a file have consecutive numbers.

use crate::bags::Bags;
use crate::parallelism::Parallelism;
use crate::terms::Term;

/// The documents of each term.
#[derive(Debug)]
pub(crate) struct Postings {
    vocabulary: Vocabulary,
    /// By position of the term: its document frequency, as counted by the builder.
    frequencies: Box<[u32]>,
    /// By position of the term: start of its postings; with one additional entry for the end.
    starts: Box<[u32]>,
    documents: Box<[u32]>,
    counts: Box<[u8]>,
}

/// The documents of one term, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PostingList<'a> {
    /// Their numbers.
    pub(crate) documents: &'a [u32],
    /// The term's count in each of them.
    pub(crate) counts: &'a [u8],
}

/// The bags of one file, and the number of the first one.
#[derive(Clone, Copy)]
pub(crate) struct FileBags<'a> {
    pub(crate) bags: &'a Bags,
    pub(crate) first: u32,
}

impl Postings {
    /// Inverts the bags of files in their order. `frequencies` returns the document frequency of each term of a file.
    pub(crate) fn build(
        files: &[FileBags<'_>],
        frequencies: fn(&Bags) -> Vec<u32>,
        threads: Parallelism,
    ) -> Postings {
        let terms = files.iter().flat_map(|file| file.bags.terms().iter().copied());
        let vocabulary = Vocabulary::new(terms, threads);
        let files = threads.map(files, |file| NumberedFile::new(file, &vocabulary, frequencies));
        let mut totals = vec![0; vocabulary.terms.len()];
        for file in &files {
            for (&position, frequency) in file.positions.iter().zip(&file.frequencies) {
                totals[position as usize] += frequency;
            }
        }
        let starts = starts(&files, vocabulary.terms.len());
        let (documents, counts) = fill(&files, &starts);
        Postings { vocabulary, frequencies: totals.into(), starts: starts.into(), documents, counts }
    }

    /// Returns the documents with `term`.
    pub(crate) fn list(&self, term: Term) -> PostingList<'_> {
        let Some(position) = self.vocabulary.position(term) else { return PostingList::default() };
        let range = self.starts[position] as usize..self.starts[position + 1] as usize;
        PostingList { documents: &self.documents[range.clone()], counts: &self.counts[range] }
    }

    /// Returns the number of documents with `term`.
    pub(crate) fn frequency(&self, term: Term) -> u32 {
        self.vocabulary.position(term).map_or(0, |position| self.frequencies[position])
    }
}

impl PostingList<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u8)> {
        self.documents.iter().copied().zip(self.counts.iter().copied())
    }
}

/// A file whose terms are mapped to positions in the vocabulary.
struct NumberedFile<'a> {
    file: FileBags<'a>,
    positions: Vec<u32>,
    frequencies: Vec<u32>,
}

impl<'a> NumberedFile<'a> {
    fn new(
        file: &FileBags<'a>,
        vocabulary: &Vocabulary,
        frequencies: fn(&Bags) -> Vec<u32>,
    ) -> NumberedFile<'a> {
        let position =
            |&term: &Term| vocabulary.position(term).expect("the vocabulary has every term") as u32;
        let positions = file.bags.terms().iter().map(position).collect();
        NumberedFile { file: *file, positions, frequencies: frequencies(file.bags) }
    }

    /// Calls `found` for every term of every document with its position, the document, and its count.
    fn each(&self, mut found: impl FnMut(usize, u32, u8)) {
        for (document, bag) in (self.file.first..).zip(0..self.file.bags.len()) {
            for entry in self.file.bags.bag(bag) {
                found(self.positions[entry.term as usize] as usize, document, entry.count);
            }
        }
    }
}

/// Returns the start of each term's postings, and the end of the last.
fn starts(files: &[NumberedFile<'_>], terms: usize) -> Vec<u32> {
    let mut starts = vec![0; terms + 1];
    for file in files {
        file.each(|position, _, _| starts[position + 1] += 1);
    }
    for position in 0..terms {
        starts[position + 1] += starts[position];
    }
    starts
}

fn fill(files: &[NumberedFile<'_>], starts: &[u32]) -> (Box<[u32]>, Box<[u8]>) {
    let length = starts.last().map_or(0, |&end| end as usize);
    let mut next = starts.to_vec();
    let (mut documents, mut counts) = (vec![0; length], vec![0; length]);
    for file in files {
        file.each(|position, document, count| {
            let at = next[position] as usize;
            next[position] += 1;
            (documents[at], counts[at]) = (document, count);
        });
    }
    (documents.into(), counts.into())
}

/// Sorted distinct terms with a directory by their upper bits: hashes are uniformly distributed, so a lookup takes one or two
/// steps.
#[derive(Debug)]
struct Vocabulary {
    terms: Box<[Term]>,
    /// By upper bits: the position of the first term with these or higher ones; with one additional entry for the end.
    directory: Box<[u32]>,
}

/// Average number of terms with the same upper bits.
const TERMS_PER_ENTRY: usize = 4;

impl Vocabulary {
    fn new(terms: impl Iterator<Item = Term>, threads: Parallelism) -> Vocabulary {
        let mut terms: Vec<Term> = terms.collect();
        threads.sort(&mut terms);
        terms.dedup();
        let entries = (terms.len() / TERMS_PER_ENTRY).next_power_of_two().max(2);
        let mut directory = vec![0; entries + 1];
        for term in &terms {
            directory[entry_of(*term, entries) + 1] += 1;
        }
        for entry in 0..entries {
            directory[entry + 1] += directory[entry];
        }
        Vocabulary { terms: terms.into(), directory: directory.into() }
    }

    fn position(&self, term: Term) -> Option<usize> {
        let entry = entry_of(term, self.directory.len() - 1);
        let start = self.directory[entry] as usize;
        let found = self.terms[start..self.directory[entry + 1] as usize].binary_search(&term);
        found.ok().map(|position| start + position)
    }
}

/// Returns the upper bits of a term that index this many entries, a power of two above one.
fn entry_of(term: Term, entries: usize) -> usize {
    (term.bits() >> (u64::BITS - entries.trailing_zeros())) as usize
}
