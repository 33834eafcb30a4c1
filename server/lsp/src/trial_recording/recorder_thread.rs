//! The thread of the recorder: time, the running trials, and the stores of their folders.

use std::collections::HashMap;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cases::{Opportunity, PrivacyLevel, TrialDefinition, TrialMode};
use engines::HashKey;
use replay::DataFolder;
use tower_lsp_server::gen_lsp_types::MessageType;
use trial::store::PlaceKey;
use trial::{DocumentKey, Event, EventKind, Recorder, RecorderSettings, Store, StoreSettings, definition};

use super::shadow_arms::ShadowArms;
use super::{DocumentFacts, RecordingMessage, RunningTrial, ShadowQuestion};
use crate::server::{Server, SharedState};

/// Time between two ticks of the recorder: short against the stages.
const TICK: Duration = Duration::from_millis(250);
/// Time between two looks at the definitions of trials: shorter than changing from a terminal to the editor.
const POLL: Duration = Duration::from_secs(1);
/// Maximum number of rows that wait for the facts of their document.
const MAX_WAITING: usize = 64;

/// State of the thread.
pub(super) struct RecorderThread {
    server: Weak<SharedState>,
    data: DataFolder,
    recorder: Recorder,
    start: Instant,
    /// Facts by document; `None` for documents that must not be recorded.
    facts: HashMap<DocumentKey, Option<Box<DocumentFacts>>>,
    /// Rows whose document is not described yet.
    waiting: Vec<Opportunity>,
    /// Stores by folder; `None` if it cannot be opened.
    stores: HashMap<PathBuf, (PrivacyLevel, Option<Store>)>,
    shadow: ShadowArms,
    /// The secret of this machine and the developer's pseudonym; made when the first row is stored.
    key: Option<HashKey>,
}

impl RecorderThread {
    pub(super) fn new(server: Weak<SharedState>, data: DataFolder) -> RecorderThread {
        RecorderThread {
            server,
            data,
            recorder: Recorder::new(RecorderSettings::default()),
            start: Instant::now(),
            facts: HashMap::new(),
            waiting: Vec::new(),
            stores: HashMap::new(),
            shadow: ShadowArms::default(),
            key: None,
        }
    }

