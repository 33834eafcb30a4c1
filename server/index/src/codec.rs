//! Binary encoding: varints, slices with a length prefix, and payloads with format and checksum.
//!
//! Decoding never panics: for invalid bytes it returns `None` or an error.

use crate::DecodeError;

/// Appends `value` as a varint: seven bits per byte, lowest first; all bytes but the last have their highest bit set.
pub(crate) fn write_varint(bytes: &mut Vec<u8>, value: u32) {
    let start = bytes.len();
    bytes.resize(start + varint_bytes(value), 0);
    put_varint(&mut bytes[start..], value);
}

/// Returns the length of `value` as a varint.
#[inline]
pub(crate) fn varint_bytes(value: u32) -> usize {
    (value.checked_ilog2().unwrap_or(0) / 7 + 1) as usize
}

/// Encodes `value` as a varint at the front of `bytes`, which must be long enough; returns its length.
#[inline]
pub(crate) fn put_varint(bytes: &mut [u8], mut value: u32) -> usize {
    let mut length = 0;
    while value >= 0x80 {
        bytes[length] = value as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    bytes[length] = value as u8;
    length + 1
}

/// Appends a slice with its length.
pub(crate) fn write_slice(bytes: &mut Vec<u8>, slice: &[u8]) {
    let length = u32::try_from(slice.len()).expect("data derived from a file of less than 4 GiB is smaller");
    write_varint(bytes, length);
    bytes.extend_from_slice(slice);
}

/// Decodes a varint from the front of `bytes`, and advances it. `None` if the bytes end early or the number exceeds 32 bits.
#[inline]
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 { Some(first.into()) } else { read_long_varint(bytes, first) }
}

fn read_long_varint(bytes: &mut &[u8], first: u8) -> Option<u32> {
    let mut value = u64::from(first & 0x7f);
    for shift in (7..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

/// Decodes a slice with its length; `None` if the bytes end early.
pub(crate) fn read_slice<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = read_varint(bytes)?;
    let (slice, rest) = bytes.split_at_checked(length as usize)?;
    *bytes = rest;
    Some(slice)
}

const CHECKSUM_BYTES: usize = 16;

/// Adds the header that [`unseal`] checks to `payload`.
pub(crate) fn seal(format: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 64);
    write_slice(&mut bytes, format.as_bytes());
    bytes.extend(checksum(payload));
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the payload of bytes that were sealed with the same format.
pub(crate) fn unseal<'a>(format: &str, mut bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    if read_slice(&mut bytes) != Some(format.as_bytes()) {
        return Err(DecodeError::Format);
    }
    let (sum, payload) = bytes.split_first_chunk::<CHECKSUM_BYTES>().ok_or(DecodeError::Damaged)?;
    if *sum == checksum(payload) { Ok(payload) } else { Err(DecodeError::Damaged) }
}

fn checksum(payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let hash = blake3::hash(payload);
    *hash.as_bytes().first_chunk().expect("the hash is longer than the checksum")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_and_slices_round_trip() {
        for value in [0, 1, 127, 128, 300, 1 << 14, 1 << 21, 1 << 28, u32::MAX] {
            let mut bytes = Vec::new();
            write_varint(&mut bytes, value);
            write_slice(&mut bytes, b"abc");
            let mut rest = &*bytes;
            assert_eq!(read_varint(&mut rest), Some(value));
            assert_eq!(read_slice(&mut rest), Some(&b"abc"[..]));
            assert_eq!(rest, b"");
        }
    }

    #[test]
    fn malformed_bytes_are_rejected() {
        for broken in [&[][..], &[0x80], &[0xff; 5], &[0xff, 0xff, 0xff, 0xff, 0x7f], &[0x80; 9]] {
            assert_eq!(read_varint(&mut &*broken), None, "{broken:?}");
        }
        assert_eq!(read_slice(&mut &[3, 1, 2][..]), None);
    }
}
