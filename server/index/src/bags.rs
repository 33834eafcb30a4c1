//! Bags of terms: how often each term occurs in each part of a file (blocks of lines, functions).
//!
//! Bags are kept in their stored form: a term is its position among all terms of the file, and positions and counts are
//! varints, mostly one byte for both.

use std::io;

use rustc_hash::{FxBuildHasher, FxHashMap};
use stored::{PodArray, StoredArray, StoredData};

use crate::codec::{put_varint, read_slice, read_varint, varint_bytes, write_slice, write_varint};
use crate::terms::Term;

/// The bags of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bags {
    /// All terms of the file, sorted.
    terms: PodArray<Term>,
    /// End of each bag in `entries`.
    ends: PodArray<u32>,
    /// For each term of a bag, by position: twice the distance to the expected position (one after the last), plus one if it
    /// occurs more than once; then its count follows.
    entries: PodArray<u8>,
}

impl StoredData for Bags {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        visit(&mut self.terms)?;
        visit(&mut self.ends)?;
        visit(&mut self.entries)
    }
}

/// A term of a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BagEntry {
    /// Position among the terms of the file.
    pub(crate) term: u32,
    /// Number of occurrences, saturated: BM25 hardly distinguishes higher ones.
    pub(crate) count: u8,
}

impl Bags {
    /// Returns the number of bags.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns all terms of the file, sorted.
    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the terms of one bag by position; none if the bag does not exist.
    pub(crate) fn bag(&self, number: usize) -> impl Iterator<Item = BagEntry> {
        let ends = &*self.ends;
        let start = number.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |&end| end as usize);
        let end = ends.get(number).map_or(start, |&end| end as usize);
        bag_entries(self.entries.get(start..end).unwrap_or_default())
    }

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        write_varint(bytes, self.terms.len() as u32);
        bytes.extend(self.terms.iter().flat_map(|term| term.bits().to_le_bytes()));
        write_varint(bytes, self.ends.len() as u32);
        let mut start = 0;
        for &end in &*self.ends {
            write_varint(bytes, end - start);
            start = end;
        }
        write_slice(bytes, &self.entries);
    }

    /// Decodes the output of `encode`; `None` if the bytes are invalid.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Bags> {
        let terms = read_terms(bytes)?;
        let ends = read_ends(bytes)?;
        let entries = read_slice(bytes)?.to_vec().into();
        let bags = Bags { terms, ends, entries };
        bags.is_sound().then_some(bags)
    }

    /// Whether every bag can be decoded and contains only terms of the file.
    fn is_sound(&self) -> bool {
        let mut rest = &*self.entries;
        let mut start = 0;
        for &end in &*self.ends {
            let Some((mut bag, after)) = rest.split_at_checked((end - start) as usize) else { return false };
            let mut next = 0;
            while !bag.is_empty() {
                if read_entry(&mut bag, &mut next).is_none_or(|entry| entry.term as usize >= self.terms.len())
                {
                    return false;
                }
            }
            (rest, start) = (after, end);
        }
        rest.is_empty() && self.terms.is_sorted_by(|one, other| one < other)
    }
}

/// Decodes the entries of one bag.
#[inline]
pub(crate) fn bag_entries(mut bytes: &[u8]) -> impl Iterator<Item = BagEntry> {
    let mut next = 0;
    std::iter::from_fn(move || read_entry(&mut bytes, &mut next))
}

/// `next` is the position after the last entry's.
#[inline]
fn read_entry(bytes: &mut &[u8], next: &mut u32) -> Option<BagEntry> {
    let number = read_varint(bytes)?;
    let term = next.checked_add(number >> 1)?;
    *next = term.checked_add(1)?;
    let count = if number & 1 == 0 { 1 } else { u8::try_from(read_varint(bytes)?).ok()? };
    Some(BagEntry { term, count })
}

