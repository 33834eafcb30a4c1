//! Metadata that servers report.

use serde_json::Value;

use super::Object;

/// Metadata that a server reports about its model. Missing values are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Names of the model, the most specific first; may be file names and families.
    pub names: Vec<String>,
    /// All models that a request can name.
    pub models: Vec<String>,
    /// Context window: tokens that the model can read and write in one request.
    pub context_window: Option<u64>,
    /// Whether the server supports infill.
    pub takes_infill: Option<bool>,
    /// The server's own template.
    pub template: Option<String>,
    /// Number of tokens of [`prompt::SAMPLE`] in the model's tokenizer.
    pub sample_tokens: Option<usize>,
}

/// An endpoint with metadata.
#[derive(Clone, Copy)]
pub(crate) struct MetadataEndpoint {
    /// The path.
    pub(crate) path: &'static str,
    /// Request body; `None` for a GET request.
    pub(crate) body: Option<fn(model: &str) -> Object>,
    /// Reads the metadata of a model, or of the only one.
    pub(crate) read: fn(response: &Value, model: Option<&str>) -> ServerMetadata,
}

/// OpenAI's list of models, with the extensions of vLLM and llama.cpp.
pub(super) const MODELS: MetadataEndpoint = MetadataEndpoint { path: "/v1/models", body: None, read: models };

/// The same list for paths without a version.
pub(super) const MODELS_WITHOUT_VERSION: MetadataEndpoint =
    MetadataEndpoint { path: "/models", body: None, read: models };

/// llama.cpp's.
pub(super) const PROPS: MetadataEndpoint = MetadataEndpoint { path: "/props", body: None, read: props };

/// Ollama's.
pub(super) const OLLAMA: MetadataEndpoint = MetadataEndpoint {
    path: "/api/show",
    body: Some(|model| Object::from_iter([("model".to_owned(), model.into())])),
    read: show,
};

/// TGI's.
pub(super) const INFO: MetadataEndpoint = MetadataEndpoint { path: "/info", body: None, read: info };

/// Tabby's.
pub(super) const HEALTH: MetadataEndpoint = MetadataEndpoint { path: "/v1/health", body: None, read: health };

/// An endpoint that counts tokens.
#[derive(Clone, Copy)]
pub(crate) struct TokenizerEndpoint {
    /// The path.
    pub(crate) path: &'static str,
    /// Request body.
    pub(crate) body: fn(text: &str, model: &str) -> Object,
    /// Reads the count.
    pub(crate) read: fn(response: &Value) -> Option<usize>,
}

/// llama.cpp's.
pub(super) const LLAMA_CPP_TOKENIZER: TokenizerEndpoint = TokenizerEndpoint {
    path: "/tokenize",
    body: |text, _| Object::from_iter([("content".to_owned(), text.into())]),
    read: |response| response.get("tokens")?.as_array().map(Vec::len),
};

/// vLLM's.
pub(super) const VLLM_TOKENIZER: TokenizerEndpoint = TokenizerEndpoint {
    path: "/tokenize",
    body: |text, model| {
        let model = (!model.is_empty()).then(|| ("model".to_owned(), model.into()));
        model.into_iter().chain([("prompt".to_owned(), text.into())]).collect()
    },
    read: |response| response.get("count")?.as_u64().and_then(|count| count.try_into().ok()),
};

/// TGI's.
pub(super) const TGI_TOKENIZER: TokenizerEndpoint = TokenizerEndpoint {
    path: "/tokenize",
    body: |text, _| Object::from_iter([("inputs".to_owned(), text.into())]),
    read: |response| response.as_array().map(Vec::len),
};

/// Endpoint of llama.cpp's server state.
pub(crate) const SLOTS: &str = "/slots";

/// Number of requests that the server is working on.
pub(crate) fn busy(slots: &Value) -> Option<u64> {
    Some(
        slots
            .as_array()?
            .iter()
            .filter(|slot| slot.get("is_processing").and_then(Value::as_bool) == Some(true))
            .count() as u64,
    )
}

