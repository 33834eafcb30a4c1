//! Inverted lists: for each term the documents that contain it, over many files.
//!
//! A document is a block of lines or a function. The documents of a file have consecutive numbers.

use std::ops::Range;
use std::{io, iter};

use stored::{PodArray, StoredArray, StoredData};

use crate::bags::{Bags, bag_entries, entry_bytes, put_entry};
use crate::file_passes::FilePasses;
use crate::inverted_bags::{InvertedBags, TermDocument};
use crate::parallelism::Parallelism;
use crate::terms::Term;

/// The documents of each term.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Postings {
    vocabulary: Vocabulary,
    /// By position of the term: its document frequency, as counted by the builder.
    frequencies: PodArray<u32>,
    /// By position of the term: start of its postings in `entries`; with one additional entry for the end.
    starts: PodArray<u64>,
    /// The documents of each term as distances, with the term's counts, encoded like [`Bags`]: a third of the size of numbers.
    entries: PodArray<u8>,
}

/// The bags of one file, and the number of the first one.
#[derive(Clone, Copy)]
pub(crate) struct FileBags<'a> {
    pub(crate) bags: &'a Bags,
    pub(crate) first: u32,
}

/// Returns the document frequency of a term in a file, given the documents that contain it.
pub(crate) type FrequencyInFile = fn(FileBags<'_>, &[TermDocument]) -> u32;

/// Inverted bags of many files.
pub(crate) struct InvertedFiles {
    pub(crate) postings: Postings,
    /// By document, without the numbers that no document has: the number of its terms, including repeats.
    pub(crate) lengths: Vec<u32>,
}

impl Postings {
    /// Inverts the bags of files in their order.
    pub(crate) fn build(
        files: &[FileBags<'_>],
        frequency: FrequencyInFile,
        passes: FilePasses<'_>,
    ) -> InvertedFiles {
        let terms = passes.each(files).flat_map(|file| file.bags.terms().iter().copied());
        let vocabulary = Vocabulary::new(terms, passes.threads);
        let files = passes.map(files, |file| NumberedFile::new(file, &vocabulary));
        let mut shares = TermShare::all(vocabulary.terms.len(), passes.threads.count());
        let mut lengths = Vec::new();
        for inverted in inverted(&files, passes) {
            lengths.extend(inverted.iter().flat_map(|file| file.bags.lengths()));
            add_to_shares(&mut shares, &inverted, passes, |share, file| share.count(file, frequency));
        }
        let counts = || shares.iter().flat_map(|share| &share.counts);
        let frequencies = counts().map(|counted| counted.frequency).collect();
        let ends = counts().scan(0, |end, counted| {
            *end += u64::from(counted.length);
            Some(*end)
        });
        let starts: PodArray<u64> = iter::once(0).chain(ends).collect();
        let mut entries = vec![0; starts.last().map_or(0, |&end| end as usize)];
        let mut writers = writers(shares, &mut entries);
        for inverted in inverted(&files, passes) {
            add_to_shares(&mut writers, &inverted, passes, ListWriter::write);
        }
        InvertedFiles {
            postings: Postings { vocabulary, frequencies, starts, entries: entries.into() },
            lengths,
        }
    }

    /// Returns the documents with `term` in order, with the term's count in each.
    pub(crate) fn list(&self, term: Term) -> impl Iterator<Item = (u32, u8)> {
        let starts = &*self.starts;
        let range = self
            .vocabulary
            .position(term)
            .map_or(0..0, |position| starts[position] as usize..starts[position + 1] as usize);
        bag_entries(&self.entries[range]).map(|entry| (entry.term, entry.count))
    }

    /// Whether every term has a list.
    pub(crate) fn is_sound(&self) -> bool {
        let (terms, starts) = (self.vocabulary.terms.len(), &*self.starts);
        self.vocabulary.is_sound()
            && self.frequencies.len() == terms
            && starts.len() == terms + 1
            && starts.is_sorted()
            && starts.last().is_some_and(|&end| end == self.entries.len() as u64)
    }

    /// Returns the number of documents with `term`.
    pub(crate) fn frequency(&self, term: Term) -> u32 {
        self.vocabulary.position(term).map_or(0, |position| self.frequencies[position])
    }
}

impl StoredData for Postings {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        visit(&mut self.vocabulary.terms)?;
        visit(&mut self.vocabulary.directory)?;
        visit(&mut self.frequencies)?;
        visit(&mut self.starts)?;
        visit(&mut self.entries)
    }
}

/// A file whose terms are mapped to positions in the vocabulary.
struct NumberedFile<'a> {
    file: FileBags<'a>,
    positions: Vec<u32>,
}

