//! The tokens that are near the cursor: the open file before and after it, and the hints.
//!
//! Built anew for every request, so its index is two chains of positions instead of arrays that would have to be sorted.

use rustc_hash::FxHashMap;

use crate::stream::Stream;
use crate::vocabulary::{END, TokenId, Words};

/// No position.
const NONE: u32 = u32::MAX;

/// The stream near the cursor with its index.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    pub(crate) stream: Stream,
    /// By the token before.
    exact: Chains<TokenId>,
    /// By the two abstracted tokens before.
    abstracted: Chains<(TokenId, TokenId)>,
}

/// Lists of positions that share a key, latest first, threaded through one array.
#[derive(Debug)]
struct Chains<K> {
    latest: FxHashMap<K, u32>,
    previous: Vec<u32>,
}

impl<K> Default for Chains<K> {
    fn default() -> Chains<K> {
        Chains { latest: FxHashMap::default(), previous: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq> Chains<K> {
    /// Adds the next position; without a key it is in no list.
    fn push(&mut self, key: Option<K>) {
        let position = u32::try_from(self.previous.len()).expect("an open file is smaller than 4 G tokens");
        let previous = key.and_then(|key| self.latest.insert(key, position));
        self.previous.push(previous.unwrap_or(NONE));
    }

    fn positions(&self, key: K) -> impl Iterator<Item = u32> + use<'_, K> {
        let mut next = self.latest.get(&key).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let position = next;
            next = *self.previous.get(position as usize)?;
            Some(position)
        })
    }
}

impl Overlay {
    /// Indexes `stream`. Positions that hold no token or follow none are never found.
    pub(crate) fn build(stream: Stream, words: &Words) -> Overlay {
        let mut overlay = Overlay::default();
        let tokens = &stream.tokens;
        for (position, &token) in tokens.iter().enumerate() {
            let last = before(tokens, position, 1).filter(|&last| last != END && token != END);
            let second = before(tokens, position, 2).filter(|&second| second != END);
            let pair = last.zip(second);
            overlay.exact.push(last);
            overlay
                .abstracted
                .push(pair.map(|(last, second)| (words.abstracted(second), words.abstracted(last))));
        }
        Overlay { stream, ..overlay }
    }

    /// Positions that follow `last`, latest first.
    pub(crate) fn after(&self, last: TokenId) -> impl Iterator<Item = u32> {
        self.exact.positions(last)
    }

    /// Positions that follow two tokens of the same classes, latest first.
    pub(crate) fn after_like(
        &self,
        second: TokenId,
        last: TokenId,
        words: &Words,
    ) -> impl Iterator<Item = u32> + use<'_> {
        self.abstracted.positions((words.abstracted(second), words.abstracted(last)))
    }
}

fn before(tokens: &[TokenId], position: usize, distance: usize) -> Option<TokenId> {
    position.checked_sub(distance).map(|index| tokens[index])
}
