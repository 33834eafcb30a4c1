//! Passes over the data of many files, from which the data about all of them is built.

use stored::{BlockStore, StoredData, move_to_store};

use crate::parallelism::Parallelism;

/// Files between two releases of memory: some tens of megabytes.
const FILES_PER_RELEASE: usize = 2_048;

/// How passes are made.
#[derive(Clone, Copy)]
pub(crate) struct FilePasses<'a> {
    pub(crate) threads: Parallelism,
    /// Where the files' data is if it is not in memory. What a pass has read there is released meanwhile if memory is short: the data of a
    /// large workspace would fill it.
    pub(crate) store: Option<&'a dyn BlockStore>,
}

impl FilePasses<'_> {
    /// Passes over data in memory, on the calling thread.
    pub(crate) const IN_MEMORY: FilePasses<'static> =
        FilePasses { threads: Parallelism::CallerThread, store: None };

    /// Returns the files in their order.
    pub(crate) fn each<T>(self, files: &[T]) -> impl Iterator<Item = &T> {
        self.chunks(files).flatten()
    }

    /// Returns the files in their order, some at a time.
    pub(crate) fn chunks<T>(self, files: &[T]) -> impl Iterator<Item = &[T]> {
        files.chunks(FILES_PER_RELEASE).inspect(move |_| self.release())
    }

    /// Applies `f` to all files; results are in the order of the files.
    pub(crate) fn map<T: Sync, R: Send>(self, files: &[T], f: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        self.chunks(files).flat_map(|chunk| self.threads.map(chunk, &f)).collect()
    }

    /// Moves `data` to the store, if there is one.
    pub(crate) fn stored<D: StoredData>(self, mut data: D) -> D {
        // After an error the data is in memory, where it serves as well.
        let _ = self.store.map(|store| move_to_store(store, std::slice::from_mut(&mut data)));
        data
    }

    fn release(self) {
        self.store.iter().for_each(|store| store.release_pages());
    }
}
