//! Encoding of a [`FileIndex`]: without its text, which is read anyway to detect changes.
//!
//! ```text
//! format | checksum of the rest | content hash | whether it is too complex | blocks | functions | words of functions | outline
//! ```
//!
//! Data that is faster to compute than to read (the lines) is not stored. This module detects bytes that it did not write.

use std::ops::Range;

use stored::PodArray;
use syntax::{Outline, SourceFile};
use thiserror::Error;

use super::derive::{code_lines, fits_in_32_bits};
use super::stored_outline::StoredOutline;
use super::{BLOCK_LINES, FileIndex};
use crate::ContentHash;
use crate::bags::Bags;
use crate::codec::{read_varint, seal, unseal, write_varint};

/// Error while decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Another format version.
    #[error("stored by another version")]
    Format,
    /// The file has changed since.
    #[error("stored for another content")]
    Content,
    /// Invalid bytes.
    #[error("damaged")]
    Damaged,
}

impl FileIndex {
    /// Changes whenever the derived data or its encoding changes.
    pub const FORMAT: &'static str = "file-index 9";

    /// Encodes everything but the text and the path.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = self.hash.bytes().to_vec();
        write_varint(&mut payload, u32::from(self.is_too_complex));
        self.blocks.encode(&mut payload);
        write_varint(&mut payload, self.functions.len() as u32);
        for function in &self.functions {
            write_varint(&mut payload, function.start);
            write_varint(&mut payload, function.end - function.start);
        }
        self.function_words.encode(&mut payload);
        payload.extend_from_slice(&self.outline.encoded);
        seal(FileIndex::FORMAT, &payload)
    }

    /// Decodes the output of [`FileIndex::encode`] for a file with this text and language; its path may differ.
    pub fn decode(file: SourceFile, bytes: &[u8]) -> Result<FileIndex, DecodeError> {
        let payload = unseal(FileIndex::FORMAT, bytes)?;
        let (stored, payload) =
            payload.split_first_chunk::<{ ContentHash::BYTES }>().ok_or(DecodeError::Damaged)?;
        let hash = ContentHash::of(&file);
        if stored != hash.bytes() {
            return Err(DecodeError::Content);
        }
        decode_payload(file, hash, payload).ok_or(DecodeError::Damaged)
    }
}

fn decode_payload(file: SourceFile, hash: ContentHash, mut payload: &[u8]) -> Option<FileIndex> {
    let text = &*file.text;
    let lines = if fits_in_32_bits(text) { code_lines(text) } else { PodArray::default() };
    let is_too_complex = read_varint(&mut payload)? != 0;
    let blocks = Bags::decode(&mut payload)?;
    let functions = read_functions(&mut payload)?;
    let function_words = Bags::decode(&mut payload)?;
    let outline = StoredOutline::from_bytes(payload, |outline| outline_fits(outline, text))?;
    let fits = blocks.len() == lines.len().div_ceil(BLOCK_LINES)
        && function_words.len() == functions.len()
        && functions.iter().all(|function| is_in(text, function));
    fits.then_some(FileIndex {
        file,
        hash,
        lines,
        blocks,
        functions,
        function_words,
        outline,
        is_too_complex,
    })
}

fn read_functions(bytes: &mut &[u8]) -> Option<Box<[Range<u32>]>> {
    let length = read_varint(bytes)?;
    (0..length)
        .map(|_| {
            let start = read_varint(bytes)?;
            Some(start..start.checked_add(read_varint(bytes)?)?)
        })
        .collect()
}

/// Whether every position in an outline is valid.
fn outline_fits(outline: &Outline, text: &str) -> bool {
    (0..).zip(&outline.definitions).all(|(position, definition)| {
        is_in(text, &definition.range)
            && definition.container.is_none_or(|container| container < position)
            && (definition.namespace as usize) < outline.namespaces.len()
    })
}

fn is_in(text: &str, range: &Range<u32>) -> bool {
    text.get(range.start as usize..range.end as usize).is_some()
}
