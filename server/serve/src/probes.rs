//! Answers to what plugins ask before they ask for completions, for engines that do not speak the plugin's API.

use cases::EngineIdentity;
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::dialect::Probe;
use crate::http_body::{ResponseBody, json_response, response};

/// Context window that is reported to llama.cpp's plugins, in tokens: what they send is shortened by the engine's own settings.
const CONTEXT_WINDOW: u32 = 32_768;

/// Answers a probe.
pub(crate) fn answer(probe: Probe, engine: &EngineIdentity) -> Response<ResponseBody> {
    let name = &engine.name;
    let value = match probe {
        Probe::OllamaRoot => return response(StatusCode::OK, "text/plain", "Ollama is running"),
        Probe::Health => json!({"status": "ok"}),
        Probe::Props => json!({
            "default_generation_settings": {"n_ctx": CONTEXT_WINDOW}, "total_slots": 1, "model_path": name,
            "model_alias": name, "chat_template": "", "modalities": {"vision": false, "audio": false}
        }),
        Probe::Models => {
            let model = json!({"id": name, "object": "model", "created": 0, "owned_by": "ghostbench"});
            json!({"object": "list", "data": [model]})
        }
        Probe::OllamaTags => {
            json!({"models": [{"name": name, "model": name, "size": 0, "digest": "", "details": details()}]})
        }
        Probe::OllamaVersion => json!({"version": "0.12.0"}),
        Probe::OllamaShow => json!({
            "modelfile": "", "parameters": "", "template": "{{ .Prompt }}{{ .Suffix }}", "details": details(),
            "model_info": {}, "capabilities": ["completion", "insert"]
        }),
        Probe::TabbyHealth => json!({
            "model": name, "device": "cpu", "arch": "", "cpu_info": "", "cpu_count": 1, "accelerators": [],
            "version": {"build_date": "", "build_timestamp": "", "git_sha": "", "git_describe": ""}
        }),
    };
    json_response(StatusCode::OK, &value)
}

/// A response without content.
pub(crate) fn empty() -> Response<ResponseBody> {
    response(StatusCode::OK, "text/plain", "")
}

fn details() -> Value {
    json!({"parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""})
}
