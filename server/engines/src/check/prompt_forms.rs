//! The prompt forms that a server accepts besides the chosen one.

use prompt::template_check::{PromptForm, layouts};

use crate::http_engine::template_choice;
use crate::wire_formats::{self, SupportedPrompts};
use crate::{EngineKind, FimSetting, HttpSettings, ServerMetadata};

/// A form with an engine that uses it.
pub(super) struct FormCandidate {
    pub(super) form: PromptForm,
    pub(super) settings: HttpSettings,
}

/// Template with the prefix alone.
const PREFIX: &str = "{prefix}";

/// Returns the other forms: first the prefix alone, which is the baseline, then the likely ones.
pub(super) fn other_forms(
    server: &HttpSettings,
    metadata: &ServerMetadata,
    chosen: Option<&PromptForm>,
) -> Vec<FormCandidate> {
    let Some(takes) = wire_formats::wire_format(server.kind).map(|format| format.supported_prompts) else {
        return Vec::new();
    };
    let mut alternatives = match (takes, server.kind) {
        (
            SupportedPrompts::Rendered | SupportedPrompts::RenderedOrHole | SupportedPrompts::HoleOrRendered,
            _,
        ) => completion_forms(server, metadata, chosen),
        // A server with chat completions may support completions as well.
        (SupportedPrompts::Chat, EngineKind::OpenAiChat) => {
            completion_forms(&HttpSettings { kind: EngineKind::OpenAi, ..server.clone() }, metadata, chosen)
        }
        (SupportedPrompts::Chat | SupportedPrompts::Hole, _) => Vec::new(),
    };
    if matches!(takes, SupportedPrompts::RenderedOrHole | SupportedPrompts::HoleOrRendered)
        && chosen != Some(&PromptForm::Server)
    {
        let settings = HttpSettings { fim: FimSetting::Server, ..server.clone() };
        alternatives.push(FormCandidate { form: PromptForm::Server, settings });
    }
    if has_chats(server.kind) {
        let settings = HttpSettings { kind: EngineKind::OpenAiChat, fim: FimSetting::Auto, ..server.clone() };
        alternatives.push(FormCandidate { form: PromptForm::Chat, settings });
    }
    alternatives
}

fn completion_forms(
    server: &HttpSettings,
    metadata: &ServerMetadata,
    chosen: Option<&PromptForm>,
) -> Vec<FormCandidate> {
    let alternative = |form: PromptForm, fim: &str| {
        let settings = HttpSettings { fim: FimSetting::Template(fim.to_owned()), ..server.clone() };
        FormCandidate { form, settings }
    };
    let known = template_choice(metadata, server.model.as_deref()).map(|choice| choice.template);
    let chosen = match chosen {
        Some(PromptForm::Template(template)) => Some(template),
        _ => None,
    };
    let templates = layouts(known.as_ref(), chosen);
    let prefix = alternative(PromptForm::Prefix, PREFIX);
    std::iter::once(prefix)
        .chain(templates.into_iter().map(|template| {
            let name = template.name().to_owned();
            alternative(PromptForm::Template(template), &name)
        }))
        .collect()
}

/// Servers that also offer chat completions at OpenAI's path.
fn has_chats(kind: EngineKind) -> bool {
    matches!(
        kind,
        EngineKind::OpenAi
            | EngineKind::LlamaCpp
            | EngineKind::Vllm
            | EngineKind::Tgi
            | EngineKind::Ollama
            | EngineKind::MistralFim
    )
}
