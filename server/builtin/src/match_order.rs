//! Visiting order of positions that match equally well.
//!
//! There may be millions of them, and a hundred are enough. The selection must not depend on the history of the corpus: not on
//! token numbers, the order of files, or the division into layers. Each position has a priority, a hash of its text and its offset
//! in the text, and the lowest priorities win: a random sample that is independent of history. A tree of minima over each suffix
//! array finds them without visiting the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::ops::Range;

use crate::layer::{LayerFile, LayerText};
use stored::PodArray;

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
            if inner.is_empty() || usize::from(level.0) == self.levels.len() {
                return range.for_each(|index| add(level, index));
            }
            (range.start..inner.start).chain(inner.end..range.end).for_each(|index| add(level, index));
            range = inner.start / FANOUT..inner.end / FANOUT;
            level = NodeLevel(level.0 + 1);
        }
    }
}

/// Level of a node; single positions are on level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeLevel(u8);

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

/// A node of a part's tree and the lowest priority that may be below it, or a position and its priority. Compared by priority, then by
/// part and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    priority: u64,
    /// Number of the part in the upper half, index in the level in the lower one: one comparison instead of two.
    place: u64,
}

impl Node {
    fn new(priority: u64, part: usize, index: usize) -> Node {
        Node { priority, place: (part as u64) << 32 | index as u64 }
    }

    fn part(self) -> usize {
        (self.place >> 32) as usize
    }

    fn index(self) -> usize {
        self.place as u32 as usize
    }
}

/// Selects the positions with the lowest priorities in ranges of arrays. Kept between ranges to avoid allocations.
#[derive(Debug, Default)]
pub(crate) struct PrioritySelector {
    /// Nodes that may have better positions, by priority; their levels are in `levels`.
    nodes: BinaryHeap<Reverse<(Node, u8)>>,
    /// The best positions so far, the worst of them first.
    best: BinaryHeap<Node>,
}

impl PrioritySelector {
    /// Calls `visit` with array and position of at most `enough` permitted positions, those with the lowest priorities, in their
    /// order. `priority` returns the priority of a position in the array with a number.
    pub(crate) fn visit_lowest(
        &mut self,
        parts: &[ArrayPart<'_>],
        enough: usize,
        priority: impl Fn(usize, u32) -> u64,
        is_permitted: impl Fn(usize, u32) -> bool,
        mut visit: impl FnMut(usize, u32),
    ) {
        self.nodes.clear();
        let add = |selector: &mut PrioritySelector, part: usize, level: NodeLevel, index: usize| {
            let ArrayPart { number, positions, minima, .. } = &parts[part];
            if level == NodeLevel::PLACES {
                let position = positions[index];
                let node = Node::new(priority(*number, position), part, index);
                if selector.is_better(node, enough) && is_permitted(*number, position) {
                    selector.keep(node, enough);
                }
            } else {
                let lowest = minima.levels[usize::from(level.0) - 1][index];
                let node = Node::new(u64::from(lowest) << PRIORITY_SHIFT, part, index);
                if selector.may_hold_better(node, enough) {
                    selector.nodes.push(Reverse((node, level.0)));
                }
            }
        };
        for (part, ArrayPart { minima, range, .. }) in parts.iter().enumerate() {
            minima.cover(range.clone(), |level, index| add(self, part, level, index));
        }
        while let Some(Reverse((node, level))) = self.nodes.pop() {
            if !self.may_hold_better(node, enough) {
                break;
            }
            let ArrayPart { positions, minima, .. } = &parts[node.part()];
            let below = level - 1;
            let length =
                below.checked_sub(1).map_or(positions.len(), |at| minima.levels[usize::from(at)].len());
            let children = node.index() * FANOUT..length.min((node.index() + 1) * FANOUT);
            children.for_each(|child| add(self, node.part(), NodeLevel(below), child));
        }
        let mut best = mem::take(&mut self.best).into_vec();
        best.sort_unstable();
        for node in best.drain(..) {
            let ArrayPart { number, positions, .. } = &parts[node.part()];
            visit(*number, positions[node.index()]);
        }
        self.best = best.into();
    }

    /// Whether a position is among the best so far.
    fn is_better(&self, position: Node, enough: usize) -> bool {
        self.best.len() < enough || self.best.peek().is_some_and(|worst| position < *worst)
    }

    /// Whether a position below a node may be among the best. It may have the lowest priority that is known of the node, or the
    /// priority of the worst position.
    fn may_hold_better(&self, node: Node, enough: usize) -> bool {
        self.best.len() < enough || self.best.peek().is_some_and(|worst| node.priority <= worst.priority)
    }

    /// Adds a position that is among the best.
    fn keep(&mut self, position: Node, enough: usize) {
        if self.best.len() < enough {
            self.best.push(position);
        } else if let Some(mut worst) = self.best.peek_mut() {
            *worst = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lowest_priorities_are_selected_across_arrays(
            arrays in prop::collection::vec((prop::collection::vec(prop_oneof![any::<u64>(), 0..9_u64, (0..9_u64).prop_map(|high| high << 60)], 0..600), any::<[prop::sample::Index; 2]>()), 1..4),
            enough in 1_usize..50,
            rejected in 1_u32..5,
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
            let is_permitted = |_: usize, position: u32| position % rejected != rejected - 1;
            let mut selector = PrioritySelector::default();
            let mut found = Vec::new();
            // The second time finds the same.
            for _ in 0..2 {
                found.clear();
                selector.visit_lowest(&parts, enough, priority, is_permitted, |number, position| {
                    found.push((priority(number, position), number, position));
                });
            }
            let all = parts.iter().flat_map(|part| part.positions[part.range.clone()].iter().enumerate().map(|(place, &position)| (priority(part.number, position), part.number, place, position)));
            let mut expected: Vec<(u64, usize, usize, u32)> = all.filter(|&(_, number, _, position)| is_permitted(number, position)).collect();
            expected.sort_unstable();
            expected.truncate(enough);
            let expected: Vec<(u64, usize, u32)> = expected.into_iter().map(|(priority, number, _, position)| (priority, number, position)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
