//! The tokens that are near the cursor: the open file before and after it, the hints, and what was typed lately elsewhere.
//!
//! Built anew for every request, so its index is two sets of chains of positions instead of arrays that would have to be sorted.

use crate::stream::Stream;
use crate::view::Nearness;
use crate::vocabulary::{END, TokenId, Vocabulary};

/// No position.
const NONE: u32 = u32::MAX;

/// The stream near the cursor with its index.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub(crate) stream: Stream,
    /// How near each position is.
    nearness: Vec<Nearness>,
    /// The stream's tokens, abstracted.
    classes: Vec<TokenId>,
    /// By the hash of the token before.
    exact: Chains,
    /// By the hash of the two abstracted tokens before.
    abstracted: Chains,
    /// Bits of a hash: as many as tell so many tokens apart, however many words the corpus has.
    hash_bits: u32,
}

/// Lists of positions that share a key, latest first, threaded through one array.
#[derive(Debug)]
struct Chains {
    /// By key.
    latest: Vec<u32>,
    previous: Vec<u32>,
}

impl Chains {
    /// No positions yet, of `positions` to come, with keys below `keys`.
    fn new(keys: usize, positions: usize) -> Chains {
        Chains { latest: vec![NONE; keys], previous: Vec::with_capacity(positions) }
    }

    /// Adds the next position; without a key it is in no list.
    fn push(&mut self, key: Option<usize>) {
        let position = u32::try_from(self.previous.len()).expect("an open file is smaller than 4 G tokens");
        let previous = key.map_or(NONE, |key| std::mem::replace(&mut self.latest[key], position));
        self.previous.push(previous);
    }

    fn positions(&self, key: usize) -> impl Iterator<Item = u32> {
        let mut next = self.latest.get(key).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let position = next;
            next = *self.previous.get(position as usize)?;
            Some(position)
        })
    }
}

impl Overlay {
    /// Indexes `stream`. Positions that hold no token or follow none are never found.
    pub(crate) fn build(stream: Stream, nearness: Vec<Nearness>, words: &Vocabulary) -> Overlay {
        let tokens = &stream.tokens;
        let hash_bits = tokens.len().next_power_of_two().trailing_zeros().max(1);
        let classes = tokens.iter().map(|&token| words.abstracted(token)).collect();
        let exact = Chains::new(1 << hash_bits, tokens.len());
        let abstracted = Chains::new(1 << hash_bits, tokens.len());
        let mut overlay =
            Overlay { classes, exact, abstracted, hash_bits, nearness, stream: Stream::default() };
        for (position, &token) in tokens.iter().enumerate() {
            let last = before(tokens, position, 1).filter(|&last| last != END && token != END);
            let pair = last.and_then(|_| overlay.pair_before(position));
            overlay.exact.push(last.map(|last| hash((END, last), hash_bits)));
            overlay.abstracted.push(pair.map(|pair| hash(pair, hash_bits)));
        }
        Overlay { stream, ..overlay }
    }

    /// How near a position is.
    pub(crate) fn nearness(&self, position: u32) -> Nearness {
        self.nearness.get(position as usize).copied().unwrap_or(Nearness::Masked)
    }

    /// The two abstracted tokens before a position.
    fn pair_before(&self, position: usize) -> Option<(TokenId, TokenId)> {
        let second = before(&self.classes, position, 2).filter(|&second| second != END);
        second.zip(before(&self.classes, position, 1))
    }

    /// Positions that follow `last`, latest first.
    pub(crate) fn after(&self, last: TokenId) -> impl Iterator<Item = u32> {
        let positions = self.exact.positions(hash((END, last), self.hash_bits));
        positions.filter(move |&position| before(&self.stream.tokens, position as usize, 1) == Some(last))
    }

    /// Positions that follow two tokens of the same classes, latest first.
    pub(crate) fn after_like(
        &self,
        pair: (TokenId, TokenId),
        words: &Vocabulary,
    ) -> impl Iterator<Item = u32> {
        let pair = (words.abstracted(pair.0), words.abstracted(pair.1));
        let positions = self.abstracted.positions(hash(pair, self.hash_bits));
        positions.filter(move |&position| self.pair_before(position as usize) == Some(pair))
    }
}

/// Mixes a pair down to `bits` bits, by the multiplier of Fibonacci hashing (2⁶⁴ over the golden ratio).
fn hash((second, last): (TokenId, TokenId), bits: u32) -> usize {
    let mixed = (u64::from(second) << 32 | u64::from(last)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - bits)) as usize
}

fn before(tokens: &[TokenId], position: usize, distance: usize) -> Option<TokenId> {
    position.checked_sub(distance).map(|index| tokens[index])
}
