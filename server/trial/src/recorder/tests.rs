//! Sessions of a developer, event by event.

mod oracle;
mod outcomes;
mod provenance;
mod stages;

use std::collections::BTreeMap;
use std::ops::Range;

use cases::{
    ArmAnswer, ArmRole, EngineIdentity, Exposure, Finish, Opportunity, OpportunityCursor, ProvenanceSpan,
    Status, Trigger, Truth, TruthStage,
};
use syntax::{Language, SyntaxCache};
use text::{Document, Edit};

use super::*;

/// A developer with an editor, a recorder and the rows that it wrote.
pub(super) struct Session {
    pub(super) recorder: Recorder,
    pub(super) text: String,
    pub(super) time: u64,
    pub(super) requests: u64,
    /// The syntax of the document, as the editor's session shares it.
    pub(super) syntax: SyntaxCache,
    pub(super) rows: BTreeMap<String, Opportunity>,
    pub(super) writes: usize,
}

impl Session {
    /// Opens a document.
    pub(super) fn new(language: Option<Language>, text: &str) -> Session {
        let syntax = SyntaxCache::default();
        let mut session = Session {
            recorder: Recorder::new(RecorderSettings::default()),
            text: text.to_owned(),
            time: 1_000,
            requests: 0,
            syntax: syntax.clone(),
            rows: BTreeMap::new(),
            writes: 0,
        };
        let (document, text) = ("a".into(), Document::new(text));
        session.send(EventKind::Opened { document, language, text, syntax });
        session
    }

    pub(super) fn python(text: &str) -> Session {
        Session::new(Some(Language::Python), text)
    }

    pub(super) fn send(&mut self, kind: EventKind) {
        let rows = self.recorder.handle(Event { time: self.time, kind });
        self.writes += rows.len();
        self.rows.extend(rows.into_iter().map(|row| (row.id.clone(), row)));
    }

    /// Lets time pass, in steps of half a second.
    pub(super) fn wait(&mut self, ms: u64) {
        let end = self.time + ms;
        while self.time < end {
            self.time = end.min(self.time + 500);
            self.send(EventKind::Tick);
        }
    }

    pub(super) fn edit(&mut self, range: Range<usize>, text: &str) {
        self.edits(&[(range, text)]);
    }

