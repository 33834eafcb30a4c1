//! The bags of one file by term: its share of the lists of terms and of their frequencies. It fits into the processor's cache.

use crate::bags::{BagEntry, Bags};

/// A document of a term, and the term's count in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermDocument {
    pub(crate) document: u32,
    pub(crate) count: u8,
}

/// The documents of each term of a file.
pub(crate) struct InvertedBags {
    /// By the file's terms: the start of its documents; with one additional entry for the end.
    starts: Vec<u32>,
    /// By term, then in their order.
    documents: Vec<TermDocument>,
    /// By document: the number of its terms, including repeats.
    lengths: Vec<u32>,
}

impl InvertedBags {
    /// Decodes each bag once. The first one has the number `first`.
    pub(crate) fn new(bags: &Bags, first: u32) -> InvertedBags {
        let terms = bags.terms().len();
        let mut starts = vec![0; terms + 1];
        let mut decoded = Vec::new();
        let mut lengths = Vec::with_capacity(bags.len());
        for (document, bag) in (first..).zip(0..bags.len()) {
            let mut length = 0;
            for BagEntry { term, count } in bags.bag(bag) {
                starts[term as usize + 1] += 1;
                length += u32::from(count);
                decoded.push((term, TermDocument { document, count }));
            }
            lengths.push(length);
        }
        for term in 0..terms {
            starts[term + 1] += starts[term];
        }
        let mut next = starts.clone();
        let mut documents = vec![TermDocument::default(); decoded.len()];
        for (term, document) in decoded {
            let next = &mut next[term as usize];
            documents[*next as usize] = document;
            *next += 1;
        }
        InvertedBags { starts, documents, lengths }
    }

    /// Returns the documents of the term at a position among those of the file.
    pub(crate) fn documents(&self, term: usize) -> &[TermDocument] {
        &self.documents[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// Returns the number of terms in each document, including repeats.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }
}
