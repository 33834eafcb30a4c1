//! Answers to what plugins ask before they ask for completions, for engines that do not speak the plugin's API.

use std::sync::Arc;

use cases::EngineIdentity;
use http_server::{ResponseBody, json_response, response};
use hyper::{Response, StatusCode};
use recording::TrialSession;
use serde_json::{Value, json};
use session::{Folder, IndexingState};

use crate::chosen_engine::ChosenEngine;
use crate::dialect::Probe;

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

/// The state of the front door: its engine, the folders that are read, and the trial that records.
pub(crate) fn status(session: &TrialSession, chosen: &ChosenEngine) -> Response<ResponseBody> {
    let folder = |folder: Arc<Folder>| {
        let state = match folder.state().state {
            IndexingState::Indexing => "indexing",
            IndexingState::Ready => "ready",
            IndexingState::Failed(_) => "failed",
        };
        json!({"name": folder.name, "state": state})
    };
    let folders: Vec<Value> = session.folders.all().into_iter().map(folder).collect();
    let trial = chosen.trial.as_ref().map(|trial| trial.definition.name.clone());
    let (engine, kind) = (&chosen.identity.name, &chosen.identity.kind);
    let value = json!({"engine": engine, "kind": kind, "folders": folders, "trial": trial});
    json_response(StatusCode::OK, &value)
}

/// A response without content.
pub(crate) fn empty() -> Response<ResponseBody> {
    response(StatusCode::OK, "text/plain", "")
}

fn details() -> Value {
    json!({"parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""})
}
