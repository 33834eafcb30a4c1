//! `textDocument/inlineCompletion`: ghost text.
//!
//! ```text
//! active request ─► gates ─► CompletionSession: cached? in flight? debounce ─► engine ─► still active? ─► item
//! ```
//!
//! A superseded request is answered `null`, which leaves the screen unchanged; an empty list removes the ghost text.
//! `ghostbench/status` reports the outcome of the last request.
//!
//! A failing engine does not fail the request: VS Code would show a message at every key, and Neovim would log one. The list is
//! empty then, and each cause is reported to the user once.

use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use cases::Status;
use completion::{
    CacheKey, CompletionRequest, CompletionSession, ConfiguredEngine, CursorContext, CursorSnapshot,
    OutcomeStatus, PathGate, SharedContext, SuggestionOutcome, WorkspaceIndex,
};
use recording::inline_item::{self, PopupItem};
use recording::{AnswerFacts, AnsweredRequest, ArmQuestion, GenerationTask, ShownQuestion, Writer};
use session::{
    DocumentLocation, EditorRequestRecord, EffectiveSettings, FolderState, OpenDocument, document_admission,
    lock,
};
use tower_lsp_server::gen_lsp_types::{
    Command, InlineCompletionItem, InlineCompletionList, InlineCompletionParams, InlineCompletionTriggerKind,
    SelectedCompletionInfo,
};
use tower_lsp_server::jsonrpc::{Error, Result};
use trial::EventKind;

use crate::ext::{self, CompletionStatus};
use crate::from_proto;
use crate::request_context::RequestContext;
use crate::server::Server;
use crate::service::internal_error;

/// Outcome of a request.
enum RequestOutcome {
    /// A suggestion, with alternatives.
    Suggestion { items: Vec<inline_item::InlineItem>, is_reused: bool, engine: String },
    /// No suggestion, and the reason.
    Nothing { status: &'static str, reason: String },
    /// Superseded by another request or an edit.
    Superseded,
    /// The task panicked.
    Panicked,
}

pub(crate) const METHOD: &str = "textDocument/inlineCompletion";

pub(crate) async fn inline_completion(
    server: Server,
    context: RequestContext,
    params: InlineCompletionParams,
) -> Result<Option<InlineCompletionList>> {
    let at = params.text_document_position_params;
    let document = context.document(&at.text_document.uri)?;
    let cursor = context.offset(&document, at.position)?;
    let facts = server.trial.is_running().then(AnswerFacts::default);
    if facts.is_some() {
        server.trial.describe_soon(&server.session, &document);
    }
    let engine = OnceLock::new();
    let asking =
        InlineRequest { server: &server, context: &context, document: &document, cursor, facts, engine };
    let is_invoked = params.context.trigger_kind == InlineCompletionTriggerKind::Invoked;
    let ending = asking.run(is_invoked, params.context.selected_completion_info).await;
    let withheld = asking.withheld(&ending, is_invoked);
    let offered = match &ending {
        RequestOutcome::Suggestion { items, engine, .. } if withheld.is_none() => asking.offer(items, engine),
        _ => Vec::new(),
    };
    let is_blind = asking.facts.as_ref().is_some_and(AnswerFacts::is_blind);
    asking.record_answer(&ending, &offered);
    let ending = match withheld {
        Some(reason) => RequestOutcome::Nothing { status: "gated", reason: reason.to_owned() },
        None => ending,
    };
    let status = completion_status(context.snapshot.time, &ending);
    if !matches!(ending, RequestOutcome::Superseded) {
        document.session.record_editor_request(EditorRequestRecord {
            answered_at: SystemTime::now(),
            position: from_proto::position(at.position),
            is_invoked,
            engine: asking.engine.get().cloned(),
            is_blind,
            status: status.status.clone(),
            reason: status.reason.clone(),
            took: context.snapshot.time.elapsed(),
            items: offered.iter().map(|(_, item)| item.text.clone()).collect(),
        });
    }
    *lock(&server.last_completion) = Some(status);
    match ending {
        RequestOutcome::Suggestion { .. } => {
            let items = offered.into_iter().map(|(id, item)| asking.item(id, item));
            Ok(Some(InlineCompletionList { items: items.collect::<Result<_>>()? }))
        }
        RequestOutcome::Nothing { .. } => Ok(Some(InlineCompletionList { items: Vec::new() })),
        RequestOutcome::Superseded => Ok(None),
        RequestOutcome::Panicked => Err(internal_error(METHOD)),
    }
}

/// A request that is being answered.
struct InlineRequest<'a> {
    server: &'a Server,
    context: &'a RequestContext,
    document: &'a Arc<OpenDocument>,
    cursor: usize,
    /// Facts for the recorder of a trial, if one runs.
    facts: Option<AnswerFacts>,
    /// Name of the engine that writes, once it is chosen.
    engine: OnceLock<String>,
}

