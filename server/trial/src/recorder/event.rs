//! Events of an editor session, as the recorder sees them.

use std::sync::Arc;

use cases::{ArmAnswer, ContextItem, Decision, Opportunity, OutcomeKind, Provenance};
use syntax::{Language, SyntaxCache};
use text::{Document, Edit};

/// Key of a document while it is open.
pub type DocumentKey = Arc<str>;

/// Something that happened, and when.
#[derive(Clone, Debug)]
pub struct Event {
    /// Time in ms since any moment. It may go backwards.
    pub time: u64,
    /// The event.
    pub kind: EventKind,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// A document was opened.
    Opened {
        /// The document.
        document: DocumentKey,
        /// Its language; opportunities without one get texts, but no task.
        language: Option<Language>,
        /// Its text.
        text: Document,
        /// Its syntax, which the editor's session shares: a text that both read is parsed once.
        syntax: SyntaxCache,
    },
    /// A document was edited: all edits of one message, each in the text that the previous ones left.
    Edited {
        /// The document.
        document: DocumentKey,
        /// The edits.
        edits: Vec<Edit>,
    },
    /// A document has another text than at the last look; how it came about was not seen.
    Observed {
        /// The document.
        document: DocumentKey,
        /// The smallest edit that leads to the text.
        edit: Edit,
    },
    /// The text of a document is not known any more.
    Desynchronized {
        /// The document.
        document: DocumentKey,
    },
    /// The file of a document changed on disk, maybe because the document was saved.
    ChangedOnDisk {
        /// The document.
        document: DocumentKey,
    },
    /// A document was saved.
    Saved {
        /// The document.
        document: DocumentKey,
    },
    /// A document was closed.
    Closed {
        /// The document.
        document: DocumentKey,
    },
    /// A file was renamed.
    Renamed {
        /// Former key of its document.
        from: DocumentKey,
        /// New key of its document.
        to: DocumentKey,
    },
    /// The cursor moved without an edit.
    CursorMoved {
        /// The document.
        document: DocumentKey,
        /// Offset of the cursor in bytes.
        offset: usize,
    },
    /// A completion was requested, or the developer marked a place.
    Requested(Box<RequestEvent>),
    /// The engine of a request was asked: its answers belong to the cursor of this request. A request that is answered from a cache, or by
    /// the answer to an earlier request, asks no engine.
    Asked {
        /// Number of the request.
        request: u64,
    },
    /// The code of other files was found that belongs to a request.
    Gathered(Box<GatheredContext>),
    /// A request was answered.
    Answered(Box<AnswerEvent>),
    /// The client reports that an item is visible.
    Shown {
        /// Id of the item.
        item: u64,
    },
    /// The client reports that an item was accepted.
    Accepted {
        /// Id of the item.
        item: u64,
        /// Whether only the beginning of its text was accepted.
        is_partial: bool,
    },
    /// The client reports that the suggestion in a document was visible and is not any more.
    Dismissed {
        /// The document.
        document: DocumentKey,
        /// Id of the item; `None` for whichever is visible.
        item: Option<u64>,
        /// How it ended: [`OutcomeKind::Rejected`] or [`OutcomeKind::Ignored`].
        kind: OutcomeKind,
    },
    /// The client reports how the last change of a document came about.
    Identified {
        /// The document.
        document: DocumentKey,
        /// The provenance; `typed`, `accepted` and `external` are not reported this way.
        provenance: Provenance,
    },
    /// Another commit is checked out, because it was made, amended, rebased or chosen.
    Committed {
        /// The files of documents in it; the others are not in it, or not known.
        files: Vec<CommittedFile>,
        /// Time in ms since it was made. A commit that is older than an opportunity is none of its text: it was only checked out.
        age: u64,
    },
    /// Time passed.
    Tick,
}

/// A file in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFile {
    /// Its document.
    pub document: DocumentKey,
    /// Its text in the commit.
    pub text: Arc<str>,
}

/// A request for a completion.
#[derive(Clone, Debug)]
pub struct RequestEvent {
    /// Number of the request; later ones are larger.
    pub request: u64,
    /// The document.
    pub document: DocumentKey,
    /// Offset of the cursor in bytes of the document's current text.
    pub offset: usize,
    /// Facts about the opportunity. The texts and the position of its cursor, its rhythm and its results are set by the
    /// recorder.
    pub opportunity: Opportunity,
}

/// Code of other files that retrieval found for a request.
#[derive(Clone, Debug, Default)]
pub struct GatheredContext {
    /// Number of the request.
    pub request: u64,
    /// What retrieval could choose from, in the order of its strategy.
    pub context: Vec<ContextItem>,
    /// The functions that are similar to the one at the cursor, best first.
    pub similar_functions: Vec<ContextItem>,
}

/// An item that is offered to the developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedItem {
    /// Id of the item, unique in the session.
    pub id: u64,
    /// Name of its arm.
    pub arm: Arc<str>,
    /// The text to insert at the cursor of the request.
    pub text: String,
}

/// Answers to a request; there may be several events for one request.
#[derive(Clone, Debug)]
pub struct AnswerEvent {
    /// Number of the request.
    pub request: u64,
    /// Answers of the arms.
    pub answers: Vec<ArmAnswer>,
    /// The items that are offered, the first one shown.
    pub items: Vec<OfferedItem>,
    /// The context of the request, if it was gathered for this request.
    pub context: Vec<ContextItem>,
    /// The random decisions for this request, in order.
    pub decisions: Vec<Decision>,
}
