//! The overlay: tokens near the cursor, from the open file before and after it, the hints, and recent typing in other files.
//!
//! Built for every request, so its index consists of two sets of chains of positions instead of arrays that have to be sorted.

use crate::corpus_view::Nearness;
use crate::token_stream::TokenStream;
use crate::vocabulary::{END, TokenId, Vocabulary};

/// No position.
const NO_POSITION: u32 = u32::MAX;

/// The stream near the cursor with its index.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub(crate) stream: TokenStream,
    /// Nearness of each position.
    nearness: Vec<Nearness>,
    /// The class of each token.
    classes: Vec<TokenId>,
    /// Chains by the hash of the preceding token.
    exact: PositionChains,
    /// Chains by the hash of the classes of the two preceding tokens.
    abstracted: PositionChains,
    /// Bits of a hash: enough for the tokens of the stream, independent of the size of the vocabulary.
    hash_bits: u32,
}

/// Linked lists of positions that share a key, latest first, stored in one array.
#[derive(Debug)]
struct PositionChains {
    /// Latest position by key.
    latest: Vec<u32>,
    previous: Vec<u32>,
}

impl PositionChains {
    /// Empty chains for `positions` positions, with keys below `keys`.
    fn new(keys: usize, positions: usize) -> PositionChains {
        PositionChains { latest: vec![NO_POSITION; keys], previous: Vec::with_capacity(positions) }
    }

    /// Adds the next position, to the chain of its key if it has one.
    fn push(&mut self, key: Option<usize>) {
        let position = u32::try_from(self.previous.len()).expect("an open file is smaller than 4 G tokens");
        let previous = key.map_or(NO_POSITION, |key| std::mem::replace(&mut self.latest[key], position));
        self.previous.push(previous);
    }

    fn positions(&self, key: usize) -> impl Iterator<Item = u32> {
        let mut next = self.latest.get(key).copied().unwrap_or(NO_POSITION);
        std::iter::from_fn(move || {
            let position = next;
            next = *self.previous.get(position as usize)?;
            Some(position)
        })
    }
}

impl Overlay {
    /// Indexes `stream`. Positions without a token or without a preceding one are in no chain.
    pub(crate) fn build(stream: TokenStream, nearness: Vec<Nearness>, words: &Vocabulary) -> Overlay {
        let tokens = &stream.tokens;
        let hash_bits = tokens.len().next_power_of_two().trailing_zeros().max(1);
        let classes = tokens.iter().map(|&token| words.abstracted(token)).collect();
        let exact = PositionChains::new(1 << hash_bits, tokens.len());
        let abstracted = PositionChains::new(1 << hash_bits, tokens.len());
        let mut overlay =
            Overlay { classes, exact, abstracted, hash_bits, nearness, stream: TokenStream::default() };
        for (position, &token) in tokens.iter().enumerate() {
            let last = before(tokens, position, 1).filter(|&last| last != END && token != END);
            let pair = last.and_then(|_| overlay.pair_before(position));
            overlay.exact.push(last.map(|last| hash((END, last), hash_bits)));
            overlay.abstracted.push(pair.map(|pair| hash(pair, hash_bits)));
        }
        Overlay { stream, ..overlay }
    }

    /// Returns the nearness of a position.
    pub(crate) fn nearness(&self, position: u32) -> Nearness {
        self.nearness.get(position as usize).copied().unwrap_or(Nearness::Masked)
    }

    /// Returns the classes of the two tokens before a position.
    fn pair_before(&self, position: usize) -> Option<(TokenId, TokenId)> {
        let second = before(&self.classes, position, 2).filter(|&second| second != END);
        second.zip(before(&self.classes, position, 1))
    }

    /// Returns positions that follow `last`, latest first.
    pub(crate) fn after(&self, last: TokenId) -> impl Iterator<Item = u32> {
        let positions = self.exact.positions(hash((END, last), self.hash_bits));
        positions.filter(move |&position| before(&self.stream.tokens, position as usize, 1) == Some(last))
    }

    /// Returns positions that follow two tokens of the same classes, latest first.
    pub(crate) fn after_classes(
        &self,
        pair: (TokenId, TokenId),
        words: &Vocabulary,
    ) -> impl Iterator<Item = u32> {
        let pair = (words.abstracted(pair.0), words.abstracted(pair.1));
        let positions = self.abstracted.positions(hash(pair, self.hash_bits));
        positions.filter(move |&position| self.pair_before(position as usize) == Some(pair))
    }
}

/// Hashes a pair to `bits` bits, by the multiplier of Fibonacci hashing (2⁶⁴ over the golden ratio).
fn hash((second, last): (TokenId, TokenId), bits: u32) -> usize {
    let mixed = (u64::from(second) << 32 | u64::from(last)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - bits)) as usize
}

fn before(tokens: &[TokenId], position: usize, distance: usize) -> Option<TokenId> {
    position.checked_sub(distance).map(|index| tokens[index])
}
