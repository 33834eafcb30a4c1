//! Hashes of settings that may be secret, so that they can be compared without being stored.
//!
//! Addresses, headers, environment values, arguments and the contents of files are stored as hashes keyed with [`HashKey`],
//! which never leaves the machine. Runs on one machine can be compared. A reader of a published run cannot compare them:
//! without the key, trying all addresses or passwords proves nothing. A salt in the run itself would not prevent that. The
//! price is that runs on two machines cannot be compared setting by setting, and that a lost key prevents resuming earlier
//! runs.

use std::fmt;

/// Setting with the id of the key of the hashed settings.
pub const HASH_KEY: &str = "hash_key";

/// Prefix of a hashed setting.
const HASHED: &str = "hashed:";

/// Hexadecimal digits of a hash: 64 bits are enough to distinguish the few settings of a machine.
const DIGITS: usize = 16;

/// Whether the value of a setting is a hash.
pub fn is_hashed(value: &str) -> bool {
    value.starts_with(HASHED)
}

/// A machine's secret key for hashes of settings.
#[derive(Clone, PartialEq, Eq)]
pub struct HashKey([u8; HashKey::BYTES]);

impl HashKey {
    /// Length of a key.
    pub const BYTES: usize = 32;

    /// Creates a key from these bytes, which must be secret.
    pub fn new(bytes: [u8; HashKey::BYTES]) -> HashKey {
        HashKey(bytes)
    }

    /// Creates a key for this process only: runs can be compared while it lasts.
    pub fn random() -> HashKey {
        let mut bytes = [0; HashKey::BYTES];
        getrandom::fill(&mut bytes).expect("the system has a source of random numbers");
        HashKey(bytes)
    }

    /// Returns the bytes of the key, for a file that only its owner can read.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the hash of a setting's value. Equal values of two settings have different hashes.
    pub fn hash(&self, setting: &str, value: &[u8]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(setting.len() as u64).to_le_bytes()).update(setting.as_bytes()).update(value);
        format!("{HASHED}{}", &hasher.finalize().to_hex()[..DIGITS])
    }

    /// Returns an id of the key that reveals nothing about it.
    pub fn id(&self) -> String {
        self.hash(HASH_KEY, &[])[HASHED.len()..].to_owned()
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_depend_on_the_key_the_setting_and_the_value() {
        let [one, two] = [1, 2].map(|byte| HashKey::new([byte; HashKey::BYTES]));
        let hash = one.hash("url", b"http://localhost:8080");
        assert_eq!(hash, one.hash("url", b"http://localhost:8080"));
        for other in [
            two.hash("url", b"http://localhost:8080"),
            one.hash("proxy", b"http://localhost:8080"),
            one.hash("url", b"http://localhost:8081"),
            // The hash that an attacker without the key could compute.
            format!("hashed:{}", &blake3::hash(b"http://localhost:8080").to_hex()[..16]),
        ] {
            assert_ne!(other, hash);
        }
        assert_ne!(one.id(), two.id());
        assert_eq!(format!("{one:?}"), "HashKey(..)");
        assert_ne!(HashKey::random(), HashKey::random());
    }
}
