//! Serializes a corpus as bytes that can be used in place.
//!
//! ```text
//! image:  magic, version, byte order, length, checksum, one part for each language family
//! part:   lengths · tokens, exact and abstract array · minima of both · blanks · words · texts · files
//! ```
//!
//! Numbers have the machine's byte order, so that large arrays are used in place; an image with another byte order is rejected.
//! Everything is aligned to four bytes. Bytes are not trusted: the checksum is verified, and every number used as an index is
//! checked once, so that a corrupt image is an error here and nowhere else. An image excludes the changes on top of a corpus;
//! after opening, the caller synchronizes it to the current files.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use syntax::LanguageFamily;
use thiserror::Error;

use crate::code_style::CodeStyle;
use crate::corpus::{Corpus, Shard};
use crate::layer::{Hash, Layer, LayerFile, LayerText, SortedLayer};
use crate::match_order::{MinimaTree, PositionPriorities};
use crate::vocabulary::{TokenClass, TokenId, Vocabulary};
use stored::{PodArray, SharedBytes};

/// First bytes of an image.
const MAGIC: [u8; 8] = *b"GBTOKENS";
/// Version. Increment it with every change of this module, of the lexer or of the tokens; a test detects that.
const VERSION: u32 = 4;
/// Reads as another number with another byte order.
const BYTE_ORDER: u32 = 0x0102_0304;
/// Length of the header in bytes.
const HEADER_BYTES: usize = 64;
/// Range of the checksum, which covers the bytes behind it.
const CHECKSUM_RANGE: Range<usize> = 32..64;
/// Alignment of every section in bytes.
const ALIGNMENT: usize = size_of::<u32>();
/// Text number of an excluded file.
const NO_TEXT: u32 = u32::MAX;

/// Reason why bytes are not a valid image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CorpusImageError {
    /// They are not an image, or come from another version or kind of machine.
    #[error("it was made by another version or on another kind of machine")]
    Foreign,
    /// They are corrupt.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

const TRUNCATED: CorpusImageError = CorpusImageError::Damaged("it ends too early");

impl Corpus {
    /// Serializes the corpus without the changes on top of it. The image is the concatenation of the pieces.
    pub fn image(&self) -> Vec<Cow<'_, [u8]>> {
        let mut pieces = ImageWriter { pieces: vec![Cow::Owned(Vec::new())], length: HEADER_BYTES };
        for shard in &self.shards {
            pieces.shard(shard);
        }
        let mut hasher = blake3::Hasher::new();
        for piece in &pieces.pieces {
            hasher.update(piece);
        }
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_ne_bytes());
        head.extend(BYTE_ORDER.to_ne_bytes());
        head.extend((pieces.length as u64).to_ne_bytes());
        head.resize(CHECKSUM_RANGE.start, 0);
        head.extend(hasher.finalize().as_bytes());
        pieces.pieces[0] = Cow::Owned(head);
        pieces.pieces
    }

    /// Opens the corpus in an image and uses its arrays in place.
    pub fn from_image(bytes: SharedBytes) -> Result<Corpus, CorpusImageError> {
        check_header((*bytes).as_ref())?;
        let mut reader = ImageReader { bytes: &bytes, at: HEADER_BYTES };
        let shards = LanguageFamily::ALL.iter().map(|_| reader.shard()).collect::<Result<_, _>>()?;
        if reader.at == (*bytes).as_ref().len() {
            Ok(Corpus { shards, limit: Arc::default() })
        } else {
            Err(CorpusImageError::Damaged("something follows it"))
        }
    }
}

