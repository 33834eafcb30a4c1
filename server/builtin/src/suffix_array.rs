//! Suffix arrays over reversed token streams: all places that follow a given context, longest match first.

use std::ops::Range;

use libsais::SuffixArrayConstruction;

use crate::vocabulary::TokenId;

/// Positions of a stream in the order of the tokens *before* them, read backwards.
#[derive(Debug, Default)]
pub(crate) struct SuffixArray {
    positions: Vec<u32>,
}

/// For every length of match from 0 on, the places in the array that match that far.
pub(crate) type Ladder = Vec<Range<usize>>;

impl SuffixArray {
    /// Sorts the positions `1..=tokens.len()` by what stands before them. No array, and so no hits, when memory is short.
    pub(crate) fn build(tokens: impl DoubleEndedIterator<Item = TokenId>) -> SuffixArray {
        let mut reversed: Vec<i32> = tokens.rev().map(TokenId::cast_signed).collect();
        let length = u32::try_from(reversed.len()).expect("a corpus is limited to less");
        let sorted =
            SuffixArrayConstruction::for_text_mut(&mut reversed).in_owned_buffer32().single_threaded();
        let Ok(sorted) = sorted.run() else {
            return SuffixArray::default();
        };
        let positions = sorted.into_vec().into_iter().map(|start| length - start.cast_unsigned()).collect();
        SuffixArray { positions }
    }

    /// Narrows the array down by one token of `context` at a time, backwards, while anything matches. `token_at` gives the
    /// token at a position of the sorted stream.
    pub(crate) fn ladder(
        &self,
        context: impl DoubleEndedIterator<Item = TokenId>,
        token_at: impl Fn(usize) -> TokenId,
    ) -> Ladder {
        let mut range = 0..self.positions.len();
        let mut ladder = vec![range.clone()];
        for (depth, wanted) in context.rev().enumerate() {
            let key = |position: u32| (position as usize).checked_sub(depth + 1).map(&token_at);
            let inside = &self.positions[range.clone()];
            let start = range.start + inside.partition_point(|&position| key(position) < Some(wanted));
            let inside = &self.positions[start..range.end];
            range = start..start + inside.partition_point(|&position| key(position) == Some(wanted));
            if range.is_empty() {
                break;
            }
            ladder.push(range.clone());
        }
        ladder
    }

    /// Visits positions from the longest match down, evenly spread where there are too many, until `enough` were accepted.
    /// Matches of no token at all are visited only when nothing better exists.
    pub(crate) fn visit(&self, ladder: &Ladder, enough: usize, mut accept: impl FnMut(u32, usize) -> bool) {
        let mut accepted = 0;
        let longest = ladder.last().map_or(0, |range| range.start);
        let mut inner = longest..longest;
        for (matched, range) in ladder.iter().enumerate().rev() {
            if accepted >= enough || (matched == 0 && accepted > 0) {
                return;
            }
            let fresh = range.len() - inner.len();
            let stride = fresh.div_ceil(enough - accepted).max(1);
            let ring = (range.start..inner.start).chain(inner.end..range.end);
            let positions = ring.step_by(stride).map(|place| self.positions[place]);
            accepted += positions.filter(|&position| accept(position, matched)).count();
            inner = range.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_ladder_finds_what_a_scan_finds(
            tokens in prop::collection::vec(0u32..4, 0..60),
            context in prop::collection::vec(0u32..4, 0..6),
        ) {
            let array = SuffixArray::build(tokens.iter().copied());
            let ladder = array.ladder(context.iter().copied(), |at| tokens[at]);
            for matched in 0..=context.len() {
                let tail = &context[context.len() - matched..];
                let scan: Vec<u32> =
                    (1..=tokens.len()).filter(|&end| tokens[..end].ends_with(tail)).map(|end| end as u32).collect();
                let mut found = ladder.get(matched).map_or(vec![], |range| array.positions[range.clone()].to_vec());
                found.sort_unstable();
                prop_assert_eq!(found, scan, "after {:?}", tail);
            }
        }
    }

    #[test]
    fn longer_matches_come_first_and_each_position_once() {
        let tokens = [1, 2, 3, 9, 2, 3, 9, 3, 9, 9];
        let array = SuffixArray::build(tokens.iter().copied());
        let ladder = array.ladder([1, 2, 3].into_iter(), |at| tokens[at]);
        let mut visited = Vec::new();
        array.visit(&ladder, 100, |position, matched| {
            visited.push((position, matched));
            true
        });
        assert_eq!(visited, [(3, 3), (6, 2), (8, 1)]);
    }

    #[test]
    fn too_many_are_sampled_evenly() {
        let tokens: Vec<u32> = (0..400).map(|at| at % 2).collect();
        let array = SuffixArray::build(tokens.iter().copied());
        let ladder = array.ladder([0].into_iter(), |at| tokens[at]);
        let mut visited = 0;
        array.visit(&ladder, 10, |_, _| {
            visited += 1;
            true
        });
        assert_eq!(visited, 10);
    }
}
