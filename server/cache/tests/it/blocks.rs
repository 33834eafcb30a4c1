//! Blocks: round trips, damage, and files that another process changes or leaves.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cache::{Cache, CacheBlocks, CacheError, CacheMiss};
use stored::{BlockCursor, LoadedBlock, PodArray, SavedBlock, SharedText, StoredArray, StoredData};

use crate::fixture::{FORMAT, Folder, Owned};

const ROOT: &str = "/project";

#[derive(Debug, Default, PartialEq)]
struct Numbers(PodArray<u64>);

impl StoredData for Numbers {
    fn arrays(
        &mut self,
        visit: &mut dyn FnMut(&mut dyn StoredArray) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        visit(&mut self.0)
    }
}

fn block(text: &str, numbers: &[u64]) -> SavedBlock {
    let mut block = SavedBlock::new(text.as_bytes().to_vec());
    if !text.is_empty() {
        block.push_text(&SharedText::from(text));
    }
    if !numbers.is_empty() {
        block.push_arrays(&mut Numbers(numbers.to_vec().into()));
    }
    block
}

/// The description, the text and the numbers of a block.
fn content(block: &LoadedBlock) -> (Vec<u8>, String, Vec<u64>) {
    let text = (*block.texts).as_ref().to_owned();
    let bytes = (*block.bytes).as_ref().len().saturating_sub(text.len().next_multiple_of(8));
    let mut numbers = Numbers::default();
    if bytes > 0 {
        BlockCursor::new(block).arrays(&mut numbers, &[bytes as u64]).unwrap();
    }
    (block.description.clone(), text, numbers.0.to_vec())
}

fn save(folder: &Folder) {
    let mut writer = folder.cache.rewrite_blocks(Path::new(ROOT), FORMAT).unwrap();
    for (number, block) in
        [block("ä text", &[1, u64::MAX]), block("", &[7]), block("last", &[])].iter().enumerate()
    {
        assert_eq!(writer.add(block).unwrap(), number as u32);
    }
    assert_eq!(writer.finish(5).unwrap().files, 5);
}

fn open(folder: &Folder) -> Result<CacheBlocks, CacheMiss> {
    folder.cache.open_blocks(Path::new(ROOT), FORMAT)
}

/// Description, text and numbers of a block.
type BlockContent = (Vec<u8>, String, Vec<u64>);

/// Loads all blocks.
fn load(folder: &Folder) -> Result<Vec<BlockContent>, CacheMiss> {
    let (blocks, store) = (open(folder)?, folder.cache.blocks());
    (0..blocks.count()).map(|number| Ok(content(&blocks.load(number, &store)?))).collect()
}

fn expected() -> Vec<BlockContent> {
    let of = |text: &str, numbers: &[u64]| (text.as_bytes().to_vec(), text.to_owned(), numbers.to_vec());
    vec![of("ä text", &[1, u64::MAX]), of("", &[7]), of("last", &[])]
}

fn file(folder: &Folder) -> std::path::PathBuf {
    let files = folder.files();
    assert_eq!(files.len(), 1);
    files[0].clone()
}

#[test]
fn blocks_round_trip_and_are_listed_and_replaced() {
    let folder = Folder::new();
    assert!(matches!(open(&folder), Err(CacheMiss::Absent)));
    assert!(!folder.cache.has_blocks(Path::new(ROOT), FORMAT));
    save(&folder);
    assert_eq!(load(&folder).unwrap(), expected());
    assert_eq!(open(&folder).unwrap().text_bytes(), 11);
    assert!(folder.cache.has_blocks(Path::new(ROOT), FORMAT));
    assert!(!folder.cache.has_blocks(Path::new(ROOT), "test 2"));
    let listed = folder.cache.list().unwrap();
    assert_eq!((listed.len(), listed[0].files), (1, 5));
    // One of the two forms remains.
    folder.save(ROOT, &[Owned::new("a.py", "a = 1\n")]);
    assert!(matches!(open(&folder), Err(CacheMiss::Absent)));
    save(&folder);
    assert!(matches!(folder.open(ROOT), Err(CacheMiss::Absent)));
    assert_eq!(folder.cache.clear().unwrap().workspaces, 1);
    assert_eq!(folder.files().len(), 0);
}

