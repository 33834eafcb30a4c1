//! Visiting order of positions that match equally well.
//!
//! There may be millions of them, and a hundred are enough. The selection must not depend on the history of the corpus: not on
//! token numbers, the order of files, or the division into layers. Each position has a priority, a hash of its text and its offset
//! in the text, and the lowest priorities win: a random sample that is independent of history. A tree of minima over each suffix
//! array finds them without visiting the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::layer::{LayerFile, LayerText};
use crate::pod_array::PodArray;

/// Positions or nodes below one node. Higher values save memory, lower ones time.
const FANOUT: usize = 16;
/// Distance of positions with a stored text number, in tokens.
const LOOKUP_STEP: usize = 64;
/// Bits to shift a priority for storage in nodes.
const PRIORITY_SHIFT: u32 = u64::BITS - u16::BITS;

/// Text and priority of each position.
#[derive(Debug, Default)]
pub(crate) struct PositionPriorities {
    /// Hash of each text, by number.
    seeds: Vec<u64>,
    /// Text number of every [`LOOKUP_STEP`]th position.
    numbers: Vec<u32>,
}

impl PositionPriorities {
    pub(crate) fn new(texts: &[LayerText], entries: &[LayerFile], tokens: usize) -> PositionPriorities {
        let mut seeds = vec![0; texts.len()];
        for entry in entries {
            let seed = entry.text.and_then(|text| seeds.get_mut(text as usize));
            let start = entry.hash.first_chunk().copied().map(u64::from_le_bytes);
            seed.zip(start).into_iter().for_each(|(seed, start)| *seed = start);
        }
        let mut number = 0;
        let at = |position: usize| {
            while texts.get(number + 1).is_some_and(|text| text.start as usize <= position) {
                number += 1;
            }
            number as u32
        };
        PositionPriorities { seeds, numbers: (0..=tokens).step_by(LOOKUP_STEP).map(at).collect() }
    }

    /// Returns the number of the text at a position.
    pub(crate) fn text_at(&self, texts: &[LayerText], position: u32) -> Option<usize> {
        let mut number = *self.numbers.get(position as usize / LOOKUP_STEP)? as usize;
        while texts.get(number + 1).is_some_and(|text| text.start <= position) {
            number += 1;
        }
        texts.get(number).is_some_and(|text| text.start <= position).then_some(number)
    }

    /// Returns the priority of a position, which depends only on its text and its offset there.
    pub(crate) fn priority(&self, texts: &[LayerText], position: u32) -> u64 {
        let Some(number) = self.text_at(texts, position) else { return u64::MAX };
        priority(self.seeds[number], position - texts[number].start)
    }

    /// Returns the truncated priorities of all positions of a stream.
    pub(crate) fn truncated_priorities(&self, texts: &[LayerText], tokens: usize) -> Vec<u16> {
        let mut kept = Vec::with_capacity(tokens + 1);
        let mut number = 0;
        for position in 0..=u32::try_from(tokens).unwrap_or(u32::MAX) {
            while texts.get(number + 1).is_some_and(|text| text.start <= position) {
                number += 1;
            }
            let text = texts.get(number).filter(|text| text.start <= position);
            kept.push(text.map_or(u16::MAX, |text| {
                truncate_priority(priority(self.seeds[number], position - text.start))
            }));
        }
        kept
    }
}

/// Mixes the hash of a text with an offset in it (the finalizer of SplitMix64).
fn priority(seed: u64, offset: u32) -> u64 {
    let mixed = seed ^ u64::from(offset).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn truncate_priority(priority: u64) -> u16 {
    u16::try_from(priority >> PRIORITY_SHIFT).expect("the rest is shifted out")
}

/// A tree of the lowest priorities in ranges of a suffix array.
#[derive(Debug, Default)]
pub(crate) struct MinimaTree {
    /// Levels, the lowest first. Each has a node for every [`FANOUT`] nodes of the level below.
    levels: Vec<PodArray<u16>>,
}

impl MinimaTree {
    /// Builds the tree over positions with the truncated priorities `kept`.
    pub(crate) fn of(positions: &[u32], kept: &[u16]) -> MinimaTree {
        MinimaTree::over(PodArray::Owned(
            positions
                .chunks(FANOUT)
                .map(|part| {
                    part.iter()
                        .map(|&position| kept.get(position as usize).copied().unwrap_or(u16::MAX))
                        .min()
                        .unwrap_or(u16::MAX)
                })
                .collect(),
        ))
    }

    /// Builds the tree over its lowest level.
    pub(crate) fn over(lowest: PodArray<u16>) -> MinimaTree {
        let mut levels = vec![lowest];
        while let Some(last) = levels.last().filter(|last| last.len() > FANOUT) {
            let next =
                last.chunks(FANOUT).map(|part| part.iter().copied().min().unwrap_or(u16::MAX)).collect();
            levels.push(PodArray::Owned(next));
        }
        MinimaTree { levels }
    }

    /// Returns the number of nodes of the lowest level over so many positions.
    pub(crate) fn lowest_len(positions: usize) -> usize {
        positions.div_ceil(FANOUT)
    }

    /// Returns the lowest level, from which the others can be computed.
    pub(crate) fn lowest(&self) -> &[u16] {
        self.levels.first().map_or(&[], |level| level)
    }

    /// Covers a range by nodes, and by single positions at its edges.
    fn cover(&self, range: Range<usize>, mut add: impl FnMut(NodeLevel, usize)) {
        let (mut range, mut level) = (range, NodeLevel::PLACES);
        while !range.is_empty() {
            let inner = range.start.next_multiple_of(FANOUT)..range.end / FANOUT * FANOUT;
            if inner.is_empty() || level.0 == self.levels.len() {
                return range.for_each(|index| add(level, index));
            }
            (range.start..inner.start).chain(inner.end..range.end).for_each(|index| add(level, index));
            range = inner.start / FANOUT..inner.end / FANOUT;
            level = NodeLevel(level.0 + 1);
        }
    }
}

/// Level of a node; single positions are on level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeLevel(usize);

impl NodeLevel {
    const PLACES: NodeLevel = NodeLevel(0);
}

/// A range of one of several arrays.
#[derive(Clone, Debug)]
pub(crate) struct ArrayPart<'a> {
    /// Number of the array.
    pub(crate) number: usize,
    pub(crate) positions: &'a [u32],
    pub(crate) minima: &'a MinimaTree,
    /// Range in the array.
    pub(crate) range: Range<usize>,
}

