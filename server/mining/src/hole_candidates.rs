//! The holes of a file in a compact form, without their ranges: enough to count them for any seed without parsing the file again.
//!
//! Most holes do not depend on the seed and are only counted. For the others, whose start is drawn, each choice is listed, so that
//! [`HoleCandidates::count`] repeats the draws of [`holes`](crate::holes::holes). Depends only on the text and the language of the
//! file; never on its path, so it can be stored under the hash of the content.

use std::collections::BTreeMap;
use std::ops::Range;

use cases::BlockKind;
use serde::{Deserialize, Serialize};
use syntax::{SourceFile, Tree};

use crate::holes::{CutChoice, CutChoices, CutVerdict, DrawnCut};
use crate::parsed_file::{CutShape, ParsedFile, block_kind};
use crate::seeded_random::SeededRandom;
use crate::unanswerable::UnanswerableReason;

/// The encoded candidates of one file: about five bytes per statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoleCandidates(Box<[u8]>);

/// The number of holes of a file, for one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HoleCounts {
    pub(crate) holes: BTreeMap<(BlockKind, CutShape), usize>,
    /// Rejected cuts.
    pub(crate) refused: BTreeMap<(CutShape, UnanswerableReason), usize>,
}

/// The decoded candidates.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Candidates {
    /// Number of cuts that are the same for every seed.
    fixed: Vec<(KindNumber, CutShape, CutVerdict, u32)>,
    drawn: Vec<DrawnCandidates>,
}

/// A cut whose start is drawn.
#[derive(Debug, Serialize, Deserialize)]
struct DrawnCandidates {
    kind: KindNumber,
    choices: CutChoices,
    /// The choices that are no holes, by their number among all choices.
    unusable: Vec<(u32, CutVerdict)>,
}

/// Index in [`BlockKind::ALL`].
type KindNumber = u8;

impl HoleCandidates {
    /// Changes whenever the holes of some file or their encoding changes: with each change of the grammars, the lexers and the recipes.
    pub const FORMAT: &'static str = "hole-candidates 1";

    /// Finds the candidates in a file; `tree` is its syntax tree.
    pub fn new(file: &SourceFile, tree: &Tree) -> HoleCandidates {
        let candidates = find(&ParsedFile::new(file, tree), tree);
        let bytes = postcard::to_stdvec(&candidates).expect("numbers and lists can be encoded");
        HoleCandidates(bytes.into())
    }

    /// Parses a file and finds the candidates.
    pub fn of(file: &SourceFile) -> HoleCandidates {
        HoleCandidates::new(file, &syntax::parse(file.language, &file.text))
    }

    /// Uses the bytes of [`HoleCandidates::as_bytes`] for a file with the same text and language. If they are something else, the
    /// file is parsed again.
    pub fn from_bytes(bytes: &[u8]) -> HoleCandidates {
        HoleCandidates(bytes.into())
    }

    /// Returns the encoded candidates.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Counts the holes of the file at `path`; `None` if the bytes are invalid.
    pub(crate) fn count(&self, path: &str, seed: u64) -> Option<HoleCounts> {
        let candidates: Candidates = postcard::from_bytes(&self.0).ok()?;
        let mut random = SeededRandom::new(seed, path);
        let mut counts = HoleCounts::default();
        for (kind, shape, verdict, number) in candidates.fixed {
            counts.add(*BlockKind::ALL.get(usize::from(kind))?, shape, verdict, number as usize);
        }
        for drawn in candidates.drawn {
            let kind = *BlockKind::ALL.get(usize::from(drawn.kind))?;
            let Some(choice) = drawn.choices.draw(&mut random) else { continue };
            counts.add(kind, drawn.choices.shape(), drawn.verdict(choice), 1);
        }
        Some(counts)
    }
}

impl HoleCounts {
    fn add(&mut self, kind: BlockKind, shape: CutShape, verdict: CutVerdict, number: usize) {
        match verdict.reason() {
            Some(reason) => *self.refused.entry((shape, reason)).or_default() += number,
            None if verdict == CutVerdict::Usable => *self.holes.entry((kind, shape)).or_default() += number,
            None => {}
        }
    }
}

impl DrawnCandidates {
    fn verdict(&self, choice: CutChoice) -> CutVerdict {
        if self.unusable.is_empty() {
            return CutVerdict::Usable;
        }
        let number = self.choices.number(choice) as u32;
        let found = self.unusable.binary_search_by_key(&number, |(number, _)| *number);
        found.map_or(CutVerdict::Usable, |place| self.unusable[place].1)
    }
}

fn find(parsed: &ParsedFile<'_>, tree: &Tree) -> Candidates {
    let mut fixed: BTreeMap<(KindNumber, CutShape, CutVerdict), u32> = BTreeMap::new();
    let mut drawn = Vec::new();
    for (block, following) in parsed.complete_blocks() {
        let kind = block_kind(block.kind);
        let kind = BlockKind::ALL.iter().position(|one| *one == kind).unwrap_or_default() as KindNumber;
        if !parsed.is_whole_without(&block.range) {
            *fixed.entry((kind, CutShape::BlockStart, CutVerdict::AcrossArms)).or_default() += 1;
            continue;
        }
        for (shape, range) in parsed.fixed_cuts(block) {
            if parsed.has_allowed_length(shape, &range) {
                let verdict = parsed.verdict(tree, block, shape, &range);
                *fixed.entry((kind, shape, verdict)).or_default() += 1;
            }
        }
        if let Some(cut) = parsed.drawn_cut(block, following) {
            let unusable = unusable_choices(parsed, &cut, |range| {
                parsed.verdict(tree, block, cut.choices.shape(), range)
            });
            drawn.push(DrawnCandidates { kind, choices: cut.choices, unusable });
        }
    }
    let fixed = fixed.into_iter().map(|((kind, shape, verdict), number)| (kind, shape, verdict, number));
    Candidates { fixed: fixed.collect(), drawn }
}

fn unusable_choices(
    parsed: &ParsedFile<'_>,
    cut: &DrawnCut,
    judge: impl Fn(&Range<usize>) -> CutVerdict,
) -> Vec<(u32, CutVerdict)> {
    let at = |item| CutChoice { item, typed: 0 };
    // All choices have the same end, so those that are too long come first. Counting the lines of each would take quadratic time.
    let items: Vec<usize> = (0..cut.starts.len()).collect();
    let allowed = items.partition_point(|&item| parsed.is_too_long(&cut.range(at(item))));
    let verdict = |choice: CutChoice| {
        let range = cut.range(choice);
        if choice.item < allowed || parsed.is_blank(&range) {
            CutVerdict::Inapplicable
        } else {
            judge(&range)
        }
    };
    let verdicts = cut.choices.all().into_iter().map(verdict).enumerate();
    let unusable = verdicts.filter(|(_, verdict)| *verdict != CutVerdict::Usable);
    unusable.map(|(number, verdict)| (number as u32, verdict)).collect()
}

#[cfg(test)]
mod tests;
