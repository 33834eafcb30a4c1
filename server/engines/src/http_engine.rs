//! A model behind HTTP as an [`Engine`].
//!
//! ```text
//! Request --what is known of the model--> Way --prompt--> Sent --format--> body --http--> Reply --listen--> pieces
//!                                          ^                                 |
//!                                          +------- lesson <---- refusal ----+
//! ```
//!
//! Responsible for choosing the prompt mode, for repeating a request in another form if a refusal reveals a quirk, and for
//! remembering both for the engine's lifetime. `formats` contains the wire formats, the `prompt` crate the templates, `http`
//! the connections. Must not adapt answers to the document.

mod listen;
mod render;
mod way;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use prompt::{Choice, Hints, TemplateError};
use serde_json::Value;
use thiserror::Error as ThisError;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cassette::{Canonical, Cassette, Tape};
use crate::formats::{self, Asked, Format, Lesson, Lessons, Object, Question, Takes};
use crate::http::{Call, Client, Fault, Reply, Server};
use crate::{Answer, Description, Engine, Error, Introduction, Kind, Metadata, Request, Sampling, Sink};

use listen::listen;
use render::Sent;
pub use way::{Fim, Way};

/// Default size of a prompt in tokens: nearly every model in use reads it within an acceptable time.
const PROMPT_TOKENS: usize = 4096;

/// Timeout of a metadata request: a slower response would delay the first answer too much.
const METADATA_LIMIT: Duration = Duration::from_secs(2);

/// Maximum size of metadata in bytes: lists of a few hundred models, chat templates, and vocabularies in Ollama's.
const METADATA_BYTES: usize = 16 << 20;

/// A configured model behind HTTP.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// User-defined name.
    pub name: String,
    /// Its API.
    pub kind: Kind,
    /// Its server.
    pub server: Server,
    /// Model name, for servers with several.
    pub model: Option<String>,
    /// The template setting.
    pub fim: Fim,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// Additional fields of every request; they override ours.
    pub extra: serde_json::Map<String, Value>,
    /// Context window in tokens; default: reported by the server if possible.
    pub context_window: Option<u64>,
    /// Timeout of a whole answer, independent of the request's deadline.
    pub timeout: Option<Duration>,
}

/// Error while creating the engine.
#[derive(Debug, ThisError)]
pub enum SetupError {
    /// The kind does not use HTTP.
    #[error("engines of kind {0} do not use HTTP")]
    Kind(Kind),
    /// Invalid template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Invalid server settings.
    #[error(transparent)]
    Server(#[from] Fault),
}

/// A model behind HTTP.
pub struct HttpEngine {
    description: Description,
    settings: HttpSettings,
    format: &'static Format,
    client: Client,
    /// The configured template.
    configured: Option<Choice>,
    metadata: OnceCell<Metadata>,
    lessons: Mutex<Lessons>,
}

impl HttpEngine {
    /// Creates the engine without connecting.
    pub fn new(settings: HttpSettings) -> Result<HttpEngine, SetupError> {
        let format = formats::of(settings.kind).ok_or(SetupError::Kind(settings.kind))?;
        let configured = match &settings.fim {
            Fim::Template(said) => prompt::choose(&Hints { configured: Some(said), ..Hints::default() })?,
            Fim::Auto | Fim::Server => None,
        };
        Ok(HttpEngine {
            description: description(&settings),
            client: Client::new(&settings.server, format.manners)?,
            format,
            settings,
            configured,
            metadata: OnceCell::new(),
            lessons: Mutex::default(),
        })
    }

    /// Returns the engine with a cassette and the quirks recorded there.
    pub fn on_cassette(self, cassette: &Arc<Cassette>) -> HttpEngine {
        let tape = Tape::new(Arc::clone(cassette), &self.settings.name);
        for lesson in tape.lessons().iter().filter_map(|name| Lesson::from_name(name)) {
            self.lessons(|lessons| lessons.learn(lesson));
        }
        HttpEngine { client: self.client.on_tape(tape), ..self }
    }

    /// Requests the server's metadata; not cached.
    pub async fn metadata(&self) -> Result<Metadata, Fault> {
        let Some(source) = self.format.metadata else { return Ok(Metadata::default()) };
        let model = self.settings.model.as_deref();
        let body =
            source.body.map(|body| Value::from(body(model.unwrap_or_default())).to_string().into_bytes());
        let said = self.told(source.path, body).await?;
        Ok(Metadata { sample_tokens: self.sample_tokens().await, ..(source.read)(&said, model) })
    }