#[test]
fn every_flipped_bit_is_detected() {
    let folder = Folder::new();
    save(&folder);
    let path = file(&folder);
    let bytes = fs::read(&path).unwrap();
    for place in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            let loaded = load(&folder);
            assert!(loaded.as_ref().is_err_and(CacheMiss::is_loss), "byte {place}, bit {bit}: {loaded:?}");
        }
    }
    fs::write(&path, &bytes).unwrap();
    assert_eq!(load(&folder).unwrap(), expected());
}

#[test]
fn every_truncated_or_longer_file_is_detected() {
    let folder = Folder::new();
    save(&folder);
    let path = file(&folder);
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(load(&folder).is_err_and(|miss| miss.is_loss()), "{length} bytes");
    }
    fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
    assert!(load(&folder).is_err());
}

#[test]
fn corrupt_lengths_are_rejected_without_reading_or_reserving_them() {
    let folder = Folder::new();
    save(&folder);
    let path = file(&folder);
    let bytes = fs::read(&path).unwrap();
    for place in 0..=bytes.len() - 8 {
        for length in [u64::MAX, u64::MAX >> 1, 1 << 40, bytes.len() as u64] {
            let mut changed = bytes.clone();
            changed[place..place + 8].copy_from_slice(&length.to_le_bytes());
            fs::write(&path, &changed).unwrap();
            // One of the numbers is as large.
            assert!(changed == bytes || load(&folder).is_err(), "{length} at {place}");
        }
    }
}

#[test]
fn what_happens_to_the_file_after_loading_changes_no_block() {
    let folder = Folder::new();
    save(&folder);
    let (blocks, store) = (open(&folder).unwrap(), folder.cache.blocks());
    let loaded: Vec<LoadedBlock> = (0..2).map(|number| blocks.load(number, &store).unwrap()).collect();
    let path = file(&folder);
    let length = fs::metadata(&path).unwrap().len() as usize;
    fs::write(&path, vec![0xff; length]).unwrap();
    assert_eq!(loaded.iter().map(content).collect::<Vec<_>>(), expected()[..2]);
    assert!(blocks.load(2, &store).is_err(), "it was overwritten before it was loaded");
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    stored::BlockStore::release_pages(&store);
    assert_eq!(loaded.iter().map(content).collect::<Vec<_>>(), expected()[..2]);
    assert!(blocks.load(2, &store).is_err_and(|miss| miss.is_loss()));
}

#[test]
fn replaced_file_does_not_change_blocks_that_are_open() {
    let folder = Folder::new();
    save(&folder);
    let (blocks, store) = (open(&folder).unwrap(), folder.cache.blocks());
    let mut writer = folder.cache.rewrite_blocks(Path::new(ROOT), FORMAT).unwrap();
    writer.add(&block("other", &[])).unwrap();
    writer.finish(1).unwrap();
    assert_eq!(content(&blocks.load(0, &store).unwrap()), expected()[0]);
    assert_eq!(open(&folder).unwrap().count(), 1);
}

#[test]
fn blocks_are_in_memory_if_the_disk_cannot_hold_them() {
    let folder = Folder::new();
    save(&folder);
    let blocked = folder.folder.path().join("a file");
    fs::write(&blocked, "").unwrap();
    let store = Cache::new(&blocked, Cache::DEFAULT_LIMIT).blocks();
    let blocks = open(&folder).unwrap();
    let loaded: Vec<_> = (0..3).map(|number| content(&blocks.load(number, &store).unwrap())).collect();
    assert_eq!(loaded, expected());
}

