//! `textDocument/inlineCompletion`: ghost text.
//!
//! ```text
//! turn ─► gates ─► typed through? ─► engine ─► still the turn? ─► item
//! ```
//!
//! A request that lost its turn is answered `null`, which leaves the screen as it is; nothing to suggest is an empty list, which
//! clears it. `ghostbench/status` tells how the last request ended and why.

use std::sync::Arc;
use std::time::Instant;

use completion::{Basis, Document, Outcome, Status};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::{
    Command, InlineCompletionItem, InlineCompletionList, InlineCompletionParams, InlineCompletionTriggerKind,
    SelectedCompletionInfo,
};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::EditorEngine;
use crate::admission;
use crate::around::around;
use crate::beside::failed;
use crate::documents::OpenDocument;
use crate::ext::{self, CompletionStatus};
use crate::folders::{Home, Reading};
use crate::item::{self, Popup};
use crate::locks::lock;
use crate::moment::Moment;
use crate::server::Server;
use crate::settings::InForce;

/// How a request ended.
enum Ending {
    /// With a suggestion.
    Text { item: item::Item, is_reused: bool, engine: String },
    /// With nothing to suggest, and why.
    Nothing { status: &'static str, reason: String },
    /// Another request, or an edit, has made it pointless.
    Superseded,
    /// The engine failed.
    Failed(String),
}

pub(crate) async fn inline_completion(
    server: Server,
    params: InlineCompletionParams,
) -> Result<Option<InlineCompletionList>> {
    let moment = Moment::of_request();
    let at = params.text_document_position_params;
    let document = moment.document(&at.text_document.uri)?;
    let cursor = document.offset(at.position)?;
    let asking = Asking { server: &server, moment: &moment, document: &document, cursor };
    let is_invoked = params.context.trigger_kind == InlineCompletionTriggerKind::Invoked;
    let ending = asking.ask(is_invoked, params.context.selected_completion_info).await;
    note(&server, &moment, &ending);
    match ending {
        Ending::Text { item, engine, .. } => {
            Ok(Some(InlineCompletionList { items: vec![asking.item(item, &engine)?] }))
        }
        Ending::Nothing { .. } => Ok(Some(InlineCompletionList { items: Vec::new() })),
        Ending::Superseded => Ok(None),
        Ending::Failed(reason) => Err(failed(reason)),
    }
}

/// One request on its way.
struct Asking<'a> {
    server: &'a Server,
    moment: &'a Moment,
    document: &'a OpenDocument,
    cursor: usize,
}