impl InlineRequest<'_> {
    async fn run(&self, is_invoked: bool, selected: Option<SelectedCompletionInfo>) -> RequestOutcome {
        let (session, revision) = (&self.document.session, self.document.revision);
        let arrival = self.context.snapshot.arrival;
        let Some(cancel) = session.begin_request(arrival, self.cursor, revision) else {
            return RequestOutcome::Superseded;
        };
        let suggesting = cancel.run_until_cancelled(self.suggest(is_invoked, selected)).await;
        let ending = suggesting.unwrap_or(Err(RequestOutcome::Superseded)).unwrap_or_else(|ending| ending);
        if session.may_answer(arrival, revision) { ending } else { RequestOutcome::Superseded }
    }

    async fn suggest(
        &self,
        is_invoked: bool,
        selected: Option<SelectedCompletionInfo>,
    ) -> std::result::Result<RequestOutcome, RequestOutcome> {
        let home = self.server.folders.locate(self.document).await;
        let settings = self.server.settings_in(home.folder.as_deref()).await;
        let settings = settings.map_err(|_| RequestOutcome::Superseded)?;
        let judged = tokio::time::Instant::now();
        if let Some(reason) = self.gate(&home, &settings).await {
            return Err(RequestOutcome::Nothing { status: "gated", reason });
        }
        let writer = self.writer(&home, &settings).await;
        let engine = &writer.engine;
        self.engine.get_or_init(|| engine.name().to_owned());
        let text = self.document.text();
        let popup = selected.and_then(|selected| self.popup(&selected));
        let (asked, cursor) = match &popup {
            Some(popup) => {
                let (text, cursor) = inline_item::apply_popup(&text, popup);
                (text.into(), cursor)
            }
            None => (Arc::clone(&text), self.cursor),
        };
        let reading = home.folder.as_ref().map(|folder| folder.state()).unwrap_or_default();
        let place = CursorSnapshot {
            text: asked,
            offset: cursor,
            cache_key: self.cache_key(&settings, &writer, &reading),
        };
        let is_on_screen = popup.is_none();
        let question = self.completion_request(place, &settings, engine, is_invoked, is_on_screen);
        let path_gate = document_admission::path_gate(self.document, &home).with_own_file_admitted(judged);
        let writing = GenerationTask {
            shown: self.shown_question(&text, popup.as_ref(), is_invoked),
            ..self.generation_task(&question, &settings, engine, home, path_gate, reading.index)
        };
        let reused = writing.clone();
        let suggested =
            self.completion_session().suggest(&question, |generation| writing.run(generation)).await;
        let (suggestions, is_reused) = suggestions(suggested)?;
        if let Some(shown) = reused.shown.as_ref().filter(|_| is_reused) {
            shown.reuse(&reused);
        }
        let item =
            |suggestion: &String| inline_item::inline_item(&text, self.cursor, suggestion, popup.as_ref());
        let items = suggestions.iter().map(item).collect();
        Ok(RequestOutcome::Suggestion { items, is_reused, engine: engine.name().to_owned() })
    }

    /// The engine that writes: that of the settings, or an arm of the trial that runs.
    async fn writer(&self, home: &DocumentLocation, settings: &Arc<EffectiveSettings>) -> Writer {
        let Some(facts) = &self.facts else { return Writer::of_settings(settings) };
        let (writer, trial) =
            recording::choose(&self.server.session, home, settings, self.document, self.cursor).await;
        facts.set_writer(&writer, trial);
        writer
    }

    /// The question for the recorder of a trial.
    fn shown_question(
        &self,
        text: &Arc<str>,
        popup: Option<&PopupItem>,
        is_invoked: bool,
    ) -> Option<Arc<ShownQuestion>> {
        self.facts.as_ref()?.question(ArmQuestion {
            request: self.context.snapshot.arrival,
            arrived: self.context.snapshot.time,
            text: Arc::clone(text),
            cursor: self.cursor,
            popup: popup.cloned(),
            is_invoked,
        })
    }

    fn completion_session(&self) -> &CompletionSession {
        &self.document.session.completions
    }

    /// Checks that do not need the engine; returns a reason to suggest nothing.
    async fn gate(&self, home: &DocumentLocation, settings: &EffectiveSettings) -> Option<String> {
        if !settings.config.completion.is_enabled {
            return Some("switched off in the settings".to_owned());
        }
        document_admission::refusal(self.document, home).await
    }

    /// The selected item of the editor's popup.
    fn popup(&self, selected: &SelectedCompletionInfo) -> Option<PopupItem> {
        let start = self.context.offset(self.document, selected.range.start).ok()?;
        let end = self.context.offset(self.document, selected.range.end).ok()?;
        PopupItem::at(&self.document.text(), self.cursor, start..end, &selected.text)
    }

    fn completion_request(
        &self,
        place: CursorSnapshot,
        settings: &EffectiveSettings,
        engine: &ConfiguredEngine,
        is_invoked: bool,
        is_on_screen: bool,
    ) -> CompletionRequest {
        let before = &place.text[..place.offset];
        let stands = self
            .document
            .language
            .map_or(CursorContext::Word, |language| CursorContext::at(language, before));
        CompletionRequest {
            revision: self.document.revision,
            arrival: self.context.snapshot.arrival,
            is_invoked,
            is_metered: engine.price.is_some(),
            wants_alternatives: is_invoked && engine.engine.has_alternatives(),
            is_on_screen,
            cursor_context: stands,
            response_time: self.server.folders.engine_health().latency(engine.name()),
            debounce: settings.config.completion.debounce,
            cursor: place,
        }
    }

    /// The cache key of an answer. Answers to explicit invocations are reused while typing, so all answers use the key of
    /// automatic ones.
    fn cache_key(&self, settings: &EffectiveSettings, writer: &Writer, reading: &FolderState) -> CacheKey {
        CacheKey {
            engine: writer.identity.name.clone(),
            fingerprint: writer.identity.fingerprint.clone(),
            settings: settings.number,
            workspace: reading.version,
            documents: self.context.snapshot.documents.fingerprint_of_others(&self.document.key),
        }
    }

    /// The generation task of an engine, independent of this request.
    fn generation_task(
        &self,
        question: &CompletionRequest,
        settings: &Arc<EffectiveSettings>,
        engine: &ConfiguredEngine,
        home: DocumentLocation,
        path_gate: PathGate,
        index: Arc<WorkspaceIndex>,
    ) -> GenerationTask {
        let language = index.file(&home.path).map(|file| file.language).or(self.document.language);
        GenerationTask {
            session: self.server.session.clone(),
            snapshot: self.context.snapshot.clone(),
            document: Arc::clone(self.document),
            language: language.expect("the gate rejects other documents"),
            home,
            path_gate,
            index,
            settings: Arc::clone(settings),
            engine: if question.is_invoked { engine.invoked() } else { engine.clone() },
            text: Arc::clone(&question.cursor.text),
            cursor: question.cursor.offset,
            shown: None,
            context: SharedContext::default(),
        }
    }

    /// Returns why the suggestion must not be shown, if so. What was rejected at a place is shown on explicit invocation, and in a duel, which
    /// leaving one of two out would decide.
    fn withheld(&self, ending: &RequestOutcome, is_invoked: bool) -> Option<&'static str> {
        let RequestOutcome::Suggestion { items, .. } = ending else { return None };
        if self.facts.as_ref().is_some_and(AnswerFacts::is_held) {
            return Some("held out by the trial");
        }
        let is_exempt = is_invoked || self.facts.as_ref().is_some_and(AnswerFacts::is_blind);
        let shown = items.first().filter(|_| !is_exempt)?;
        let is_rejected = self.document.session.tracked_ranges().is_rejected(shown.range.start, &shown.text);
        is_rejected.then_some("it was rejected here before")
    }

    /// Registers the items, so that their acceptance is recognized.
    fn offer(
        &self,
        items: &[inline_item::InlineItem],
        engine: &str,
    ) -> Vec<(String, inline_item::InlineItem)> {
        let suggestions = &self.server.suggestions;
        let add = |item: &inline_item::InlineItem| {
            (suggestions.add(self.document, &item.range, &item.text, engine), item.clone())
        };
        items.iter().map(add).collect()
    }

    /// Passes the answer to the recorder of a trial.
    fn record_answer(&self, ending: &RequestOutcome, offered: &[(String, inline_item::InlineItem)]) {
        let Some(facts) = &self.facts else { return };
        let (status, reason) = match ending {
            RequestOutcome::Suggestion { .. } => (Status::Ok, None),
            RequestOutcome::Nothing { status, reason } => {
                (status.parse().unwrap_or(Status::Error), Some(reason.clone()))
            }
            RequestOutcome::Superseded => return,
            RequestOutcome::Panicked => (Status::Error, None),
        };
        let suggested = match ending {
            RequestOutcome::Suggestion { items, .. } => items.first().cloned(),
            _ => None,
        };
        let event = facts.event(AnsweredRequest {
            request: self.context.snapshot.arrival,
            arrived: self.context.snapshot.time,
            document: &self.document.key,
            text: &self.document.text(),
            cursor: self.cursor,
            status,
            reason,
            suggested,
            items: offered.iter().filter_map(|(id, item)| Some((id.parse().ok()?, item.clone()))).collect(),
        });
        if let Some(event) = event {
            self.server.trial.record(EventKind::Answered(Box::new(event)));
        }
    }

    fn item(&self, id: String, item: inline_item::InlineItem) -> Result<InlineCompletionItem> {
        let command = Command {
            title: "accepted".to_owned(),
            tooltip: None,
            command: ext::DID_ACCEPT_COMMAND.to_owned(),
            arguments: Some(vec![id.into()]),
        };
        Ok(InlineCompletionItem {
            insert_text: item.text.into(),
            filter_text: None,
            range: Some(self.context.range(self.document, item.range).ok_or_else(Error::internal_error)?),
            command: Some(command),
        })
    }
}

