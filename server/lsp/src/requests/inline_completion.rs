//! `textDocument/inlineCompletion`: ghost text.
//!
//! ```text
//! turn ─► gates ─► Live: typed through? being written? pause? ─► engine ─► still the turn? ─► item
//! ```
//!
//! A request that lost its turn is answered `null`, which leaves the screen as it is; nothing to suggest is an empty list, which
//! clears it. `ghostbench/status` tells how the last request ended and why.
//!
//! An engine that fails is no error of the request: VS Code would show one message at every key, Neovim log one. The list is empty then,
//! and the user is told once for each cause.

use std::sync::Arc;
use std::time::{Duration, Instant};

use completion::{
    Around, Basis, Document, Generation, Live, Outcome, Place, Question, Stands, Status, Suggested,
};
use replay::ConfiguredEngine;
use syntax::Language;
use tower_lsp_server::gen_lsp_types::{
    Command, InlineCompletionItem, InlineCompletionList, InlineCompletionParams, InlineCompletionTriggerKind,
    MessageType, SelectedCompletionInfo,
};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::admission;
use crate::around::around;
use crate::documents::OpenDocument;
use crate::ext::{self, CompletionStatus};
use crate::folders::{Contents, Home, Reading};
use crate::item::{self, Popup};
use crate::locks::lock;
use crate::moment::Moment;
use crate::served::EditorEngine;
use crate::server::Server;
use crate::service::defect;
use crate::settings::InForce;

/// How a request ended.
enum Ending {
    /// With a suggestion, and others to choose from.
    Text { items: Vec<item::Item>, is_reused: bool, engine: String },
    /// With nothing to suggest, and why.
    Nothing { status: &'static str, reason: String },
    /// Another request, or an edit, has made it pointless.
    Superseded,
    /// Whatever was to answer stopped by a defect.
    Defect,
}

const METHOD: &str = "textDocument/inlineCompletion";

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
        Ending::Text { items, engine, .. } => {
            let items = items.into_iter().map(|item| asking.item(item, &engine));
            Ok(Some(InlineCompletionList { items: items.collect::<Result<_>>()? }))
        }
        Ending::Nothing { .. } => Ok(Some(InlineCompletionList { items: Vec::new() })),
        Ending::Superseded => Ok(None),
        Ending::Defect => Err(defect(METHOD)),
    }
}

/// One request on its way.
struct Asking<'a> {
    server: &'a Server,
    moment: &'a Moment,
    document: &'a Arc<OpenDocument>,
    cursor: usize,
}