fn text(response: &Value, place: &str) -> Option<String> {
    let text = response.pointer(place)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn models(response: &Value, model: Option<&str>) -> ServerMetadata {
    let all = response.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let id = |entry: &Value| text(entry, "/id");
    let Some(meant) = all.iter().find(|entry| model.is_none_or(|model| id(entry).as_deref() == Some(model)))
    else {
        return ServerMetadata { models: all.iter().filter_map(id).collect(), ..ServerMetadata::default() };
    };
    let window = ["/max_model_len", "/meta/n_ctx", "/context_length", "/max_context_length"];
    ServerMetadata {
        // vLLM's `root` is the model itself if `id` is an alias.
        names: ["/root", "/id"].iter().filter_map(|place| text(meant, place)).collect(),
        models: all.iter().filter_map(id).collect(),
        context_window: window.iter().find_map(|place| meant.pointer(place)?.as_u64()),
        takes_infill: meant.pointer("/capabilities/completion_fim").and_then(Value::as_bool),
        ..ServerMetadata::default()
    }
}

fn props(response: &Value, _model: Option<&str>) -> ServerMetadata {
    let names: Vec<String> =
        ["/model_path", "/model_alias"].iter().filter_map(|place| text(response, place)).collect();
    ServerMetadata {
        models: text(response, "/model_alias").into_iter().collect(),
        names,
        context_window: response.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64),
        ..ServerMetadata::default()
    }
}

fn show(response: &Value, model: Option<&str>) -> ServerMetadata {
    let info = response.get("model_info");
    let architecture = info.and_then(|info| text(info, "/general.architecture"));
    let window = architecture
        .as_deref()
        .and_then(|architecture| info?.get(format!("{architecture}.context_length"))?.as_u64());
    let named = |field: &str| info.and_then(|info| text(info, &format!("/{field}")));
    let names = [named("general.basename"), named("general.name"), model.map(str::to_owned), architecture];
    let capabilities = response.get("capabilities").and_then(Value::as_array);
    ServerMetadata {
        names: names.into_iter().flatten().collect(),
        models: Vec::new(),
        context_window: window,
        takes_infill: capabilities.map(|all| all.iter().any(|capability| capability == "insert")),
        template: text(response, "/template"),
        ..ServerMetadata::default()
    }
}

fn info(response: &Value, _model: Option<&str>) -> ServerMetadata {
    let count = |place: &str| response.pointer(place).and_then(Value::as_u64);
    ServerMetadata {
        names: text(response, "/model_id").into_iter().collect(),
        context_window: count("/max_total_tokens"),
        takes_infill: Some(false),
        ..ServerMetadata::default()
    }
}

fn health(response: &Value, _model: Option<&str>) -> ServerMetadata {
    ServerMetadata {
        names: text(response, "/model").into_iter().collect(),
        takes_infill: Some(true),
        ..ServerMetadata::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn model_list_describes_the_configured_model() {
        let response = json!({"object": "list", "data": [
            {"id": "first", "object": "model"},
            {"id": "coder", "root": "Qwen/Qwen2.5-Coder-7B", "max_model_len": 32768},
        ]});
        assert_eq!(
            models(&response, Some("coder")),
            ServerMetadata {
                names: vec!["Qwen/Qwen2.5-Coder-7B".to_owned(), "coder".to_owned()],
                models: vec!["first".to_owned(), "coder".to_owned()],
                context_window: Some(32768),
                ..ServerMetadata::default()
            }
        );
        assert_eq!(models(&response, None).names, ["first"]);
        assert_eq!(models(&response, Some("other")).names, [""; 0]);
        assert_eq!(models(&json!("nothing"), None), ServerMetadata::default());
    }

    #[test]
    fn ollama_metadata_reports_infill_support() {
        let response = json!({
            "template": "{{- if .Suffix }}<|fim_prefix|>{{ .Prompt }}",
            "model_info": {
                "general.architecture": "qwen2",
                "general.basename": "Qwen2.5-Coder",
                "qwen2.context_length": 32768,
            },
            "capabilities": ["completion", "insert"],
        });
        let metadata = show(&response, Some("mine:latest"));
        assert_eq!(metadata.names, ["Qwen2.5-Coder", "mine:latest", "qwen2"]);
        assert_eq!((metadata.context_window, metadata.takes_infill), (Some(32768), Some(true)));
    }

    #[test]
    fn single_model_servers_report_their_model_name() {
        let response = json!({
            "model_path": "/models/qwen2.5-coder-1.5b.gguf",
            "model_alias": "mine",
            "default_generation_settings": {"n_ctx": 2048},
        });
        let metadata = props(&response, None);
        assert_eq!(metadata.names, ["/models/qwen2.5-coder-1.5b.gguf", "mine"]);
        assert_eq!(metadata.context_window, Some(2048));
        assert_eq!(
            info(&json!({"model_id": "bigcode/starcoder2-3b"}), None).names,
            ["bigcode/starcoder2-3b"]
        );
        assert_eq!(health(&json!({"model": "StarCoder-1B"}), None).names, ["StarCoder-1B"]);
    }
}
