//! A model behind HTTP as an [`Engine`].
//!
//! ```text
//! Request --metadata of the model--> PromptMode --prompt--> ModelRequest --format--> body --http--> HttpResponse --read--> pieces
//!                                     ^                              |
//!                                     +------- quirk <--- refusal ---+
//! ```
//!
//! Responsible for choosing the prompt mode, for repeating a request in another form if a refusal reveals a quirk, and for
//! remembering both for the engine's lifetime. `wire_formats` contains the wire formats, the `prompt` crate the templates, `http`
//! the connections. Must not adapt answers to the document.

mod model_facts;
mod prompt_mode;
mod read_answer;
mod render;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use prompt::{LinePrices, ModelHints, TemplateChoice, TemplateError, TokenEstimator};
use serde_json::Value;
use thiserror::Error as ThisError;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::cassette::{CanonicalRequest, Cassette, EngineCassette};
use crate::http::{HttpClient, HttpRequest, HttpResponse, HttpServerConfig, ServerError};
use crate::wire_formats::{
    self, ModelInput, ModelRequest, Object, ServerQuirk, ServerQuirks, SupportedPrompts, WireFormat,
};
use crate::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineInfo, EngineKind, FunctionTask,
    Request, Sampling, ServerMetadata, TaskForm,
};

use model_facts::ModelFacts;
pub use prompt_mode::{FimSetting, PromptMode};
use read_answer::read_answer;
use render::RenderedInput;

/// Maximum size of a prompt in tokens: nearly every model in use reads it within an acceptable time.
pub const PROMPT_TOKENS: usize = 4096;

/// Maximum tokens of an answer to a task without a cursor, unless the setting is higher: as in RepoQA's program.
pub const FUNCTION_TOKENS: u32 = 1024;

/// A configured model behind HTTP.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// User-defined name.
    pub name: String,
    /// Its API.
    pub kind: EngineKind,
    /// Its server.
    pub server: HttpServerConfig,
    /// Model name, for servers with several.
    pub model: Option<String>,
    /// The template setting.
    pub fim: FimSetting,
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
    Kind(EngineKind),
    /// Invalid template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Invalid server settings.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// A model behind HTTP.
pub struct HttpEngine {
    description: EngineDescription,
    settings: HttpSettings,
    format: &'static WireFormat,
    client: HttpClient,
    /// The configured template.
    configured: Option<TemplateChoice>,
    model: OnceCell<Arc<ModelFacts>>,
    quirks: Mutex<ServerQuirks>,
    /// Prices of the lines of earlier prompts.
    line_prices: Mutex<LinePrices>,
}

impl HttpEngine {
    /// Creates the engine without connecting.
    pub fn new(settings: HttpSettings) -> Result<HttpEngine, SetupError> {
        let format = wire_formats::wire_format(settings.kind).ok_or(SetupError::Kind(settings.kind))?;
        let configured = match &settings.fim {
            FimSetting::Template(template) => {
                prompt::choose_template(&ModelHints { configured: Some(template), ..ModelHints::default() })?
            }
            FimSetting::Auto | FimSetting::Server => None,
        };
        Ok(HttpEngine {
            description: description(&settings),
            client: HttpClient::new(&settings.server, format.headers)?,
            format,
            settings,
            configured,
            model: OnceCell::new(),
            quirks: Mutex::default(),
            line_prices: Mutex::default(),
        })
    }

    /// Returns the engine with a cassette and the quirks recorded there.
    pub fn with_cassette(self, cassette: &Arc<Cassette>) -> HttpEngine {
        let recording = EngineCassette::new(Arc::clone(cassette), &self.settings.name);
        for quirk in recording.quirks().iter().filter_map(|name| ServerQuirk::from_name(name)) {
            self.lock_quirks(|lessons| lessons.learn(quirk));
        }
        HttpEngine { client: self.client.with_cassette(recording), ..self }
    }

