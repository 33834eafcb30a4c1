//! Layers: files whose tokens are sorted together, some of which may have changed since.
//!
//! The sorted data is immutable and shared. The path of a changed or removed file is *absent*; a text without any present path is
//! masked: none of its positions is a candidate. This module maps positions to files and rates the nearness of files. Token
//! numbers are meaningful only with the corpus' vocabulary.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use syntax::SourceFile;

use crate::code_style::CodeStyle;
use crate::corpus_view::Nearness;
use crate::match_order::{MinimaTree, PositionPriorities};
use crate::suffix_array::{self, SuffixArray};
use crate::token_stream::{TokenSlice, TokenStream};
use crate::vocabulary::{TokenId, Vocabulary};
use stored::PodArray;

/// A blake3 hash of everything that determines a file's tokens.
pub(crate) type Hash = [u8; blake3::OUT_LEN];

/// Returns the hash of a file's text and language.
pub(crate) fn hash_of(file: &SourceFile) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(file.language.name().as_bytes());
    hasher.update(&[0]);
    hasher.update(file.text.as_bytes());
    hasher.finalize().into()
}

/// A text, possibly of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerText {
    /// Offset in the stream.
    pub(crate) start: u32,
    pub(crate) layout: Option<CodeStyle>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerFile {
    pub(crate) path: Arc<str>,
    pub(crate) hash: Hash,
    /// Number of its text; `None` if the text was excluded.
    pub(crate) text: Option<u32>,
    /// Hash of its directory. Every request compares the directories of all files.
    directory: u64,
}

impl LayerFile {
    pub(crate) fn new(path: Arc<str>, hash: Hash, text: Option<u32>) -> LayerFile {
        LayerFile { directory: directory(&path), path, hash, text }
    }
}

fn directory(path: &str) -> u64 {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    BuildHasherDefault::<FxHasher>::default().hash_one(directory)
}

/// Tokens of files with the arrays over them.
#[derive(Debug, Default)]
pub(crate) struct SortedLayer {
    pub(crate) tokens: PodArray<TokenId>,
    pub(crate) blanks: PodArray<u8>,
    pub(crate) exact: PodArray<u32>,
    pub(crate) abstracted: PodArray<u32>,
    /// Texts in the order of the stream.
    pub(crate) texts: Vec<LayerText>,
    /// Files in the order of their paths.
    pub(crate) entries: Vec<LayerFile>,
    /// For each array, the start of the positions that follow each token; empty before [`SortedLayer::with_counts`].
    pub(crate) starts: [Vec<u32>; 2],
    /// For each array, the visiting order of positions.
    pub(crate) minima: [MinimaTree; 2],
    pub(crate) placement: PositionPriorities,
}

impl SortedLayer {
    /// Counts the tokens if there are more of them than words. For a layer of few files counting would take longer than anything
    /// else.
    pub(crate) fn with_counts(mut self, words: &Vocabulary) -> SortedLayer {
        if self.tokens.len() >= words.limit() as usize {
            let abstracted = self.tokens.iter().map(|&token| words.abstracted(token));
            self.starts = [
                suffix_array::starts(self.tokens.iter().copied(), words.limit()),
                suffix_array::starts(abstracted, words.limit()),
            ];
        }
        self
    }

    /// Computes the visiting order of positions.
    pub(crate) fn with_priorities(self) -> SortedLayer {
        let placement = PositionPriorities::new(&self.texts, &self.entries, self.tokens.len());
        let kept = placement.truncated_priorities(&self.texts, self.tokens.len());
        let minima = [&self.exact, &self.abstracted].map(|positions| MinimaTree::of(positions, &kept));
        SortedLayer { placement, minima, ..self }
    }

    /// Returns the positions of a text.
    fn range(&self, text: u32) -> Range<usize> {
        let start = |text: usize| self.texts.get(text).map(|text| text.start as usize);
        let text = text as usize;
        start(text).unwrap_or(self.tokens.len())..start(text + 1).unwrap_or(self.tokens.len())
    }

    fn tokens_of(&self, text: u32) -> TokenSlice<'_> {
        let range = self.range(text);
        TokenSlice { tokens: &self.tokens[range.clone()], blanks: &self.blanks[range] }
    }

    fn entry(&self, path: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()
    }
}

/// Threads on which a layer is sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SortThreads {
    /// The calling thread. A request has few files and must not wait for a pool that may be busy with a whole workspace.
    Caller,
    /// The current rayon pool. Both arrays are sorted at once, which takes eight more bytes per token meanwhile.
    RayonPool,
}

