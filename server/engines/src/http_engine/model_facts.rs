//! What a server says about its model, requested when the first question needs it.

use std::sync::Arc;
use std::time::Duration;

use prompt::TemplateChoice;
use serde_json::Value;
use tokio::time::Instant;

use super::{FimSetting, HttpEngine, PromptMode, is_final, is_unavailable, template_choice};
use crate::http::{HttpRequest, ServerError};
use crate::wire_formats::{self, SupportedPrompts};
use crate::{EngineError, EngineInfo, EngineKind, ServerMetadata};

/// Timeout of a metadata request: a slower response would delay the first answer too much.
const METADATA_LIMIT: Duration = Duration::from_secs(2);

/// Maximum size of metadata in bytes: lists of a few hundred models, chat templates, and vocabularies in Ollama's.
const METADATA_BYTES: usize = 16 << 20;

/// Facts about the model.
pub(super) struct ModelFacts {
    pub(super) metadata: ServerMetadata,
    /// Its template: configured, or found in the metadata, which may be a whole vocabulary.
    pub(super) template: Option<TemplateChoice>,
}

impl HttpEngine {
    /// Requests the server's metadata; not cached.
    pub async fn metadata(&self) -> Result<ServerMetadata, ServerError> {
        let Some(source) = self.format.metadata else { return Ok(ServerMetadata::default()) };
        let model = self.settings.model.as_deref();
        let body =
            source.body.map(|body| Value::from(body(model.unwrap_or_default())).to_string().into_bytes());
        let response = self.fetch_json(source.path, body).await?;
        Ok(ServerMetadata { sample_tokens: self.sample_tokens().await, ..(source.read)(&response, model) })
    }

    /// Number of tokens of the sample in the model's tokenizer, if the server provides it.
    async fn sample_tokens(&self) -> Option<usize> {
        // Without it there is still the estimate.
        self.tokens_of(prompt::SAMPLE).await.filter(|tokens| *tokens > 0)
    }

    /// Number of tokens of a text in the model's tokenizer, if the server provides it.
    pub(super) async fn tokens_of(&self, text: &str) -> Option<usize> {
        let tokenizer = self.format.tokenizer?;
        let body = (tokenizer.body)(text, self.settings.model.as_deref().unwrap_or_default());
        let response =
            self.fetch_json(tokenizer.path, Some(Value::from(body).to_string().into_bytes())).await;
        // A count above the number of bytes and a token for the begin of a prompt is invalid.
        (tokenizer.read)(&response.ok()?).filter(|tokens| (0..=text.len() + 1).contains(tokens))
    }

    /// Requests JSON from a path.
    async fn fetch_json(&self, path: &str, body: Option<Vec<u8>>) -> Result<Value, ServerError> {
        let until = Instant::now() + METADATA_LIMIT;
        let call = HttpRequest {
            url: self.client.endpoint(path),
            body,
            recorded_form: None,
            document: None,
            deadline: Some(until),
        };
        let response = async {
            let mut reply = self.client.ask(&call).await?;
            let body = reply.body(METADATA_BYTES).await?;
            // The current state must not be replayed.
            if path != wire_formats::SLOTS {
                reply.record(true);
            }
            Ok(body)
        };
        let response = tokio::time::timeout_at(until, response).await;
        let response = response.unwrap_or_else(|_| Err(self.client.unfinished_answer(METADATA_LIMIT)))?;
        serde_json::from_slice(&response)
            .map_err(|error| self.client.malformed_answer("a description of its models", &error.to_string()))
    }

    /// Returns information about the engine, from the server's current metadata.
    pub(super) async fn engine_info(&self) -> Result<EngineInfo, EngineError> {
        let metadata = match self.metadata().await {
            Err(fault) if is_final(&fault) || is_unavailable(&fault) => ServerMetadata::default(),
            listed => listed.map_err(|fault| self.error(fault))?,
        };
        let busy = match self.settings.kind {
            EngineKind::LlamaCpp => self.fetch_json(wire_formats::SLOTS, None).await.ok(),
            _ => None,
        };
        Ok(EngineInfo {
            prompt_mode: self.choose_prompt_mode(&self.model_facts(metadata.clone())).ok(),
            busy: busy.as_ref().and_then(wire_formats::busy),
            server: Some(self.settings.clone()),
            metadata,
        })
    }

    /// Whether a llama.cpp server reports to be ready.
    pub(crate) async fn is_ready(&self) -> bool {
        let call = HttpRequest {
            url: self.client.endpoint("/health"),
            body: None,
            recorded_form: None,
            document: None,
            deadline: Some(Instant::now()),
        };
        self.client.ask(&call).await.is_ok()
    }

    /// Returns the prompt mode, if one is known; requests the server's metadata if necessary.
    pub async fn prompt_mode(&self) -> Result<PromptMode, EngineError> {
        let model = self.known_model().await.map_err(|fault| self.error(fault))?;
        self.choose_prompt_mode(&model)
    }

    /// Returns what follows from the metadata of the server.
    pub(super) fn model_facts(&self, metadata: ServerMetadata) -> ModelFacts {
        let template =
            self.configured.clone().or_else(|| template_choice(&metadata, self.settings.model.as_deref()));
        ModelFacts { metadata, template }
    }

    pub(super) fn choose_prompt_mode(&self, model: &ModelFacts) -> Result<PromptMode, EngineError> {
        let ModelFacts { metadata, template } = model;
        let refuses_hole =
            metadata.takes_infill == Some(false) || self.lock_quirks(|quirks| quirks.without_hole());
        let way = PromptMode::choose(
            self.format.supported_prompts,
            &self.settings.fim,
            template.as_ref(),
            refuses_hole,
        );
        way.ok_or_else(|| EngineError::NoTemplate {
            engine: self.settings.name.clone(),
            model: self
                .settings
                .model
                .clone()
                .or_else(|| metadata.names.first().cloned())
                .map_or_else(|| "its model".to_owned(), |model| format!("`{}`", self.client.quoted(&model))),
        })
    }

    /// Returns what the server reports about the model; cached. A server without metadata may still complete.
    pub(super) async fn known_model(&self) -> Result<Arc<ModelFacts>, ServerError> {
        let template_is_open = self.settings.fim == FimSetting::Auto;
        let matters = match self.format.supported_prompts {
            SupportedPrompts::Hole | SupportedPrompts::Chat => false,
            SupportedPrompts::Rendered
            | SupportedPrompts::RenderedOrHole
            | SupportedPrompts::HoleOrRendered => template_is_open || self.settings.context_window.is_none(),
        };
        let known = self.model.get_or_try_init(|| async {
            let metadata = match matters {
                true => self.metadata().await,
                false => Ok(ServerMetadata::default()),
            };
            let metadata = match metadata {
                Err(fault) if is_final(&fault) => ServerMetadata::default(),
                reported => reported?,
            };
            Ok(Arc::new(self.model_facts(metadata)))
        });
        match known.await {
            Ok(model) => Ok(Arc::clone(model)),
            // The next request tries again.
            Err(fault) if is_unavailable(&fault) => Ok(Arc::new(self.model_facts(ServerMetadata::default()))),
            Err(fault) => Err(fault),
        }
    }
}