    fn lock_quirks<T>(&self, look: impl FnOnce(&mut ServerQuirks) -> T) -> T {
        look(&mut self.quirks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a quirk; returns `false` if it was known.
    fn add_quirk(&self, quirk: ServerQuirk) -> bool {
        let is_new = self.lock_quirks(|lessons| lessons.learn(quirk));
        if let Some(recording) = self.client.cassette().filter(|_| is_new) {
            recording.record_quirk(&quirk.name());
        }
        is_new
    }

    fn error(&self, fault: ServerError) -> EngineError {
        let engine = self.settings.name.clone();
        match fault {
            ServerError::NotRecorded(miss) => EngineError::NotRecorded { engine, miss },
            fault => EngineError::Server { engine, fault },
        }
    }

    async fn answer(&self, request: &Request, sink: &mut dyn AnswerListener) -> Result<Answer, EngineError> {
        let model = self.known_model().await.map_err(|fault| self.error(fault))?;
        let mut refusals = 0;
        loop {
            let RenderedInput { input, stop, parser } = self.render(request, &model)?;
            sink.prompt(&input.prompt_text());
            match self.ask(request, input, stop).await {
                Ok(reply) => {
                    let answer = read_answer(reply, self.format, &parser, request, &mut *sink).await;
                    let answer = answer.map_err(|fault| self.error(fault))?;
                    return Ok(Answer { refusals: answer.refusals + refusals, ..answer });
                }
                Err(RequestFailure::Quirk(quirk)) if self.add_quirk(quirk) => refusals += 1,
                Err(RequestFailure::Quirk(_)) => {
                    return Err(self
                        .choose_prompt_mode(&model)
                        .err()
                        .unwrap_or_else(|| self.unknown_quirk_error()));
                }
                Err(RequestFailure::Server(fault)) => return Err(self.error(fault)),
            }
        }
    }

    fn render(&self, request: &Request, model: &ModelFacts) -> Result<RenderedInput, EngineError> {
        let metadata = &model.metadata;
        let window = self.settings.context_window.or(metadata.context_window);
        let estimator =
            metadata.sample_tokens.map_or_else(TokenEstimator::default, TokenEstimator::calibrated);
        if let Some(task) = &request.function
            && let Some(input) = RenderedInput::of_function(request, task, self.format.supported_prompts)
        {
            return self.if_it_fits(input, window, estimator);
        }
        let way = self.choose_prompt_mode(model)?;
        let tokens = prompt_tokens(window, self.settings.sampling.max_tokens);
        let takes_context = self.format.takes_context;
        // Concurrent requests are rarely for the same document, and do not wait for each other.
        let (remembered, unknown) = (self.line_prices.try_lock().ok(), LinePrices::default());
        let prices = remembered.as_deref().unwrap_or(&unknown);
        RenderedInput::new(request, &way, tokens, takes_context, estimator, prices)
            .map_err(|reason| EngineError::Prompt { engine: self.settings.name.clone(), reason })
    }

    /// Returns the input of a task that must not be cut, unless the model's window is too small for it: many servers would cut it
    /// silently.
    fn if_it_fits(
        &self,
        input: RenderedInput,
        window: Option<u64>,
        estimator: TokenEstimator,
    ) -> Result<RenderedInput, EngineError> {
        let Some(window) = window else { return Ok(input) };
        let needed = estimator.count(&input.input.prompt_text()) as u64;
        if needed <= window {
            return Ok(input);
        }
        Err(EngineError::TaskTooLong { engine: self.settings.name.clone(), needed, window })
    }

    async fn ask(
        &self,
        request: &Request,
        input: ModelInput,
        stop: Vec<String>,
    ) -> Result<HttpResponse<'_>, RequestFailure> {
        let (is_infill, path) = (input.is_infill(), (self.format.path)(&input));
        let ours = self.body(input, stop, &self.sampling(request));
        let call = HttpRequest {
            document: Some(request.into()),
            recorded_form: self.client.cassette().map(|_| ours.clone().into()),
            deadline: request.deadline,
            ..self.http_request(path, &ours)
        };
        match self.client.ask(&call).await {
            Ok(reply) if is_infill && ignores_suffix(self.settings.kind, &reply) => {
                Err(RequestFailure::Quirk(ServerQuirk::NoInfill))
            }
            Ok(reply) => Ok(reply),
            Err(fault) => Err(self
                .quirk_of_refusal(&fault, ours, is_infill)
                .map_or(RequestFailure::Server(fault), RequestFailure::Quirk)),
        }
    }

    /// Returns the sampling for a request: a whole function needs more tokens than a completion.
    fn sampling(&self, request: &Request) -> Sampling {
        let sampling = self.settings.sampling.clone();
        match request.function {
            Some(_) => Sampling { max_tokens: sampling.max_tokens.max(FUNCTION_TOKENS), ..sampling },
            None => sampling,
        }
    }

    /// Builds the body without the user's fields.
    fn body(&self, input: ModelInput, mut stop: Vec<String>, sampling: &Sampling) -> Object {
        stop.truncate(self.format.max_stops);
        let model = self.settings.model.as_deref();
        let mut ours = (self.format.write)(ModelRequest { input, stop, model, sampling });
        self.lock_quirks(|lessons| lessons.apply(&mut ours));
        ours
    }

    /// Builds the HTTP request; adds the user's fields, which may contain keys and are never shown.
    fn http_request(&self, path: &str, ours: &Object) -> HttpRequest {
        let mut merged = Cow::Borrowed(ours);
        if !self.settings.extra.is_empty() {
            wire_formats::merge_fields(merged.to_mut(), &self.settings.extra);
        }
        HttpRequest {
            url: self.client.endpoint(path),
            body: Some(serde_json::to_vec(&*merged).expect("a JSON object can be written")),
            recorded_form: None,
            document: None,
            deadline: None,
        }
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
    pub(crate) fn canonical(&self, prompt: &str) -> Option<CanonicalRequest> {
        let PromptMode::Rendered(choice) =
            self.choose_prompt_mode(&self.model_facts(ServerMetadata::default())).ok()?
        else {
            return None;
        };
        let stop: Vec<String> = choice.template.stop().into_iter().map(str::to_owned).collect();
        let input = ModelInput::Rendered { prompt: prompt.to_owned() };
        let path = (self.format.path)(&input);
        let ours = self.body(input, stop, &self.settings.sampling);
        let call = self.http_request(path, &ours);
        let call = HttpRequest { recorded_form: Some(ours.into()), ..call };
        let document = render::document_in(prompt, &choice.template);
        Some(self.client.canonical(&self.settings.name, &call).about(Some(document)))
    }

    /// Returns the quirk that a refusal reveals, if another form of the request remains.
    fn quirk_of_refusal(
        &self,
        fault: &ServerError,
        mut ours: Object,
        is_infill: bool,
    ) -> Option<ServerQuirk> {
        let ServerError::Status { status, message, .. } = fault else { return None };
        ours.retain(|name, _| !self.settings.extra.contains_key(name));
        if self.settings.sampling.temperature.is_some() {
            ours.remove("temperature");
        }
        let may_change = matches!(
            self.format.supported_prompts,
            SupportedPrompts::RenderedOrHole | SupportedPrompts::HoleOrRendered
        );
        wire_formats::quirk_of_refusal(*status, message, &ours, is_infill && may_change)
    }

    /// Error for a server that rejects a field that was not sent.
    fn unknown_quirk_error(&self) -> EngineError {
        let message = "the server rejects the request in every form".to_owned();
        EngineError::Failed { engine: self.settings.name.clone(), message }
    }

    async fn answer_in_time(
        &self,
        request: &Request,
        sink: &mut dyn AnswerListener,
    ) -> Result<Answer, EngineError> {
        let answer = self.answer(request, sink);
        match self.settings.timeout {
            None => answer.await,
            Some(timeout) => {
                let late = || Err(self.error(self.client.unfinished_answer(timeout)));
                tokio::time::timeout(timeout, answer).await.unwrap_or_else(|_| late())
            }
        }
    }
}

/// Why a request failed.
enum RequestFailure {
    Server(ServerError),
    Quirk(ServerQuirk),
}

impl Engine for HttpEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn task_form(&self, _task: &FunctionTask) -> TaskForm {
        match self.format.supported_prompts {
            SupportedPrompts::Chat => TaskForm::Chat,
            SupportedPrompts::Rendered
            | SupportedPrompts::RenderedOrHole
            | SupportedPrompts::HoleOrRendered
            | SupportedPrompts::Hole => TaskForm::FillIn,
        }
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let answer = self.answer_in_time(&request, sink);
            let answer = cancel.run_until_cancelled(answer).await.unwrap_or(Err(EngineError::Cancelled));
            if let (Err(EngineError::NotRecorded { .. }), Some(recording)) = (&answer, self.client.cassette())
            {
                recording.count_miss();
            }
            answer
        }
        .boxed()
    }