fn read_terms(bytes: &mut &[u8]) -> Option<PodArray<Term>> {
    let length = read_varint(bytes)? as usize * size_of::<u64>();
    let (terms, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let (terms, _) = terms.as_chunks();
    Some(terms.iter().map(|bits| Term::from_bits(u64::from_le_bytes(*bits))).collect())
}

fn read_ends(bytes: &mut &[u8]) -> Option<PodArray<u32>> {
    let mut end = 0_u32;
    let length = read_varint(bytes)?;
    (0..length)
        .map(|_| {
            end = end.checked_add(read_varint(bytes)?)?;
            Some(end)
        })
        .collect()
}

/// Bytes of code for each distinct term, and for each term of a block of lines. Three quarters of the Linux kernel's files have at most 21
/// and 5.7.
const BYTES_PER_TERM: usize = 21;
const BYTES_PER_ENTRY: usize = 6;

/// Builds the bags of a file, one after the other.
#[derive(Default)]
pub(crate) struct BagsBuilder {
    numbers: FxHashMap<Term, u32>,
    terms: Vec<Term>,
    /// By number of the term: its count in the current bag.
    counts: Vec<u8>,
    /// Numbers of the terms in the current bag.
    filled: Vec<u32>,
    ends: Vec<usize>,
    /// Terms by number, not yet by position.
    entries: Vec<BagEntry>,
}

impl BagsBuilder {
    /// Creates a builder with room for the terms of so many bytes of usual code: growing step by step takes longer.
    pub(crate) fn for_text(bytes: usize) -> BagsBuilder {
        let terms = bytes / BYTES_PER_TERM;
        BagsBuilder {
            numbers: FxHashMap::with_capacity_and_hasher(terms, FxBuildHasher),
            terms: Vec::with_capacity(terms),
            counts: Vec::with_capacity(terms),
            entries: Vec::with_capacity(bytes / BYTES_PER_ENTRY),
            ..BagsBuilder::default()
        }
    }

    /// Returns the number of `term` in this builder.
    pub(crate) fn number(&mut self, term: Term) -> u32 {
        let next = self.terms.len() as u32;
        let number = *self.numbers.entry(term).or_insert(next);
        if number == next {
            self.terms.push(term);
            self.counts.push(0);
        }
        number
    }

    /// Adds a term to the current bag, by its number.
    pub(crate) fn add(&mut self, number: u32) {
        let count = &mut self.counts[number as usize];
        if *count == 0 {
            self.filled.push(number);
        }
        // BM25 hardly distinguishes larger counts.
        *count = count.saturating_add(1);
    }

    /// Ends the bag and begins the next one.
    pub(crate) fn end_bag(&mut self) {
        for number in self.filled.drain(..) {
            let count = std::mem::take(&mut self.counts[number as usize]);
            self.entries.push(BagEntry { term: number, count });
        }
        self.ends.push(self.entries.len());
    }

    /// Returns the completed bags.
    pub(crate) fn finish(mut self) -> Bags {
        self.sort_bags();
        let mut bytes = Vec::with_capacity(self.entries.len() + self.entries.len() / 4);
        let mut ends = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            write_bag(&mut bytes, &self.entries[start..end]);
            ends.push(bytes.len() as u32);
            start = end;
        }
        bytes.shrink_to_fit();
        Bags { terms: self.terms.into_iter().collect(), ends: ends.into(), entries: bytes.into() }
    }

    /// Sorts the terms, replaces their numbers by their positions, and sorts each bag by them: all bags at once, first by term and then
    /// by bag, which needs no comparisons.
    fn sort_bags(&mut self) {
        let positions = self.sort_terms();
        let mut next = vec![0; positions.len() + 1];
        for entry in &mut self.entries {
            entry.term = positions[entry.term as usize];
            next[entry.term as usize + 1] += 1;
        }
        for term in 1..next.len() {
            next[term] += next[term - 1];
        }
        let mut by_term = vec![(0, BagEntry { term: 0, count: 0 }); self.entries.len()];
        let mut start = 0;
        for (bag, &end) in (0_u32..).zip(&self.ends) {
            for &entry in &self.entries[start..end] {
                let place = &mut next[entry.term as usize];
                by_term[*place] = (bag, entry);
                *place += 1;
            }
            start = end;
        }
        let mut next: Vec<usize> = std::iter::once(0).chain(self.ends.iter().copied()).collect();
        for (bag, entry) in by_term {
            let place = &mut next[bag as usize];
            self.entries[*place] = entry;
            *place += 1;
        }
    }

    /// Sorts the terms and returns the position of each number.
    fn sort_terms(&mut self) -> Vec<u32> {
        let mut order: Vec<(Term, u32)> = self.terms.drain(..).zip(0..).collect();
        order.sort_unstable();
        let mut positions = vec![0; order.len()];
        for (position, &(_, number)) in order.iter().enumerate() {
            positions[number as usize] = position as u32;
        }
        self.terms.extend(order.into_iter().map(|(term, _)| term));
        positions
    }
}

