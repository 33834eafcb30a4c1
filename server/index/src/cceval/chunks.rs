//! The chunks of one file, ten non-blank lines each, with their word counts.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::tokenizer;
use text::python;

/// Lines per chunk; the last chunk of a file may have fewer.
const CHUNK_LINES: usize = 10;

/// The chunks and words of one file. Depends on that file alone, so it is shared until the file changes.
#[derive(Debug)]
pub struct FileChunks {
    path: Arc<str>,
    /// The non-blank lines, joined by line feeds.
    code: String,
    chunks: Vec<Chunk>,
    /// First occurrence of each word in `code`; a word's number is its index here.
    words: Vec<Range<u32>>,
    /// The words of all chunks, in order of first appearance in each chunk.
    counts: Vec<WordCount>,
}

/// Position of a chunk.
#[derive(Debug)]
struct ChunkSpan {
    /// Bytes of the file's `code`.
    code: Range<u32>,
    /// Lines of the original file.
    lines: Range<u32>,
}

/// One chunk; its code and words are stored in its file.
#[derive(Debug)]
struct Chunk {
    place: ChunkSpan,
    /// Number of words, including repeats.
    tokens: u32,
    /// Index range in `counts`.
    counts: Range<u32>,
}

/// A word's count in a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordCount {
    /// Number of the word in its file.
    pub(super) word: u32,
    /// At least one.
    pub(super) count: u32,
}

impl FileChunks {
    /// Splits `text` at line feeds into chunks; drops those without a word. A text above 4 GiB has none; no source file is that
    /// large.
    pub fn new(path: Arc<str>, text: &str) -> FileChunks {
        let text = if u32::try_from(text.len()).is_ok() { text } else { "" };
        let (code, places) = without_blank_lines(text);
        let mut counter = WordCounter::new(&code);
        let chunks = places.into_iter().filter_map(|place| counter.chunk(place)).collect();
        let WordCounter { words, counts, .. } = counter;
        FileChunks { path, code, chunks, words, counts }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether the file has no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the chunk's non-blank lines, joined by line feeds.
    pub fn text(&self, chunk: usize) -> &str {
        self.slice(&self.chunks[chunk].place.code)
    }

    /// Returns the line range from the chunk's first to its last line, 0-based and half-open, including blank lines in between.
    pub fn lines(&self, chunk: usize) -> Range<u32> {
        self.chunks[chunk].place.lines.clone()
    }

    /// Returns the number of words in the chunk, including repeats.
    pub(super) fn tokens(&self, chunk: usize) -> u32 {
        self.chunks[chunk].tokens
    }

    /// Returns the chunk's words in order of first appearance.
    pub(super) fn counts(&self, chunk: usize) -> &[WordCount] {
        let Range { start, end } = self.chunks[chunk].counts;
        &self.counts[start as usize..end as usize]
    }

    /// Returns the number of distinct words in the file.
    pub(super) fn vocabulary(&self) -> usize {
        self.words.len()
    }

    /// Returns the word with this number.
    pub(super) fn word(&self, number: u32) -> &str {
        self.slice(&self.words[number as usize])
    }

    fn slice(&self, range: &Range<u32>) -> &str {
        &self.code[range.start as usize..range.end as usize]
    }
}

/// Returns the non-blank lines of `text`, joined by line feeds, and the position of each group of ten.
fn without_blank_lines(text: &str) -> (String, Vec<ChunkSpan>) {
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
        places.push(ChunkSpan { code: start..code.len() as u32 - 1, lines });
    }
    code.shrink_to_fit();
    (code, places)
}

/// Counts the words of a file, chunk by chunk.
struct WordCounter<'a> {
    code: &'a str,
    numbers: FxHashMap<&'a str, u32>,
    words: Vec<Range<u32>>,
    /// The chunk in which each word was counted last.
    latest: Vec<u32>,
    counts: Vec<WordCount>,
}

impl<'a> WordCounter<'a> {
    fn new(code: &'a str) -> WordCounter<'a> {
        let numbers = FxHashMap::default();
        WordCounter { code, numbers, words: Vec::new(), latest: Vec::new(), counts: Vec::new() }
    }

    /// Counts the words of the code at `place`, if there are any.
    fn chunk(&mut self, place: ChunkSpan) -> Option<Chunk> {
        let code = place.code.start as usize..place.code.end as usize;
        let first = self.counts.len() as u32;
        let tokens = tokenizer::ranges(&self.code[code]);
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
