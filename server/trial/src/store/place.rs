//! Hashes of paths: rows can be found by file and folder at every privacy level, without their paths in the store.

use std::fmt;

use blake3::Hasher;

/// Hexadecimal digits of a hash: 64 bits distinguish the paths of one workspace.
const DIGITS: usize = 16;

/// The secret key of this machine. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct PlaceKey([u8; 32]);

impl fmt::Debug for PlaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlaceKey(..)")
    }
}

impl PlaceKey {
    /// Creates the key from the machine's secret, for this use alone.
    pub fn new(secret: &[u8]) -> PlaceKey {
        PlaceKey(blake3::derive_key("ghostbench trial store 2026-11-23", secret))
    }

    /// Returns the key for one use.
    pub(crate) fn for_use(&self, name: &str) -> [u8; 32] {
        *Hasher::new_keyed(&self.0).update(name.as_bytes()).finalize().as_bytes()
    }

    /// Returns the hash of a path that is relative to the workspace.
    pub fn hash(&self, path: &str) -> String {
        let mut hasher = Hasher::new_keyed(&self.for_use("place"));
        hasher.update(path.trim_matches('/').as_bytes());
        hasher.finalize().to_hex()[..DIGITS].to_owned()
    }

    /// Returns the hashes of a path and of all folders above it.
    pub(super) fn places(&self, path: &str) -> Vec<String> {
        let path = path.trim_matches('/');
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        folders.chain([path]).map(|part| self.hash(part)).collect()
    }
}
