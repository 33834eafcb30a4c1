//! Suffix arrays over reversed token streams: finds all positions after a given context, the longest match first.

use std::ops::Range;

use libsais::SuffixArrayConstruction;

use crate::match_order::{ArrayPart, MinimaTree, PrioritySelector};
use crate::vocabulary::TokenId;

/// Positions of a stream, sorted by the tokens *before* them, read backwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuffixArray<'a> {
    pub(crate) positions: &'a [u32],
    /// Start of the positions that follow each token, and the end of the last ones; empty if not computed.
    pub(crate) starts: &'a [u32],
    /// Minima over the positions.
    pub(crate) minima: &'a MinimaTree,
}

/// Sorts the positions `1..=tokens.len()` by the preceding tokens. Returns an empty array if memory is short.
pub(crate) fn sort(tokens: impl DoubleEndedIterator<Item = TokenId>) -> Vec<u32> {
    let mut reversed: Vec<i32> = tokens.rev().map(TokenId::cast_signed).collect();
    let length = u32::try_from(reversed.len()).expect("a corpus is limited to less");
    let sorted = SuffixArrayConstruction::for_text_mut(&mut reversed).in_owned_buffer32().single_threaded();
    let Ok(sorted) = sorted.run() else {
        return Vec::new();
    };
    sorted.into_vec().into_iter().map(|start| length - start.cast_unsigned()).collect()
}

/// Returns the start of the positions that follow each token below `limit` in a suffix array over `tokens`. Without it, most steps
/// of a search, each of which waits for memory, would be spent on the first token.
pub(crate) fn starts(tokens: impl Iterator<Item = TokenId>, limit: TokenId) -> Vec<u32> {
    let mut starts = vec![0; limit as usize + 1];
    for token in tokens {
        starts[token as usize + 1] += 1;
    }
    for token in 1..starts.len() {
        starts[token] += starts[token - 1];
    }
    starts
}

/// For every match length from 0 on, the range of positions in the array with at least that match.
type MatchRanges = Vec<Range<usize>>;

/// An array with the ranges that match a context.
#[derive(Debug)]
pub(crate) struct ContextMatches<'a> {
    array: SuffixArray<'a>,
    pub(crate) ranges: MatchRanges,
}

impl<'a> SuffixArray<'a> {
    /// Narrows the array by one token of `context` at a time, backwards, while anything matches. `token_at` returns the token at a
    /// position of the sorted stream.
    pub(crate) fn match_context(
        self,
        context: impl DoubleEndedIterator<Item = TokenId>,
        token_at: impl Fn(usize) -> TokenId,
    ) -> ContextMatches<'a> {
        let mut range = 0..self.positions.len();
        let mut ladder = vec![range.clone()];
        for (depth, wanted) in context.rev().enumerate() {
            let counted = self.counted(wanted).filter(|_| depth == 0);
            range = counted.unwrap_or_else(|| {
                let key = |position: u32| (position as usize).checked_sub(depth + 1).map(&token_at);
                let inside = &self.positions[range.clone()];
                let start = range.start + inside.partition_point(|&position| key(position) < Some(wanted));
                let inside = &self.positions[start..range.end];
                start..start + inside.partition_point(|&position| key(position) == Some(wanted))
            });
            if range.is_empty() {
                break;
            }
            ladder.push(range.clone());
        }
        ContextMatches { array: self, ranges: ladder }
    }

    /// Returns the range of positions that follow a token, if `starts` is computed.
    fn counted(&self, token: TokenId) -> Option<Range<usize>> {
        let token = token as usize;
        let (start, end) = (*self.starts.get(token)? as usize, *self.starts.get(token + 1)? as usize);
        Some(start..end).filter(|_| end <= self.positions.len())
    }
}

impl ContextMatches<'_> {
    /// Returns the ranges with a match of exactly this length: before and behind the longer matches.
    fn ranges_of_length(&self, matched: usize) -> (Range<usize>, Range<usize>) {
        let Some(range) = self.ranges.get(matched) else { return (0..0, 0..0) };
        let inner = self.ranges.get(matched + 1).cloned().unwrap_or(range.start..range.start);
        (range.start..inner.start, inner.end..range.end)
    }
}

