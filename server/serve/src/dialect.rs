//! The paths that plugins request, and the engines that speak them.

use config::EngineKind;
use memchr::memmem;
use serde_json::Value;

/// An API that plugins speak, for one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// llama.cpp's `/infill`.
    LlamaInfill,
    /// llama.cpp's `/completion`.
    LlamaCompletion,
    /// OpenAI's `/v1/completions`.
    Completions,
    /// Tabby's, at the same path: the body decides ([`Route::of_body`]).
    Tabby,
    /// OpenAI's `/v1/chat/completions`.
    Chat,
    /// Ollama's `/api/generate`.
    OllamaGenerate,
    /// Mistral's `/v1/fim/completions`.
    MistralFim,
    /// DeepSeek's `/beta/completions`.
    DeepSeekFim,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A completion.
    Completion(Dialect),
    /// Something that plugins ask before they ask for completions.
    Probe(Probe),
    /// What became of a completion, in Tabby's API.
    TabbyEvent,
    /// A path that is only passed on, to these kinds of engines.
    Helper(&'static [EngineKind]),
    /// The state of the front door itself.
    Status,
}

/// A question that plugins ask before they ask for completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// llama.cpp's `/health`.
    Health,
    /// llama.cpp's `/props`.
    Props,
    /// `/v1/models`.
    Models,
    /// Ollama's `/api/tags`.
    OllamaTags,
    /// Ollama's `/api/version`.
    OllamaVersion,
    /// Ollama's `/api/show`.
    OllamaShow,
    /// Ollama's `/`, which names the program.
    OllamaRoot,
    /// Tabby's `/v1/health`.
    TabbyHealth,
}

const LLAMA: &[EngineKind] = &[EngineKind::LlamaCpp];
const OLLAMA: &[EngineKind] = &[EngineKind::Ollama];
const TABBY: &[EngineKind] = &[EngineKind::Tabby];
/// Servers with OpenAI's paths beside their own.
const OPEN_AI: &[EngineKind] = &[
    EngineKind::OpenAi,
    EngineKind::OpenAiChat,
    EngineKind::LlamaCpp,
    EngineKind::Vllm,
    EngineKind::Tgi,
    EngineKind::Ollama,
];

/// Returns the route of a path, without its query; `None` for a path that no known plugin requests.
pub(crate) fn route(path: &str) -> Option<Route> {
    use Dialect as D;
    use Probe as P;
    Some(match path {
        "/infill" => Route::Completion(D::LlamaInfill),
        "/completion" | "/completions" => Route::Completion(D::LlamaCompletion),
        "/v1/completions" => Route::Completion(D::Completions),
        "/v1/chat/completions" | "/chat/completions" => Route::Completion(D::Chat),
        "/api/generate" => Route::Completion(D::OllamaGenerate),
        "/v1/fim/completions" => Route::Completion(D::MistralFim),
        "/beta/completions" => Route::Completion(D::DeepSeekFim),
        "/health" => Route::Probe(P::Health),
        "/props" => Route::Probe(P::Props),
        "/v1/models" | "/models" => Route::Probe(P::Models),
        "/api/tags" => Route::Probe(P::OllamaTags),
        "/api/version" => Route::Probe(P::OllamaVersion),
        "/api/show" => Route::Probe(P::OllamaShow),
        "/" => Route::Probe(P::OllamaRoot),
        "/v1/health" => Route::Probe(P::TabbyHealth),
        "/v1/events" => Route::TabbyEvent,
        "/ghostbench/status" => Route::Status,
        "/tokenize" | "/detokenize" | "/apply-template" | "/slots" | "/v1/health/ready" => {
            Route::Helper(LLAMA)
        }
        "/api/ps" | "/api/chat" => Route::Helper(OLLAMA),
        "/v1beta/server_setting" => Route::Helper(TABBY),
        _ => return None,
    })
}

impl Route {
    /// Returns the route of a body at this path: OpenAI and Tabby share one.
    pub(crate) fn of_body(self, body: &[u8]) -> Route {
        let is_shared = self == Route::Completion(Dialect::Completions);
        if is_shared && is_tabby(body) { Route::Completion(Dialect::Tabby) } else { self }
    }

    /// Returns whether the server of an engine of this kind is asked itself.
    pub(crate) fn is_spoken_by(self, kind: EngineKind) -> bool {
        match self {
            Route::Completion(dialect) => dialect.kinds().contains(&kind),
            Route::Probe(probe) => probe.kinds().contains(&kind),
            Route::TabbyEvent => TABBY.contains(&kind),
            Route::Helper(kinds) => kinds.contains(&kind),
            Route::Status => false,
        }
    }
}

/// Whether a body is one of Tabby's plugins. Only a body that may be is parsed for it: in a string, quotes are escaped.
fn is_tabby(body: &[u8]) -> bool {
    memmem::find(body, b"\"segments\"").is_some()
        && serde_json::from_slice::<Value>(body).is_ok_and(|body| body.get("segments").is_some())
}

impl Dialect {
    fn kinds(self) -> &'static [EngineKind] {
        match self {
            Dialect::LlamaInfill | Dialect::LlamaCompletion => LLAMA,
            Dialect::Completions | Dialect::Chat => OPEN_AI,
            Dialect::Tabby => TABBY,
            Dialect::OllamaGenerate => OLLAMA,
            Dialect::MistralFim => &[EngineKind::MistralFim],
            Dialect::DeepSeekFim => &[EngineKind::DeepSeekFim],
        }
    }
}

impl Probe {
    fn kinds(self) -> &'static [EngineKind] {
        match self {
            Probe::Health | Probe::Props => LLAMA,
            Probe::Models => OPEN_AI,
            Probe::OllamaTags | Probe::OllamaVersion | Probe::OllamaShow | Probe::OllamaRoot => OLLAMA,
            Probe::TabbyHealth => TABBY,
        }
    }
}
