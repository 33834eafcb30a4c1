//! The editor of the simulated developer: its documents, clock and requests, and what is expected of each request.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::ops::Range;

use cases::{
    ArmAnswer, ArmRole, EngineIdentity, Finish, OfferOutcome, Opportunity, OpportunityCursor,
    PredictionTimings, PrivacyLevel, SchemaVersion, Status, TrialMode, Trigger, TypingRhythm,
};
use syntax::Language;
use text::{Document, Edit};

use crate::recorder::{
    AnswerEvent, DocumentKey, Event, EventKind, OfferedItem, Recorder, RecorderSettings, RequestEvent,
};

/// Name of the engine that is shown.
pub(crate) const FAST: &str = "fast";
/// Name of the engine in shadow.
const SLOW: &str = "slow";
/// Time until the fast engine's answer, in ms.
const FAST_MS: u64 = 40;
/// Time until the slow engine's answer, in ms.
const SLOW_MS: u64 = 2_000;
/// Time between two ticks, in ms.
const TICK_MS: u64 = 500;

/// What belongs at the cursor of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// This text, of which the commit added everything.
    Text(String),
    /// The text before the cursor is a mistake, so that no completion is right.
    Mistake,
}

/// An editor with a recorder.
#[derive(Debug)]
pub(crate) struct EditorSession {
    recorder: Recorder,
    /// Simulated time in ms.
    now: u64,
    requests: u64,
    document: DocumentKey,
    language: Option<Language>,
    text: String,
    /// Answers of the slow engine that are under way.
    pending: VecDeque<(u64, AnswerEvent)>,
    pub(crate) rows: BTreeMap<String, Opportunity>,
    /// By document and the text before the cursor.
    expected: HashMap<(DocumentKey, u64), Expected>,
}

impl EditorSession {
    pub(crate) fn new(settings: RecorderSettings) -> EditorSession {
        EditorSession {
            recorder: Recorder::new(settings),
            now: 1_000,
            requests: 0,
            document: "".into(),
            language: None,
            text: String::new(),
            pending: VecDeque::new(),
            rows: BTreeMap::new(),
            expected: HashMap::new(),
        }
    }

    pub(crate) fn opportunities(&self) -> usize {
        self.rows.len()
    }

    /// Returns what belongs at the cursor of an opportunity.
    pub(crate) fn expected(&self, row: &Opportunity) -> Option<&Expected> {
        self.expected.get(&(row.cursor.path.as_str().into(), hash(&row.cursor.prefix)))
    }

    pub(crate) fn open(&mut self, document: DocumentKey, language: Language, text: &str) {
        self.document = document.clone();
        self.language = Some(language);
        text.clone_into(&mut self.text);
        self.send(EventKind::Opened { document, language: Some(language), text: Document::new(text) });
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end {
            let next = self.pending.front().map_or(end, |(time, _)| *time).max(self.now);
            self.now = end.min(self.now + TICK_MS).min(next.max(self.now + 1));
            while self.pending.front().is_some_and(|(time, _)| *time <= self.now) {
                if let Some((_, answer)) = self.pending.pop_front() {
                    self.send(EventKind::Answered(Box::new(answer)));
                }
            }
            self.send(EventKind::Tick);
        }
    }

    /// Changes a range of the open document.
    pub(crate) fn edit(&mut self, range: Range<usize>, text: &str) {
        self.edits(vec![Edit { range, text: text.to_owned() }]);
    }

    /// Sends edits in one message.
    pub(crate) fn edits(&mut self, edits: Vec<Edit>) {
        for edit in &edits {
            self.text.replace_range(edit.range.clone(), &edit.text);
        }
        self.send(EventKind::Edited { document: self.document.clone(), edits });
    }

    pub(crate) fn move_cursor(&mut self, offset: usize) {
        self.send(EventKind::CursorMoved { document: self.document.clone(), offset });
    }