/// Collects files to be sorted.
#[derive(Debug, Default)]
pub(crate) struct LayerBuilder {
    stream: TokenStream,
    texts: Vec<LayerText>,
    entries: Vec<LayerFile>,
    numbers: FxHashMap<Hash, u32>,
}

impl LayerBuilder {
    /// Reserves space for so many tokens.
    fn with_capacity(tokens: usize) -> LayerBuilder {
        let stream = TokenStream { tokens: Vec::with_capacity(tokens), blanks: Vec::with_capacity(tokens) };
        LayerBuilder { stream, ..LayerBuilder::default() }
    }

    /// Returns the number of tokens so far.
    pub(crate) fn len(&self) -> usize {
        self.stream.len()
    }

    /// Adds a file. Unless its text is already present, `append` adds the tokens and returns the code style, or `None` to exclude
    /// it.
    pub(crate) fn add(
        &mut self,
        path: Arc<str>,
        hash: Hash,
        append: impl FnOnce(&mut TokenStream) -> Option<Option<CodeStyle>>,
    ) {
        let text = self.numbers.get(&hash).copied().or_else(|| {
            let start = u32::try_from(self.stream.len()).expect("corpora are limited to less");
            let layout = append(&mut self.stream)?;
            let number = u32::try_from(self.texts.len()).expect("no more texts than tokens");
            self.texts.push(LayerText { start, layout });
            self.numbers.insert(hash, number);
            Some(number)
        });
        self.entries.push(LayerFile::new(path, hash, text));
    }

    /// Sorts all files.
    pub(crate) fn sort(self, words: &Vocabulary, threads: SortThreads) -> SortedLayer {
        let LayerBuilder { stream: TokenStream { mut tokens, mut blanks }, texts, mut entries, .. } = self;
        tokens.shrink_to_fit();
        blanks.shrink_to_fit();
        // If several files have the same path, the last one wins.
        entries.reverse();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries.dedup_by(|later, earlier| later.path == earlier.path);
        let exact = || PodArray::Owned(suffix_array::sort(tokens.iter().copied()));
        let abstract_tokens = tokens.iter().map(|&token| words.abstracted(token));
        let abstracted = || PodArray::Owned(suffix_array::sort(abstract_tokens));
        let (exact, abstracted) = match threads {
            SortThreads::Caller => (exact(), abstracted()),
            SortThreads::RayonPool => rayon::join(exact, abstracted),
        };
        let (tokens, blanks) = (PodArray::Owned(tokens), PodArray::Owned(blanks));
        let sorted =
            SortedLayer { tokens, blanks, exact, abstracted, texts, entries, ..SortedLayer::default() };
        sorted.with_priorities().with_counts(words)
    }
}

/// Sorted files, some of which may be absent. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    sorted: Arc<SortedLayer>,
    /// Indices of files that were removed or moved to other layers.
    absent: Arc<FxHashSet<u32>>,
}

impl Layer {
    /// A layer with all files present.
    pub(crate) fn new(sorted: SortedLayer) -> Layer {
        Layer { sorted: Arc::new(sorted), absent: Arc::default() }
    }

    pub(crate) fn sorted(&self) -> &SortedLayer {
        &self.sorted
    }

    /// Makes the file at `path` absent.
    pub(crate) fn remove(&mut self, path: &str) {
        let Some(index) = self.sorted.entry(path) else { return };
        let index = u32::try_from(index).expect("no more files than tokens");
        if !self.absent.contains(&index) {
            Arc::make_mut(&mut self.absent).insert(index);
        }
    }

