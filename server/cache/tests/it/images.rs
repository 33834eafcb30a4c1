//! Images: saved, read and evicted like caches.

use std::borrow::Cow;
use std::fs;

use cache::{CacheError, CacheImage, CacheMiss, ClearSummary};

use crate::fixture::{FORMAT, Folder, Owned};

impl Folder {
    fn save_image(&self, root: &str, bytes: &[u8]) -> u64 {
        let (start, end) = bytes.split_at(bytes.len() / 2);
        let pieces = [Cow::Borrowed(start), Cow::Borrowed(end)];
        self.cache.save_image(root.as_ref(), FORMAT, &pieces).unwrap()
    }

    fn image(&self, root: &str) -> Result<CacheImage, CacheMiss> {
        self.cache.open_image(root.as_ref(), FORMAT)
    }
}

#[test]
fn image_round_trips_with_64_byte_alignment() {
    let folder = Folder::new();
    for root in ["/a", "/ab", "/abc"] {
        assert!(matches!(folder.image(root), Err(CacheMiss::Absent)));
        for bytes in [&b"an image"[..], b"another", b""] {
            folder.save_image(root, bytes);
            let image = folder.image(root).unwrap();
            assert_eq!(image.as_ref(), bytes);
            assert_eq!(image.as_ref().as_ptr().align_offset(64), 0);
        }
    }
}

#[test]
fn open_image_survives_replacement_and_clearing() {
    let folder = Folder::new();
    folder.save_image("/project", b"former");
    let former = folder.image("/project").unwrap();
    folder.save_image("/project", b"newer and longer");
    folder.cache.clear().unwrap();
    assert_eq!(former.as_ref(), b"former");
}

/// With a mapped file, the first access behind its new end would end the process.
#[test]
fn open_image_survives_truncation_of_its_file() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| at as u8).collect();
    folder.save_image("/project", &bytes);
    let image = folder.image("/project").unwrap();
    fs::OpenOptions::new().write(true).open(folder.files().remove(0)).unwrap().set_len(0).unwrap();
    assert_eq!(image.as_ref(), bytes);
    assert!(matches!(folder.image("/project"), Err(CacheMiss::Corrupt { .. })));
}

#[test]
fn mismatched_format_workspace_or_length_is_a_miss() {
    let folder = Folder::new();
    folder.save_image("/project", b"an image");
    let outdated = folder.cache.open_image("/project".as_ref(), "test 2");
    assert!(matches!(outdated, Err(CacheMiss::Outdated { .. })));
    let ours = folder.files().remove(0);
    folder.save_image("/other", b"an image");
    let other = folder.files().into_iter().find(|path| *path != ours).unwrap();
    let bytes = fs::read(&ours).unwrap();
    fs::write(&other, &bytes).unwrap();
    assert!(matches!(folder.image("/other"), Err(CacheMiss::Foreign { .. })));
    fs::write(&ours, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(folder.image("/project"), Err(CacheMiss::Corrupt { .. })));
}

#[test]
fn cache_and_image_are_listed_as_one_workspace() {
    let folder = Folder::new();
    folder.save("/project", &[Owned::new("a.py", "1")]);
    let of_cache = folder.cache.list().unwrap()[0].bytes;
    let of_image = folder.save_image("/project", &[0; 1000]);
    let listed = folder.cache.list().unwrap();
    let shown: Vec<_> =
        listed.iter().map(|listed| (listed.root.as_deref(), listed.files, listed.bytes)).collect();
    assert_eq!(shown, [(Some("/project"), 1, of_cache + of_image)]);
    assert_eq!(folder.cache.clear().unwrap(), ClearSummary { workspaces: 1, bytes: of_cache + of_image });
    assert!(folder.files().is_empty() && folder.cache.list().unwrap().is_empty());
}

#[test]
fn images_count_for_the_limit_and_are_evicted() {
    let folder = Folder::with_limit(40 << 10);
    folder.save_image("/old", &[1; 15 << 10]);
    folder.save_image("/new", &[2; 15 << 10]);
    folder.save("/new", &[Owned::new("a.py", &"x".repeat(6 << 10))]);
    assert!(matches!(folder.image("/old"), Err(CacheMiss::Absent)), "it made room");
    assert!(folder.image("/new").is_ok(), "of the same workspace");
    let error =
        folder.cache.save_image("/new".as_ref(), FORMAT, &[Cow::Owned(vec![3; 41 << 10])]).unwrap_err();
    assert!(matches!(error, CacheError::TooLarge { limit: 40_960 }), "{error}");
    assert_eq!(folder.image("/new").unwrap().as_ref()[0], 2);
}
