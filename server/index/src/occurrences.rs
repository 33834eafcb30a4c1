//! Finds the blocks that contain a name, in the order of paths and positions.
//!
//! A common name occurs in hundreds of thousands of blocks of which a request looks at some dozens, so they are counted and sampled
//! without a list of all.

use std::sync::Arc;

use crate::index_layer::IndexLayer;
use crate::terms::Term;
use crate::{FileIndex, Searcher};

/// A block that contains a name.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// Its file.
    pub file: &'a Arc<FileIndex>,
    /// Number of the block in its file.
    pub block: u32,
}

/// Blocks that contain a name.
pub(crate) struct OccurrenceSample<'a> {
    /// The blocks at equal distances among all of them.
    pub(crate) sample: Vec<Occurrence<'a>>,
    /// The number of all of them.
    pub(crate) total: usize,
}

impl Searcher {
    /// Returns the blocks with `identifier`, by path and position.
    pub fn occurrences(&self, identifier: &str) -> Vec<Occurrence<'_>> {
        self.sample_occurrences(identifier, &[], usize::MAX).sample
    }

    /// Returns at most `most` blocks with `identifier` outside of the files at `left_out`, by path and position.
    pub(crate) fn sample_occurrences(
        &self,
        identifier: &str,
        left_out: &[&str],
        most: usize,
    ) -> OccurrenceSample<'_> {
        let term = Term::identifier(identifier);
        let Some(largest) = self.layers().iter().max_by_key(|layer| layer.windows().documents) else {
            return OccurrenceSample { sample: Vec::new(), total: 0 };
        };
        let others = self.layers().iter().filter(|layer| !std::ptr::eq(*layer, largest));
        let mut others: Vec<Occurrence<'_>> =
            others.flat_map(|layer| of_layer(layer, term, left_out)).map(|(_, found)| found).collect();
        // Each layer is sorted: a stable sort only has to merge these runs.
        others.sort_by(|one, other| one.file.path().cmp(other.file.path()));
        let others: Vec<(usize, Occurrence<'_>)> =
            others.into_iter().map(|found| (largest.position_behind(found.file.path()), found)).collect();
        let all = || merge(of_layer(largest, term, left_out), others.iter().copied());
        let total = all().count();
        let distance = total.div_ceil(most).max(1);
        OccurrenceSample { sample: all().step_by(distance).collect(), total }
    }
}

/// Returns the blocks of a layer with a term, with the positions of their files.
fn of_layer<'a>(
    layer: &'a IndexLayer,
    term: Term,
    left_out: &[&str],
) -> impl Iterator<Item = (usize, Occurrence<'a>)> + use<'a> {
    let windows = &layer.segment().windows;
    let left_out: Vec<usize> = left_out.iter().filter_map(|path| layer.segment().position(path)).collect();
    // Many blocks of one file follow each other.
    let (mut places, mut position, mut file) = (0..0, 0, None);
    windows.postings.list(term).filter_map(move |(place, _)| {
        if !places.contains(&place) {
            position = windows.file_at_or_behind(position, place);
            places = windows.blocks_of_file(position);
            let is_wanted = layer.is_present(position) && !left_out.contains(&position);
            file = is_wanted.then(|| &layer.segment().files()[position]);
        }
        file.map(|file| (position, Occurrence { file, block: place - places.start }))
    })
}

/// Merges blocks of a layer with those of other layers, which have the position of the layer's first file behind theirs.
fn merge<'a>(
    layer: impl Iterator<Item = (usize, Occurrence<'a>)>,
    others: impl Iterator<Item = (usize, Occurrence<'a>)>,
) -> impl Iterator<Item = Occurrence<'a>> {
    let (mut layer, mut others) = (layer.peekable(), others.peekable());
    std::iter::from_fn(move || {
        let next = layer.peek().map(|(position, _)| *position);
        let before = others.next_if(|(behind, _)| next.is_none_or(|next| *behind <= next));
        before.or_else(|| layer.next()).map(|(_, found)| found)
    })
}

#[cfg(test)]
mod tests {
    use syntax::{Language, SourceFile};

    use super::*;
    use crate::Index;

    fn file(number: usize, lines: usize) -> Arc<FileIndex> {
        let text =
            (0..lines).map(|line| format!("shared(v{line})\nother = 1\nnext = 2\n\n")).collect::<String>();
        let path = format!("{:02}/{number:02}.py", number % 7).into();
        Arc::new(FileIndex::new(SourceFile { path, language: Language::Python, text: text.into() }))
    }

    #[test]
    fn samples_are_taken_at_equal_distances_in_all_layers() {
        let mut index = Index::from_files((0..40).map(|number| file(number, number % 5)).collect());
        for number in [3, 11, 35, 50] {
            index = index.apply(vec![file(number, 2)], &[]);
        }
        let open = vec![file(17, 3), file(60, 4)];
        let searcher = index.hide(&["02/09.py"]).overlay(open);
        assert!(searcher.layers().len() > 2);
        let found = |sample: &[Occurrence<'_>]| -> Vec<(String, u32)> {
            sample.iter().map(|found| (found.file.path().to_owned(), found.block)).collect()
        };
        let left_out = ["04/18.py", "03/17.py"];
        let mut expected = Vec::new();
        for file in searcher.files() {
            let blocks = if left_out.contains(&file.path()) { 0 } else { file.blocks() as u32 };
            expected.extend((0..blocks).map(|block| (file.path().to_owned(), block)));
        }
        for most in [1, 2, 7, 30, usize::MAX] {
            let OccurrenceSample { sample, total } = searcher.sample_occurrences("shared", &left_out, most);
            assert_eq!(total, expected.len());
            let distance = total.div_ceil(most);
            let of_expected: Vec<_> = expected.iter().step_by(distance).cloned().collect();
            assert_eq!(found(&sample), of_expected, "{most}");
        }
        assert!(searcher.occurrences("absent").is_empty());
    }
}