    /// Number of tokens of the sample in the model's tokenizer, if the server provides it.
    async fn sample_tokens(&self) -> Option<usize> {
        let tokenizer = self.format.tokenizer?;
        let body = (tokenizer.body)(prompt::SAMPLE, self.settings.model.as_deref().unwrap_or_default());
        let said = self.told(tokenizer.path, Some(Value::from(body).to_string().into_bytes())).await;
        // Without it there is still the estimate. A count of zero, or above the number of characters, is invalid.
        (tokenizer.read)(&said.ok()?).filter(|tokens| (1..=prompt::SAMPLE.len()).contains(tokens))
    }

    /// Requests JSON from a path.
    async fn told(&self, path: &str, body: Option<Vec<u8>>) -> Result<Value, Fault> {
        let until = Instant::now() + METADATA_LIMIT;
        let call =
            Call { url: self.client.endpoint(path)?, body, shown: None, document: None, until: Some(until) };
        let said = async {
            let mut reply = self.client.ask(&call).await?;
            let body = reply.body(METADATA_BYTES).await?;
            // The current state must not be replayed.
            if path != formats::SLOTS {
                reply.keep(true);
            }
            Ok(body)
        };
        let said = tokio::time::timeout_at(until, said).await;
        let said = said.unwrap_or_else(|_| Err(self.client.unfinished(METADATA_LIMIT)))?;
        serde_json::from_slice(&said)
            .map_err(|error| self.client.malformed("a description of its models", &error.to_string()))
    }

    /// Returns information about the engine, from the server's current metadata.
    async fn introduction(&self) -> Result<Introduction, Error> {
        let metadata = match self.metadata().await {
            Err(fault) if is_final(&fault) || is_unanswered(&fault) => Metadata::default(),
            told => told.map_err(|fault| self.error(fault))?,
        };
        let busy = match self.settings.kind {
            Kind::LlamaCpp => self.told(formats::SLOTS, None).await.ok(),
            _ => None,
        };
        Ok(Introduction {
            way: self.choose_way(&metadata).ok(),
            busy: busy.as_ref().and_then(formats::busy),
            server: Some(self.settings.clone()),
            metadata,
        })
    }

    /// Whether a llama.cpp server reports to be ready.
    pub(crate) async fn is_ready(&self) -> bool {
        let Ok(url) = self.client.endpoint("/health") else { return false };
        let call = Call { url, body: None, shown: None, document: None, until: Some(Instant::now()) };
        self.client.ask(&call).await.is_ok()
    }

    /// Returns the prompt mode, if one is known; requests the server's metadata if necessary.
    pub async fn way(&self) -> Result<Way, Error> {
        let metadata = self.known_metadata().await.map_err(|fault| self.error(fault))?;
        self.choose_way(&metadata)
    }

    fn choose_way(&self, metadata: &Metadata) -> Result<Way, Error> {
        let choice = self.configured.clone().or_else(|| choice(metadata, self.settings.model.as_deref()));
        let refuses_hole =
            metadata.takes_hole == Some(false) || self.lessons(|lessons| lessons.without_hole());
        let way = Way::choose(self.format.takes, &self.settings.fim, choice.as_ref(), refuses_hole);
        way.ok_or_else(|| Error::NoTemplate {
            engine: self.settings.name.clone(),
            model: self
                .settings
                .model
                .clone()
                .or_else(|| metadata.names.first().cloned())
                .map_or_else(|| "its model".to_owned(), |model| format!("`{}`", self.client.quoted(&model))),
        })
    }

    /// Returns the server's metadata; cached. A server without metadata may still complete.
    async fn known_metadata(&self) -> Result<Metadata, Fault> {
        let template_is_open = self.settings.fim == Fim::Auto;
        let matters = match self.format.takes {
            Takes::Hole | Takes::Chat => false,
            Takes::Rendered | Takes::RenderedOrHole | Takes::HoleOrRendered => {
                template_is_open || self.settings.context_window.is_none()
            }
        };
        if !matters {
            return Ok(Metadata::default());
        }
        let known = self.metadata.get_or_try_init(|| async {
            match self.metadata().await {
                Err(fault) if is_final(&fault) => Ok(Metadata::default()),
                other => other,
            }
        });
        match known.await {
            Ok(metadata) => Ok(metadata.clone()),
            // The next request tries again.
            Err(fault) if is_unanswered(&fault) => Ok(Metadata::default()),
            Err(fault) => Err(fault),
        }
    }

