//! Decides which completion request of a document may answer: the newest one, as long as its text is current.
//!
//! Some clients never cancel (Neovim 0.12) and show the last answer at the cursor. So a newer request cancels the older one, and
//! an edit cancels the request whose position it touches. Plain typing at the cursor does not stop the engine, since its answer
//! may match the typed text; the answer is then cached for the next request instead of sent.

use text::{EditLog, TrackedRange};
use tokio_util::sync::CancellationToken;

/// The requests of one document.
pub(crate) struct LatestRequest {
    newest: Option<ActiveRequest>,
    revision: u64,
    is_closed: bool,
}

struct ActiveRequest {
    arrival: u64,
    /// The text typed at its cursor since then.
    typed: TrackedRange,
    cancel: CancellationToken,
}

impl LatestRequest {
    /// For a document whose text was set by message `revision`.
    pub(crate) fn new(revision: u64) -> LatestRequest {
        LatestRequest { newest: None, revision, is_closed: false }
    }

    /// Makes the request with number `arrival` the active one, for the cursor at byte `cursor` of the text of message `revision`.
    /// The returned token is cancelled when another request or an edit replaces it; `None` if that has already happened.
    pub(crate) fn begin(&mut self, arrival: u64, cursor: usize, revision: u64) -> Option<CancellationToken> {
        let is_newest = self.newest.as_ref().is_none_or(|newest| newest.arrival < arrival);
        if self.is_closed || !is_newest {
            return None;
        }
        self.cancel();
        // An edit in between may not have touched this position, but the answer would not fit the text on the screen.
        if self.revision != revision {
            return None;
        }
        let cancel = CancellationToken::new();
        let typed = TrackedRange::inclusive(cursor..cursor, revision);
        self.newest = Some(ActiveRequest { arrival, typed, cancel: cancel.clone() });
        Some(cancel)
    }

    /// Whether an answer of request `arrival` to the text of `revision` may be shown.
    pub(crate) fn may_answer(&self, arrival: u64, revision: u64) -> bool {
        let is_newest = self.newest.as_ref().is_some_and(|newest| newest.arrival == arrival);
        is_newest && self.revision == revision && !self.is_closed
    }

    /// Follows the edits in the log.
    pub(crate) fn follow_edits(&mut self, log: &EditLog) {
        self.revision = log.revision();
        let is_plain_typing = self.newest.as_mut().is_none_or(|active| {
            log.follow_while(&mut active.typed, |typed, edit| {
                let end = typed.range().end;
                edit.range == (end..end)
            })
        });
        if !is_plain_typing {
            self.cancel();
        }
    }

    /// Ends all requests of the document, including later ones.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.cancel();
    }

    /// Cancels the active request.
    pub(crate) fn cancel(&mut self) {
        if let Some(active) = &self.newest {
            active.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use text::{Edit, Revision};

    use super::*;

    fn typed(number: u64, edits: &[(usize, &str)]) -> Revision {
        let edits = edits.iter().map(|&(at, text)| Edit { range: at..at, text: text.to_owned() });
        Revision { number, time: Instant::now(), edits: edits.collect() }
    }

    #[test]
    fn newest_request_cancels_older_ones_in_any_poll_order() {
        let mut requests = LatestRequest::new(0);
        let first = requests.begin(1, 0, 0).expect("there is no other request");
        let third = requests.begin(3, 0, 0).expect("it is newer");
        assert!(first.is_cancelled() && !third.is_cancelled());
        assert!(requests.begin(2, 0, 0).is_none() && !third.is_cancelled());
        assert!(requests.may_answer(3, 0) && !requests.may_answer(1, 0));
    }

    #[test]
    fn typing_at_the_cursor_blocks_the_answer_but_does_not_cancel() {
        let (mut requests, mut log) = (LatestRequest::new(0), EditLog::new(0));
        let cancel = requests.begin(1, 5, 0).expect("there is no other request");
        log.push(typed(2, &[(5, "ab"), (7, "c")]));
        requests.follow_edits(&log);
        assert!(!cancel.is_cancelled() && !requests.may_answer(1, 0));
        log.push(typed(3, &[(0, "x")]));
        requests.follow_edits(&log);
        assert!(cancel.is_cancelled());
    }

    #[test]
    fn closing_a_document_cancels_and_rejects_requests() {
        let mut requests = LatestRequest::new(0);
        let cancel = requests.begin(1, 0, 0).expect("there is no other request");
        requests.close();
        assert!(cancel.is_cancelled() && requests.begin(2, 0, 0).is_none() && !requests.may_answer(1, 0));
    }
}
