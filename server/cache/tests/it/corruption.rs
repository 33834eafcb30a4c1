//! Corrupt caches.

use std::fs;

use cache::CacheMiss;
use expect_test::expect;

use crate::fixture::{FORMAT, Folder, Owned};

/// A folder with one cache, and the bytes of the cache.
fn saved() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    folder.save("/project", &[Owned::new("a.py", "a = 1\n"), Owned::new("b.py", "b = 2\n")]);
    let bytes = fs::read(&folder.files()[0]).unwrap();
    (folder, bytes)
}

impl Folder {
    /// Opens the cache after replacing its content with `bytes`.
    fn open_bytes(&self, bytes: &[u8]) -> Result<Vec<Owned>, CacheMiss> {
        fs::write(&self.files()[0], bytes).unwrap();
        self.open("/project")
    }

    fn message(&self, miss: &CacheMiss) -> String {
        let (folder, file) = (self.folder.path().display().to_string(), self.files()[0].clone());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        miss.to_string().replace(&folder, "FOLDER").replace(&name, "NAME")
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let (folder, bytes) = saved();
    for place in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            let opened = folder.open_bytes(&flipped);
            assert!(opened.as_ref().is_err_and(CacheMiss::is_loss), "byte {place}, bit {bit}: {opened:?}");
        }
    }
    assert!(folder.open_bytes(&bytes).is_ok());
}

#[test]
fn corrupt_part_lengths_are_rejected() {
    let (folder, bytes) = saved();
    let mut messages = std::collections::BTreeSet::new();
    for place in 0..=bytes.len() - 8 {
        for length in [u64::MAX, u64::MAX - 20, u64::MAX >> 1, bytes.len() as u64] {
            let mut changed = bytes.clone();
            changed[place..place + 8].copy_from_slice(&length.to_le_bytes());
            messages.insert(folder.message(&folder.open_bytes(&changed).unwrap_err()));
        }
    }
    assert!(messages.iter().any(|message| message.contains("a part of it has no length")), "{messages:?}");
}

#[test]
fn truncated_or_extended_file_is_rejected() {
    let (folder, bytes) = saved();
    for length in 0..bytes.len() {
        assert!(folder.open_bytes(&bytes[..length]).is_err_and(|miss| miss.is_loss()), "{length} bytes");
    }
    assert!(folder.open_bytes(&[&bytes[..], b"\0"].concat()).is_err_and(|miss| miss.is_loss()));
}

#[test]
fn intact_parts_before_corruption_are_readable() {
    let folder = Folder::new();
    let long = "x".repeat(1 << 20);
    folder.save("/project", &[Owned::new("a.py", &long), Owned::new("b.py", &long)]);
    let mut bytes = fs::read(&folder.files()[0]).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&folder.files()[0], &bytes).unwrap();
    let runs: Vec<_> = folder.cache.open("/project".as_ref(), FORMAT).unwrap().map(Result::unwrap).collect();
    let texts: Vec<_> =
        runs.iter().map(|run| run.entries().is_ok_and(|entries| entries[0].text == long)).collect();
    assert_eq!(texts, [true, false]);
}

#[test]
fn cache_miss_messages_name_the_cause() {
    let (folder, bytes) = saved();
    let mut messages = Vec::new();
    let mut check = |bytes: &[u8]| messages.push(folder.message(&folder.open_bytes(bytes).unwrap_err()));
    let changed = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] = bytes[place].wrapping_add(1);
        bytes
    };
    check(b"#!/bin/sh\nexec something else\n");
    check(&changed(8));
    check(&changed(60));
    check(&changed(bytes.len() - 1));
    check(&bytes[..bytes.len() - 1]);
    check(&bytes[..20]);
    check(b"");
    check(&bytes.repeat(2));
    expect![[r#"
        FOLDER/NAME is not the workspace's cache
        the cache FOLDER/NAME was written by another version (version 2 instead of version 1)
        the cache FOLDER/NAME is damaged: its head does not have its checksum
        the cache FOLDER/NAME is damaged: a part of it does not have its checksum
        the cache FOLDER/NAME is damaged: it does not have its length
        the cache FOLDER/NAME is damaged: it ends too early
        the cache FOLDER/NAME is damaged: it ends too early
        the cache FOLDER/NAME is damaged: it does not have its length
    "#]]
    .assert_eq(&(messages.join("\n") + "\n"));
}

#[test]
fn mismatched_format_is_outdated_and_other_workspace_foreign() {
    let (folder, _) = saved();
    let outdated = folder.cache.open("/project".as_ref(), "test 2").unwrap_err();
    assert!(
        matches!(&outdated, CacheMiss::Outdated { found, wanted, .. } if found == FORMAT && wanted == "test 2")
    );
    let of_project = folder.files().remove(0);
    folder.save("/other", &[]);
    let of_other = folder.files().into_iter().find(|path| *path != of_project).unwrap();
    fs::copy(of_project, of_other).unwrap();
    assert!(matches!(folder.open("/other"), Err(CacheMiss::Foreign { .. })));
    assert!(matches!(folder.open("/unknown"), Err(CacheMiss::Absent)));
}

#[test]
fn a_damaged_cache_is_replaced_by_the_next_save() {
    let (folder, bytes) = saved();
    assert!(folder.open_bytes(&bytes[1..]).is_err());
    let files = [Owned::new("c.py", "c = 3\n")];
    folder.save("/project", &files);
    assert_eq!(folder.open("/project").unwrap(), files);
}