    fn lessons<T>(&self, look: impl FnOnce(&mut Lessons) -> T) -> T {
        look(&mut self.lessons.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a quirk; returns `false` if it was known.
    fn learn(&self, lesson: Lesson) -> bool {
        let is_new = self.lessons(|lessons| lessons.learn(lesson));
        if let Some(tape) = self.client.tape().filter(|_| is_new) {
            tape.record_lesson(&lesson.name());
        }
        is_new
    }

    fn error(&self, fault: Fault) -> Error {
        let engine = self.settings.name.clone();
        match fault {
            Fault::NotRecorded(miss) => Error::NotRecorded { engine, miss },
            fault => Error::Server { engine, fault },
        }
    }

    async fn answer(&self, request: &Request, sink: Sink<'_>) -> Result<Answer, Error> {
        let metadata = self.known_metadata().await.map_err(|fault| self.error(fault))?;
        let mut refusals = 0;
        loop {
            let sent = self.render(request, &metadata)?;
            sink.prompt(&sent.shown());
            match self.ask(request, &sent).await {
                Ok(reply) => {
                    let answer = listen(reply, self.format, &sent.reading, request, &mut *sink).await;
                    let answer = answer.map_err(|fault| self.error(fault))?;
                    return Ok(Answer { refusals: answer.refusals + refusals, ..answer });
                }
                Err(Refusal::Lesson(lesson)) if self.learn(lesson) => refusals += 1,
                Err(Refusal::Lesson(_)) => {
                    return Err(self.choose_way(&metadata).err().unwrap_or_else(|| self.unteachable()));
                }
                Err(Refusal::Fault(fault)) => return Err(self.error(fault)),
            }
        }
    }

    fn render(&self, request: &Request, metadata: &Metadata) -> Result<Sent, Error> {
        let way = self.choose_way(metadata)?;
        let window = self.settings.context_window.or(metadata.context_window);
        let tokens = prompt_tokens(window, self.settings.sampling.max_tokens);
        let takes_context = self.format.takes_context;
        match metadata.sample_tokens {
            Some(sample) => Sent::new(request, &way, tokens, takes_context, &prompt::estimate_by(sample)),
            None => Sent::new(request, &way, tokens, takes_context, &prompt::estimate),
        }
        .map_err(|reason| Error::Prompt { engine: self.settings.name.clone(), reason })
    }

    async fn ask(&self, request: &Request, sent: &Sent) -> Result<Reply<'_>, Refusal> {
        let ours = self.body(sent.question(), &sent.stop);
        let call = Call {
            document: Some(request.into()),
            until: request.deadline,
            ..self.call(sent.question(), &ours).map_err(Refusal::Fault)?
        };
        match self.client.ask(&call).await {
            Ok(reply) if sent.is_hole() && ignores_suffix(self.settings.kind, &reply) => {
                Err(Refusal::Lesson(Lesson::NoHole))
            }
            Ok(reply) => Ok(reply),
            Err(fault) => Err(self.lesson(&fault, ours, sent).map_or(Refusal::Fault(fault), Refusal::Lesson)),
        }
    }

    /// Builds the body without the user's fields.
    fn body(&self, question: Question<'_>, stop: &[String]) -> Object {
        let asked = Asked {
            question,
            model: self.settings.model.as_deref(),
            stop: &stop[..stop.len().min(self.format.stops)],
            sampling: &self.settings.sampling,
        };
        let mut ours = (self.format.write)(&asked);
        self.lessons(|lessons| lessons.apply(&mut ours));
        ours
    }

    /// Builds the HTTP request; adds the user's fields, which may contain keys and are never shown.
    fn call(&self, question: Question<'_>, ours: &Object) -> Result<Call, Fault> {
        let mut body = ours.clone();
        formats::overlay(&mut body, &self.settings.extra);
        Ok(Call {
            url: self.client.endpoint((self.format.path)(question))?,
            body: Some(Value::from(body).to_string().into_bytes()),
            shown: Some(ours.clone().into()),
            document: None,
            until: None,
        })
    }

    /// Returns the user-defined name.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Returns the configured model.
    pub(crate) fn model(&self) -> Option<&str> {
        self.settings.model.as_deref()
    }

    /// Returns the canonical form of the request with this prompt; `None` if it does not send prompts, as far as is known
    /// without its server.
    pub(crate) fn canonical(&self, prompt: &str) -> Option<Canonical> {
        let Way::Rendered(choice) = self.choose_way(&Metadata::default()).ok()? else { return None };
        let stop: Vec<String> = choice.template.stop().into_iter().map(str::to_owned).collect();
        let question = Question::Rendered { prompt };
        let call = self.call(question, &self.body(question, &stop)).ok()?;
        let document = render::document_in(prompt, &choice.template);
        Some(self.client.canonical(&self.settings.name, &call).about(Some(document)))
    }

    /// Returns the quirk that a refusal reveals, if another form of the request remains.
    fn lesson(&self, fault: &Fault, mut ours: Object, sent: &Sent) -> Option<Lesson> {
        let Fault::Status { status, message, .. } = fault else { return None };
        ours.retain(|name, _| !self.settings.extra.contains_key(name));
        if self.settings.sampling.temperature.is_some() {
            ours.remove("temperature");
        }
        let may_change = matches!(self.format.takes, Takes::RenderedOrHole | Takes::HoleOrRendered);
        formats::lesson(*status, message, &ours, sent.is_hole() && may_change)
    }

    /// Error for a server that rejects a field that was not sent.
    fn unteachable(&self) -> Error {
        let message = "the server rejects the request in every form".to_owned();
        Error::Failed { engine: self.settings.name.clone(), message }
    }

    async fn answer_in_time(&self, request: &Request, sink: Sink<'_>) -> Result<Answer, Error> {
        let answer = self.answer(request, sink);
        match self.settings.timeout {
            None => answer.await,
            Some(timeout) => {
                let late = || Err(self.error(self.client.unfinished(timeout)));
                tokio::time::timeout(timeout, answer).await.unwrap_or_else(|_| late())
            }
        }
    }
}

/// Why a request failed.
enum Refusal {
    Fault(Fault),
    Lesson(Lesson),
}

impl Engine for HttpEngine {
    fn description(&self) -> &Description {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let answer = self.answer_in_time(&request, sink);
            let answer = cancel.run_until_cancelled(answer).await.unwrap_or(Err(Error::Cancelled));
            if let (Err(Error::NotRecorded { .. }), Some(tape)) = (&answer, self.client.tape()) {
                tape.count_miss();
            }
            answer
        }
        .boxed()
    }

    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        self.introduction().boxed()
    }
}

