//! Keeps the memory of an index on disk within its budget: requests in all parts of a large workspace read more and more of it, and
//! background work reads it as a whole.

use std::sync::Arc;
use std::time::Duration;

use stored::BlockStore;
use tokio_util::task::AbortOnDropHandle;

/// Time between two looks. A pass over texts in the page cache makes a hundred megabytes resident in this time.
const INTERVAL: Duration = Duration::from_millis(100);

/// Releases what was read from `store` whenever memory is short, until the returned handle is dropped.
pub(super) fn watch_memory(store: Arc<dyn BlockStore>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let store = Arc::clone(&store);
            // Asking the system takes some microseconds, and releasing a gigabyte some tens of milliseconds.
            let _ = tokio::task::spawn_blocking(move || store.release_pages()).await;
        }
    }))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};

    use stored::{BlockWriter, MemoryBlocks, TextBlock};

    use super::*;

    /// Counts releases.
    #[derive(Debug, Default)]
    struct CountingStore(AtomicU32);

    impl BlockStore for CountingStore {
        fn create(&self) -> io::Result<Box<dyn BlockWriter>> {
            MemoryBlocks.create()
        }

        fn write_texts(&self, texts: &mut dyn Iterator<Item = &str>) -> io::Result<TextBlock> {
            MemoryBlocks.write_texts(texts)
        }

        fn release_pages(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn store_is_asked_to_release_pages_until_the_watch_is_dropped() {
        let store = Arc::new(CountingStore::default());
        let watch = watch_memory(Arc::clone(&store) as Arc<dyn BlockStore>);
        while store.0.load(Ordering::Relaxed) < 3 {
            tokio::time::sleep(INTERVAL).await;
        }
        drop(watch);
        while Arc::strong_count(&store) > 1 {
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
