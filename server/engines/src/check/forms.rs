//! The prompt forms that a server accepts besides the chosen one.

use prompt::Template;
use prompt::proof::{Form, layouts};

use crate::formats::{self, Takes};
use crate::http_engine::choice;
use crate::{Fim, HttpSettings, Kind, Metadata};

/// A form with an engine that uses it.
pub(super) struct Alternative {
    pub(super) form: Form,
    pub(super) settings: HttpSettings,
}

/// Template with the prefix alone.
const PREFIX: &str = "{prefix}";

/// Returns the other forms: first the prefix alone, which is the baseline, then the likely ones.
pub(super) fn alternatives(
    server: &HttpSettings,
    metadata: &Metadata,
    chosen: Option<&Form>,
) -> Vec<Alternative> {
    let Some(takes) = formats::of(server.kind).map(|format| format.takes) else { return Vec::new() };
    let mut alternatives = match (takes, server.kind) {
        (Takes::Rendered | Takes::RenderedOrHole | Takes::HoleOrRendered, _) => {
            completions(server, metadata, chosen)
        }
        // A server with chat completions may support completions as well.
        (Takes::Chat, Kind::OpenAiChat) => {
            completions(&HttpSettings { kind: Kind::OpenAi, ..server.clone() }, metadata, chosen)
        }
        (Takes::Chat | Takes::Hole, _) => Vec::new(),
    };
    if matches!(takes, Takes::RenderedOrHole | Takes::HoleOrRendered) && chosen != Some(&Form::Server) {
        let settings = HttpSettings { fim: Fim::Server, ..server.clone() };
        alternatives.push(Alternative { form: Form::Server, settings });
    }
    if has_chats(server.kind) {
        let settings = HttpSettings { kind: Kind::OpenAiChat, fim: Fim::Auto, ..server.clone() };
        alternatives.push(Alternative { form: Form::Chat, settings });
    }
    alternatives
}

fn completions(server: &HttpSettings, metadata: &Metadata, chosen: Option<&Form>) -> Vec<Alternative> {
    let alternative = |form: Form, fim: &str| {
        let settings = HttpSettings { fim: Fim::Template(fim.to_owned()), ..server.clone() };
        Alternative { form, settings }
    };
    let known = choice(metadata, server.model.as_deref()).map(|choice| choice.template);
    let chosen = match chosen {
        Some(Form::Template(template)) => Some(template),
        _ => None,
    };
    let templates = layouts(known.as_ref(), chosen);
    let prefix = alternative(Form::Prefix, PREFIX);
    let named = |template: Template| {
        let name = template.name().to_owned();
        alternative(Form::Template(template), &name)
    };
    std::iter::once(prefix).chain(templates.into_iter().map(named)).collect()
}

/// Servers that also offer chat completions at OpenAI's path.
fn has_chats(kind: Kind) -> bool {
    matches!(kind, Kind::OpenAi | Kind::LlamaCpp | Kind::Vllm | Kind::Tgi | Kind::Ollama | Kind::MistralFim)
}
