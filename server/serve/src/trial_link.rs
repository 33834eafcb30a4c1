//! Recording: finds the place of each request, opens an opportunity there, asks the arms in shadow, and follows the saved files.
//!
//! ```text
//! front door ──► bounded queue ──► one task: search ──► virtual documents ──► recorder ──► arms in shadow
//!                                    ▲ saved files, twice a second
//! ```
//!
//! One task handles all messages in order of their arrival, so that the text of a document never goes back. Nothing waits for it but an
//! answer of our own, which needs the place: a full queue drops recording, never a completion.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cases::{ArmAnswer, ArmRole, OutcomeKind, Trigger};
use completion::{SharedContext, WorkspaceIndex};
use recording::{ArmQuestion, GenerationTask, RecorderEpoch, ShadowQuestion, TrialSession};
use session::{Folder, OpenDocument, RequestSnapshot, document_admission};
use tokio::sync::{mpsc, oneshot};
use trial::{AnswerEvent, DocumentKey, EventKind, OfferedItem};

use crate::chosen_engine::ChosenEngine;
use crate::dialect::Dialect;
use crate::routes;
use crate::search_files::{FoundPlace, SearchedFile, search};
use crate::seen_answer::{SeenAnswer, read};
use crate::virtual_documents::{SavedFile, VirtualDocuments};

/// Messages that wait: some seconds of typing.
const QUEUE: usize = 256;
/// Time between two looks at the saved files.
const SAVES_POLL: Duration = Duration::from_millis(500);
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
    /// Receives the place, for an answer of our own.
    pub(crate) place: Option<oneshot::Sender<Option<GenerationTask>>>,
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
    /// Starts the task. It ends with the session.
    pub(crate) fn start(session: TrialSession) -> TrialLink {
        let (queue, messages) = mpsc::channel(QUEUE);
        let task = LinkTask {
            session,
            documents: VirtualDocuments::default(),
            epoch: None,
            requests: HashMap::new(),
            numbers: VecDeque::new(),
            completions: VecDeque::new(),
        };
        tokio::spawn(task.run(messages));
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

struct LinkTask {
    session: TrialSession,
    documents: VirtualDocuments,
    /// The time in which the recorder knows the documents.
    epoch: Option<RecorderEpoch>,
    /// Documents of the recorded requests, by number.
    requests: HashMap<u64, DocumentKey>,
    /// Recorded requests, oldest first.
    numbers: VecDeque<u64>,
    /// Ids of completions with their request, oldest first.
    completions: VecDeque<(String, u64)>,
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
        let SeenRequest { number, arrived, dialect, body, chosen, place } = request;
        if chosen.trial.is_none() && place.is_none() {
            return;
        }
        // What was saved before the request is known before it.
        self.follow_saved();
        let task = self.place(number, arrived, (dialect, body), &chosen).await;
        if let Some(task) = task.as_ref().filter(|_| chosen.trial.is_some()) {
            self.open_opportunity(number, arrived, &chosen, task);
        }
        if let Some(place) = place {
            // The plugin may not wait any more.
            let _ = place.send(task);
        }
    }

    async fn place(
        &mut self,
        number: u64,
        arrived: Instant,
        (dialect, body): (Dialect, Bytes),
        chosen: &ChosenEngine,
    ) -> Option<GenerationTask> {
        let folders = self.session.folders.all();
        let indexes: Vec<Arc<WorkspaceIndex>> = folders.iter().map(|folder| folder.state().index).collect();
        let files = self.files(&folders, &indexes);
        let found =
            completion::run_blocking(move |_| search(&routes::parse(dialect, &body)?.fill?, &files)).await;
        let found = found.ok().flatten()?;
        let (folder, index) = (&folders[found.folder], Arc::clone(&indexes[found.folder]));
        let document = self.set_text(folder, &index, &found)?;
        let home = self.session.folders.locate(&document).await;
        if !home.is_inside || document_admission::refusal(&document, &home).await.is_some() {
            return None;
        }
        let documents = Arc::clone(self.documents.snapshot());
        Some(GenerationTask {
            session: self.session.clone(),
            snapshot: RequestSnapshot { documents, arrival: number, time: arrived },
            path_gate: document_admission::path_gate(&document, &home),
            language: document.language?,
            text: document.text(),
            document,
            home,
            index,
            settings: Arc::clone(&chosen.settings),
            engine: chosen.engine.clone(),
            cursor: found.offset,
            shown: None,
            context: SharedContext::default(),
        })
    }

    /// All files of the folders, with the text of the documents that are open.
    fn files(&self, folders: &[Arc<Folder>], indexes: &[Arc<WorkspaceIndex>]) -> Vec<SearchedFile> {
        let of_folder = |(number, (folder, index)): (usize, (&Arc<Folder>, &Arc<WorkspaceIndex>))| {
            let root: PathBuf = folder.root.clone();
            let file = |file: &syntax::SourceFile| SearchedFile {
                folder: number,
                path: Arc::clone(&file.path),
                text: self.documents.text(&root, &file.path).unwrap_or_else(|| Arc::clone(&file.text)),
            };
            index.files().iter().map(file).collect::<Vec<_>>()
        };
        folders.iter().zip(indexes).enumerate().flat_map(of_folder).collect()
    }

    fn set_text(
        &mut self,
        folder: &Folder,
        index: &WorkspaceIndex,
        found: &FoundPlace,
    ) -> Option<Arc<OpenDocument>> {
        let text = Arc::clone(&index.file(&found.path)?.text);
        let saved = SavedFile { root: &folder.root, path: &found.path, text };
        let (document, events) = self.documents.set_text(&saved, &found.text)?;
        self.record(events);
        Some(document)
    }

    fn open_opportunity(
        &mut self,
        number: u64,
        arrived: Instant,
        chosen: &ChosenEngine,
        task: &GenerationTask,
    ) {
        let Some(trial) = &chosen.trial else { return };
        let recording = &self.session.trial;
        recording.request(number, &task.document, task.cursor, Trigger::Automatic);
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
        self.requests.insert(number, Arc::clone(&task.document.key));
        self.numbers.push_back(number);
        if self.numbers.len() > MAX_COMPLETIONS
            && let Some(oldest) = self.numbers.pop_front()
        {
            self.requests.remove(&oldest);
        }
        recording.ask(Box::new(ShadowQuestion { trial, question, task, is_reused }));
    }

    fn answered(&mut self, number: u64, chosen: &ChosenEngine, id: Option<String>, answer: ArmAnswer) {
        if !self.requests.contains_key(&number) {
            return;
        }
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
                let Some(document) = self.requests.get(&number) else { return };
                EventKind::Dismissed {
                    document: Arc::clone(document),
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