    /// Returns the present files.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &LayerFile> {
        let entries = self.sorted.entries.iter().zip(0..);
        entries.filter(|(_, index)| !self.absent.contains(index)).map(|(entry, _)| entry)
    }

    /// Returns the file at `path`, if present.
    pub(crate) fn entry(&self, path: &str) -> Option<&LayerFile> {
        let index = self.sorted.entry(path)?;
        let is_there = !self.absent.contains(&u32::try_from(index).ok()?);
        is_there.then(|| &self.sorted.entries[index])
    }

    /// Returns the numbers of the present texts.
    fn texts(&self) -> Vec<u32> {
        let mut texts: Vec<u32> = self.entries().filter_map(|entry| entry.text).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// Returns the number of tokens in the present texts, and the number of these texts.
    pub(crate) fn live_counts(&self) -> (usize, usize) {
        let texts = self.texts();
        (texts.iter().map(|&text| self.sorted.range(text).len()).sum(), texts.len())
    }

    /// Returns the number of tokens of a text.
    pub(crate) fn tokens_in(&self, text: u32) -> usize {
        self.sorted.range(text).len()
    }

    /// Returns the code styles of the present texts.
    pub(crate) fn layouts(&self) -> Vec<CodeStyle> {
        self.texts().into_iter().filter_map(|text| self.sorted.texts.get(text as usize)?.layout).collect()
    }

    /// Returns the view of the layer from the file at `path`, with `first` positions in the layers before it. Texts with a
    /// `hidden` hash are masked.
    pub(crate) fn view_from(&self, first: u32, path: &str, hidden: &[Hash]) -> LayerView<'_> {
        let here = directory(path);
        let mut nearness = vec![Nearness::Masked; self.sorted.texts.len()];
        for entry in self.entries().filter(|entry| !hidden.contains(&entry.hash)) {
            let Some(text) = entry.text else { continue };
            let nearness = &mut nearness[text as usize];
            if entry.directory == here {
                *nearness = Nearness::Directory;
            } else if *nearness == Nearness::Masked {
                *nearness = Nearness::Workspace;
            }
        }
        let SortedLayer { tokens, blanks, exact, abstracted, texts, starts, minima, placement, .. } =
            &*self.sorted;
        let array = |positions, which: usize| SuffixArray {
            positions,
            starts: &starts[which],
            minima: &minima[which],
        };
        LayerView {
            layer: self,
            first,
            tokens: TokenSlice { tokens, blanks },
            exact: array(exact, 0),
            abstracted: array(abstracted, 1),
            texts,
            placement,
            nearness,
        }
    }
}

/// Merges the present files of several layers by path. `number` maps each token to its new number.
pub(crate) fn merge(layers: &[Layer], mut number: impl FnMut(TokenId) -> TokenId) -> LayerBuilder {
    let mut entries: Vec<(&Layer, &LayerFile)> =
        layers.iter().flat_map(|layer| layer.entries().map(move |entry| (layer, entry))).collect();
    entries.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    let mut assembly = LayerBuilder::with_capacity(layers.iter().map(|layer| layer.live_counts().0).sum());
    for (layer, entry) in entries {
        assembly.add(Arc::clone(&entry.path), entry.hash, |stream| {
            let text = entry.text?;
            let TokenSlice { tokens, blanks } = layer.sorted.tokens_of(text);
            stream.tokens.extend(tokens.iter().map(|&token| number(token)));
            stream.blanks.extend_from_slice(blanks);
            Some(layer.sorted.texts[text as usize].layout)
        });
    }
    assembly
}

/// Maximum number of occurrences that are read to find one in a text that is not masked: few files contain a word more often.
const MAX_OCCURRENCES: usize = 1_000;

/// A layer as seen from one file.
#[derive(Debug)]
pub(crate) struct LayerView<'c> {
    layer: &'c Layer,
    /// Number of positions in the layers before it.
    pub(crate) first: u32,
    pub(crate) tokens: TokenSlice<'c>,
    pub(crate) exact: SuffixArray<'c>,
    pub(crate) abstracted: SuffixArray<'c>,
    texts: &'c [LayerText],
    placement: &'c PositionPriorities,
    /// Nearness by the number of the text.
    nearness: Vec<Nearness>,
}

impl LayerView<'_> {
    /// Returns the nearness of the text at a position of this layer.
    pub(crate) fn nearness(&self, position: u32) -> Nearness {
        let text = self.text_at(position);
        text.and_then(|text| self.nearness.get(text)).copied().unwrap_or(Nearness::Masked)
    }

    /// Returns whether a token occurs in a text that is not masked. Of a frequent token, only some positions are read.
    pub(crate) fn contains(&self, token: TokenId) -> bool {
        let after = self.exact.match_context(std::iter::once(token), |at| self.tokens.tokens[at]);
        let Some(range) = after.ranges.get(1).cloned() else { return false };
        let before = |next: u32| next.checked_sub(1).is_some_and(|at| self.nearness(at) != Nearness::Masked);
        self.exact.positions[range].iter().take(MAX_OCCURRENCES).any(|&next| before(next))
    }

    fn text_at(&self, position: u32) -> Option<usize> {
        self.placement.text_at(self.texts, position)
    }

    /// Returns the priority of a position of this layer among equally long matches.
    pub(crate) fn priority(&self, position: u32) -> u64 {
        self.placement.priority(self.texts, position)
    }

    /// Returns the start of the text at a position of this layer.
    pub(crate) fn start_of_text(&self, position: u32) -> u32 {
        self.text_at(position).map_or(0, |text| self.texts[text].start)
    }

    /// Returns the path of the first file with the text at a position of this layer. Searches all files.
    pub(crate) fn path(&self, position: u32) -> Option<&Arc<str>> {
        let text = u32::try_from(self.text_at(position)?).ok()?;
        self.layer.entries().find(|entry| entry.text == Some(text)).map(|entry| &entry.path)
    }
}
