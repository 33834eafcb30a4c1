//! The developer's decision to share the opportunities of one repository with one server, and the rows that the server has.
//!
//! Both files are in the folder of the workspace's trials. Opportunities that are not sent yet stay in the store of the trials, and only
//! there: whatever is forgotten or reviewed again meanwhile is never sent as it was.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cases::{Opportunity, PrivacyLevel, parse_document, to_document, to_line};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// File of the decision.
const DECISION_FILE: &str = "sharing.json";
/// File with the rows that the server has.
const SENT_FILE: &str = "sent-rows";

/// The decision to share a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing {
    /// Address of the server.
    pub server: String,
    /// The consent, in the developer's words.
    pub consent: String,
    /// The most of the code that is sent.
    pub level: PrivacyLevel,
    /// Opaque name of the repository.
    pub repository: String,
    /// When the decision was made, RFC 3339 in UTC.
    pub joined_at: String,
}

/// A file that cannot be read or written.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct SharingError {
    path: PathBuf,
    reason: String,
}

fn failed(path: &Path, reason: &dyn ToString) -> SharingError {
    SharingError { path: path.to_owned(), reason: reason.to_string() }
}

/// Returns the decision about the workspace whose trials are in `folder`; none if it is not shared.
///
/// # Errors
/// The file cannot be read; nothing may be sent then.
pub fn read_sharing(folder: &Path) -> Result<Option<Sharing>, SharingError> {
    let path = folder.join(DECISION_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => parse_document(&text).map(Some).map_err(|error| failed(&path, &error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(&path, &error)),
    }
}

/// Writes the decision. Another server has none of the rows.
///
/// # Errors
/// The file cannot be written.
pub fn write_sharing(folder: &Path, sharing: &Sharing) -> Result<(), SharingError> {
    let path = folder.join(DECISION_FILE);
    let is_same_server =
        read_sharing(folder).ok().flatten().is_some_and(|earlier| earlier.server == sharing.server);
    let write = || {
        private_files::create_folder(folder)?;
        if !is_same_server {
            remove(&folder.join(SENT_FILE))?;
        }
        private_files::write_atomically(&path, to_document(sharing).as_bytes())
    };
    write().map_err(|error: io::Error| failed(&path, &error))
}

/// Ends the sharing. Returns whether there was any.
///
/// # Errors
/// The file cannot be deleted.
pub fn end_sharing(folder: &Path) -> Result<bool, SharingError> {
    let path = folder.join(DECISION_FILE);
    let was_shared = path.exists();
    remove(&path).and_then(|()| remove(&folder.join(SENT_FILE))).map_err(|error| failed(&path, &error))?;
    Ok(was_shared)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The rows that the server has, by id, with a hash of each.
#[derive(Debug)]
pub struct SentRows {
    path: PathBuf,
    hashes: HashMap<String, String>,
}

impl SentRows {
    /// Reads the file; a missing one is empty. An incomplete line was being written when its process was killed: its row is sent again.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(folder: &Path) -> Result<SentRows, SharingError> {
        let path = folder.join(SENT_FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| failed(&path, &error))?,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let pairs = whole.lines().filter_map(|line| line.split_once(' '));
        Ok(SentRows { hashes: pairs.map(|(id, hash)| (id.to_owned(), hash.to_owned())).collect(), path })
    }

    /// Whether the server has this row as it is now.
    pub fn has(&self, row: &Opportunity) -> bool {
        self.hashes.get(&row.id).is_some_and(|known| *known == hash(row))
    }

    /// Notes that the server has these rows. A row that is not noted is sent again, which does no harm.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, rows: &[Opportunity]) -> Result<(), SharingError> {
        let pairs: Vec<(String, String)> = rows.iter().map(|row| (row.id.clone(), hash(row))).collect();
        let lines: String = pairs.iter().map(|(id, hash)| format!("{id} {hash}\n")).collect();
        private_files::open(OpenOptions::new().append(true).create(true), &self.path)
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(|error| failed(&self.path, &error))?;
        self.hashes.extend(pairs);
        Ok(())
    }

    /// Drops rows that are no longer in the store, and earlier states of the others.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&mut self, ids: &HashSet<String>) -> Result<(), SharingError> {
        self.hashes.retain(|id, _| ids.contains(id));
        let mut lines: Vec<String> = self.hashes.iter().map(|(id, hash)| format!("{id} {hash}\n")).collect();
        lines.sort_unstable();
        private_files::write_atomically(&self.path, lines.concat().as_bytes())
            .map_err(|error| failed(&self.path, &error))
    }
}