/// Returns the suggestions, the best one first, and whether they were cached; otherwise the outcome of the request.
fn suggestions(suggested: SuggestionOutcome) -> std::result::Result<(Vec<String>, bool), RequestOutcome> {
    let nothing = |status, reason: String| Err(RequestOutcome::Nothing { status, reason });
    let outcome = match suggested {
        SuggestionOutcome::Suggestion { text, others, is_reused } => {
            return Ok((std::iter::once(text).chain(others).collect(), is_reused));
        }
        SuggestionOutcome::Superseded => return Err(RequestOutcome::Superseded),
        SuggestionOutcome::Panicked => return Err(RequestOutcome::Panicked),
        SuggestionOutcome::Nothing(outcome) => outcome,
    };
    match &outcome.status {
        OutcomeStatus::Silent(reason) => nothing("silent", (*reason).to_owned()),
        OutcomeStatus::Gated(gate) => nothing("gated", gate.to_string()),
        OutcomeStatus::Timeout => nothing("timeout", "the engine took too long".to_owned()),
        OutcomeStatus::Failed(error) => nothing("error", error.to_string()),
        OutcomeStatus::Ok | OutcomeStatus::Cancelled => Err(RequestOutcome::Superseded),
    }
}

/// Returns the outcome of the request for `ghostbench/status`.
fn completion_status(arrived: Instant, ending: &RequestOutcome) -> CompletionStatus {
    let (status, reason) = match ending {
        RequestOutcome::Suggestion { is_reused, .. } => (if *is_reused { "reused" } else { "ok" }, None),
        RequestOutcome::Nothing { status, reason } => (*status, Some(reason.clone())),
        RequestOutcome::Superseded => ("superseded", None),
        RequestOutcome::Panicked => ("error", Some("internal error".to_owned())),
    };
    let ms = arrived.elapsed().as_secs_f64() * 1e3;
    // Reasons may quote the engine, which may quote code.
    tracing::debug!(status, ms, "completion");
    CompletionStatus { status: status.to_owned(), reason, ms }
}