    /// Runs until the server ends.
    pub(super) fn run(mut self, messages: &Receiver<RecordingMessage>) {
        completion::lower_thread_priority();
        let mut polled: Option<Instant> = None;
        let mut ticked = Instant::now();
        loop {
            if polled.is_none_or(|polled| polled.elapsed() >= POLL) {
                if !self.poll_trials() {
                    return;
                }
                polled = Some(Instant::now());
            }
            match messages.recv_timeout(TICK) {
                Ok(RecordingMessage::Event(time, kind)) => self.handle(time, kind),
                Ok(RecordingMessage::Facts(document, facts)) => self.set_facts(document, facts),
                Ok(RecordingMessage::AskInShadow(question)) => self.ask_in_shadow(question),
                Ok(RecordingMessage::Lost) => self.lose_documents(),
                Ok(RecordingMessage::Finish(stored)) => {
                    self.finish();
                    return drop(stored);
                }
                Err(RecvTimeoutError::Disconnected) => return self.finish(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.handle(ticked, EventKind::Tick);
            }
        }
    }

    fn handle(&mut self, time: Instant, kind: EventKind) {
        if let EventKind::Closed { document } | EventKind::Renamed { from: document, .. } = &kind {
            // Its next opening may be in another folder.
            self.waiting.retain(|row| row.cursor.path != **document);
        }
        let time = time.saturating_duration_since(self.start).as_millis();
        let rows = self.recorder.handle(Event { time: u64::try_from(time).unwrap_or(u64::MAX), kind });
        rows.into_iter().for_each(|row| self.store(row));
    }

    /// Asks the other arms, unless the request belongs to an opportunity at which they were asked.
    fn ask_in_shadow(&mut self, question: Box<ShadowQuestion>) {
        let is_recorded = !matches!(self.facts.get(&question.task.document.key), Some(None));
        if !is_recorded || !self.recorder.takes_answers_of(question.request) {
            return;
        }
        let (server, trial) = (question.task.server.clone(), Arc::clone(&question.trial));
        if let Err(reason) = self.shadow.ask(question) {
            server.trial.refuse(&server, &trial.folder, &trial.definition.name, &reason);
        }
    }

    /// Records the unanswered questions to the arms of ended trials.
    fn stop_shadow(&mut self, has_ended: impl Fn(&RunningTrial) -> bool) {
        for event in self.shadow.stop(has_ended) {
            self.handle(Instant::now(), EventKind::Answered(Box::new(event)));
        }
    }

    /// Nothing is known of the documents any more.
    fn lose_documents(&mut self) {
        for document in self.recorder.open_documents() {
            self.handle(Instant::now(), EventKind::Desynchronized { document });
        }
    }

    fn set_facts(&mut self, document: DocumentKey, facts: Option<Box<DocumentFacts>>) {
        if let Some(facts) = &facts {
            self.recorder.set_settings(facts.recorder);
        }
        self.facts.insert(document.clone(), facts);
        let (ready, waiting) = mem::take(&mut self.waiting)
            .into_iter()
            .partition(|row: &Opportunity| row.cursor.path == *document);
        self.waiting = waiting;
        let ready: Vec<Opportunity> = ready;
        ready.into_iter().for_each(|row| self.store(row));
    }

    /// Stores a row with the facts of its document; drops it if the document must not be recorded.
    fn store(&mut self, mut row: Opportunity) {
        let Some(facts) = self.facts.get(&*row.cursor.path) else {
            self.waiting.retain(|waiting| waiting.id != row.id);
            if self.waiting.len() < MAX_WAITING {
                self.waiting.push(row);
            }
            return;
        };
        let Some(facts) = facts.clone() else { return };
        let Some(developer) = self.developer() else { return };
        row.trial = Some(facts.trial.definition.name.clone());
        row.mode = facts.trial.definition.mode;
        row.developer = developer;
        row.cursor.path = facts.path.to_string();
        row.cursor.language = facts.language.to_owned();
        row.commit = facts.commit.clone();
        row.tree_hash = facts.tree_hash.clone();
        if let Some(store) = self.store_of(&facts) {
            store.put(row);
        }
    }

    fn developer(&mut self) -> Option<String> {
        if self.key.is_none() {
            match self.data.hash_key() {
                Ok(key) => self.key = Some(key),
                Err(error) => tracing::warn!(%error, "nothing is recorded"),
            }
        }
        self.key.as_ref().map(HashKey::id)
    }

    fn store_of(&mut self, facts: &DocumentFacts) -> Option<&Store> {
        let folder = &facts.trial.folder;
        if self.stores.get(folder).is_none_or(|(level, _)| *level != facts.level) {
            // The rows of the former level are written first.
            self.stores.remove(folder);
            let store = self.open_store(facts);
            self.stores.insert(folder.clone(), (facts.level, store));
        }
        self.stores.get(folder).and_then(|(_, store)| store.as_ref())
    }

    fn open_store(&self, facts: &DocumentFacts) -> Option<Store> {
        let key = PlaceKey::new(self.key.as_ref()?.bytes());
        let settings = StoreSettings {
            keep: facts.keep,
            max_bytes: facts.max_bytes,
            ..StoreSettings::new(facts.level, key)
        };
        match Store::open(&facts.trial.folder, &settings) {
            Ok(store) => Some(store),
            Err(error) => {
                self.warn(format!("the trial is not recorded: {error}"));
                None
            }
        }
    }

    fn warn(&self, message: String) {
        if let Some(state) = self.server.upgrade() {
            Server::from(state).show_and_log(MessageType::Warning, message);
        }
    }

    /// Reads which trials run. Returns false when the server has ended.
    fn poll_trials(&mut self) -> bool {
        let Some(state) = self.server.upgrade() else { return false };
        let mut trials = HashMap::new();
        for folder in state.folders.all() {
            let trial = self.data.trial(&folder.root);
            match definition::read_definition(&trial) {
                Ok(Some(definition)) if state.trial.is_refused(&trial, &definition.name) => {}
                Ok(Some(definition)) if definition.is_running() => {
                    let running = self.running_trial(&state, &folder.root, trial, definition);
                    trials.extend(running.map(|running| (folder.root.clone(), running)));
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "the definition of a trial is invalid"),
            }
        }
        self.stop_shadow(|stopped| !trials.values().any(|trial| std::ptr::eq(&**trial, stopped)));
        self.end_documents(|facts| !trials.values().any(|trial| trial.folder == facts.trial.folder));
        state.trial.set_trials(trials);
        drop(state);
        let messages: Vec<String> =
            self.stores.values().filter_map(|(_, store)| store.as_ref()?.take_message()).collect();
        messages.into_iter().for_each(|message| self.warn(message));
        true
    }

    /// Returns the trial of this definition, the same one as before if nothing has changed; `None` if it cannot run.
    fn running_trial(
        &mut self,
        state: &Arc<SharedState>,
        root: &Path,
        folder: PathBuf,
        definition: TrialDefinition,
    ) -> Option<Arc<RunningTrial>> {
        let before = state.trial.trial_in(root);
        if let Some(same) = before.filter(|before| before.folder == folder && before.definition == definition)
        {
            return Some(same);
        }
        if definition.mode == TrialMode::Duel {
            let server = Server::from(Arc::clone(state));
            state.trial.refuse(&server, &folder, &definition.name, "mode `duel` does not exist yet");
            return None;
        }
        let developer = match definition.mode {
            TrialMode::Assign => self.developer()?,
            _ => String::new(),
        };
        let stopped = state.stopping.child_token();
        Some(Arc::new(RunningTrial::new(folder, definition, developer, stopped)))
    }

    /// Takes the last truths of the documents whose trial has stopped, and records nothing there until they are described again.
    fn end_documents(&mut self, has_ended: impl Fn(&DocumentFacts) -> bool) {
        let ended =
            self.facts.iter().filter(|(_, facts)| facts.as_ref().is_some_and(|facts| has_ended(facts)));
        let ended: Vec<DocumentKey> = ended.map(|(document, _)| document.clone()).collect();
        for document in ended {
            self.handle(Instant::now(), EventKind::Closed { document: document.clone() });
            self.facts.remove(&document);
        }
    }

    /// Takes the last truths and writes all rows.
    fn finish(mut self) {
        self.stop_shadow(|_| true);
        for document in self.recorder.open_documents() {
            self.handle(Instant::now(), EventKind::Closed { document });
        }
        // Dropping a store writes the rows that wait.
        self.stores.clear();
    }
}
