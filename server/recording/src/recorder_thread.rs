//! The thread of the recorder: time, the running trials, and the stores of their folders.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cases::{Opportunity, PrivacyLevel, TrialDefinition, TrialMode};
use engines::HashKey;
use replay::DataFolder;
use trial::store::{PlaceKey, STORE_FILE, SessionLock, StoreFilter, StoredOpportunity, is_session_running};
use trial::{
    DocumentKey, EarlierOpportunity, Event, EventKind, Recorder, RecorderSettings, Store, StoreHealth,
    StoreReader, StoreSettings, definition, pause,
};

use crate::added_cases::AddedCases;
use crate::canary_questions;
use crate::commits::{self, Commits};
use crate::context_record::ContextRecord;
use crate::running_trial::{RunningTrial, TrialEngine};
use crate::shadow_arms::{ShadowArms, ShadowQuestion};
use crate::trial_clock::TrialClock;
use crate::trial_recording::{DocumentFacts, RecordingMessage, TrialProblem};
use crate::trial_session::{TrialSession, TrialSessionState};

/// Time between two ticks of the recorder: short against the stages.
const TICK: Duration = Duration::from_millis(250);
/// Time between two looks at the definitions of trials: shorter than changing from a terminal to the editor.
const POLL: Duration = Duration::from_secs(1);
/// Maximum number of rows that wait for the facts of their document.
const MAX_WAITING: usize = 64;
/// Maximum number of rows of an earlier session that are continued in a document.
const MAX_RESUMED: usize = 128;

/// Documents that are described before those are forgotten that nothing is recorded of any more. They are described again when they are
/// opened.
const MAX_FACTS: usize = 256;

/// Number of rows whose code version is known: several times those that are followed.
const MAX_CODE_VERSIONS: usize = 4_096;

/// Pause in the requests after which canary questions are asked.
const CANARY_PAUSE: Duration = Duration::from_secs(5);
/// Time between two looks whether canary questions are due.
const CANARY_CHECK: Duration = Duration::from_secs(10 * 60);

/// State of the thread.
pub(crate) struct RecorderThread {
    session: Weak<TrialSessionState>,
    data: DataFolder,
    recorder: Recorder,
    clock: Arc<TrialClock>,
    start: Instant,
    /// Time of the latest event.
    latest: Instant,
    /// Facts by document; `None` for documents that must not be recorded.
    facts: HashMap<DocumentKey, Option<Box<DocumentFacts>>>,
    /// Rows whose document is not described yet.
    waiting: Vec<Opportunity>,
    /// Stores by folder, or why it cannot be opened.
    stores: HashMap<PathBuf, (PrivacyLevel, Result<Store, String>)>,
    /// Locks of this session, by folder.
    sessions: HashMap<PathBuf, SessionLock>,
    /// Documents in which the opportunities of earlier sessions were looked for.
    resumed: HashSet<DocumentKey>,
    commits: Commits,
    added_cases: AddedCases,
    /// When it was looked whether canary questions are due.
    canaries_asked: Option<Instant>,
    /// Arms that may be due.
    canaries: Option<(Arc<RunningTrial>, Arc<[TrialEngine]>)>,
    /// When an engine was asked last.
    asked: Option<Instant>,
    context: ContextRecord,
    /// Commit and hash of the files of the rows, by id.
    code_versions: HashMap<String, (Option<String>, String)>,
    shadow: ShadowArms,
    /// The secret of this machine and the developer's pseudonym; made when the first row is stored.
    key: Option<HashKey>,
}

impl RecorderThread {
    pub(crate) fn new(
        session: Weak<TrialSessionState>,
        data: DataFolder,
        clock: Arc<TrialClock>,
    ) -> RecorderThread {
        let start = clock.now();
        RecorderThread {
            session,
            data,
            recorder: Recorder::new(RecorderSettings::default()),
            clock,
            start,
            latest: start,
            facts: HashMap::new(),
            waiting: Vec::new(),
            stores: HashMap::new(),
            sessions: HashMap::new(),
            resumed: HashSet::new(),
            commits: Commits::default(),
            added_cases: AddedCases::default(),
            canaries_asked: None,
            canaries: None,
            asked: None,
            context: ContextRecord::default(),
            code_versions: HashMap::new(),
            shadow: ShadowArms::default(),
            key: None,
        }
    }

