//! Recording: finds the place of each request, opens an opportunity there, asks the arms in shadow, and follows the saved files.
//!
//! ```text
//! front door ──► bounded queue ──► one thread: search ──► virtual documents ──► recorder ──► arms in shadow
//!                                      ▲ saved files, twice a second
//! ```
//!
//! One thread of lower priority handles all messages in order of their arrival, so that the text of a document never goes back. Nothing
//! waits for it but an answer of our own, which needs the place: a full queue drops recording, never a completion.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cases::{ArmAnswer, ArmRole, OutcomeKind, Trigger};
use completion::{SharedContext, WorkspaceIndex};
use recording::{ArmQuestion, GenerationTask, RecorderEpoch, ShadowQuestion, TrialSession};
use session::{Documents, Folder, OpenDocument, RequestSnapshot, document_admission};
use stored::SharedText;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use trial::{AnswerEvent, DocumentKey, EventKind, OfferedItem};

use crate::chosen_engine::ChosenEngine;
use crate::dialect::Dialect;
use crate::editor_documents::{EditorDocuments, EditorRequest};
use crate::routes;
use crate::search_files::{FoundPlace, SearchedFile, search};
use crate::seen_answer::{SeenAnswer, read};
use crate::virtual_documents::{SavedFile, VirtualDocuments};

/// Messages that wait: some seconds of typing.
const QUEUE: usize = 256;
/// How long an answer may pass through before the search begins: both would share the cores, and some servers answer at once.
const HEAD_START: Duration = Duration::from_millis(3);
/// Time between two looks at the saved files.
const SAVES_POLL: Duration = Duration::from_millis(500);
/// How soon after an answer a request for the text behind it was not written by a hand: some plugins ask ahead, as if the suggestion were
/// accepted.
const AHEAD: Duration = Duration::from_millis(250);
/// How long the editor may take to report what a plugin in it sees: Neovim waits for 150 ms.
const EDITOR_DELAY: Duration = Duration::from_millis(500);
/// Time between two looks at the editor's documents.
const EDITOR_POLL: Duration = Duration::from_millis(20);
/// Fewest bytes of an answer behind which a plugin asks ahead: less may be typed as fast.
const MIN_AHEAD_BYTES: usize = 4;
/// First number of a request, beyond those of an editor in the same process.
const FIRST_NUMBER: u64 = 1 << 40;
/// Completions whose events are understood: Tabby's plugin reports them within seconds.
const MAX_COMPLETIONS: usize = 256;

/// The sending end.
pub(crate) struct TrialLink {
    queue: mpsc::Sender<LinkMessage>,
    numbers: AtomicU64,
}

/// A request at the front door.
pub(crate) struct SeenRequest {
    /// Its number.
    pub(crate) number: u64,
    /// Its arrival.
    pub(crate) arrived: Instant,
    /// Its API.
    pub(crate) dialect: Dialect,
    /// Its body.
    pub(crate) body: Bytes,
    /// The engine that answers it.
    pub(crate) chosen: Arc<ChosenEngine>,
    /// Where its answer comes from.
    pub(crate) answer: AnswerSource,
}

/// Where the answer to a request comes from.
pub(crate) enum AnswerSource {
    /// A server: it passes through. Resolves when it has passed.
    PassesThrough(oneshot::Receiver<()>),
    /// It is our own. Receives the place.
    Ours(oneshot::Sender<Option<GenerationTask>>),
}

/// What became of a completion, as Tabby's plugins report it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompletionEvent {
    /// Id of the completion.
    pub(crate) completion: String,
    /// What happened.
    pub(crate) kind: CompletionEventKind,
}

/// What happened to a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionEventKind {
    /// It is visible.
    Shown,
    /// It, or a part of it, was accepted.
    Accepted {
        /// Whether only a part was.
        is_partial: bool,
    },
    /// It was rejected.
    Dismissed,
}

enum LinkMessage {
    Requested(Box<SeenRequest>),
    Passed(u64, Arc<ChosenEngine>, Box<SeenAnswer>),
    Answered(u64, Arc<ChosenEngine>, Option<String>, Box<ArmAnswer>),
    Event(CompletionEvent),
}

