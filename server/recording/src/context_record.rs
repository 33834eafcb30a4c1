//! The code of other files that retrieval finds at an opportunity, for the record: the candidates of the strategy beyond its budget, so
//! that retrieval can be replayed, and the functions that are similar to the one at the cursor.
//!
//! Responsible for how much is gathered, and when: after the engine was asked, by one thread with a lower priority. What an engine reads is
//! gathered by its own request; nothing here delays or changes it. Behind by more than [`MAX_WAITING`] opportunities, a row keeps its lists
//! empty.

use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Duration;

use cases::ContextItem;
use completion::retrieved_hits;
use index::{Strategy, TokenBudget};
use mining::context_item;
use tokio::runtime::Handle;
use trial::{EventKind, GatheredContext};

use crate::generation_task::GenerationTask;

/// Opportunities that wait for their context.
const MAX_WAITING: usize = 8;
/// Budget of the candidates: four times what an engine reads.
const POOL_BUDGET: TokenBudget = TokenBudget { tokens: 4 * 1024 };
/// Most candidates. Their texts are stored once, but each takes a hundred bytes of its row.
const MAX_CANDIDATES: usize = 12;
/// Budget of the similar functions, of which there are few.
const FUNCTIONS_BUDGET: TokenBudget = TokenBudget { tokens: 8 * 1024 };
/// Longest text of a candidate, in bytes: longer functions say little about a cursor.
const MAX_TEXT_BYTES: usize = 8 << 10;
/// How long the context of the ghost text, and the state of the other open documents, may take.
const EDITOR_CONTEXT_TIMEOUT: Duration = Duration::from_secs(2);

/// The queue of the thread that gathers context; it is started with the first opportunity.
#[derive(Default)]
pub(crate) struct ContextRecord {
    queue: Option<SyncSender<(GenerationTask, u64)>>,
}

impl ContextRecord {
    /// Gathers the context of a request.
    pub(crate) fn gather(&mut self, task: GenerationTask, request: u64) {
        if self.queue.is_none() {
            self.queue = start();
        }
        if let Some(queue) = &self.queue {
            // A full queue leaves the context out.
            drop(queue.try_send((task, request)));
        }
    }
}

fn start() -> Option<SyncSender<(GenerationTask, u64)>> {
    let (queue, tasks) = mpsc::sync_channel::<(GenerationTask, u64)>(MAX_WAITING);
    let runtime = Handle::current();
    let work = move || {
        completion::lower_thread_priority();
        while let Ok((task, request)) = tasks.recv() {
            let gathered = gathered(&runtime, &task, request);
            task.session.trial.record(EventKind::Gathered(Box::new(gathered)));
        }
    };
    thread::Builder::new().name("trial-context".to_owned()).spawn(work).ok().map(|_| queue)
}

fn gathered(runtime: &Handle, task: &GenerationTask, request: u64) -> GatheredContext {
    let snapshot = runtime.block_on(task.retrieval_snapshot(EDITOR_CONTEXT_TIMEOUT));
    let strategy = match task.engine.settings.strategy {
        Strategy::None => Strategy::Hybrid,
        strategy => strategy,
    };
    let find = |strategy: Strategy, budget: TokenBudget| -> Vec<ContextItem> {
        let hits = retrieved_hits(&snapshot, task.cursor, strategy, budget);
        hits.into_iter().filter(|hit| hit.text.len() <= MAX_TEXT_BYTES).map(context_item).collect()
    };
    let mut context = find(strategy, POOL_BUDGET);
    context.truncate(MAX_CANDIDATES);
    GatheredContext { request, context, similar_functions: find(Strategy::Functions, FUNCTIONS_BUDGET) }
}