impl<'a> NumberedFile<'a> {
    fn new(file: &FileBags<'a>, vocabulary: &Vocabulary) -> NumberedFile<'a> {
        let position =
            |&term: &Term| vocabulary.position(term).expect("the vocabulary has every term") as u32;
        NumberedFile { file: *file, positions: file.bags.terms().iter().map(position).collect() }
    }

    fn inverted(&self) -> InvertedFile<'_> {
        InvertedFile { file: self, bags: InvertedBags::new(self.file.bags, self.file.first) }
    }
}

/// Files whose inverted form is in memory together: some megabytes.
const FILES_PER_INVERSION: usize = 256;

/// The documents of each term of a file.
struct InvertedFile<'a> {
    file: &'a NumberedFile<'a>,
    bags: InvertedBags,
}

impl InvertedFile<'_> {
    /// Calls `found` for each of these terms of the vocabulary that occurs in the file, with its position among them and its documents.
    fn each(&self, terms: &Range<usize>, mut found: impl FnMut(usize, &[TermDocument])) {
        // Positions are in the order of the file's terms.
        let positions = &self.file.positions;
        let first = |end: usize| positions.partition_point(|&position| (position as usize) < end);
        let found_terms = first(terms.start)..first(terms.end);
        for (term, &position) in found_terms.clone().zip(&positions[found_terms]) {
            found(position as usize - terms.start, self.bags.documents(term));
        }
    }
}

/// Returns all files inverted and in their order, some at a time.
fn inverted<'a>(
    files: &'a [NumberedFile<'a>],
    passes: FilePasses<'a>,
) -> impl Iterator<Item = Vec<InvertedFile<'a>>> {
    let chunks = passes.chunks(files).flat_map(|files| files.chunks(FILES_PER_INVERSION));
    chunks.map(move |files| passes.threads.map(files, NumberedFile::inverted))
}