    fn count_tokens<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Option<usize>> {
        self.tokens_of(text).boxed()
    }

    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        self.engine_info().boxed()
    }
}

/// Everything that may change its answers. A key in the additional fields is not shown.
fn description(settings: &HttpSettings) -> EngineDescription {
    let HttpSettings { sampling, .. } = settings;
    let or_standard = |value: Option<String>| value.unwrap_or_else(|| "standard".to_owned());
    let mut described = vec![
        ("fim".to_owned(), settings.fim.name().to_owned()),
        ("max_tokens".to_owned(), sampling.max_tokens.to_string()),
        (
            "temperature".to_owned(),
            sampling.temperature.map_or_else(|| "least".to_owned(), |t| t.to_string()),
        ),
        ("top_p".to_owned(), or_standard(sampling.top_p.map(|top_p| top_p.to_string()))),
        ("seed".to_owned(), or_standard(sampling.seed.map(|seed| seed.to_string()))),
        ("context_window".to_owned(), or_standard(settings.context_window.map(|window| window.to_string()))),
    ];
    for (name, value) in &settings.extra {
        described.push((format!("extra.{name}"), settings.server.redact(&value.to_string())));
    }
    EngineDescription {
        name: settings.name.clone(),
        kind: settings.kind,
        model: settings.model.clone().unwrap_or_else(|| "the server's".to_owned()),
        settings: described.into_iter().collect(),
    }
}