/// A node in one of several trees: the lowest priority that may be below it, its level, the number of the array, and its index.
/// Among equal priorities higher nodes come first, because a position below them may have the same priority.
type Node = (u64, Reverse<NodeLevel>, usize, usize);

/// Visits positions in ranges of arrays by priority, the lowest first, until `visit` returns `false`. `priority` returns the
/// priority of a position in the array with a number.
pub(crate) fn by_priority(
    parts: &[ArrayPart<'_>],
    priority: impl Fn(usize, u32) -> u64,
    mut visit: impl FnMut(usize, u32) -> bool,
) {
    let mut heap: BinaryHeap<Reverse<Node>> = BinaryHeap::new();
    let item = |part: usize, level: NodeLevel, index: usize| {
        let ArrayPart { number, positions, minima, .. } = &parts[part];
        let lowest = match level {
            NodeLevel::PLACES => priority(*number, positions[index]),
            NodeLevel(above) => u64::from(minima.levels[above - 1][index]) << PRIORITY_SHIFT,
        };
        Reverse((lowest, Reverse(level), part, index))
    };
    for (part, ArrayPart { minima, range, .. }) in parts.iter().enumerate() {
        minima.cover(range.clone(), |level, index| heap.push(item(part, level, index)));
    }
    while let Some(Reverse((_, Reverse(level), part, index))) = heap.pop() {
        let ArrayPart { number, positions, minima, .. } = &parts[part];
        if level == NodeLevel::PLACES {
            if !visit(*number, positions[index]) {
                return;
            }
            continue;
        }
        let below = NodeLevel(level.0 - 1);
        let length = below.0.checked_sub(1).map_or(positions.len(), |at| minima.levels[at].len());
        let children = index * FANOUT..length.min((index + 1) * FANOUT);
        heap.extend(children.map(|child| item(part, below, child)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_visited_by_priority_across_arrays(
            arrays in prop::collection::vec((prop::collection::vec(any::<u64>(), 0..600), any::<[prop::sample::Index; 2]>()), 1..4),
            enough in 1_usize..50,
        ) {
            let minima: Vec<(Vec<u32>, MinimaTree)> = arrays.iter().map(|(priorities, _)| {
                let positions: Vec<u32> = (0..priorities.len() as u32).rev().collect();
                let kept: Vec<u16> = priorities.iter().map(|&priority| truncate_priority(priority)).collect();
                let minima = MinimaTree::of(&positions, &kept);
                (positions, minima)
            }).collect();
            let parts: Vec<ArrayPart<'_>> = arrays.iter().zip(&minima).enumerate().map(|(number, ((_, ends), (positions, minima)))| {
                let mut ends = ends.map(|end| end.index(positions.len() + 1));
                ends.sort_unstable();
                ArrayPart { number, positions, minima, range: ends[0]..ends[1] }
            }).collect();
            let priority = |number: usize, position: u32| arrays[number].0[position as usize];
            let mut found = Vec::new();
            by_priority(&parts, priority, |number, position| {
                found.push(priority(number, position));
                found.len() < enough
            });
            let all = parts.iter().flat_map(|part| part.positions[part.range.clone()].iter().map(|&position| priority(part.number, position)));
            let mut expected: Vec<u64> = all.collect();
            expected.sort_unstable();
            expected.truncate(enough);
            prop_assert_eq!(found, expected);
        }
    }
}
