//! Cache of computed vectors, by the hash of model and text.
//!
//! ```text
//! format | checksum of the rest | number of vectors | for each: key, age of last use, dimensions, numbers
//! ```
//!
//! This module does no IO. It detects bytes that it did not write.

use std::fmt;

use rustc_hash::FxHashMap;

use super::unit_vector::UnitVector;
use crate::DecodeError;
use crate::codec::{read_varint, seal, unseal, write_varint};

/// Overhead of a vector in bytes: its key, and its entry in the table.
const OVERHEAD: usize = 80;

const NUMBER_BYTES: usize = size_of::<f32>();

/// Hash of a text and the model that embedded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VectorKey([u8; VectorKey::BYTES]);

impl VectorKey {
    const BYTES: usize = blake3::OUT_LEN;

    pub(crate) fn new(model: &str, text: &str) -> VectorKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(model.len() as u64).to_le_bytes());
        hasher.update(model.as_bytes());
        hasher.update(text.as_bytes());
        VectorKey(hasher.finalize().into())
    }
}

/// A cache of vectors with limited size, which evicts the least recently used ones.
pub struct VectorStore {
    vectors: FxHashMap<VectorKey, StoredVector>,
    /// Maximum size in bytes.
    limit: usize,
    /// Current size in bytes.
    bytes: usize,
    /// Number of the current search.
    search: u32,
}

struct StoredVector {
    direction: UnitVector,
    /// Number of the last search that used it.
    used: u32,
}

impl VectorStore {
    /// Changes whenever the storage format or the embedded text changes.
    pub const FORMAT: &'static str = "vectors 1";

    /// Nearly a hundred thousand vectors of common length: the functions of two million lines.
    pub const STANDARD_LIMIT: usize = 256 << 20;

