//! Work that nobody waits for: reading folders, deriving what is searched, putting tokens together.
//!
//! It has threads of its own, one fewer than there are cores, and these give way to all others where the system knows of such a thing.
//! What answers requests never runs on them: it would wait behind the work of seconds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rayon::ThreadPool;
use tokio::sync::oneshot;

use crate::background_threads;

#[cfg(unix)]
mod unix;

/// What is to be let go is looked after so often; most requests end sooner.
const LETTING_GO: Duration = Duration::from_millis(50);

/// The threads; cheap to clone.
#[derive(Clone)]
pub(crate) struct Background(Arc<ThreadPool>);

impl Background {
    /// Starts the threads.
    pub(crate) fn start() -> anyhow::Result<Background> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(background_threads().get())
            .thread_name(|number| format!("background-{number}"))
            .start_handler(|_| give_way())
            .build();
        Ok(Background(Arc::new(pool.context("cannot start threads")?)))
    }

    /// Does `work` on these threads, behind what is under way there, whether anybody waits or not. `None` if it stopped by a defect.
    pub(crate) fn run<T: Send + 'static, Work: FnOnce() -> T + Send + 'static>(
        &self,
        work: Work,
    ) -> impl Future<Output = Option<T>> + Send + use<T, Work> {
        let (sender, done) = oneshot::channel();
        self.0.spawn_fifo(move || {
            // Whoever waited may be gone, as when a folder is removed.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        async { done.await.ok()?.ok() }
    }

    /// Lets go of what is large once nobody else has it: whoever is the last to have it waits until it is taken to pieces.
    pub(crate) fn let_go<T: Send + Sync + 'static>(&self, large: Arc<T>) {
        let background = self.clone();
        tokio::spawn(async move {
            while Arc::strong_count(&large) > 1 {
                tokio::time::sleep(LETTING_GO).await;
            }
            background.0.spawn_fifo(move || {
                drop(large);
                give_back();
            });
        });
    }
}

/// Gives memory that nothing stands in back to the system.
fn give_back() {
    #[cfg(unix)]
    unix::give_back();
}

/// Lets this thread, and those that it starts, give way to others.
fn give_way() {
    #[cfg(unix)]
    unix::give_way();
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use completion::{Around, Document, Settings, Status, World, complete};
    use engines::{Rule, ScriptedEngine};
    use index::{FileIndex, Index};
    use syntax::{Language, SourceFile};
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), language: Language::Python, text: text.into() }
    }

    /// Keeps all threads busy until what is given back is dropped.
    fn occupy(background: &Background) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel();
        let released = Arc::new(std::sync::Mutex::new(released));
        for _ in 0..background_threads().get() {
            let released = Arc::clone(&released);
            drop(background.run(move || drop(released.lock().map(|released| released.recv()))));
        }
        release
    }

    #[tokio::test]
    async fn questions_do_not_wait_for_it() {
        let background = Background::start().unwrap();
        let occupied = occupy(&background);
        // Putting an index together takes the process-wide pool.
        let files: Arc<[SourceFile]> = [file("widgets.py", "")].into();
        let world = World::empty().with_index(Arc::clone(&files), Index::build(&files), Arc::default());
        let unsaved = file("widgets.py", "def make_widget(size):\n    return size\n");
        let documents = vec![Arc::new(FileIndex::new(unsaved))];
        let asked = file("main.py", "from widgets import make_widget\n\nwidget = make_widget");
        let SourceFile { path, language, text } = asked;
        let cursor = text.len();
        let snapshot =
            world.open(Document { path, language, text }).among(Around { documents, ..Around::default() });
        let rule = Rule { context: true, ..Rule::default() };
        let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
        let outcome =
            complete(&snapshot, cursor, &engine, &Settings::for_editor(), &CancellationToken::new()).await;
        assert!(matches!(outcome.status, Status::Ok), "{:?}", outcome.status);
        assert_eq!(outcome.text, "context=widgets.py");
        drop(occupied);
        assert_eq!(background.run(|| 1).await, Some(1));
    }
}
