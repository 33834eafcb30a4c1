//! The chunks of one file: ten lines each that are not blank, and how often each word stands in them.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::tokens;
use text::python;

/// Lines of a chunk; the last one of a file may have fewer.
const CHUNK_LINES: usize = 10;

/// What the strategy needs of one file. It is derived from that file alone, so it is shared until the file changes.
#[derive(Debug)]
pub struct FileChunks {
    path: Arc<str>,
    /// The lines that are not blank, joined by line feeds.
    code: String,
    chunks: Vec<Chunk>,
    /// Where each word of the file stands first in `code`; a word's number is its position here.
    words: Vec<Range<u32>>,
    /// The words of all chunks, each chunk's in order of first appearance.
    counts: Vec<WordCount>,
}

/// Where a chunk stands.
#[derive(Debug)]
struct Place {
    /// Bytes of the file's `code`.
    code: Range<u32>,
    /// Lines of the file itself.
    lines: Range<u32>,
}

/// One chunk; its code and words lie in its file.
#[derive(Debug)]
struct Chunk {
    place: Place,
    /// Words in it, repeats counted.
    tokens: u32,
    /// Positions in `counts`.
    counts: Range<u32>,
}

/// How often a chunk has a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordCount {
    /// Number of the word in its file.
    pub(super) word: u32,
    /// At least one.
    pub(super) count: u32,
}

impl FileChunks {
    /// Cuts `text` at its line feeds into chunks; those without a word are dropped. A text beyond 4 GiB has none; no
    /// source file comes near.
    pub fn new(path: Arc<str>, text: &str) -> FileChunks {
        let text = if u32::try_from(text.len()).is_ok() { text } else { "" };
        let (code, places) = without_blank_lines(text);
        let mut counter = Counter::new(&code);
        let chunks = places.into_iter().filter_map(|place| counter.chunk(place)).collect();
        let Counter { words, counts, .. } = counter;
        FileChunks { path, code, chunks, words, counts }
    }

    /// The file's path.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// How many chunks the file has.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether the file has no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The lines of the chunk that are not blank, joined by line feeds.
    pub fn text(&self, chunk: usize) -> &str {
        self.slice(&self.chunks[chunk].place.code)
    }

    /// The lines of the file from the chunk's first to its last one, 0-based and half-open, blank ones between them included.
    pub fn lines(&self, chunk: usize) -> Range<u32> {
        self.chunks[chunk].place.lines.clone()
    }

    /// How many words the chunk has, repeats counted.
    pub(super) fn tokens(&self, chunk: usize) -> u32 {
        self.chunks[chunk].tokens
    }

    /// The chunk's words in order of first appearance.
    pub(super) fn counts(&self, chunk: usize) -> &[WordCount] {
        let Range { start, end } = self.chunks[chunk].counts;
        &self.counts[start as usize..end as usize]
    }

    /// How many distinct words the file has.
    pub(super) fn vocabulary(&self) -> usize {
        self.words.len()
    }

    /// The word with this number.
    pub(super) fn word(&self, number: u32) -> &str {
        self.slice(&self.words[number as usize])
    }

    fn slice(&self, range: &Range<u32>) -> &str {
        &self.code[range.start as usize..range.end as usize]
    }
}

/// The lines of `text` that are not blank, joined by line feeds, and where each ten of them stand.
fn without_blank_lines(text: &str) -> (String, Vec<Place>) {
    let lines: Vec<(u32, &str)> =
        (0..).zip(text.split('\n')).filter(|(_, line)| !python::is_blank(line)).collect();
    let mut code = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(lines.len().div_ceil(CHUNK_LINES));
    for chunk in lines.chunks(CHUNK_LINES) {
        let start = code.len() as u32;
        for (_, line) in chunk {
            code.push_str(line);
            code.push('\n');
        }
        let lines = chunk[0].0..chunk[chunk.len() - 1].0 + 1;
        places.push(Place { code: start..code.len() as u32 - 1, lines });
    }
    code.shrink_to_fit();
    (code, places)
}

/// Counts the words of a file, chunk by chunk.
struct Counter<'a> {
    code: &'a str,
    numbers: FxHashMap<&'a str, u32>,
    words: Vec<Range<u32>>,
    /// Where each word was counted last.
    latest: Vec<u32>,
    counts: Vec<WordCount>,
}

impl<'a> Counter<'a> {
    fn new(code: &'a str) -> Counter<'a> {
        let numbers = FxHashMap::default();
        Counter { code, numbers, words: Vec::new(), latest: Vec::new(), counts: Vec::new() }
    }

    /// Counts the words of the code at `place`, if there are any.
    fn chunk(&mut self, place: Place) -> Option<Chunk> {
        let code = place.code.start as usize..place.code.end as usize;
        let first = self.counts.len() as u32;
        let tokens = tokens::ranges(&self.code[code]);
        for token in &tokens {
            self.count(place.code.start + token.start as u32..place.code.start + token.end as u32, first);
        }
        let counts = first..self.counts.len() as u32;
        (!tokens.is_empty()).then_some(Chunk { place, tokens: tokens.len() as u32, counts })
    }

    /// Counts the word at `range` of the code for the chunk whose counts begin at `first`.
    fn count(&mut self, range: Range<u32>, first: u32) {
        let text = &self.code[range.start as usize..range.end as usize];
        let word = *self.numbers.entry(text).or_insert(self.words.len() as u32);
        if word as usize == self.words.len() {
            self.words.push(range);
            self.latest.push(u32::MAX);
        }
        let latest = &mut self.latest[word as usize];
        match self.counts.get_mut(*latest as usize) {
            Some(count) if *latest >= first => count.count += 1,
            _ => {
                *latest = self.counts.len() as u32;
                self.counts.push(WordCount { word, count: 1 });
            }
        }
    }
}
