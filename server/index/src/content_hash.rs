//! Hash of a file's content, the same on every machine.

use std::fmt;

use syntax::SourceFile;

/// Hash of everything in a file that the index depends on: its text and its language. The path is not included, so a moved file
/// keeps its derived data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; ContentHash::BYTES]);

impl ContentHash {
    /// Length of a hash.
    pub const BYTES: usize = blake3::OUT_LEN;

    /// Returns the hash of `file`.
    pub fn of(file: &SourceFile) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(file.language.name().as_bytes());
        hasher.update(&[0]);
        hasher.update(file.text.as_bytes());
        ContentHash(hasher.finalize().into())
    }

    /// Returns the hash as bytes.
    pub fn bytes(&self) -> &[u8; ContentHash::BYTES] {
        &self.0
    }
}

impl From<[u8; ContentHash::BYTES]> for ContentHash {
    fn from(bytes: [u8; ContentHash::BYTES]) -> ContentHash {
        ContentHash(bytes)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}