impl Asking<'_> {
    async fn ask(&self, is_invoked: bool, selected: Option<SelectedCompletionInfo>) -> Ending {
        let revision = self.document.revision;
        let turn = lock(&self.document.session.turns).take(self.moment.arrival, self.cursor, revision);
        let Some(cancel) = turn else { return Ending::Superseded };
        let ending = self.suggest(is_invoked, selected, &cancel).await.unwrap_or_else(|ending| ending);
        let may_answer = lock(&self.document.session.turns).may_answer(self.moment.arrival, revision);
        if may_answer { ending } else { Ending::Superseded }
    }

    async fn suggest(
        &self,
        is_invoked: bool,
        selected: Option<SelectedCompletionInfo>,
        cancel: &CancellationToken,
    ) -> std::result::Result<Ending, Ending> {
        let home = self.server.folders.home(self.document).await;
        let settings = self.server.settings_in(home.folder.as_deref()).await;
        let settings = settings.map_err(|_| Ending::Superseded)?;
        if let Some(reason) = self.gate(&home, &settings).await {
            return Err(Ending::Nothing { status: "gated", reason });
        }
        let engine = settings.writing();
        let text = self.document.text();
        let popup = selected.and_then(|selected| self.popup(&selected));
        let (asked, cursor) = match &popup {
            Some(popup) => {
                let (text, cursor) = item::with_popup(&text, popup);
                (text.into(), cursor)
            }
            None => (Arc::clone(&text), self.cursor),
        };
        let (suggestion, is_reused) =
            self.complete(engine, &home, &asked, cursor, is_invoked, cancel).await?;
        let item = item::item(&text, self.cursor, &suggestion, popup.as_ref());
        Ok(Ending::Text { item, is_reused, engine: engine.name().to_owned() })
    }

    /// Cheap reasons to suggest nothing.
    async fn gate(&self, home: &Home, settings: &InForce) -> Option<String> {
        if !settings.config.completion.is_enabled {
            return Some("switched off in the settings".to_owned());
        }
        admission::refusal(self.document, home).await
    }

    /// The item that is selected in the editor's popup.
    fn popup(&self, selected: &SelectedCompletionInfo) -> Option<Popup> {
        let start = self.document.offset(selected.range.start).ok()?;
        let end = self.document.offset(selected.range.end).ok()?;
        Popup::at(&self.document.text(), self.cursor, start..end, &selected.text)
    }

    /// What to insert at `cursor` of `text`, and whether it was known already.
    async fn complete(
        &self,
        engine: &EditorEngine,
        home: &Home,
        text: &Arc<str>,
        cursor: usize,
        is_invoked: bool,
        cancel: &CancellationToken,
    ) -> std::result::Result<(String, bool), Ending> {
        let reading = home.folder.as_ref().map(|folder| folder.reading()).unwrap_or_default();
        let basis = self.basis(engine, &reading);
        if let Some(rest) = lock(&self.document.session.recent).typed_through(text, cursor, &basis) {
            return Ok((rest, true));
        }
        let asked = if is_invoked { &engine.invoked } else { &engine.automatic };
        let mut settings = asked.settings.clone();
        let contents = reading.contents;
        let language = contents.language(&home.path).or(self.document.language);
        let language = language.expect("the gate lets no other document through");
        let path = Arc::clone(&home.path);
        let mut snapshot = contents.world.open(Document { path, language, text: Arc::clone(text) });
        if let Some(folder) = home.folder.as_ref().filter(|_| asked.engine.reads_context()) {
            let start = Instant::now();
            let contents = Arc::clone(&contents);
            let around = around(self.moment, self.document, folder, contents, settings.patience()).await;
            snapshot = snapshot.among(around);
            settings.deadline = settings.deadline.saturating_sub(start.elapsed());
        }
        let asking = completion::complete(&snapshot, cursor, &*asked.engine, &settings, cancel);
        let outcome = cancel.run_until_cancelled(asking).await;
        let outcome = outcome.ok_or(Ending::Superseded)?;
        if outcome.trace.is_context_late {
            tracing::warn!("context is left out: choosing it took too long");
        }
        let suggestion = suggestion(outcome)?;
        lock(&self.document.session.recent).remember(text, cursor, &basis, &suggestion);
        Ok((suggestion, false))
    }

    /// What an answer rests on. What was asked for by key lives on while it is typed, so that all answers are remembered as those to
    /// typing.
    fn basis(&self, engine: &EditorEngine, reading: &Reading) -> Basis {
        let others = self.moment.documents.all().filter(|other| other.uri != self.document.uri);
        Basis {
            fingerprint: engine.automatic.name().fingerprint,
            workspace: reading.version,
            documents: others.map(|other| other.revision).max().unwrap_or_default(),
        }
    }

    fn item(&self, item: item::Item, engine: &str) -> Result<InlineCompletionItem> {
        let id = self.server.suggestions.add(self.document, &item.range, &item.text, engine);
        let command = Command {
            title: "accepted".to_owned(),
            tooltip: None,
            command: ext::DID_ACCEPT_COMMAND.to_owned(),
            arguments: Some(vec![id.into()]),
        };
        Ok(InlineCompletionItem {
            insert_text: item.text.into(),
            filter_text: None,
            range: Some(self.document.range(item.range).ok_or_else(Error::internal_error)?),
            command: Some(command),
        })
    }
}

/// The text of an outcome, or how else it ends the request.
fn suggestion(outcome: Outcome) -> std::result::Result<String, Ending> {
    let nothing = |status, reason: String| Err(Ending::Nothing { status, reason });
    match outcome.status {
        Status::Ok => Ok(outcome.text),
        Status::Silent(reason) => nothing("silent", reason.to_owned()),
        Status::Gated(gate) => nothing("gated", gate.to_string()),
        Status::Timeout => nothing("timeout", "the engine took too long".to_owned()),
        Status::Cancelled => Err(Ending::Superseded),
        Status::Failed(error) => Err(Ending::Failed(error.to_string())),
    }
}

/// Keeps how the request ended, for people who wonder where their ghost text is.
fn note(server: &Server, moment: &Moment, ending: &Ending) {
    let (status, reason) = match ending {
        Ending::Text { is_reused, .. } => (if *is_reused { "reused" } else { "ok" }, None),
        Ending::Nothing { status, reason } => (*status, Some(reason.clone())),
        Ending::Superseded => ("superseded", None),
        Ending::Failed(reason) => ("error", Some(reason.clone())),
    };
    let ms = moment.time.elapsed().as_secs_f64() * 1e3;
    // Reasons are an engine's words, which may hold code.
    tracing::debug!(status, ms, "completion");
    let status = status.to_owned();
    *lock(&server.last_completion) = Some(CompletionStatus { status, reason, ms });
}