    /// Requests a completion, and returns the id of the suggestion if the fast engine has this text.
    pub(crate) fn request(&mut self, offset: usize, expected: Expected, suggestion: &str) -> Option<u64> {
        let prefix = self.text[..offset].to_owned();
        self.expected.insert((self.document.clone(), hash(&prefix)), expected);
        self.requests += 1;
        let request = self.requests;
        let opportunity = self.opportunity(request);
        let event = RequestEvent { request, document: self.document.clone(), offset, opportunity };
        self.send(EventKind::Requested(Box::new(event)));
        let slow = AnswerEvent {
            request,
            answers: vec![answer(SLOW, "", SLOW_MS)],
            items: Vec::new(),
            context: Vec::new(),
            decisions: Vec::new(),
        };
        self.pending.push_back((self.now + SLOW_MS, slow));
        self.now += FAST_MS;
        let item = OfferedItem { id: request, arm: FAST.into(), text: suggestion.to_owned() };
        let items = if suggestion.is_empty() { Vec::new() } else { vec![item] };
        let answers = vec![answer(FAST, suggestion, FAST_MS)];
        self.send(EventKind::Answered(Box::new(AnswerEvent {
            request,
            answers,
            items,
            context: Vec::new(),
            decisions: Vec::new(),
        })));
        (!suggestion.is_empty()).then_some(request)
    }

    pub(crate) fn show(&mut self, item: u64) {
        self.send(EventKind::Shown { item });
    }

    /// Accepts a suggestion, which is inserted at an offset.
    pub(crate) fn accept(&mut self, item: u64, offset: usize, text: &str) {
        self.edit(offset..offset, text);
        self.send(EventKind::Accepted { item, is_partial: false });
    }

    /// Saves the document; the change on disk is reported a moment later.
    pub(crate) fn save(&mut self) {
        self.send(EventKind::Saved { document: self.document.clone() });
        self.wait(100);
        self.send(EventKind::ChangedOnDisk { document: self.document.clone() });
    }

    /// Replaces the document with another version from disk.
    pub(crate) fn check_out(&mut self, text: &str) {
        self.send(EventKind::ChangedOnDisk { document: self.document.clone() });
        self.edit(0..self.text.len(), text);
    }

    pub(crate) fn close(&mut self) {
        self.send(EventKind::Closed { document: self.document.clone() });
    }

    pub(crate) fn commit(&mut self, commit: &str) {
        self.send(EventKind::Committed { commit: commit.to_owned() });
    }

    fn send(&mut self, kind: EventKind) {
        let rows = self.recorder.handle(Event { time: self.now, kind });
        self.rows.extend(rows.into_iter().map(|row| (row.id.clone(), row)));
    }

    fn opportunity(&self, request: u64) -> Opportunity {
        Opportunity {
            schema: SchemaVersion::CURRENT,
            id: format!("{request:032x}"),
            trial: None,
            mode: TrialMode::Shadow,
            developer: "simulated".to_owned(),
            session: "simulated".to_owned(),
            opened_at: String::new(),
            trigger: Trigger::Automatic,
            privacy: PrivacyLevel::Full,
            secrets: 0,
            cursor: OpportunityCursor {
                language: self.language.map_or("", Language::name).to_owned(),
                path: self.document.to_string(),
                offset: 0,
                line: 0,
                character: 0,
                prefix: String::new(),
                suffix: String::new(),
            },
            commit: None,
            tree_hash: String::new(),
            context: Vec::new(),
            decisions: Vec::new(),
            similar_functions: Vec::new(),
            rhythm: TypingRhythm::default(),
            requests: 1,
            answers: Vec::new(),
            outcome: OfferOutcome::not_shown(),
            exposure: cases::Exposure::None,
            task: None,
            block_kind: None,
            truths: Vec::new(),
            lost: None,
        }
    }
}

fn answer(arm: &str, text: &str, ms: u64) -> ArmAnswer {
    ArmAnswer {
        arm: arm.to_owned(),
        engine: EngineIdentity {
            name: arm.to_owned(),
            kind: "simulated".to_owned(),
            model: String::new(),
            fingerprint: String::new(),
        },
        role: if arm == FAST { ArmRole::Shown } else { ArmRole::Shadow },
        status: if text.is_empty() { Status::Silent } else { Status::Ok },
        reason: None,
        raw: text.to_owned(),
        text: text.to_owned(),
        finish: Finish::Stop,
        asked: 0.0,
        ms: PredictionTimings { gather: 0.0, first: None, total: ms as f64 },
        confidence: None,
        tokens: None,
        cost: None,
        cached: false,
        metrics: cases::Metrics::new(),
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
