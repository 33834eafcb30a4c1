//! The list of trusted workspace files. Trust depends on path and content, so a changed file has to be trusted again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Version of the list's format. Other versions are rejected.
const SCHEMA: u32 = 2;

/// Trust in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// This content is trusted.
    Trusted,
    /// An earlier content is trusted.
    Changed,
    /// Neither is trusted.
    Unknown,
}

/// The trusted files. The path matters because commands in a file are resolved relative to its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustStore {
    /// blake3 of the content, by path.
    hashes: BTreeMap<PathBuf, String>,
}

/// Reason why a list cannot be read.
#[derive(Debug, Error)]
pub enum TrustError {
    /// Not a trust list.
    #[error("invalid list of trusted files ({0}); remove it and trust the files again")]
    NotATrustList(String),
    /// Written by a newer version.
    #[error(
        "the list of trusted files has version {found}, but only {SCHEMA} is supported; update ghostbench"
    )]
    Newer {
        /// Its version.
        found: u32,
    },
}

#[derive(Serialize, Deserialize)]
struct TrustFile {
    schema: u32,
    trusted: Vec<TrustedFile>,
}

#[derive(Serialize, Deserialize)]
struct TrustedFile {
    path: StoredPath,
    hash: String,
}

/// A path that is text, or the system's own form of one that is not: as text, two of them could be equal.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    System(OsString),
}

impl From<&Path> for StoredPath {
    fn from(path: &Path) -> StoredPath {
        match path.to_str() {
            Some(text) => StoredPath::Text(text.to_owned()),
            None => StoredPath::System(path.as_os_str().to_owned()),
        }
    }
}

impl From<StoredPath> for PathBuf {
    fn from(path: StoredPath) -> PathBuf {
        match path {
            StoredPath::Text(text) => text.into(),
            StoredPath::System(system) => system.into(),
        }
    }
}

impl TrustStore {
    /// Parses a list written by [`TrustStore::print`].
    pub fn parse(text: &str) -> Result<TrustStore, TrustError> {
        let foreign = |error: serde_json::Error| TrustError::NotATrustList(error.to_string());
        let json: serde_json::Value = serde_json::from_str(text).map_err(foreign)?;
        if let Some(found) = json["schema"].as_u64().filter(|&found| found > u64::from(SCHEMA)) {
            return Err(TrustError::Newer { found: u32::try_from(found).unwrap_or(u32::MAX) });
        }
        let stored: TrustFile = serde_json::from_value(json).map_err(foreign)?;
        Ok(TrustStore {
            hashes: stored.trusted.into_iter().map(|file| (file.path.into(), file.hash)).collect(),
        })
    }

    /// Returns the list as JSON.
    pub fn print(&self) -> String {
        let file = |(path, hash): (&PathBuf, &String)| TrustedFile {
            path: path.as_path().into(),
            hash: hash.clone(),
        };
        let stored = TrustFile { schema: SCHEMA, trusted: self.hashes.iter().map(file).collect() };
        let text = serde_json::to_string_pretty(&stored).expect("texts and numbers are JSON");
        format!("{text}\n")
    }

    /// Returns the trust in this content of the file at `path` (absolute, without links).
    pub fn trust_in(&self, path: &Path, content: &[u8]) -> Trust {
        match self.hashes.get(path) {
            Some(trusted) if *trusted == hash(content) => Trust::Trusted,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        }
    }

    /// Trusts a file with this content and replaces an earlier entry.
    pub fn trust(&mut self, path: &Path, content: &[u8]) {
        self.hashes.insert(path.to_owned(), hash(content));
    }

    /// Removes a file from the list. Returns false if it was not in it.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.hashes.remove(path).is_some()
    }

    /// Returns all paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.hashes.keys().map(PathBuf::as_path)
    }
}

fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_bound_to_path_and_content() {
        let mut store = TrustStore::default();
        assert_eq!(store.trust_in(Path::new("/a"), b"1"), Trust::Unknown);
        store.trust(Path::new("/a"), b"1");
        assert_eq!(store.trust_in(Path::new("/a"), b"1"), Trust::Trusted);
        assert_eq!(store.trust_in(Path::new("/a"), b"2"), Trust::Changed);
        assert_eq!(
            store.trust_in(Path::new("/b"), b"1"),
            Trust::Unknown,
            "the same text elsewhere is another file"
        );
        store.trust(Path::new("/a"), b"2");
        assert_eq!(store.trust_in(Path::new("/a"), b"1"), Trust::Changed);
        assert!(store.remove(Path::new("/a")) && !store.remove(Path::new("/a")));
        assert_eq!(store.trust_in(Path::new("/a"), b"2"), Trust::Unknown);
    }

    #[test]
    fn trust_list_round_trips() {
        let mut store = TrustStore::default();
        store.trust(Path::new("/home/you/a \"b\"/ghostbench.toml"), b"x");
        store.trust(Path::new("/z"), b"");
        assert_eq!(TrustStore::parse(&store.print()).unwrap(), store);
        assert_eq!(TrustStore::parse(&TrustStore::default().print()).unwrap(), TrustStore::default());
    }

    #[test]
    fn trust_list_of_schema_1_is_read() {
        let text = r#"{"schema": 1, "trusted": [{"path": "/a", "hash": "0"}]}"#;
        assert_eq!(TrustStore::parse(text).unwrap().trust_in(Path::new("/a"), b""), Trust::Changed);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_not_utf8_are_distinguished() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        let mut store = TrustStore::default();
        store.trust(path(b"/caf\xe9/ghostbench.toml"), b"x");
        let store = TrustStore::parse(&store.print()).unwrap();
        assert_eq!(store.trust_in(path(b"/caf\xe9/ghostbench.toml"), b"x"), Trust::Trusted);
        for other in [&b"/caf\xe8/ghostbench.toml"[..], "/caf\u{fffd}/ghostbench.toml".as_bytes()] {
            assert_eq!(store.trust_in(path(other), b"x"), Trust::Unknown);
        }
    }

    #[test]
    fn invalid_and_newer_trust_lists_are_refused() {
        for text in ["", "[]", "{}", r#"{"schema": 1}"#, r#"{"schema": 1, "trusted": [{"path": 3}]}"#] {
            assert!(matches!(TrustStore::parse(text), Err(TrustError::NotATrustList(_))), "{text}");
        }
        let newer = TrustStore::parse(r#"{"schema": 3, "files": {}}"#).unwrap_err();
        assert!(newer.to_string().contains("version 3"), "{newer}");
    }
}