impl TrialLink {
    /// Starts the thread. It ends with the session.
    pub(crate) fn start(session: TrialSession, editor: Option<Arc<dyn EditorDocuments>>) -> TrialLink {
        let (queue, messages) = mpsc::channel(QUEUE);
        let task = LinkTask {
            session,
            editor,
            documents: VirtualDocuments::default(),
            epoch: None,
            requests: HashMap::new(),
            numbers: VecDeque::new(),
            completions: VecDeque::new(),
            last_answer: None,
        };
        let runtime = Handle::current();
        // A thread that passes answers on must not wait for a search.
        let work = move || {
            completion::lower_thread_priority();
            runtime.block_on(task.run(messages));
        };
        if let Err(error) = thread::Builder::new().name("front-door-trial".to_owned()).spawn(work) {
            tracing::warn!(%error, "requests at the front door are not recorded");
        }
        TrialLink { queue, numbers: AtomicU64::new(FIRST_NUMBER) }
    }

    /// Returns the number of a new request.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Passes a request on. Without room it is not recorded.
    pub(crate) fn requested(&self, request: SeenRequest) {
        self.send(LinkMessage::Requested(Box::new(request)));
    }

    /// Passes an answer on that passed through.
    pub(crate) fn passed(&self, number: u64, chosen: &Arc<ChosenEngine>, answer: SeenAnswer) {
        self.send(LinkMessage::Passed(number, Arc::clone(chosen), Box::new(answer)));
    }

    /// Passes an answer of our own on, with the id under which the plugin knows it.
    pub(crate) fn answered(
        &self,
        number: u64,
        chosen: &Arc<ChosenEngine>,
        id: Option<String>,
        answer: ArmAnswer,
    ) {
        self.send(LinkMessage::Answered(number, Arc::clone(chosen), id, Box::new(answer)));
    }

    /// Passes on what became of a completion.
    pub(crate) fn event(&self, event: CompletionEvent) {
        self.send(LinkMessage::Event(event));
    }

    fn send(&self, message: LinkMessage) {
        if self.queue.try_send(message).is_err() {
            tracing::warn!("the front door is behind; opportunities are left out");
        }
    }
}

/// A place with its folder.
struct FoundIn {
    folder: Arc<Folder>,
    index: Arc<WorkspaceIndex>,
    /// The document, if the editor in this process has it open.
    editor: Option<Arc<OpenDocument>>,
    place: FoundPlace,
}

/// The document of a place.
struct FoundDocument {
    /// All documents beside it.
    documents: Arc<Documents>,
    document: Arc<OpenDocument>,
    /// Whether it has the text of the request.
    is_recorded: bool,
}

struct LinkTask {
    session: TrialSession,
    /// The editor in this process.
    editor: Option<Arc<dyn EditorDocuments>>,
    documents: VirtualDocuments,
    /// The time in which the recorder knows the documents.
    epoch: Option<RecorderEpoch>,
    /// The recorded requests, by number.
    requests: HashMap<u64, RecordedRequest>,
    /// Recorded requests, oldest first.
    numbers: VecDeque<u64>,
    /// Ids of completions with their request, oldest first.
    completions: VecDeque<(String, u64)>,
    /// The last answer that passed on.
    last_answer: Option<LastAnswer>,
}

/// The documents and the cursor of a recorded request.
struct RecordedRequest {
    document: DocumentKey,
    offset: usize,
}

/// An answer that was passed on a moment ago.
struct LastAnswer {
    document: DocumentKey,
    offset: usize,
    text: String,
    at: Instant,
}

