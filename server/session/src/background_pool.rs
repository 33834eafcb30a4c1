//! Thread pools for background work: reading folders, indexing, building corpora.
//!
//! Each priority has its own threads, as many as there are cores, and they run at a lower system priority where the system supports
//! that. While the user types, a job uses one of them, and for a checkout the idle time of other cores. Requests are never processed on these
//! threads, since they would wait behind work that takes seconds.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuildError};
use tokio::sync::watch::Receiver;
use tokio::sync::{Semaphore, oneshot};

use crate::allocator::{self, release_memory};
use crate::step_threads::{StepThreads, TypingClock, TypingPools};

/// Interval at which shared data to be dropped is checked; most requests end sooner.
const DROP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Returns the number of threads for background work beside requests: one fewer than there are cores, at least one.
pub fn background_threads() -> NonZeroUsize {
    NonZeroUsize::new(cores() - 1).unwrap_or(NonZeroUsize::MIN)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Priority of a folder's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The user works in the folder.
    Interactive,
    /// The folder is small.
    SmallFolder,
    LargeFolder,
}

/// The thread pools; cheap to clone.
#[derive(Clone)]
pub struct BackgroundPool {
    pools: Arc<PriorityPools>,
    typing: TypingClock,
}

/// One pool per priority, scheduled by the system, so that work never waits behind work of a lower priority.
struct PriorityPools {
    interactive: PriorityPool,
    small: PriorityPool,
    large: PriorityPool,
}

struct PriorityPool {
    threads: ThreadPool,
    /// The threads for the steps of jobs.
    steps: StepThreads,
    /// At most so many jobs run as there are cores beside the one for requests; the others wait where they can be cancelled.
    slots: Arc<Semaphore>,
}

impl PriorityPool {
    fn start(
        name: &'static str,
        threads: usize,
        typing: &TypingClock,
    ) -> Result<PriorityPool, ThreadPoolBuildError> {
        let pools = TypingPools {
            single: Arc::new(start_threads(name, 1)?),
            with_idle_time: Arc::new(start_threads_of_idle_time(name, threads)?),
        };
        Ok(PriorityPool {
            threads: start_threads(name, threads)?,
            steps: StepThreads::new(pools, typing.clone()),
            slots: Arc::new(Semaphore::new(threads.min(background_threads().get()))),
        })
    }