fn check_header(bytes: &[u8]) -> Result<(), CorpusImageError> {
    let (head, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or(TRUNCATED)?;
    let expected = [&MAGIC[..], &VERSION.to_ne_bytes(), &BYTE_ORDER.to_ne_bytes()].concat();
    if !head.starts_with(&expected) {
        return Err(CorpusImageError::Foreign);
    }
    if head[expected.len()..].get(..size_of::<u64>()) != Some(&(bytes.len() as u64).to_ne_bytes()[..]) {
        return Err(CorpusImageError::Damaged("it does not have its length"));
    }
    if head[CHECKSUM_RANGE] != *blake3::hash(rest).as_bytes() {
        return Err(CorpusImageError::Damaged("it does not have its checksum"));
    }
    Ok(())
}

/// Lengths of the sections of a part.
#[derive(Clone, Copy)]
struct SectionLengths {
    tokens: usize,
    exact: usize,
    abstracted: usize,
    words: usize,
    word_bytes: usize,
    texts: usize,
    files: usize,
    path_bytes: usize,
}

impl SectionLengths {
    fn to_numbers(self) -> [u32; 8] {
        let SectionLengths { tokens, exact, abstracted, words, word_bytes, texts, files, path_bytes } = self;
        [tokens, exact, abstracted, words, word_bytes, texts, files, path_bytes]
            .map(|length| u32::try_from(length).expect("a corpus is limited to less"))
    }

    fn from_numbers(numbers: [u32; 8]) -> SectionLengths {
        let [tokens, exact, abstracted, words, word_bytes, texts, files, path_bytes] =
            numbers.map(|number| number as usize);
        SectionLengths { tokens, exact, abstracted, words, word_bytes, texts, files, path_bytes }
    }
}

/// An image under construction.
struct ImageWriter<'c> {
    pieces: Vec<Cow<'c, [u8]>>,
    length: usize,
}

impl<'c> ImageWriter<'c> {
    fn push(&mut self, piece: Cow<'c, [u8]>) {
        self.length += piece.len();
        self.pieces.push(piece);
        let padding = self.length.next_multiple_of(ALIGNMENT) - self.length;
        if padding > 0 {
            self.length += padding;
            self.pieces.push(Cow::Borrowed(&[0; ALIGNMENT][..padding]));
        }
    }

    fn numbers(&mut self, numbers: &'c [u32]) {
        self.push(Cow::Borrowed(bytemuck::cast_slice(numbers)));
    }

    fn own_numbers(&mut self, numbers: impl Iterator<Item = u32>) {
        self.push(Cow::Owned(numbers.flat_map(u32::to_ne_bytes).collect()));
    }

    /// Writes the part of a family in the order in which [`ImageReader::shard`] reads it.
    fn shard(&mut self, shard: &'c Shard) {
        let Some(sorted) = shard.layers.first().map(Layer::sorted) else {
            return self.own_numbers([0; 8].into_iter());
        };
        let SortedLayer { tokens, blanks, exact, abstracted, minima, texts, entries, .. } = sorted;
        let (words, ends, classes) = shard.words.root().parts();
        let lengths = SectionLengths {
            tokens: tokens.len(),
            exact: exact.len(),
            abstracted: abstracted.len(),
            words: ends.len(),
            word_bytes: words.len(),
            texts: texts.len(),
            files: entries.len(),
            path_bytes: entries.iter().map(|entry| entry.path.len()).sum(),
        };
        self.own_numbers(lengths.to_numbers().into_iter());
        self.numbers(tokens);
        self.numbers(exact);
        self.numbers(abstracted);
        minima.iter().for_each(|minima| self.push(Cow::Borrowed(bytemuck::cast_slice(minima.lowest()))));
        self.push(Cow::Borrowed(blanks));
        self.numbers(ends);
        self.push(classes.iter().map(|&class| class as u8).collect());
        self.push(Cow::Borrowed(words.as_bytes()));
        self.texts(texts);
        self.entries(entries);
    }

    fn texts(&mut self, texts: &[LayerText]) {
        self.own_numbers(texts.iter().map(|text| text.start));
        self.push(texts.iter().map(|text| text.layout.map_or(0, CodeStyle::to_byte)).collect());
    }

    fn entries(&mut self, entries: &[LayerFile]) {
        self.own_numbers(entries.iter().scan(0, |end, entry| {
            *end += entry.path.len() as u32;
            Some(*end)
        }));
        self.own_numbers(entries.iter().map(|entry| entry.text.unwrap_or(NO_TEXT)));
        self.push(entries.iter().flat_map(|entry| entry.hash).collect());
        self.push(entries.iter().flat_map(|entry| entry.path.bytes()).collect());
    }
}

/// Reads an image.
struct ImageReader<'b> {
    bytes: &'b SharedBytes,
    at: usize,
}