    /// Runs until the server ends.
    pub(crate) fn run(mut self, messages: &Receiver<RecordingMessage>) {
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
                Ok(RecordingMessage::Asked(question)) => self.ask(question),
                Ok(RecordingMessage::TimePassed(until, handled)) => {
                    self.pass_time(until);
                    drop(handled);
                }
                Ok(RecordingMessage::TrialsChanged(handled)) => {
                    if !self.poll_trials() {
                        return;
                    }
                    polled = Some(Instant::now());
                    drop(handled);
                }
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
                self.handle(self.now(), EventKind::Tick);
                let is_pause = self.asked.is_some_and(|asked| asked.elapsed() >= CANARY_PAUSE);
                if let Some((trial, engines)) = self.canaries.take_if(|_| is_pause) {
                    canary_questions::ask(trial, engines);
                }
            }
        }
    }

    /// The current time: simulated time does not pass ahead of the messages that wait.
    fn now(&self) -> Instant {
        if self.clock.is_simulated() { self.latest } else { self.clock.now() }
    }

    /// Ticks and looks for commits as often as the system's clock would, and waits for the disk: it has less time than that clock would
    /// give it.
    fn pass_time(&mut self, until: Instant) {
        if until.saturating_duration_since(self.latest) >= POLL {
            self.poll_commits();
        }
        while self.latest + TICK < until {
            self.handle(self.latest + TICK, EventKind::Tick);
        }
        self.handle(until, EventKind::Tick);
        for store in self.stores.values().filter_map(|(_, store)| store.as_ref().ok()) {
            // A writer that is stuck reports it.
            let _ = store.flush();
        }
    }

    fn handle(&mut self, time: Instant, kind: EventKind) {
        // The time of a message is taken shortly before it is queued.
        self.latest = self.latest.max(time);
        if let EventKind::Closed { document } | EventKind::Renamed { from: document, .. } = &kind {
            // Its next opening may be in another folder.
            self.waiting.retain(|row| row.cursor.path != **document);
        }
        let time = self.latest.saturating_duration_since(self.start).as_millis();
        let rows = self.recorder.handle(Event { time: u64::try_from(time).unwrap_or(u64::MAX), kind });
        rows.into_iter().for_each(|row| self.store(row));
    }

    /// Gathers context and asks the arms in shadow, unless the request belongs to an opportunity at which they were asked.
    fn ask(&mut self, question: Box<ShadowQuestion>) {
        let recorder = &self.recorder;
        self.shadow.cancel_unless(|request| recorder.takes_answers_of(request));
        let is_recorded = !matches!(self.facts.get(&question.task.document.key), Some(None));
        if !is_recorded || !recorder.takes_answers_of(question.question.request) {
            return;
        }
        if question.is_reused {
            // The opportunity stays at this cursor, as if the shown engine had been asked there.
            self.handle(self.now(), EventKind::Asked { request: question.question.request });
        }
        let (session, trial) = (question.task.session.clone(), Arc::clone(&question.trial));
        self.asked = Some(Instant::now());
        self.context.gather(question.task.clone(), question.question.request);
        self.ask_canaries(&question);
        if trial.definition.mode != TrialMode::Shadow {
            return;
        }
        if let Err(reason) = self.shadow.ask(question) {
            session.trial.refuse(&session, &trial.folder, &trial.definition.name, &reason);
        }
    }

    /// Remembers to ask the canary questions. They are asked while the developer works, so that no arm is started for them alone, but in
    /// a pause, so that no completion waits for them.
    fn ask_canaries(&mut self, question: &ShadowQuestion) {
        let is_new = self.canaries_asked.is_none_or(|asked| asked.elapsed() >= CANARY_CHECK);
        let Some(folder) = question.task.home.folder.as_ref().filter(|_| is_new) else { return };
        self.canaries_asked = Some(Instant::now());
        let (task, trial) = (&question.task, &question.trial);
        if let Ok(engines) = trial.engines(&task.session, folder, &task.settings) {
            self.canaries = Some((Arc::clone(trial), engines));
        }
    }

    /// Records the unanswered questions to the arms of ended trials.
    fn stop_shadow(&mut self, has_ended: impl Fn(&RunningTrial) -> bool) {
        for event in self.shadow.stop(has_ended) {
            self.handle(self.now(), EventKind::Answered(Box::new(event)));
        }
    }

    /// Nothing is known of the documents any more.
    fn lose_documents(&mut self) {
        for document in self.recorder.open_documents() {
            self.handle(self.now(), EventKind::Desynchronized { document });
        }
    }

    fn set_facts(&mut self, document: DocumentKey, facts: Option<Box<DocumentFacts>>) {
        if let Some(facts) = &facts {
            self.recorder.set_settings(facts.recorder);
            let is_new = self.recorder.is_open(&document) && !self.resumed.contains(&document);
            if is_new && self.resume(&document, facts) {
                self.resumed.insert(document.clone());
            }
        }
        self.facts.insert(document.clone(), facts);
        if self.facts.len() > MAX_FACTS {
            let recorder = &self.recorder;
            self.facts.retain(|described, _| *described == document || recorder.knows(described));
        }
        let (ready, waiting) = mem::take(&mut self.waiting)
            .into_iter()
            .partition(|row: &Opportunity| row.cursor.path == *document);
        self.waiting = waiting;
        let ready: Vec<Opportunity> = ready;
        ready.into_iter().for_each(|row| self.store(row));
    }

    /// Continues the opportunities that an earlier session left in a document, because its server was killed or ended. Returns false if
    /// they cannot be read now; they may be once the document is described again.
    fn resume(&mut self, document: &DocumentKey, facts: &DocumentFacts) -> bool {
        let Some(developer) = self.developer() else { return true };
        let rows = match self.unfinished_rows(facts, &developer) {
            Ok(rows) => rows,
            Err(error) => {
                tracing::warn!(%error, "opportunities of earlier sessions are not continued");
                return false;
            }
        };
        // Rows of a lower level do not contain the text.
        let (readable, unreadable): (Vec<Opportunity>, Vec<Opportunity>) =
            rows.into_iter().partition(|row| row.privacy == PrivacyLevel::Full);
        let mut lost: Vec<Opportunity> = unreadable.into_iter().map(trial::interrupted).collect();
        let date = self.clock.system_time();
        let readable = readable.into_iter().map(|mut row| {
            row.cursor.path = document.to_string();
            EarlierOpportunity { age: age_at(&row, date), row }
        });
        let time = self.now().saturating_duration_since(self.start).as_millis();
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        let not_found = self.recorder.resume(document, readable.collect(), time);
        lost.extend(not_found.into_iter().map(|mut row| {
            row.cursor.path = facts.path.to_string();
            row
        }));
        if let Some(store) = self.store_of(facts).filter(|_| !lost.is_empty()) {
            lost.into_iter().for_each(|row| store.put(row));
        }
        true
    }

    /// Returns the rows of a document that sessions which have ended might continue, oldest first.
    fn unfinished_rows(
        &self,
        facts: &DocumentFacts,
        developer: &str,
    ) -> Result<Vec<Opportunity>, trial::StoreError> {
        let folder = &facts.trial.folder;
        let path = folder.join(STORE_FILE);
        let Some(key) = self.key.as_ref().filter(|_| path.is_file()) else { return Ok(Vec::new()) };
        let since = self.clock.system_time().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = since.saturating_sub(Duration::from_millis(facts.recorder.max_age));
        let filter = StoreFilter {
            trial: Some(facts.trial.definition.name.clone()),
            place: Some(PlaceKey::new(key.bytes()).hash(&facts.path)),
            from: i64::try_from(since.as_millis()).ok(),
            ..StoreFilter::default()
        };
        let own = self.session.upgrade().map(|state| state.trial.session_id()).unwrap_or_default();
        let mut rows = Vec::new();
        StoreReader::open(&path)?.visit(&filter, |StoredOpportunity { opportunity, .. }| {
            if trial::is_unfinished(&opportunity)
                && opportunity.session != own
                && opportunity.developer == developer
            {
                rows.push(opportunity);
            }
            ControlFlow::<()>::Continue(())
        })?;
        let mut running: HashMap<String, bool> = HashMap::new();
        rows.retain(|row| {
            let is_running = || is_session_running(folder, &row.session);
            !*running.entry(row.session.clone()).or_insert_with(is_running)
        });
        rows.drain(..rows.len().saturating_sub(MAX_RESUMED));
        Ok(rows)
    }

    /// Reports the commits that were made since the last look.
    fn poll_commits(&mut self) {
        for (root, commit) in self.commits.moved() {
            let file = |document: DocumentKey| {
                let facts = self.facts.get(&document)?.as_ref()?;
                (facts.root == root).then(|| (document, Arc::clone(&facts.path)))
            };
            let files = self.recorder.followed_documents().into_iter().filter_map(file).collect();
            commits::report(self.session.clone(), root, commit, files);
        }
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
        row.cursor.path = facts.path.to_string();
        // A row of an earlier session keeps what is known of that moment.
        if row.trial.is_none() {
            row.trial = Some(facts.trial.definition.name.clone());
            row.mode = facts.trial.definition.mode;
            row.developer = developer;
            row.cursor.language = facts.language.to_owned();
            (row.commit, row.tree_hash) = self.code_version(&row.id, &facts);
        }
        if let Some(store) = self.store_of(&facts) {
            store.put(row);
        }
    }

    /// Returns the commit and the hash of the files at the time at which a row was stored first.
    fn code_version(&mut self, id: &str, facts: &DocumentFacts) -> (Option<String>, String) {
        if let Some(known) = self.code_versions.get(id) {
            return known.clone();
        }
        if self.code_versions.len() >= MAX_CODE_VERSIONS {
            self.code_versions.clear();
        }
        let commit = self.commits.commit_of(&facts.root).map(str::to_owned).or_else(|| facts.commit.clone());
        let version = (commit, facts.tree_hash.clone());
        self.code_versions.insert(id.to_owned(), version.clone());
        version
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
        self.stores.get(folder).and_then(|(_, store)| store.as_ref().ok())
    }

    fn open_store(&mut self, facts: &DocumentFacts) -> Result<Store, String> {
        let key = self.key.as_ref().ok_or("there is no key for its rows")?;
        let key = PlaceKey::new(key.bytes());
        let settings = StoreSettings {
            keep: facts.keep,
            max_bytes: facts.max_bytes,
            ..StoreSettings::new(facts.level, key)
        };
        match Store::open(&facts.trial.folder, &settings) {
            Ok(store) => {
                self.lock_session(&facts.trial.folder);
                Ok(store)
            }
            Err(error) => {
                self.warn(format!("the trial is not recorded: {error}"));
                Err(error.to_string())
            }
        }
    }

    /// Tells other servers that this session continues its opportunities itself.
    fn lock_session(&mut self, folder: &Path) {
        let Some(state) = self.session.upgrade().filter(|_| !self.sessions.contains_key(folder)) else {
            return;
        };
        match SessionLock::acquire(folder, &state.trial.session_id()) {
            Ok(lock) => drop(self.sessions.insert(folder.to_owned(), lock)),
            Err(error) => {
                tracing::warn!(%error, "other servers may continue the opportunities of this session")
            }
        }
    }

    fn warn(&self, message: String) {
        if let Some(state) = self.session.upgrade() {
            TrialSession::from(state).warn_user(message);
        }
    }

    /// Reads which trials run. Returns false when the server has ended.
    fn poll_trials(&mut self) -> bool {
        let Some(state) = self.session.upgrade() else { return false };
        let (mut trials, mut problems) = (HashMap::new(), HashMap::new());
        for folder in state.folders.all() {
            let trial = self.data.trial(&folder.root);
            let definition = match definition::read_definition(&trial) {
                Ok(definition) => definition.filter(TrialDefinition::is_running),
                Err(error) => {
                    let reason = error.to_string();
                    problems.insert(trial, TrialProblem { trial: None, reason, paused_until: None });
                    continue;
                }
            };
            let Some(definition) = definition else { continue };
            let name = Some((definition.name.clone(), definition.mode));
            let pause = self.pause(&trial);
            let refusal = state.trial.refusal(&trial, &definition.name);
            let (reason, paused_until) =
                pause.clone().map_or((refusal.clone(), None), |(reason, until)| (Some(reason), until));
            let reason = reason.or_else(|| self.store_problem(&trial));
            let problem = reason.map(|reason| TrialProblem { trial: name, reason, paused_until });
            problems.extend(problem.map(|problem| (trial.clone(), problem)));
            if refusal.is_none() && pause.is_none() {
                let running = self.running_trial(&state, &folder.root, trial, definition);
                trials.extend(running.map(|running| (folder.root.clone(), running)));
            }
        }
        self.stop_shadow(|stopped| !trials.values().any(|trial| std::ptr::eq(&**trial, stopped)));
        self.end_documents(|facts| !trials.values().any(|trial| trial.folder == facts.trial.folder));
        self.commits.follow(trials.keys().map(PathBuf::as_path));
        state.trial.set_trials(trials);
        state.trial.set_problems(problems);
        state.trial.changed.notify_one();
        self.added_cases.poll(&TrialSession::from(state));
        self.poll_commits();
        let messages: Vec<String> =
            self.stores.values().filter_map(|(_, store)| store.as_ref().ok()?.take_message()).collect();
        messages.into_iter().for_each(|message| self.warn(message));
        true
    }

    /// Returns that the developer paused the recording, and when it resumes.
    fn pause(&self, folder: &Path) -> Option<(String, Option<SystemTime>)> {
        match pause::paused_until(folder, self.clock.system_time()) {
            Ok(None) => None,
            Ok(Some(until)) => {
                let time = humantime::format_rfc3339_seconds(until);
                Some((format!("recording is paused until {time}"), Some(until)))
            }
            Err(error) => Some((error.to_string(), None)),
        }
    }

    /// Returns why the rows of a folder for trials are not stored.
    fn store_problem(&self, folder: &Path) -> Option<String> {
        match self.stores.get(folder)? {
            (_, Err(reason)) => Some(reason.clone()),
            (_, Ok(store)) => match store.health() {
                StoreHealth::Off { message } => Some(message),
                StoreHealth::Recording => None,
            },
        }
    }

    /// Returns the trial of this definition, the same one as before if nothing has changed; `None` if it cannot run.
    fn running_trial(
        &mut self,
        state: &Arc<TrialSessionState>,
        root: &Path,
        folder: PathBuf,
        definition: TrialDefinition,
    ) -> Option<Arc<RunningTrial>> {
        let before = state.trial.trial_in(root);
        if let Some(same) = before.filter(|before| before.folder == folder && before.definition == definition)
        {
            return Some(same);
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
            self.handle(self.now(), EventKind::Closed { document: document.clone() });
            self.facts.remove(&document);
        }
    }

    /// Takes the last truths and writes all rows.
    fn finish(mut self) {
        self.stop_shadow(|_| true);
        for document in self.recorder.open_documents() {
            self.handle(self.now(), EventKind::Closed { document });
        }
        let dropped: u64 =
            self.stores.values().filter_map(|(_, store)| Some(store.as_ref().ok()?.counts().dropped)).sum();
        if dropped > 0 {
            tracing::warn!(dropped, "opportunities of the trial were not stored");
        }
        // Dropping a store writes the rows that wait. The session ends afterwards.
        self.stores.clear();
        self.sessions.clear();
    }
}

/// Returns the time in ms since a row was opened. It is zero if the system's clock was set back.
fn age_at(row: &Opportunity, date: SystemTime) -> u64 {
    let opened = humantime::parse_rfc3339(&row.opened_at).unwrap_or(date);
    let age = date.duration_since(opened).unwrap_or_default();
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}