impl LinkTask {
    async fn run(mut self, mut messages: mpsc::Receiver<LinkMessage>) {
        let stopping = self.session.stopping.clone();
        let mut polls = tokio::time::interval(SAVES_POLL);
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                message = messages.recv() => match message {
                    Some(message) => self.handle(message).await,
                    None => return,
                },
                _ = polls.tick() => self.follow_saved(),
            }
        }
    }

    async fn handle(&mut self, message: LinkMessage) {
        match message {
            LinkMessage::Requested(request) => self.requested(*request).await,
            LinkMessage::Passed(number, chosen, seen) => {
                let Some(answer) = self.requests.contains_key(&number).then(|| read(&seen.body)) else {
                    return;
                };
                let (status, reason) = seen.status(&answer);
                let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
                let identity = chosen.identity.clone();
                let mut row = ArmAnswer::empty(identity.name.clone(), identity, ArmRole::Shown, status);
                row.reason = reason;
                (row.raw, row.text) = (answer.text.clone(), answer.text);
                (row.finish, row.tokens) = (answer.finish, answer.tokens);
                (row.ms.first, row.ms.total) = (seen.first.map(ms), ms(seen.total));
                self.answered(number, &chosen, answer.id, row);
            }
            LinkMessage::Answered(number, chosen, id, answer) => self.answered(number, &chosen, id, *answer),
            LinkMessage::Event(event) => self.report(&event),
        }
    }

    /// Finds the place of a request and opens an opportunity there.
    async fn requested(&mut self, request: SeenRequest) {
        let SeenRequest { number, arrived, dialect, body, chosen, answer } = request;
        let place = match answer {
            AnswerSource::PassesThrough(_) if chosen.trial.is_none() => return,
            AnswerSource::PassesThrough(passed) => {
                let _ = tokio::time::timeout(HEAD_START, passed).await;
                None
            }
            AnswerSource::Ours(place) => Some(place),
        };
        // What was saved before the request is known before it.
        self.follow_saved();
        let task = match self.found(dialect, &body).await {
            Some(found) => self.place(number, arrived, &found, &chosen).await,
            None => None,
        };
        if let Some(place) = place {
            // The plugin may not wait any more.
            let _ = place.send(task);
        }
    }

    /// Returns where a request is, among the files and the open documents.
    async fn found(&self, dialect: Dialect, body: &[u8]) -> Option<FoundIn> {
        let folders = self.session.folders.all();
        let indexes: Vec<Arc<WorkspaceIndex>> = folders.iter().map(|folder| folder.state().index).collect();
        let editor = self.editor_documents().await;
        let files = self.files(&folders, &indexes, &editor);
        // A panic leaves one request out.
        let found = catch_unwind(AssertUnwindSafe(|| search(&routes::parse(dialect, body)?.fill?, &files)));
        let place = found.ok().flatten()?;
        let (folder, index) = (Arc::clone(&folders[place.folder]), Arc::clone(&indexes[place.folder]));
        let editor = editor.get(&folder.root.join(&*place.path)).cloned();
        Some(FoundIn { folder, index, editor, place })
    }

    /// Returns the request to an engine at a place, and records it if the document has the text of the request.
    async fn place(
        &mut self,
        number: u64,
        arrived: Instant,
        found: &FoundIn,
        chosen: &ChosenEngine,
    ) -> Option<GenerationTask> {
        let FoundDocument { documents, document, is_recorded } = self.document(found, arrived).await?;
        let home = self.session.folders.locate(&document).await;
        if !home.is_inside || document_admission::refusal(&document, &home).await.is_some() {
            return None;
        }
        let task = GenerationTask {
            session: self.session.clone(),
            snapshot: RequestSnapshot { documents, arrival: number, time: arrived },
            path_gate: document_admission::path_gate(&document, &home),
            language: document.language?,
            text: found.place.text.as_str().into(),
            document,
            home,
            index: Arc::clone(&found.index),
            settings: Arc::clone(&chosen.settings),
            engine: chosen.engine.clone(),
            cursor: found.place.offset,
            shown: None,
            context: SharedContext::default(),
        };
        if is_recorded && chosen.trial.is_some() {
            self.open_opportunity(number, arrived, chosen, &task, found.editor.is_some()).await;
        }
        Some(task)
    }

    /// Returns the document of a place: the editor's, or a virtual one that gets the text of the request.
    async fn document(&mut self, found: &FoundIn, arrived: Instant) -> Option<FoundDocument> {
        let FoundIn { folder, index, editor, place } = found;
        if let Some(document) = editor {
            return self.document_of_editor(document, &place.text).await;
        }
        if self.asks_ahead(folder, place, arrived) {
            let document = self.documents.document(&folder.root, &place.path)?;
            let documents = Arc::clone(self.documents.snapshot());
            return Some(FoundDocument { documents, document, is_recorded: false });
        }
        let document = self.set_text(folder, index, place)?;
        let documents = Arc::clone(self.documents.snapshot());
        Some(FoundDocument { documents, document, is_recorded: true })
    }

    /// Waits until the editor has reported the text that the plugin sees, but not long.
    async fn document_of_editor(&self, known: &Arc<OpenDocument>, text: &str) -> Option<FoundDocument> {
        let editor = self.editor.as_ref()?;
        let start = Instant::now();
        loop {
            let documents = editor.documents().await?;
            let document = Arc::clone(documents.get(&known.key)?);
            let is_recorded = document.is_synchronized() && *document.text() == *text;
            if is_recorded || start.elapsed() > EDITOR_DELAY {
                return Some(FoundDocument { documents, document, is_recorded });
            }
            tokio::time::sleep(EDITOR_POLL).await;
        }
    }

    /// The documents of the editor in this process, by their paths.
    async fn editor_documents(&self) -> HashMap<PathBuf, Arc<OpenDocument>> {
        let documents = match &self.editor {
            Some(editor) => editor.documents().await,
            None => None,
        };
        let by_path = |document: &Arc<OpenDocument>| Some((document.path.clone()?, Arc::clone(document)));
        documents.iter().flat_map(|documents| documents.all().filter_map(by_path)).collect()
    }

    /// All files of the folders, with the text of the documents that are open: the editor's before our own.
    fn files(
        &self,
        folders: &[Arc<Folder>],
        indexes: &[Arc<WorkspaceIndex>],
        editor: &HashMap<PathBuf, Arc<OpenDocument>>,
    ) -> Vec<SearchedFile> {
        let of_folder = |(number, (folder, index)): (usize, (&Arc<Folder>, &Arc<WorkspaceIndex>))| {
            let open = self.documents.snapshot().all().chain(editor.values());
            let open: HashMap<String, Arc<str>> =
                open.filter_map(|document| Some((path_in(folder, document)?, document.text()))).collect();
            let file = |file: &syntax::SourceFile| {
                let text = open.get(&*file.path).map_or_else(|| file.text.clone(), SharedText::from);
                SearchedFile { folder: number, path: Arc::clone(&file.path), text }
            };
            index.files().iter().map(file).collect::<Vec<_>>()
        };
        folders.iter().zip(indexes).enumerate().flat_map(of_folder).collect()
    }

    /// Whether a request is for the text behind a suggestion that was passed on a moment ago: the developer has not accepted it yet.
    fn asks_ahead(&self, folder: &Folder, found: &FoundPlace, arrived: Instant) -> bool {
        let Some(last) = &self.last_answer else { return false };
        let Some(document) = self.documents.document(&folder.root, &found.path) else { return false };
        let text = document.text();
        let is_soon = arrived.saturating_duration_since(last.at) <= AHEAD;
        let inserted = text
            .get(..last.offset)
            .zip(text.get(last.offset..))
            .and_then(|(before, after)| found.text.strip_prefix(before)?.strip_suffix(after));
        let is_suggestion = |inserted: &str| {
            inserted.len() >= MIN_AHEAD_BYTES
                && last.text.trim_end().starts_with(inserted)
                && found.offset == last.offset + inserted.len()
        };
        is_soon && document.key == last.document && inserted.is_some_and(is_suggestion)
    }

    fn set_text(
        &mut self,
        folder: &Folder,
        index: &WorkspaceIndex,
        found: &FoundPlace,
    ) -> Option<Arc<OpenDocument>> {
        let text = index.file(&found.path)?.text.to_arc();
        let saved = SavedFile { root: &folder.root, path: &found.path, text };
        let (document, events) = self.documents.set_text(&saved, &found.text)?;
        self.record(events);
        Some(document)
    }

    async fn open_opportunity(
        &mut self,
        number: u64,
        arrived: Instant,
        chosen: &ChosenEngine,
        task: &GenerationTask,
        is_of_editor: bool,
    ) {
        let Some(trial) = &chosen.trial else { return };
        let recording = &self.session.trial;
        match self.editor.as_ref().filter(|_| is_of_editor) {
            Some(editor) => {
                let (document, offset) = (Arc::clone(&task.document), task.cursor);
                // The developer may have typed in between.
                if !editor.request(EditorRequest { number, document, offset }).await {
                    return;
                }
            }
            None => recording.request(number, &task.document, task.cursor, Trigger::Automatic),
        }
        recording.describe_soon(&self.session, &task.document);
        recording.record(EventKind::Asked { request: number });
        let question = ArmQuestion {
            request: number,
            arrived,
            text: Arc::clone(&task.text),
            cursor: task.cursor,
            popup: None,
            is_invoked: false,
        };
        let (trial, task, is_reused) = (Arc::clone(trial), task.clone(), false);
        let document = Arc::clone(&task.document.key);
        self.requests.insert(number, RecordedRequest { document, offset: task.cursor });
        self.numbers.push_back(number);
        if self.numbers.len() > MAX_COMPLETIONS
            && let Some(oldest) = self.numbers.pop_front()
        {
            self.requests.remove(&oldest);
        }
        recording.ask(Box::new(ShadowQuestion { trial, question, task, is_reused }));
    }

    fn answered(&mut self, number: u64, chosen: &ChosenEngine, id: Option<String>, answer: ArmAnswer) {
        let Some(request) = self.requests.get(&number) else { return };
        self.last_answer = Some(LastAnswer {
            document: Arc::clone(&request.document),
            offset: request.offset,
            text: answer.text.clone(),
            at: Instant::now(),
        });
        if let Some(id) = id {
            self.completions.push_back((id, number));
            if self.completions.len() > MAX_COMPLETIONS {
                self.completions.pop_front();
            }
        }
        // Plugins do not show line ends and blanks after the text.
        let offered = answer.text.trim_end();
        let item = || OfferedItem {
            id: number,
            arm: chosen.identity.name.as_str().into(),
            text: offered.to_owned(),
        };
        let items = (!offered.is_empty() && !answer.has_failed()).then(item).into_iter().collect();
        let event = AnswerEvent {
            request: number,
            answers: vec![answer],
            items,
            context: Vec::new(),
            decisions: chosen.decisions.clone(),
        };
        self.record(vec![EventKind::Answered(Box::new(event))]);
    }

    fn report(&mut self, event: &CompletionEvent) {
        let known = self.completions.iter().rfind(|(id, _)| *id == event.completion);
        let Some(number) = known.map(|(_, number)| *number) else { return };
        let event = match event.kind {
            CompletionEventKind::Shown => EventKind::Shown { item: number },
            CompletionEventKind::Accepted { is_partial } => EventKind::Accepted { item: number, is_partial },
            CompletionEventKind::Dismissed => {
                let Some(request) = self.requests.get(&number) else { return };
                EventKind::Dismissed {
                    document: Arc::clone(&request.document),
                    item: Some(number),
                    kind: OutcomeKind::Rejected,
                }
            }
        };
        self.record(vec![event]);
    }

    fn follow_saved(&mut self) {
        for folder in self.session.folders.all() {
            let events = self.documents.follow_saved(&folder.root, &folder.state().index);
            self.record(events);
        }
    }

    /// Passes events to the recorder. If it does not know the documents, it gets them as they are after the events.
    fn record(&mut self, events: Vec<EventKind>) {
        let recording = &self.session.trial;
        let Some(epoch) = recording.epoch() else { return };
        if self.epoch == Some(epoch) {
            events.into_iter().for_each(|event| recording.record(event));
            return;
        }
        self.epoch = Some(epoch);
        self.documents.reopened().into_iter().for_each(|event| recording.record(event));
        self.documents.snapshot().all().for_each(|document| recording.describe_soon(&self.session, document));
    }
}

/// Returns the path of a document in a folder, with `/`.
fn path_in(folder: &Folder, document: &OpenDocument) -> Option<String> {
    let path = document.path.as_ref()?.strip_prefix(&folder.root).ok()?.to_str()?;
    Some(path.replace(std::path::MAIN_SEPARATOR, "/"))
}