impl ImageReader<'_> {
    fn array<T: Pod>(&mut self, length: usize) -> Result<PodArray<T>, CorpusImageError> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or(TRUNCATED)?;
        let end = self.at.checked_add(bytes).ok_or(TRUNCATED)?;
        let array = PodArray::in_place(self.bytes, self.at..end).ok_or(TRUNCATED)?;
        self.at = end.next_multiple_of(ALIGNMENT);
        Ok(array)
    }

    fn text(&mut self, length: usize) -> Result<String, CorpusImageError> {
        let bytes = self.array::<u8>(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| CorpusImageError::Damaged("its text is not UTF-8"))
    }

    fn shard(&mut self) -> Result<Shard, CorpusImageError> {
        let numbers: [u32; 8] = self.array(8)?[..].try_into().map_err(|_| TRUNCATED)?;
        let lengths = SectionLengths::from_numbers(numbers);
        let tokens: PodArray<TokenId> = self.array(lengths.tokens)?;
        let exact = self.positions(lengths.exact, tokens.len())?;
        let abstracted = self.positions(lengths.abstracted, tokens.len())?;
        let minima = [self.minima(exact.len())?, self.minima(abstracted.len())?];
        let blanks = self.array(tokens.len())?;
        let words = self.words(lengths)?;
        check(tokens.iter().all(|&token| token < words.limit()), "a token has no text")?;
        let texts = self.texts(lengths.texts, tokens.len())?;
        let entries = self.entries(lengths.files, lengths.path_bytes, texts.len())?;
        let placement = PositionPriorities::new(&texts, &entries, tokens.len());
        let starts = Default::default();
        let sorted =
            SortedLayer { tokens, blanks, exact, abstracted, texts, entries, starts, minima, placement };
        let sorted = sorted.with_counts(&words);
        Ok(Shard { words: Arc::new(words), layers: vec![Layer::new(sorted)] })
    }

    /// Reads a suffix array over so many tokens, or an empty one that could not be built for lack of memory.
    fn positions(&mut self, length: usize, tokens: usize) -> Result<PodArray<u32>, CorpusImageError> {
        let positions: PodArray<u32> = self.array(length)?;
        check(length == tokens || length == 0, "an array is incomplete")?;
        check(positions.iter().all(|&position| position as usize <= tokens), "a position is outside")?;
        Ok(positions)
    }

    /// Reads the minima over so many positions.
    fn minima(&mut self, positions: usize) -> Result<MinimaTree, CorpusImageError> {
        Ok(MinimaTree::over(self.array(MinimaTree::lowest_len(positions))?))
    }

    fn words(&mut self, lengths: SectionLengths) -> Result<Vocabulary, CorpusImageError> {
        let ends: PodArray<u32> = self.array(lengths.words)?;
        let classes: PodArray<u8> = self.array(lengths.words)?;
        let text = self.text(lengths.word_bytes)?;
        let classes: Option<Vec<TokenClass>> =
            classes.iter().map(|&byte| TokenClass::from_byte(byte)).collect();
        let words = classes.and_then(|classes| Vocabulary::from_parts(text, ends.to_vec(), classes));
        words.ok_or(CorpusImageError::Damaged("its words do not fit"))
    }

    fn texts(&mut self, length: usize, tokens: usize) -> Result<Vec<LayerText>, CorpusImageError> {
        let starts: PodArray<u32> = self.array(length)?;
        let layouts: PodArray<u8> = self.array(length)?;
        let is_inside = starts.last().is_none_or(|&start| start as usize <= tokens);
        check(is_inside && starts.is_sorted(), "its texts do not fit")?;
        Ok(starts
            .iter()
            .zip(&*layouts)
            .map(|(&start, &layout)| LayerText { start, layout: CodeStyle::from_byte(layout) })
            .collect())
    }

    fn entries(
        &mut self,
        length: usize,
        bytes: usize,
        texts: usize,
    ) -> Result<Vec<LayerFile>, CorpusImageError> {
        let ends: PodArray<u32> = self.array(length)?;
        let numbers: PodArray<u32> = self.array(length)?;
        let hashes: PodArray<Hash> = self.array(length)?;
        let paths = self.text(bytes)?;
        let mut entries = Vec::with_capacity(length);
        let mut start = 0;
        for ((&end, &text), &hash) in ends.iter().zip(&*numbers).zip(&*hashes) {
            let end = end as usize;
            let path = paths.get(start..end).ok_or(CorpusImageError::Damaged("a path does not fit"))?;
            let text = Some(text).filter(|&text| text != NO_TEXT);
            check(text.is_none_or(|text| (text as usize) < texts), "a file has no text")?;
            entries.push(LayerFile::new(path.into(), hash, text));
            start = end;
        }
        check(entries.is_sorted_by(|a, b| a.path < b.path), "its files are not in order")?;
        Ok(entries)
    }
}

fn check(holds: bool, damage: &'static str) -> Result<(), CorpusImageError> {
    if holds { Ok(()) } else { Err(CorpusImageError::Damaged(damage)) }
}

#[cfg(test)]
mod tests;
