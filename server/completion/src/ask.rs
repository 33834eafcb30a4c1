//! Tasks without a cursor: an engine finds a described function, or writes one.
//!
//! Nothing of the pipeline for ghost text applies: no gate, no retrieval, no filter, because the answer is not inserted. Deadline, trace
//! and cancellation are the same.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use builtin::{Corpus, MaskedCorpus};
use engines::{AnswerListener, Engine, EngineError, FunctionSearch, FunctionTask, Request, TaskForm};
use syntax::Language;
use text::Snippet;
use tokio_util::sync::CancellationToken;

use crate::settings::CompletionSettings;
use crate::trace::{Outcome, OutcomeStatus, RequestSize, TimingSource, Trace};

/// Maximum length of an answer in bytes. The functions that are asked for have at most 2,000.
const MAX_ANSWER_BYTES: usize = 256 << 10;

/// A task without a cursor; cheap to clone.
#[derive(Clone, Debug)]
pub struct FunctionRequest {
    /// Path of the function's file, if known.
    pub path: Arc<str>,
    /// Language of the function.
    pub language: Language,
    /// The prompt for a chat.
    pub prompt: Arc<str>,
    /// The code to continue, for engines that only complete.
    pub code: Arc<str>,
    /// Code from other files, for engines that only complete.
    pub context: Arc<[Snippet]>,
    /// The code to search and the description; `None` if the function is to be written.
    pub search: Option<FunctionSearch>,
}

/// Puts a task without a cursor to an engine. Returns how it was put, and the outcome, whose text is the engine's unmodified answer: in
/// a chat or of a search the whole answer, else the continuation of the code.
///
/// Every way to end is a [`OutcomeStatus`]. Cancelling and dropping the future both free the engine.
pub async fn ask(
    task: &FunctionRequest,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    cancel: &CancellationToken,
) -> (TaskForm, Outcome) {
    let start = Instant::now();
    let function = FunctionTask { prompt: Arc::clone(&task.prompt), search: task.search.clone() };
    let form = engine.task_form(&function);
    let size = if form == TaskForm::Chat { task.prompt.len() } else { task.code.len() };
    let limit = settings.function_deadline(size);
    let deadline = tokio::time::Instant::now() + limit;
    let input = engines::PromptInput {
        path: Arc::clone(&task.path),
        language: task.language,
        text: Arc::clone(&task.code),
        cursor: task.code.len(),
        context: Arc::clone(&task.context),
    };
    let no_files =
        || MaskedCorpus::new(Arc::new(Corpus::default()), Arc::clone(&task.path), task.language, Vec::new());
    let request = Request {
        function: Some(function),
        corpus: engine.reads_workspace().then(no_files),
        deadline: Some(deadline),
        ..Request::new(input)
    };
    let mut reader = WholeAnswerReader {
        trace: Trace {
            context: Arc::clone(&task.context),
            request_size: RequestSize {
                prefix: size,
                suffix: 0,
                context: task.context.iter().map(|item| item.text.len()).sum(),
            },
            ..Trace::default()
        },
        start,
    };
    let asking = engine.complete(request, &mut reader, cancel);
    let answer = tokio::time::timeout_at(deadline, asking).await;
    let mut trace = reader.trace;
    trace.timings.total = start.elapsed() + trace.timings.clock.recording_lead();
    trace.is_late = answer.is_err() || trace.timings.total > limit;
    let (status, text) = match answer {
        // A part of an answer may be enough to tell which function it is.
        Err(_) if trace.received.is_empty() => (OutcomeStatus::Timeout, String::new()),
        Err(_) => (OutcomeStatus::Ok, trace.received.clone()),
        Ok(Err(EngineError::Cancelled)) => (OutcomeStatus::Cancelled, String::new()),
        Ok(Err(error)) => (OutcomeStatus::Failed(error), String::new()),
        Ok(Ok(answer)) => {
            trace.finish = Some(answer.finish);
            trace.confidence = answer.confidence;
            trace.usage = answer.usage;
            trace.server = answer.timings;
            trace.refusals = answer.refusals;
            match trace.received.is_empty() {
                true => {
                    (OutcomeStatus::Silent(answer.silence.unwrap_or("nothing to suggest")), String::new())
                }
                false => (OutcomeStatus::Ok, trace.received.clone()),
            }
        }
    };
    (form, Outcome { status, text, alternatives: Vec::new(), trace })
}

/// Records an answer to its end.
struct WholeAnswerReader {
    trace: Trace,
    start: Instant,
}

impl AnswerListener for WholeAnswerReader {
    fn prompt(&mut self, prompt: &str) {
        self.trace.prompt = Some(prompt.to_owned());
    }

    fn replayed(&mut self, after: Option<std::time::Duration>) {
        self.trace.timings.clock = after.map_or(TimingSource::Unknown, TimingSource::Recorded);
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        let trace = &mut self.trace;
        let clock = trace.timings.clock;
        if clock != TimingSource::Unknown {
            trace.timings.first.get_or_insert_with(|| self.start.elapsed() + clock.recording_lead());
        }
        trace.received.push_str(piece);
        match trace.received.len() > MAX_ANSWER_BYTES {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
