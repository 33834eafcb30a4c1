//! Deflated texts with a limit on their unpacked size.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use thiserror::Error;

/// Most bytes of a row: a document of the largest recorded size several times over.
pub(crate) const MAX_ROW_BYTES: usize = 64 << 20;

/// Bytes that cannot be unpacked.
#[derive(Debug, Error)]
pub(crate) enum UnpackError {
    /// They are incomplete, or something else.
    #[error("the compressed data is damaged or incomplete")]
    Damaged,
    /// They unpack to more than the limit.
    #[error("it is longer than {} MB", limit >> 20)]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Deflates bytes.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    finished(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// Packs bytes in gzip's format.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    finished(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

fn finished(packed: io::Result<Vec<u8>>) -> Vec<u8> {
    packed.expect("memory takes all bytes")
}

/// Unpacks the bytes of [`pack`].
pub(crate) fn unpack(bytes: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    bounded(DeflateDecoder::new(bytes), limit)
}

/// Unpacks gzip's format. Nothing beyond the limit is unpacked.
pub(crate) fn gunzip(bytes: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    bounded(GzDecoder::new(bytes), limit)
}

fn bounded(reader: impl Read, limit: usize) -> Result<Vec<u8>, UnpackError> {
    let mut unpacked = Vec::new();
    // One byte more tells a text that is too long.
    reader.take(limit as u64 + 1).read_to_end(&mut unpacked).map_err(|_| UnpackError::Damaged)?;
    match unpacked.len() > limit {
        true => Err(UnpackError::TooLong { limit }),
        false => Ok(unpacked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_come_back_and_a_bomb_does_not() {
        let text = vec![b'a'; 100_000];
        assert_eq!(unpack(&pack(&text), text.len()).expect("it fits"), text);
        let packed = gzip(&text);
        assert_eq!(gunzip(&packed, text.len()).expect("it fits"), text);
        assert!(matches!(gunzip(&packed, text.len() - 1), Err(UnpackError::TooLong { .. })));
        assert!(matches!(gunzip(&packed[..packed.len() / 2], text.len()), Err(UnpackError::Damaged)));
        assert!(matches!(gunzip(b"nonsense", 10), Err(UnpackError::Damaged)));
    }
}