impl Asking<'_> {
    async fn ask(&self, is_invoked: bool, selected: Option<SelectedCompletionInfo>) -> Ending {
        let revision = self.document.revision;
        let turn = lock(&self.document.session.turns).take(self.moment.arrival, self.cursor, revision);
        let Some(cancel) = turn else { return Ending::Superseded };
        let suggesting = cancel.run_until_cancelled(self.suggest(is_invoked, selected)).await;
        let ending = suggesting.unwrap_or(Err(Ending::Superseded)).unwrap_or_else(|ending| ending);
        let may_answer = lock(&self.document.session.turns).may_answer(self.moment.arrival, revision);
        if may_answer { ending } else { Ending::Superseded }
    }

    async fn suggest(
        &self,
        is_invoked: bool,
        selected: Option<SelectedCompletionInfo>,
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
        let reading = home.folder.as_ref().map(|folder| folder.reading()).unwrap_or_default();
        let place = Place { text: asked, offset: cursor, basis: self.basis(&settings, &reading) };
        let is_on_screen = popup.is_none();
        let question = self.question(place, &settings, is_invoked, is_on_screen);
        let writing = self.writing(&question, engine, home, reading.contents);
        let suggested = self.live().suggest(&question, |generation| writing.write(generation)).await;
        let (suggestions, is_reused) = suggestions(suggested)?;
        let item = |suggestion: &String| item::item(&text, self.cursor, suggestion, popup.as_ref());
        let items = suggestions.iter().map(item).collect();
        Ok(Ending::Text { items, is_reused, engine: engine.name().to_owned() })
    }

    fn live(&self) -> &Live {
        &self.document.session.live
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

    fn question(&self, place: Place, settings: &InForce, is_invoked: bool, is_on_screen: bool) -> Question {
        let before = &place.text[..place.offset];
        let stands = self.document.language.map_or(Stands::Word, |language| Stands::at(language, before));
        Question {
            revision: self.document.revision,
            arrival: self.moment.arrival,
            is_invoked,
            wants_choice: is_invoked && settings.writing().invoked.engine.has_alternatives(),
            is_on_screen,
            stands,
            response: self.server.health.response(settings.writing().name()),
            debounce: settings.config.completion.debounce,
            place,
        }
    }

    /// What an answer rests on. What was asked for by key lives on while it is typed, so that all answers are remembered as those to
    /// typing.
    fn basis(&self, settings: &InForce, reading: &Reading) -> Basis {
        let name = settings.writing().automatic.name();
        Basis {
            engine: name.name,
            fingerprint: name.fingerprint,
            settings: settings.number,
            workspace: reading.version,
            documents: self.moment.documents.state_beside(&self.document.uri),
        }
    }

    /// What an engine needs to write the answer without this request.
    fn writing(
        &self,
        question: &Question,
        engine: &EditorEngine,
        home: Home,
        contents: Arc<Contents>,
    ) -> Writing {
        let asked = if question.is_invoked { &engine.invoked } else { &engine.automatic };
        let language = contents.language(&home.path).or(self.document.language);
        Writing {
            server: self.server.clone(),
            moment: Moment { work: None, ..self.moment.clone() },
            document: Arc::clone(self.document),
            language: language.expect("the gate lets no other document through"),
            home,
            contents,
            asked: asked.clone(),
            text: Arc::clone(&question.place.text),
            cursor: question.place.offset,
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

/// An answer that an engine writes, for this request or later ones.
struct Writing {
    server: Server,
    moment: Moment,
    document: Arc<OpenDocument>,
    home: Home,
    contents: Arc<Contents>,
    asked: ConfiguredEngine,
    language: Language,
    /// The text asked about, which may hold an item of a popup.
    text: Arc<str>,
    cursor: usize,
}

impl Writing {
    async fn write(self, generation: Arc<Generation>) -> Outcome {
        let ConfiguredEngine { engine, mut settings, .. } = self.asked.clone();
        let name = &engine.description().name;
        let asked = self.server.health.ask(name);
        let start = Instant::now();
        let path = Arc::clone(&self.home.path);
        let document = Document { path, language: self.language, text: Arc::clone(&self.text) };
        let mut snapshot =
            self.contents.world.open(document).in_turn(self.document.session.gathering.clone());
        snapshot = snapshot.guarded(admission::path_gate(&self.document, &self.home));
        if engine.reads_context() || engine.reads_workspace() {
            let (around, refused) = self.around(settings.patience()).await;
            snapshot = snapshot.among(around).hiding(refused);
            settings.deadline = settings.deadline.saturating_sub(start.elapsed());
        }
        let (stopping, generation) = (&self.server.stopping, Some(&*generation));
        let outcome =
            completion::complete_shared(&snapshot, self.cursor, &*engine, &settings, stopping, generation)
                .await;
        if outcome.trace.is_context_late {
            tracing::warn!("context is left out: choosing it took too long");
        }
        if let Some(fault) = asked.ended(&outcome) {
            // What the engine says is for its user; it may hold code.
            tracing::warn!(engine = name, cause = fault.cause, "an engine gives no answers");
            self.server.tell(MessageType::Warning, fault.message);
        }
        outcome
    }
}

impl Writing {
    /// What is open beside the document and what was typed lately, and the paths of open documents that must not be used.
    async fn around(&self, patience: Duration) -> (Around, Vec<Arc<str>>) {
        let contents = Arc::clone(&self.contents);
        let (mut around, refused) = match &self.home.folder {
            Some(folder) => around(&self.moment, &self.document, folder, contents, patience).await,
            None => Default::default(),
        };
        around.typing.here = self.document.typed.ranges(&self.document.text(), &self.text);
        (around, refused)
    }
}

/// The texts to choose from, the best one first, and whether they were known already; or how else the request ends.
fn suggestions(suggested: Suggested) -> std::result::Result<(Vec<String>, bool), Ending> {
    let nothing = |status, reason: String| Err(Ending::Nothing { status, reason });
    let outcome = match suggested {
        Suggested::Text { text, others, is_reused } => {
            return Ok((std::iter::once(text).chain(others).collect(), is_reused));
        }
        Suggested::Superseded => return Err(Ending::Superseded),
        Suggested::Defect => return Err(Ending::Defect),
        Suggested::Nothing(outcome) => outcome,
    };
    match &outcome.status {
        Status::Silent(reason) => nothing("silent", (*reason).to_owned()),
        Status::Gated(gate) => nothing("gated", gate.to_string()),
        Status::Timeout => nothing("timeout", "the engine took too long".to_owned()),
        Status::Failed(error) => nothing("error", error.to_string()),
        Status::Ok | Status::Cancelled => Err(Ending::Superseded),
    }
}

/// Keeps how the request ended, for people who wonder where their ghost text is.
fn note(server: &Server, moment: &Moment, ending: &Ending) {
    let (status, reason) = match ending {
        Ending::Text { is_reused, .. } => (if *is_reused { "reused" } else { "ok" }, None),
        Ending::Nothing { status, reason } => (*status, Some(reason.clone())),
        Ending::Superseded => ("superseded", None),
        Ending::Defect => ("error", Some("a defect of the server".to_owned())),
    };
    let ms = moment.time.elapsed().as_secs_f64() * 1e3;
    // Reasons are an engine's words, which may hold code.
    tracing::debug!(status, ms, "completion");
    let status = status.to_owned();
    *lock(&server.last_completion) = Some(CompletionStatus { status, reason, ms });
}