fn write_bag(bytes: &mut Vec<u8>, bag: &[BagEntry]) {
    let mut next = 0;
    for entry in bag {
        let (start, distance) = (bytes.len(), entry.term - next);
        bytes.resize(start + entry_bytes(distance, entry.count), 0);
        put_entry(&mut bytes[start..], distance, entry.count);
        next = entry.term + 1;
    }
}

/// Returns the encoded length of an entry at this distance from the expected position.
#[inline]
pub(crate) fn entry_bytes(distance: u32, count: u8) -> usize {
    varint_bytes(distance << 1) + if count > 1 { varint_bytes(count.into()) } else { 0 }
}

/// Encodes an entry at the front of `bytes`; returns its length.
#[inline]
pub(crate) fn put_entry(bytes: &mut [u8], distance: u32, count: u8) -> usize {
    let repeats = count > 1;
    let length = put_varint(bytes, distance << 1 | u32::from(repeats));
    if repeats { length + put_varint(&mut bytes[length..], count.into()) } else { length }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::inverted_bags::InvertedBags;

    fn build(bags: &[Vec<u64>]) -> Bags {
        let mut builder = BagsBuilder::default();
        for bag in bags {
            for &bits in bag {
                let number = builder.number(Term::from_bits(bits));
                builder.add(number);
            }
            builder.end_bag();
        }
        builder.finish()
    }

    fn read(bags: &Bags) -> Vec<Vec<u64>> {
        let repeat = |entry: BagEntry| {
            let bits = bags.terms()[entry.term as usize].bits();
            std::iter::repeat_n(bits, entry.count.into())
        };
        (0..bags.len()).map(|number| bags.bag(number).flat_map(repeat).collect()).collect()
    }

    #[test]
    fn counts_saturate_at_u8_max() {
        let bags = build(&[vec![7; 1000], vec![]]);
        assert_eq!(bags.bag(0).collect::<Vec<_>>(), [BagEntry { term: 0, count: u8::MAX }]);
        assert_eq!(InvertedBags::new(&bags, 0).lengths(), [255, 0]);
        assert_eq!(bags.bag(2).count(), 0);
    }

    proptest! {
        #[test]
        fn bags_round_trip_through_encoding(mut bags in prop::collection::vec(prop::collection::vec(0_u64..300, 0..40), 0..8)) {
            let built = build(&bags);
            bags.iter_mut().for_each(|bag| bag.sort_unstable());
            prop_assert_eq!(read(&built), bags);
            let mut bytes = Vec::new();
            built.encode(&mut bytes);
            let mut rest = &*bytes;
            prop_assert_eq!(Bags::decode(&mut rest), Some(built));
            prop_assert_eq!(rest, b"");
        }

        #[test]
        fn decoded_hostile_bytes_are_readable(bytes in prop::collection::vec(0_u8..20, 0..60)) {
            if let Some(bags) = Bags::decode(&mut &*bytes) {
                read(&bags);
            }
        }
    }
}