    pub(super) fn edits(&mut self, edits: &[(Range<usize>, &str)]) {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(range, text)| Edit { range: range.clone(), text: (*text).to_owned() })
            .collect();
        for edit in &edits {
            self.text.replace_range(edit.range.clone(), &edit.text);
        }
        self.send(EventKind::Edited { document: "a".into(), edits });
    }

    /// The document has another text at the next look.
    pub(super) fn observe(&mut self, text: &str) {
        let edit = Edit::between(&self.text, text).expect("another text");
        self.text = text.to_owned();
        self.send(EventKind::Observed { document: "a".into(), edit });
    }

    /// Offset of the first occurrence of `text`.
    #[track_caller]
    pub(super) fn at(&self, text: &str) -> usize {
        self.text.find(text).expect("it is in the document")
    }

    /// Types at an offset, key by key.
    pub(super) fn type_at(&mut self, mut at: usize, text: &str) {
        for key in text.chars() {
            self.time += 100;
            self.edit(at..at, key.encode_utf8(&mut [0; 4]));
            at += key.len_utf8();
        }
    }

    /// Requests a completion; the opportunity is called `o1`, `o2` and so on.
    pub(super) fn request(&mut self, offset: usize) -> String {
        self.request_as(offset, Trigger::Automatic)
    }

    pub(super) fn request_as(&mut self, offset: usize, trigger: Trigger) -> String {
        self.requests += 1;
        let id = format!("o{}", self.requests);
        let request = RequestEvent {
            request: self.requests,
            document: "a".into(),
            offset,
            opportunity: row(&id, trigger),
        };
        self.send(EventKind::Requested(Box::new(request)));
        id
    }

    /// Answers the last request with these texts, by arm. Item ids are the number of the request times ten, and counted on.
    pub(super) fn answer(&mut self, texts: &[(&str, &str)]) {
        self.answer_request(self.requests, texts);
    }

    /// As [`Session::answer`], for any request.
    pub(super) fn answer_request(&mut self, request: u64, texts: &[(&str, &str)]) {
        let item = |(index, (arm, text)): (usize, &(&str, &str))| OfferedItem {
            id: request * 10 + index as u64,
            arm: (*arm).into(),
            text: (*text).to_owned(),
        };
        let answer = AnswerEvent {
            request,
            answers: texts.iter().map(|(arm, text)| arm_answer(arm, text)).collect(),
            items: texts.iter().enumerate().map(item).collect(),
            context: Vec::new(),
            decisions: Vec::new(),
        };
        self.send(EventKind::Answered(Box::new(answer)));
    }

    #[track_caller]
    pub(super) fn row(&self, id: &str) -> &Opportunity {
        self.rows.get(id).expect("the row was written")
    }

    #[track_caller]
    pub(super) fn truth(&self, id: &str, stage: TruthStage) -> &Truth {
        let found = self.row(id).truths.iter().find(|truth| truth.stage == stage);
        found.unwrap_or_else(|| panic!("no truth of {stage} in {:?}", self.row(id).truths))
    }

    /// Returns the stages and texts of the truths.
    pub(super) fn truths(&self, id: &str) -> Vec<(TruthStage, &str)> {
        self.row(id).truths.iter().map(|truth| (truth.stage, &*truth.text)).collect()
    }

    /// The engine of the last request is asked.
    pub(super) fn ask(&mut self) {
        self.send(EventKind::Asked { request: self.requests });
    }

    /// Commits the document as it is.
    pub(super) fn commit(&mut self) {
        self.commit_text(&self.text.clone());
    }

    /// Commits another text of the document.
    pub(super) fn commit_text(&mut self, text: &str) {
        self.commit_made_ago(text, 0);
    }

    /// A commit with a text of the document is checked out, which was made some time ago.
    pub(super) fn commit_made_ago(&mut self, text: &str, age: u64) {
        let file = CommittedFile { document: "a".into(), text: text.into() };
        self.send(EventKind::Committed { files: vec![file], age });
    }

    pub(super) fn save(&mut self) {
        self.send(EventKind::Saved { document: "a".into() });
    }
}

/// A document is opened.
pub(super) fn opened(document: &str, language: Option<Language>, text: &str) -> EventKind {
    let (document, text) = (document.into(), Document::new(text));
    EventKind::Opened { document, language, text, syntax: SyntaxCache::default() }
}

/// The rows of a session that was killed, for the next one.
pub(super) fn earlier(session: &Session, age: u64) -> Vec<EarlierOpportunity> {
    session.rows.values().map(|row| EarlierOpportunity { row: row.clone(), age }).collect()
}

/// Returns the text of each span with the word of its provenance.
pub(super) fn spans(truth: &Truth) -> Vec<(&str, &'static str)> {
    let span = |span: &ProvenanceSpan| -> (Range<usize>, &'static str) {
        (span.range.clone(), span.provenance.name())
    };
    truth.provenance.iter().map(span).map(|(range, name)| (&truth.text[range], name)).collect()
}

pub(super) fn row(id: &str, trigger: Trigger) -> Opportunity {
    Opportunity {
        developer: "d".to_owned(),
        session: "s".to_owned(),
        ..Opportunity::new(id.to_owned(), trigger, OpportunityCursor::at_start("python", "a.py"))
    }
}

pub(super) fn arm_answer(arm: &str, text: &str) -> ArmAnswer {
    ArmAnswer {
        raw: text.to_owned(),
        text: text.to_owned(),
        finish: Finish::Stop,
        ..ArmAnswer::empty(
            arm.to_owned(),
            EngineIdentity {
                name: arm.to_owned(),
                kind: "mock".to_owned(),
                model: String::new(),
                fingerprint: String::new(),
            },
            ArmRole::Shown,
            if text.is_empty() { Status::Silent } else { Status::Ok },
        )
    }
}