/// Everything that may change its answers. A key in the additional fields is not shown.
fn description(settings: &HttpSettings) -> Description {
    let HttpSettings { sampling, .. } = settings;
    let said = |value: Option<String>| value.unwrap_or_else(|| "standard".to_owned());
    let mut described = vec![
        ("fim".to_owned(), settings.fim.name().to_owned()),
        ("max_tokens".to_owned(), sampling.max_tokens.to_string()),
        (
            "temperature".to_owned(),
            sampling.temperature.map_or_else(|| "least".to_owned(), |t| t.to_string()),
        ),
        ("top_p".to_owned(), said(sampling.top_p.map(|top_p| top_p.to_string()))),
        ("seed".to_owned(), said(sampling.seed.map(|seed| seed.to_string()))),
        ("context_window".to_owned(), said(settings.context_window.map(|window| window.to_string()))),
    ];
    for (name, value) in &settings.extra {
        described.push((format!("extra.{name}"), settings.server.without_keys(&value.to_string())));
    }
    Description {
        name: settings.name.clone(),
        kind: settings.kind,
        model: settings.model.clone().unwrap_or_else(|| "the server's".to_owned()),
        settings: described.into_iter().collect(),
    }
}

/// Returns the template for a model.
pub(crate) fn choice(metadata: &Metadata, model: Option<&str>) -> Option<Choice> {
    let texts: Vec<&str> = metadata.template.as_deref().into_iter().collect();
    let names: Vec<&str> = metadata.names.iter().map(String::as_str).collect();
    let hints = Hints { configured: None, texts: &texts, names: &names, model: model.unwrap_or_default() };
    // Without a configured template there is no error.
    prompt::choose(&hints).ok().flatten()
}

/// Returns the size of a prompt: the rest of the window beside the answer, limited by reading time.
fn prompt_tokens(window: Option<u64>, answer: u32) -> usize {
    let window = window.and_then(|window| usize::try_from(window).ok());
    let left = window.map(|window| window.saturating_sub(answer as usize).max(window / 2));
    left.unwrap_or(PROMPT_TOKENS).min(PROMPT_TOKENS)
}

/// Whether the server ignores a suffix silently: llama.cpp's server, used with OpenAI's API.
fn ignores_suffix(kind: Kind, reply: &Reply<'_>) -> bool {
    kind == Kind::OpenAi && reply.header("server").is_some_and(|server| server.starts_with("llama.cpp"))
}

/// Whether the server will never provide metadata.
fn is_final(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::NoPath { .. }
            | Fault::Status { .. }
            | Fault::Malformed { .. }
            | Fault::TooLong { .. }
            | Fault::Redirect { .. }
    )
}

/// Whether metadata is only unavailable now. This includes a missing recording.
fn is_unanswered(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Silent { .. }
            | Fault::Busy { .. }
            | Fault::Loading { .. }
            | Fault::CutShort { .. }
            | Fault::NotRecorded(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_leaves_room_for_the_answer() {
        assert_eq!(prompt_tokens(None, 512), PROMPT_TOKENS);
        assert_eq!(prompt_tokens(Some(2048), 512), 1536);
        assert_eq!(prompt_tokens(Some(1_000_000), 512), PROMPT_TOKENS);
        assert_eq!(prompt_tokens(Some(600), 512), 300, "an answer need not be as long as it may be");
    }
}
