//! What is kept for an open document across its versions.
//!
//! Shared by the ordering layer and the tasks of requests. No lock is held across an await. Those that the ordering layer takes
//! (turns, live, places) are held for a look or a small change. What is derived from the text is derived under its lock, beside the
//! threads that answer, so that who wants the same waits and finds it done.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use completion::{Gathering, Live};
use index::FileIndex;
use text::{Document as Rope, Edit};
use workspace::Admission;

use crate::locks::lock;
use crate::parsed::Parsed;
use crate::places::Places;
use crate::real_path::Resolved;
use crate::turns::Turns;

/// One document's life from `didOpen` to `didClose`.
pub(crate) struct Session {
    /// Who may answer.
    pub(crate) turns: Mutex<Turns>,
    /// What was suggested lately, and what is being written.
    pub(crate) live: Live,
    /// The one question that gathers context.
    pub(crate) gathering: Gathering,
    /// The syntax tree.
    pub(crate) parsed: Mutex<Parsed>,
    /// What it holds, for who searches the other documents.
    pub(crate) indexed: Mutex<Option<Arc<FileIndex>>>,
    /// Where cases were recorded, and what was suggested.
    pub(crate) places: Mutex<Places>,
    /// What the walk of a folder makes of the file, by the folder's root and the file's name in there; to be asked whether that is
    /// current.
    pub(crate) admissions: Mutex<HashMap<(PathBuf, String), Admission>>,
    /// Which file it is.
    pub(crate) real_path: Resolved,
}

impl Session {
    /// Of a document that was opened with this text by the message numbered `revision`.
    pub(crate) fn new(rope: Rope, revision: u64) -> Session {
        Session {
            turns: Mutex::new(Turns::new(revision)),
            live: Live::new(revision),
            gathering: Gathering::default(),
            parsed: Mutex::default(),
            indexed: Mutex::default(),
            places: Mutex::new(Places::new(rope, revision)),
            admissions: Mutex::default(),
            real_path: Resolved::default(),
        }
    }

    /// Lets everything follow the edits of message `revision`, after which the text is `rope`.
    pub(crate) fn follow(&self, edits: &[Edit], rope: &Rope, revision: u64) {
        lock(&self.turns).follow(edits, revision);
        self.live.follow(edits, rope, revision);
        lock(&self.places).follow(edits, rope, revision);
    }

    /// Ends what is being computed for the text as it was.
    pub(crate) fn end(&self) {
        lock(&self.turns).end();
        self.live.end();
    }

    /// Ends what is being computed, for good.
    pub(crate) fn close(&self) {
        lock(&self.turns).close();
        self.live.end();
    }
}