/// Adds files to each of the shares, on the threads of the passes.
fn add_to_shares<S: Send>(
    shares: &mut [S],
    files: &[InvertedFile<'_>],
    passes: FilePasses<'_>,
    add: impl Fn(&mut S, &InvertedFile<'_>) + Send + Sync,
) {
    passes.threads.for_each_mut(shares, |share| files.iter().for_each(|file| add(share, file)));
}

/// Consecutive terms of the vocabulary, whose lists one thread builds.
struct TermShare {
    /// Their positions.
    terms: Range<usize>,
    counts: Vec<TermCount>,
}

/// A term's list before it is written; all of it in one place, because each file counts other terms.
#[derive(Clone, Copy, Default)]
struct TermCount {
    /// Document frequency.
    frequency: u32,
    /// Length of the list in bytes. A workspace is limited to less than 4 GiB.
    length: u32,
    /// The number behind the last document so far.
    next: u32,
}

impl TermShare {
    /// Divides this number of terms into about equal shares.
    fn all(terms: usize, shares: usize) -> Vec<TermShare> {
        let bound = |share: usize| terms * share / shares;
        let share =
            |terms: Range<usize>| TermShare { counts: vec![TermCount::default(); terms.len()], terms };
        (0..shares).map(|number| share(bound(number)..bound(number + 1))).collect()
    }

    /// Adds a file to the frequencies and the lengths.
    fn count(&mut self, file: &InvertedFile<'_>, frequency: FrequencyInFile) {
        file.each(&self.terms, |term, documents| {
            let counted = &mut self.counts[term];
            counted.frequency += frequency(file.file.file, documents);
            for &TermDocument { document, count } in documents {
                counted.length += entry_bytes(document - counted.next, count) as u32;
                counted.next = document + 1;
            }
        });
    }

    /// Returns the length of all lists in bytes.
    fn bytes(&self) -> usize {
        self.counts.iter().map(|counted| counted.length as usize).sum()
    }
}

/// Writes the lists of a share of the terms.
struct ListWriter<'a> {
    /// The positions of the terms.
    terms: Range<usize>,
    /// By term: where its next entry begins, and the expected document.
    next: Vec<(u64, u32)>,
    /// All lists of these terms.
    lists: &'a mut [u8],
}

impl<'a> ListWriter<'a> {
    fn new(share: TermShare, lists: &'a mut [u8]) -> ListWriter<'a> {
        let mut end = 0;
        let start = |counted: &TermCount| {
            let start = end;
            end += u64::from(counted.length);
            (start, 0)
        };
        ListWriter { next: share.counts.iter().map(start).collect(), terms: share.terms, lists }
    }

    /// Writes the entries of a file.
    fn write(&mut self, file: &InvertedFile<'_>) {
        file.each(&self.terms, |term, documents| {
            let (start, expected) = &mut self.next[term];
            for &TermDocument { document, count } in documents {
                let written = put_entry(&mut self.lists[*start as usize..], document - *expected, count);
                *start += written as u64;
                *expected = document + 1;
            }
        });
    }
}

/// Divides the bytes of all lists by shares.
fn writers(shares: Vec<TermShare>, mut lists: &mut [u8]) -> Vec<ListWriter<'_>> {
    let own = |share: TermShare| {
        let own = lists.split_off_mut(..share.bytes()).expect("it is the length of all lists");
        ListWriter::new(share, own)
    };
    shares.into_iter().map(own).collect()
}

/// Sorted distinct terms with a directory by their upper bits: hashes are uniformly distributed, so a lookup takes one or two
/// steps.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
struct Vocabulary {
    terms: PodArray<Term>,
    /// By upper bits: the position of the first term with these or higher ones; with one additional entry for the end.
    directory: PodArray<u32>,
}

/// Average number of terms with the same upper bits.
const TERMS_PER_ENTRY: usize = 4;

impl Vocabulary {
    fn new(terms: impl Iterator<Item = Term>, threads: Parallelism) -> Vocabulary {
        let mut terms: Vec<Term> = terms.collect();
        threads.sort(&mut terms);
        terms.dedup();
        // Most terms occur in several files.
        terms.shrink_to_fit();
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

    /// Whether a lookup finds its way.
    fn is_sound(&self) -> bool {
        let directory = &*self.directory;
        let entries = directory.len().saturating_sub(1);
        entries.is_power_of_two()
            && entries > 1
            && directory.is_sorted()
            && directory.last().is_some_and(|&end| end as usize == self.terms.len())
    }

    fn position(&self, term: Term) -> Option<usize> {
        let directory = &*self.directory;
        let entry = entry_of(term, directory.len() - 1);
        let start = directory[entry] as usize;
        let found = self.terms[start..directory[entry + 1] as usize].binary_search(&term);
        found.ok().map(|position| start + position)
    }
}

/// Returns the upper bits of a term that index this many entries, a power of two above one.
fn entry_of(term: Term, entries: usize) -> usize {
    (term.bits() >> (u64::BITS - entries.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bags::BagsBuilder;

    /// Returns the bags of a file, given the terms of each document.
    fn bags(documents: &[Vec<u64>]) -> Bags {
        let mut builder = BagsBuilder::default();
        for document in documents {
            for &bits in document {
                let number = builder.number(Term::from_bits(bits << 32));
                builder.add(number);
            }
            builder.end_bag();
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn a_term_leads_to_the_documents_that_contain_it(
            files in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u64..12, 0..200), 0..5), 0..5),
            // Distances between documents of one and of several bytes.
            gap in prop::sample::select(vec![0_u32, 1, 62, 63, 64, 20_000]),
        ) {
            let all: Vec<Bags> = files.iter().map(|file| bags(file)).collect();
            let mut first = 1;
            let mut numbered = Vec::new();
            for bags in &all {
                numbered.push(FileBags { bags, first });
                first += bags.len() as u32 + gap;
            }
            let frequency = |_: FileBags<'_>, documents: &[TermDocument]| documents.len() as u32;
            let InvertedFiles { postings, lengths } = Postings::build(&numbered, frequency, FilePasses::IN_MEMORY);
            let expected = files.iter().flatten().map(|terms| terms.len() as u32);
            prop_assert_eq!(lengths, expected.collect::<Vec<_>>());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let on_threads = FilePasses { threads: Parallelism::RayonPool, ..FilePasses::IN_MEMORY };
            let of_threads = pool.install(|| Postings::build(&numbered, frequency, on_threads)).postings;
            prop_assert_eq!(&of_threads, &postings);
            prop_assert!(postings.is_sound());
            for bits in 0..13 {
                let mut expected = Vec::new();
                for (file, bags) in files.iter().zip(&numbered) {
                    for (document, terms) in (bags.first..).zip(file) {
                        let count = terms.iter().filter(|&&term| term == bits).count();
                        expected.extend((count > 0).then_some((document, count as u8)));
                    }
                }
                let term = Term::from_bits(bits << 32);
                prop_assert_eq!(postings.frequency(term), expected.len() as u32);
                prop_assert_eq!(postings.list(term).collect::<Vec<_>>(), expected);
            }
        }
    }
}