    /// Creates a store for `limit` bytes.
    pub fn new(limit: usize) -> VectorStore {
        VectorStore { vectors: FxHashMap::default(), limit, bytes: 0, search: 0 }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Returns the number of vectors with this many dimensions that fit.
    pub(crate) fn room(&self, dimensions: usize) -> usize {
        self.limit / size(dimensions)
    }

    /// Begins a new search for the purpose of eviction.
    pub(crate) fn begin_search(&mut self) {
        self.search = self.search.saturating_add(1);
    }

    /// Marks a vector as used. Returns whether it exists with this many dimensions.
    pub(crate) fn touch(&mut self, key: &VectorKey, dimensions: usize) -> bool {
        let search = self.search;
        let stored = self.vectors.get_mut(key).filter(|stored| stored.direction.dimensions() == dimensions);
        stored.map(|stored| stored.used = search).is_some()
    }

    /// Returns a vector with this many dimensions.
    pub(crate) fn get(&self, key: &VectorKey, dimensions: usize) -> Option<&UnitVector> {
        let direction = &self.vectors.get(key)?.direction;
        (direction.dimensions() == dimensions).then_some(direction)
    }

    /// Inserts a vector; may exceed the limit until [`VectorStore::shrink`] is called.
    pub(crate) fn insert(&mut self, key: VectorKey, direction: UnitVector) {
        self.put(key, StoredVector { direction, used: self.search });
    }

    fn put(&mut self, key: VectorKey, stored: StoredVector) {
        self.bytes += size(stored.direction.dimensions());
        if let Some(former) = self.vectors.insert(key, stored) {
            self.bytes -= size(former.direction.dimensions());
        }
    }

    /// Evicts vectors until the size limit is met.
    pub(crate) fn shrink(&mut self) {
        if self.bytes <= self.limit {
            return;
        }
        let mut oldest: Vec<(u32, VectorKey)> =
            self.vectors.iter().map(|(key, stored)| (stored.used, *key)).collect();
        oldest.sort_unstable();
        for (_, key) in oldest {
            if self.bytes <= self.limit {
                break;
            }
            if let Some(dropped) = self.vectors.remove(&key) {
                self.bytes -= size(dropped.direction.dimensions());
            }
        }
    }

    /// Encodes all vectors; deterministic.
    pub fn encode(&self) -> Vec<u8> {
        let mut sorted: Vec<(&VectorKey, &StoredVector)> = self.vectors.iter().collect();
        sorted.sort_unstable_by_key(|(key, _)| **key);
        let mut payload = Vec::with_capacity(self.bytes);
        write_varint(&mut payload, sorted.len() as u32);
        for (key, stored) in sorted {
            payload.extend(key.0);
            write_varint(&mut payload, self.search - stored.used);
            let numbers = stored.direction.numbers();
            write_varint(&mut payload, numbers.len() as u32);
            payload.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        seal(VectorStore::FORMAT, &payload)
    }

    /// Decodes the output of [`VectorStore::encode`], as far as `limit` allows.
    pub fn decode(bytes: &[u8], limit: usize) -> Result<VectorStore, DecodeError> {
        let mut payload = unseal(VectorStore::FORMAT, bytes)?;
        let mut store = VectorStore { search: u32::MAX / 2, ..VectorStore::new(limit) };
        let count = read_varint(&mut payload).ok_or(DecodeError::Damaged)?;
        for _ in 0..count {
            let (key, age, direction) = read_vector(&mut payload).ok_or(DecodeError::Damaged)?;
            store.put(key, StoredVector { direction, used: store.search.saturating_sub(age) });
        }
        store.shrink();
        if payload.is_empty() { Ok(store) } else { Err(DecodeError::Damaged) }
    }
}

fn read_vector(bytes: &mut &[u8]) -> Option<(VectorKey, u32, UnitVector)> {
    let (key, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    let age = read_varint(bytes)?;
    let dimensions = read_varint(bytes)? as usize;
    let (numbers, rest) = bytes.split_at_checked(dimensions.checked_mul(NUMBER_BYTES)?)?;
    *bytes = rest;
    let (numbers, _) = numbers.as_chunks();
    let numbers = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    Some((VectorKey(*key), age, UnitVector::from_numbers(numbers)?))
}

/// Returns the size of a vector in bytes.
fn size(dimensions: usize) -> usize {
    dimensions * NUMBER_BYTES + OVERHEAD
}

impl fmt::Debug for VectorStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorStore").field("vectors", &self.len()).field("bytes", &self.bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: usize) -> VectorKey {
        VectorKey::new("model", &number.to_string())
    }

    /// A store in which vector `n` was last used by search `n`.
    fn store(vectors: usize, limit: usize) -> VectorStore {
        let mut store = VectorStore::new(limit);
        for number in 0..vectors {
            store.begin_search();
            store.insert(key(number), UnitVector::normalize(&[1.0, number as f32]).unwrap());
        }
        store
    }

    fn known(store: &VectorStore) -> Vec<usize> {
        (0..10).filter(|&number| store.get(&key(number), 2).is_some()).collect()
    }

    #[test]
    fn keys_differ_between_models() {
        assert_ne!(VectorKey::new("a", "bc"), VectorKey::new("ab", "c"));
        assert_eq!(VectorKey::new("a", "bc"), VectorKey::new("a", "bc"));
    }

    #[test]
    fn stored_vectors_round_trip() {
        let store = store(5, 10_000);
        let bytes = store.encode();
        let decoded = VectorStore::decode(&bytes, 10_000).unwrap();
        assert_eq!(decoded.encode(), bytes);
        assert_eq!(decoded.bytes, store.bytes);
        assert_eq!(decoded.get(&key(3), 2), store.get(&key(3), 2));
        assert_eq!(decoded.get(&key(3), 3), None, "another model of the same name has other vectors");
    }

    #[test]
    fn least_recently_used_vectors_are_evicted() {
        let mut store = store(5, 3 * size(2));
        assert!(store.touch(&key(0), 2));
        store.shrink();
        assert_eq!(known(&store), [0, 3, 4]);
        assert_eq!(store.bytes, 3 * size(2));
        let decoded = VectorStore::decode(&store.encode(), 2 * size(2)).unwrap();
        assert_eq!(known(&decoded), [0, 4], "the order of use is stored too");
    }

    #[test]
    fn replacing_a_vector_adjusts_the_size() {
        let mut store = store(1, 10_000);
        store.insert(key(0), UnitVector::normalize(&[1.0]).unwrap());
        assert_eq!((store.bytes, store.len()), (size(1), 1));
    }

    #[test]
    fn foreign_and_damaged_bytes_are_rejected() {
        let error = |bytes: &[u8]| VectorStore::decode(bytes, 1000).unwrap_err();
        assert_eq!(error(b""), DecodeError::Format);
        assert_eq!(error(&seal("vectors 0", &[0])), DecodeError::Format);
        let mut bytes = store(2, 1000).encode();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(error(&bytes), DecodeError::Damaged);
        for payload in [&[][..], &[1], &[0, 0], &[0xff; 80]] {
            assert_eq!(error(&seal(VectorStore::FORMAT, payload)), DecodeError::Damaged, "{payload:?}");
        }
    }

    proptest! {
        #[test]
        fn hostile_bytes_with_valid_checksum_do_not_panic(
            tail in proptest::collection::vec(any::<u8>(), 0..60),
            count in 0_u8..4,
        ) {
            let payload = [&[count][..], &[7; VectorKey::BYTES], &tail].concat();
            if let Ok(store) = VectorStore::decode(&seal(VectorStore::FORMAT, &payload), 1000) {
                prop_assert!(store.len() <= count.into());
            }
        }
    }
}