/// Visits permitted positions in several arrays as if they were one, from the longest match down, and by lowest priority among equal
/// matches, until there were `enough`. Matches of length 0 are visited only if nothing better exists. `priority`, `is_permitted` and
/// `visit` receive the number of the array and the position, `visit` also the match length.
pub(crate) fn visit_matches(
    climbs: &[ContextMatches],
    enough: usize,
    priority: impl Fn(usize, u32) -> u64,
    is_permitted: impl Fn(usize, u32) -> bool,
    mut visit: impl FnMut(usize, u32, usize),
) {
    let mut visited = 0;
    let mut selector = PrioritySelector::default();
    let mut parts = Vec::new();
    let lengths = climbs.iter().map(|climb| climb.ranges.len()).max().unwrap_or(0);
    for matched in (0..lengths).rev() {
        if visited >= enough || (matched == 0 && visited > 0) {
            return;
        }
        parts.clear();
        for (number, climb) in climbs.iter().enumerate() {
            let SuffixArray { positions, minima, .. } = climb.array;
            let (before, behind) = climb.ranges_of_length(matched);
            let both = [before, behind].into_iter().filter(|range| !range.is_empty());
            parts.extend(both.map(|range| ArrayPart { number, positions, minima, range }));
        }
        selector.visit_lowest(&parts, enough - visited, &priority, &is_permitted, |number, position| {
            visited += 1;
            visit(number, position, matched);
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn match_context_finds_the_same_as_a_linear_scan(
            tokens in prop::collection::vec(0u32..4, 0..60),
            context in prop::collection::vec(0u32..6, 0..6),
            counts in any::<bool>(),
        ) {
            let positions = sort(tokens.iter().copied());
            let starts = starts(tokens.iter().copied(), 4);
            let starts = if counts { &starts[..] } else { &[] };
            let array = SuffixArray { positions: &positions, starts, minima: &MinimaTree::default() };
            let climb = array.match_context(context.iter().copied(), |at| tokens[at]);
            for matched in 0..=context.len() {
                let tail = &context[context.len() - matched..];
                let scan: Vec<u32> =
                    (1..=tokens.len()).filter(|&end| tokens[..end].ends_with(tail)).map(|end| end as u32).collect();
                let mut found = climb.ranges.get(matched).map_or(vec![], |range| positions[range.clone()].to_vec());
                found.sort_unstable();
                prop_assert_eq!(found, scan, "after {:?}", tail);
            }
        }
    }

    /// Visits positions after `context` in several streams, with lower positions first among equal matches.
    fn visited(streams: &[&[u32]], context: &[u32], enough: usize) -> Vec<(usize, u32, usize)> {
        let sorted = streams.iter().map(|tokens| {
            let positions = sort(tokens.iter().copied());
            let kept: Vec<u16> = (0..=tokens.len() as u16).collect();
            let minima = MinimaTree::of(&positions, &kept);
            (positions, minima)
        });
        let sorted: Vec<(Vec<u32>, MinimaTree)> = sorted.collect();
        let climbs = streams.iter().zip(&sorted).map(|(tokens, (positions, minima))| {
            SuffixArray { positions, starts: &[], minima }
                .match_context(context.iter().copied(), |at| tokens[at])
        });
        let mut visited = Vec::new();
        visit_matches(
            &climbs.collect::<Vec<_>>(),
            enough,
            |number, position| u64::from(position) << 48 | number as u64,
            |_, _| true,
            |number, position, matched| visited.push((number, position, matched)),
        );
        visited
    }

    #[test]
    fn longer_matches_come_first_and_each_position_once() {
        let tokens = [1, 2, 3, 9, 2, 3, 9, 3, 9, 9];
        assert_eq!(visited(&[&tokens], &[1, 2, 3], 100), [(0, 3, 3), (0, 6, 2), (0, 8, 1)]);
    }

    #[test]
    fn matches_of_several_arrays_are_visited_in_one_order() {
        let streams: [&[u32]; 3] = [&[3, 9, 2, 3], &[], &[1, 2, 3, 9, 3]];
        let expected = [(2, 3, 3), (0, 4, 2), (0, 1, 1), (2, 5, 1)];
        assert_eq!(visited(&streams, &[1, 2, 3], 100), expected);
        assert_eq!(visited(&streams, &[1, 2, 3], 2), expected[..2]);
    }

    #[test]
    fn limit_keeps_matches_with_the_best_priority() {
        let tokens: Vec<u32> = (0..400).map(|at| at % 2).collect();
        let found = visited(&[&tokens[..50], &tokens[..2], &tokens[..348]], &[0], 10);
        let positions: Vec<u32> = found.iter().map(|(_, position, _)| *position).collect();
        assert_eq!(positions, [1, 1, 1, 3, 3, 5, 5, 7, 7, 9]);
    }
}
