//! Blocks of bytes on disk that are read in place, for data that does not fit in memory.
//!
//! A mapped file that another process truncates ends every process that reads the mapping (SIGBUS), and one that it overwrites
//! changes under its readers. So each block has a file of its own that no other process can open: it has no name from the
//! beginning, and once it is mapped, nothing but the mapping refers to it. Where a system keeps the name of a file in use, the
//! file is opened for this process alone. The disk space is free again when the block is dropped or the process ends, however
//! it ends.
//!
//! This is the only module that maps files.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use memmap2::Mmap;
use stored::{BlockStore, BlockWriter, SharedBytes, TextBlock};

use crate::folder::prepare_folder;

/// Blocks on the disk of a folder.
pub struct DiskBlocks {
    folder: PathBuf,
    /// All blocks in use.
    blocks: Arc<Mutex<Vec<Weak<MappedBlock>>>>,
    /// Whether memory is short; asked at the end of each pass.
    is_memory_short: Box<dyn Fn() -> bool + Send + Sync>,
}

impl fmt::Debug for DiskBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskBlocks").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A mapped file that only this process can reach.
#[derive(Debug)]
struct MappedBlock {
    bytes: Mmap,
    /// Keeps other processes from opening the file. Elsewhere the open file itself could be reached, through `/proc`.
    #[cfg(not(unix))]
    _file: File,
}

impl AsRef<[u8]> for MappedBlock {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Texts at the start of a block.
struct MappedTexts {
    block: Arc<MappedBlock>,
    /// Their length in bytes; within the block.
    length: usize,
}

impl MappedTexts {
    /// Returns the first `length` bytes of a block; `None` if they are no texts.
    fn of(block: Arc<MappedBlock>, length: usize) -> Option<MappedTexts> {
        str::from_utf8((*block).as_ref().get(..length)?).ok()?;
        Some(MappedTexts { block, length })
    }
}

impl AsRef<str> for MappedTexts {
    fn as_ref(&self) -> &str {
        // SAFETY: they were checked, or written as whole texts, and no other process can write to the file.
        unsafe { str::from_utf8_unchecked(&(*self.block).as_ref()[..self.length]) }
    }
}

pub(crate) struct DiskBlockWriter {
    file: File,
    blocks: Arc<Mutex<Vec<Weak<MappedBlock>>>>,
}

impl DiskBlocks {
    /// Uses `folder`, which is created with the first block.
    pub(crate) fn new(folder: &Path) -> DiskBlocks {
        DiskBlocks { folder: folder.to_owned(), blocks: Arc::default(), is_memory_short: Box::new(|| true) }
    }

    /// Releases pages at the end of a pass only if this says that memory is short: else what was read would be read again by the next request
    /// or pass. Without it, they are always released.
    #[must_use]
    pub fn released_if(self, is_memory_short: impl Fn() -> bool + Send + Sync + 'static) -> DiskBlocks {
        DiskBlocks { is_memory_short: Box::new(is_memory_short), ..self }
    }

    /// Releases all pages, whether or not memory is short.
    pub fn release_all(&self) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.retain(|block| block.strong_count() > 0);
        blocks.iter().filter_map(Weak::upgrade).for_each(|block| release(&block.bytes));
    }

    pub(crate) fn writer(&self) -> io::Result<DiskBlockWriter> {
        prepare_folder(&self.folder)?;
        Ok(DiskBlockWriter { file: tempfile::tempfile_in(&self.folder)?, blocks: Arc::clone(&self.blocks) })
    }
}

#[cfg(unix)]
fn release(bytes: &Mmap) {
    // SAFETY: the mapping is shared and never written, so its pages are read from the file again. A failure changes nothing.
    let _ = unsafe { bytes.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

/// Elsewhere the system trims the pages of a process itself.
#[cfg(not(unix))]
fn release(_: &Mmap) {}

impl DiskBlockWriter {
    /// Returns the block, and the texts at its start, which have this length in bytes; the error is `None` if they are no texts.
    pub(crate) fn finish_with_texts(
        self,
        length: usize,
    ) -> Result<(SharedBytes, TextBlock), Option<io::Error>> {
        let block = self.map()?;
        let texts: TextBlock = Arc::new(MappedTexts::of(Arc::clone(&block), length).ok_or(None)?);
        let bytes: SharedBytes = block;
        Ok((bytes, texts))
    }

    fn map(self) -> io::Result<Arc<MappedBlock>> {
        let DiskBlockWriter { file, blocks } = self;
        // SAFETY: no other process can open the file, and this one does not write to it any more.
        let bytes = unsafe { Mmap::map(&file)? };
        let block = Arc::new(MappedBlock {
            bytes,
            #[cfg(not(unix))]
            _file: file,
        });
        blocks.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&block));
        Ok(block)
    }
}