#[test]
fn text_that_is_not_utf_8_is_rejected_despite_its_checksum() {
    let folder = Folder::new();
    let mut writer = folder.cache.rewrite_blocks(Path::new(ROOT), FORMAT).unwrap();
    writer.add(&block("ä", &[])).unwrap();
    writer.finish(1).unwrap();
    let (path, text) = (file(&folder), "ä".as_bytes());
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - text.len();
    bytes[last..].copy_from_slice(&[0xff; 2]);
    let mut hasher = blake3::Hasher::new();
    hasher.update(text).update(&[0xff; 2]);
    for length in [2_u64, 2, 2] {
        hasher.update(&length.to_le_bytes());
    }
    let checksum = last - text.len() - 32;
    bytes[checksum..checksum + 32].copy_from_slice(hasher.finalize().as_bytes());
    fs::write(&path, &bytes).unwrap();
    assert!(load(&folder).unwrap_err().to_string().ends_with("its text is not UTF-8"));
}

#[test]
fn blocks_of_a_killed_process_are_continued() {
    let folder = Folder::new();
    let (cache, root) = (&folder.cache, Path::new(ROOT));
    let mut first = cache.begin_blocks(root, FORMAT, None).unwrap();
    first.add(&block("a", &[1])).unwrap();
    first.add(&block("b", &[2])).unwrap();
    assert!(cache.begin_blocks(root, FORMAT, None).is_err(), "another process writes them");
    drop(first);
    assert!(matches!(open(&folder), Err(CacheMiss::Absent)), "they are not complete");
    // The process was killed in the middle of a block.
    let path = file(&folder);
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
    let begun = cache.open_begun_blocks(root, FORMAT).unwrap();
    assert_eq!(begun.count(), 1);
    let mut second = cache.begin_blocks(root, FORMAT, Some(&begun)).unwrap();
    assert_eq!((second.count(), second.add(&block("c", &[3])).unwrap()), (1, 1));
    second.finish(2).unwrap();
    let texts: Vec<String> = load(&folder).unwrap().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["a", "c"]);
    assert!(matches!(cache.open_begun_blocks(root, FORMAT), Err(CacheMiss::Absent)));
}

#[test]
fn begun_blocks_that_changed_meanwhile_are_begun_again() {
    let folder = Folder::new();
    let (cache, root) = (&folder.cache, Path::new(ROOT));
    cache.begin_blocks(root, FORMAT, None).unwrap().add(&block("a", &[])).unwrap();
    let begun = cache.open_begun_blocks(root, FORMAT).unwrap();
    cache.begin_blocks(root, FORMAT, None).unwrap().add(&block("b", &[])).unwrap();
    let mut writer = cache.begin_blocks(root, FORMAT, Some(&begun)).unwrap();
    assert_eq!(writer.count(), 0);
    writer.add(&block("c", &[])).unwrap();
    writer.finish(1).unwrap();
    assert_eq!(load(&folder).unwrap(), [(b"c".to_vec(), "c".to_owned(), vec![])]);
    for other in ["another version", FORMAT] {
        drop(cache.begin_blocks(root, other, None).unwrap());
        assert_eq!(cache.open_begun_blocks(root, other).unwrap().count(), 0);
    }
}

#[test]
fn blocks_over_the_limit_are_not_saved() {
    let folder = Folder::with_limit(1_000);
    let root = Path::new(ROOT);
    let large = block("", &[1; 200]);
    for is_begun in [false, true] {
        let mut writer = match is_begun {
            false => folder.cache.rewrite_blocks(root, FORMAT).unwrap(),
            true => folder.cache.begin_blocks(root, FORMAT, None).unwrap(),
        };
        assert!(matches!(writer.add(&large), Err(CacheError::TooLarge { limit: 1_000 })));
        drop(writer);
        assert_eq!(folder.files().len(), 0);
    }
}

#[test]
fn blocks_load_on_several_threads() {
    let folder = Folder::new();
    let mut writer = folder.cache.rewrite_blocks(Path::new(ROOT), FORMAT).unwrap();
    let numbers: Vec<u64> = (0..100_000).collect();
    for _ in 0..8 {
        writer.add(&block("many", &numbers)).unwrap();
    }
    writer.finish(1).unwrap();
    let (blocks, store) = (Arc::new(open(&folder).unwrap()), folder.cache.blocks());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (blocks, store, numbers) = (&blocks, &store, &numbers);
            scope.spawn(move || assert_eq!(content(&blocks.load(number, store).unwrap()).2, *numbers));
        }
    });
}