/// Returns the template for a model.
pub(crate) fn template_choice(metadata: &ServerMetadata, model: Option<&str>) -> Option<TemplateChoice> {
    let texts: Vec<&str> = metadata.template.as_deref().into_iter().collect();
    let names: Vec<&str> = metadata.names.iter().map(String::as_str).collect();
    let hints =
        ModelHints { configured: None, texts: &texts, names: &names, model: model.unwrap_or_default() };
    // Without a configured template there is no error.
    prompt::choose_template(&hints).ok().flatten()
}

/// Returns the size of a prompt: the rest of the window beside the answer, limited by reading time.
fn prompt_tokens(window: Option<u64>, answer: u32) -> usize {
    let window = window.and_then(|window| usize::try_from(window).ok());
    let left = window.map(|window| window.saturating_sub(answer as usize).max(window / 2));
    left.unwrap_or(PROMPT_TOKENS).min(PROMPT_TOKENS)
}

/// Whether the server ignores a suffix silently: llama.cpp's server, used with OpenAI's API.
fn ignores_suffix(kind: EngineKind, reply: &HttpResponse<'_>) -> bool {
    kind == EngineKind::OpenAi && reply.header("server").is_some_and(|server| server.starts_with("llama.cpp"))
}

/// Whether the server will never provide metadata.
fn is_final(fault: &ServerError) -> bool {
    matches!(
        fault,
        ServerError::NoPath { .. }
            | ServerError::Status { .. }
            | ServerError::Malformed { .. }
            | ServerError::TooLong { .. }
            | ServerError::Redirect { .. }
    )
}

/// Whether metadata is only unavailable now. This includes a missing recording.
fn is_unavailable(fault: &ServerError) -> bool {
    matches!(
        fault,
        ServerError::Timeout { .. }
            | ServerError::Busy { .. }
            | ServerError::Loading { .. }
            | ServerError::Truncated { .. }
            | ServerError::NotRecorded(_)
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
