//! Sequential requests for names that files get, concurrent with the keys: they show when the server has absorbed the files.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use syntax::Language;

use super::query_document::QueryDocument;
use super::server_fixture::ServerFixture;
use crate::measure::lsp::editor::Editor;

/// Number of files whose names are requested.
pub(in crate::measure::indexing) const PROBES: usize = 8;

/// A name, and the language of its file.
#[derive(Clone, Debug)]
pub(super) struct ProbedName {
    pub(super) language: Language,
    pub(super) name: String,
}

/// Returns [`PROBES`] of the items, or all of fewer, at equal distances; the last one is the last item.
pub(super) fn spread<T>(items: &[T]) -> Vec<&T> {
    let count = PROBES.min(items.len());
    (1..=count).map(|number| &items[items.len() * number / count - 1]).collect()
}

/// The requests.
pub(super) struct NameProbes<'a> {
    desk: &'a ServerFixture,
    editor: &'a Editor,
    /// Minimum time between two requests for a name.
    period: Duration,
    due: Instant,
    /// Names that are not found yet; the last one is the next.
    left: Vec<ProbedName>,
    asked: Option<(QueryDocument, i64)>,
    /// Number of requests for the current name.
    times: usize,
    /// Time at which a repeated request was answered.
    found: Option<Duration>,
}

impl<'a> NameProbes<'a> {
    /// Requests for `names`, the last one first: that of the file that is written last.
    pub(super) fn new(
        desk: &'a ServerFixture,
        editor: &'a Editor,
        names: Vec<ProbedName>,
        period: Duration,
    ) -> NameProbes<'a> {
        NameProbes {
            desk,
            editor,
            period,
            due: Instant::now(),
            left: names,
            asked: None,
            times: 0,
            found: None,
        }
    }

    /// Checks for an answer, and sends the next request. Returns the time of the last name to appear once all were found.
    pub(super) fn poll(&mut self, start: Instant) -> Result<Option<Duration>> {
        let editor = self.editor;
        if let Some((question, id)) = self.asked.take_if(|(_, id)| editor.client.is_answered(*id)) {
            let answer = editor.client.wait(id).map_err(|error| anyhow!("a completion failed: {error}"))?;
            if question.is_answered_by(&answer) {
                // Names found by the first request may have been available for a while.
                if self.times > 1 || self.found.is_none() {
                    self.found = Some(start.elapsed());
                }
                self.left.pop();
                self.times = 0;
                self.due = Instant::now();
            }
            question.close(editor);
        }
        if self.asked.is_none() && Instant::now() >= self.due {
            let Some(ProbedName { language, name }) = self.left.last() else { return Ok(self.found) };
            let question = QueryDocument::open(editor, &self.desk.root, *language, name);
            let id = editor.ask(question.completion());
            self.asked = Some((question, id));
            self.times += 1;
            self.due = Instant::now() + self.period;
        }
        Ok(None)
    }

    /// Waits for the pending request.
    pub(super) fn end(self) {
        if let Some((question, id)) = self.asked {
            // The answer is no longer needed.
            drop(self.editor.client.wait(id));
            question.close(self.editor);
        }
    }
}