fn hash(row: &Opportunity) -> String {
    blake3::hash(to_line(row).as_bytes()).to_hex()[..32].to_owned()
}

/// Splits rows into parts for one upload each, at most `rows` rows and about `bytes` bytes.
pub fn parts(rows: Vec<Opportunity>, max_rows: usize, max_bytes: usize) -> Vec<Vec<Opportunity>> {
    let mut parts: Vec<Vec<Opportunity>> = Vec::new();
    let mut bytes = 0;
    for row in rows {
        let size = to_line(&row).len();
        match parts.last_mut() {
            Some(part) if part.len() < max_rows && bytes + size <= max_bytes => {
                part.push(row);
                bytes += size;
            }
            _ => {
                parts.push(vec![row]);
                bytes = size;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use cases::{OpportunityCursor, Trigger};

    use super::*;

    fn row(id: u32) -> Opportunity {
        Opportunity::new(format!("{id:032x}"), Trigger::Manual, OpportunityCursor::at_start("python", "a.py"))
    }

    #[test]
    fn sent_rows_are_known_until_they_change_and_a_torn_line_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let mut sent = SentRows::read(folder.path()).unwrap();
        sent.add(&[row(1), row(2)]).unwrap();
        let path = folder.path().join(SENT_FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();
        let mut sent = SentRows::read(folder.path()).unwrap();
        assert!(sent.has(&row(1)) && !sent.has(&row(2)));
        assert!(!sent.has(&Opportunity { requests: 2, ..row(1) }));
        sent.keep(&HashSet::from([row(2).id])).unwrap();
        assert!(!SentRows::read(folder.path()).unwrap().has(&row(1)));
    }

    #[test]
    fn parts_are_bounded_and_complete() {
        let rows: Vec<Opportunity> = (0..10).map(row).collect();
        let size = to_line(&row(0)).len();
        let by_rows = parts(rows.clone(), 4, usize::MAX);
        assert_eq!(by_rows.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
        let by_bytes = parts(rows.clone(), 100, size * 3);
        assert_eq!(by_bytes.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 1]);
        assert_eq!(by_bytes.concat(), rows);
        assert_eq!(parts(rows, 100, 1).len(), 10, "a row that is too long goes alone");
    }

    #[test]
    fn another_server_has_none_of_the_rows() {
        let folder = tempfile::tempdir().unwrap();
        let sharing = |server: &str| Sharing {
            server: server.to_owned(),
            consent: "yes".to_owned(),
            level: PrivacyLevel::Full,
            repository: "r".to_owned(),
            joined_at: "2026-01-01T00:00:00Z".to_owned(),
        };
        write_sharing(folder.path(), &sharing("http://a")).unwrap();
        SentRows::read(folder.path()).unwrap().add(&[row(1)]).unwrap();
        write_sharing(folder.path(), &sharing("http://a")).unwrap();
        assert!(SentRows::read(folder.path()).unwrap().has(&row(1)));
        write_sharing(folder.path(), &sharing("http://b")).unwrap();
        assert!(!SentRows::read(folder.path()).unwrap().has(&row(1)));
        assert!(end_sharing(folder.path()).unwrap() && !end_sharing(folder.path()).unwrap());
    }
}