    fn run<T: Send + 'static, Work: FnOnce() -> T + Send + 'static>(
        &self,
        work: Work,
    ) -> impl Future<Output = Option<T>> + Send + use<T, Work> {
        let (sender, done) = oneshot::channel();
        self.threads.spawn_fifo(move || {
            // The receiver may be gone, e.g. after its folder was removed.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        async { done.await.ok()?.ok() }
    }
}

/// Starts threads with a lower priority.
fn start_threads(name: &'static str, threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(move |number| format!("{name}-{number}"));
    let pool = pool.start_handler(|_| {
        completion::lower_thread_priority();
    });
    pool.build()
}

/// Starts threads of which all but the first run only while a core is idle; that one alone where the system does not support that.
fn start_threads_of_idle_time(
    name: &'static str,
    threads: usize,
) -> Result<ThreadPool, ThreadPoolBuildError> {
    let is_supported = thread::spawn(completion::use_idle_time).join().unwrap_or(false);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(if is_supported { threads } else { 1 });
    let pool = pool.thread_name(move |number| format!("{name}-{number}"));
    let pool = pool.start_handler(|number| {
        if number == 0 {
            completion::lower_thread_priority();
        } else {
            completion::use_idle_time();
        }
    });
    pool.build()
}

impl BackgroundPool {
    /// Starts the threads, the first ones of a server.
    pub fn start() -> Result<BackgroundPool, ThreadPoolBuildError> {
        allocator::set_up(cores());
        let typing = TypingClock::new();
        let pools = PriorityPools {
            interactive: PriorityPool::start("asked", cores(), &typing)?,
            small: PriorityPool::start("small", 1, &typing)?,
            large: PriorityPool::start("background", cores(), &typing)?,
        };
        Ok(BackgroundPool { pools: Arc::new(pools), typing })
    }

    /// Notes that the user types: for some seconds each job uses one thread, and idle time of other cores if it may.
    pub(crate) fn note_typing(&self) {
        self.typing.note();
    }

    /// Runs a job of a folder on these threads, after earlier jobs of the same priority. While it waits, its priority may change,
    /// and dropping this future cancels it. `None` if the job panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        mut priority: Receiver<Priority>,
        work: impl FnOnce(&StepThreads) -> T + Send + 'static,
    ) -> Option<T> {
        let (pool, slot) = loop {
            let pool = match *priority.borrow_and_update() {
                Priority::Interactive => &self.pools.interactive,
                Priority::SmallFolder => &self.pools.small,
                Priority::LargeFolder => &self.pools.large,
            };
            tokio::select! {
                slot = Arc::clone(&pool.slots).acquire_owned() => break (pool, slot.ok()?),
                Ok(()) = priority.changed() => {}
            }
        };
        let steps = pool.steps.clone();
        pool.run(move || {
            let _slot = slot;
            work(&steps)
        })
        .await
    }

    /// Drops large data in the background once no other reference exists, since the last owner would wait for the deallocation.
    pub(crate) fn drop_in_background<T: Send + Sync + 'static>(&self, large: Arc<T>) {
        let background = self.clone();
        tokio::spawn(async move {
            while Arc::strong_count(&large) > 1 {
                tokio::time::sleep(DROP_CHECK_INTERVAL).await;
            }
            background.pools.large.threads.spawn_fifo(move || {
                drop(large);
                release_memory();
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use completion::{
        CompletionSettings, DocumentText, EditorContext, OutcomeStatus, WorkspaceIndex, complete,
    };
    use engines::{ScriptedEngine, ScriptedReply};
    use index::{FileIndex, Index};
    use syntax::{Language, SourceFile};
    use tokio::sync::watch::Sender;
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), language: Language::Python, text: text.into() }
    }

    /// Keeps all threads of a priority busy until the returned sender is dropped.
    fn occupy(background: &BackgroundPool, priority: Priority) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        for _ in 0..background_threads().get() {
            let (released, background) = (Arc::clone(&released), background.clone());
            let (begun, has_begun) = mpsc::channel();
            let job = async move {
                background
                    .run(Sender::new(priority).subscribe(), move |_| {
                        let _ = begun.send(());
                        drop(released.lock().map(|released| released.recv()));
                    })
                    .await
            };
            std::thread::spawn(move || {
                tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(job)
            });
            if priority != Priority::SmallFolder {
                has_begun.recv().unwrap();
            }
        }
        release
    }

    #[tokio::test]
    async fn urgent_tasks_do_not_wait_for_low_priority_tasks() {
        let background = BackgroundPool::start().unwrap();
        let occupied = occupy(&background, Priority::LargeFolder);
        let run = |priority: &Sender<Priority>, value: u8| {
            let (background, priority) = (background.clone(), priority.subscribe());
            tokio::spawn(async move { background.run(priority, move |_| value).await })
        };
        assert_eq!(run(&Sender::new(Priority::SmallFolder), 1).await.unwrap(), Some(1));
        assert_eq!(run(&Sender::new(Priority::Interactive), 2).await.unwrap(), Some(2));
        let priority = Sender::new(Priority::LargeFolder);
        let (waiting, given_up) = (run(&priority, 3), run(&Sender::new(Priority::LargeFolder), 4));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "it waits");
        priority.send_replace(Priority::Interactive);
        assert_eq!(waiting.await.unwrap(), Some(3), "its priority was raised");
        given_up.abort();
        drop(occupied);
        assert!(given_up.await.unwrap_err().is_cancelled());
        assert_eq!(
            run(&Sender::new(Priority::LargeFolder), 5).await.unwrap(),
            Some(5),
            "it left its slot free"
        );
    }

    #[tokio::test]
    async fn completion_requests_do_not_wait_for_the_pool() {
        let background = BackgroundPool::start().unwrap();
        let occupied = occupy(&background, Priority::LargeFolder);
        // Building an index uses the process-wide pool.
        let files: Arc<[SourceFile]> = [file("widgets.py", "")].into();
        let index =
            WorkspaceIndex::empty().with_index(Arc::clone(&files), Index::build(&files), Arc::default());
        let unsaved = file("widgets.py", "def make_widget(size):\n    return size\n");
        let documents = vec![Arc::new(FileIndex::new(unsaved))];
        let open = file("main.py", "from widgets import make_widget\n\nwidget = make_widget");
        let SourceFile { path, language, text } = open;
        let cursor = text.len();
        let snapshot = index
            .snapshot(DocumentText { path, language, text: text.to_arc() })
            .with_editor_context(EditorContext { documents, ..EditorContext::default() });
        let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
        let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
        let outcome = complete(
            &snapshot,
            cursor,
            &engine,
            &CompletionSettings::for_editor(),
            &CancellationToken::new(),
        )
        .await;
        assert!(matches!(outcome.status, OutcomeStatus::Ok), "{:?}", outcome.status);
        assert_eq!(outcome.text, "context=widgets.py");
        drop(occupied);
        let priority = Sender::new(Priority::LargeFolder);
        assert_eq!(background.run(priority.subscribe(), |_| 1).await, Some(1));
    }
}