impl Write for DiskBlockWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl BlockWriter for DiskBlockWriter {
    fn finish(self: Box<Self>) -> io::Result<SharedBytes> {
        Ok(self.map()?)
    }
}

impl BlockStore for DiskBlocks {
    fn create(&self) -> io::Result<Box<dyn BlockWriter>> {
        Ok(Box::new(self.writer()?))
    }

    fn write_texts(&self, texts: &mut dyn Iterator<Item = &str>) -> io::Result<TextBlock> {
        let mut writer = io::BufWriter::new(self.writer()?);
        for text in texts {
            writer.write_all(text.as_bytes())?;
        }
        let writer = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        let block = writer.map()?;
        let length = block.bytes.len();
        Ok(Arc::new(MappedTexts { block, length }))
    }

    fn release_pages(&self) {
        if (self.is_memory_short)() {
            self.release_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use stored::SharedText;

    use super::*;

    #[test]
    fn blocks_have_no_file_that_others_could_change() {
        let folder = tempfile::tempdir().unwrap();
        let store = DiskBlocks::new(folder.path());
        let mut texts: Vec<SharedText> = vec!["ä".repeat(5_000).into(), "rest".into()];
        let before = texts.clone();
        SharedText::move_all(&store, texts.iter_mut().collect()).unwrap();
        let mut writer = store.create().unwrap();
        writer.write_all(&[7; 10_000]).unwrap();
        let bytes = writer.finish().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        #[cfg(target_os = "linux")]
        for file in fs::read_dir("/proc/self/fd").unwrap().flatten() {
            let target = fs::read_link(file.path()).unwrap_or_default();
            assert!(!target.starts_with(folder.path()), "{} is open", target.display());
        }
        store.release_pages();
        assert_eq!(texts, before);
        assert_eq!((*bytes).as_ref(), [7; 10_000]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pages_are_kept_until_memory_is_short() {
        use std::sync::atomic::{AtomicBool, Ordering};

        /// Returns the resident kilobytes of mapped files.
        fn mapped() -> usize {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap();
            line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
        }

        const KILOBYTES: usize = 64 << 10;
        let folder = tempfile::tempdir().unwrap();
        let is_short = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_short);
        let store = DiskBlocks::new(folder.path()).released_if(move || asked.load(Ordering::Relaxed));
        let mut writer = store.create().unwrap();
        writer.write_all(&vec![7; KILOBYTES << 10]).unwrap();
        let bytes = writer.finish().unwrap();
        let read = || (*bytes).as_ref().iter().step_by(1 << 10).filter(|&&byte| byte == 7).count();
        for release in [DiskBlocks::release_pages, DiskBlocks::release_all] {
            assert_eq!(read(), KILOBYTES);
            is_short.store(false, Ordering::Relaxed);
            store.release_pages();
            let kept = mapped();
            assert!(kept >= KILOBYTES);
            is_short.store(true, Ordering::Relaxed);
            release(&store);
            assert!(mapped() + KILOBYTES / 2 < kept, "{} of {kept} kB", mapped());
        }
    }

    #[test]
    fn missing_folder_is_created_and_an_unusable_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let store = DiskBlocks::new(&folder.path().join("new"));
        assert!(store.write_texts(&mut ["text"].into_iter()).is_ok());
        fs::write(folder.path().join("file"), "").unwrap();
        let store = DiskBlocks::new(&folder.path().join("file"));
        let mut text = SharedText::from("text");
        assert!(SharedText::move_all(&store, vec![&mut text]).is_err());
        assert!(text.is_in_memory() && text == "text");
    }
}
