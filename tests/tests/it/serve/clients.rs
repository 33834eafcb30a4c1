//! The official clients of OpenAI and Ollama for Python, which check the answers as strictly as their users' programs.

use std::process::Command;

use serde_json::{Value, json};
use tests::{FrontDoor, RunningProcess, component};

use super::{SUGGESTION, around, project};

/// Asks in every way that plugins use, and prints the answers as JSON.
const SCRIPT: &str = r#"
import json, sys
import ollama, openai

address, prefix, suffix = sys.argv[1:]
client = openai.OpenAI(base_url=address + "/v1", api_key="none", max_retries=0)
fill = {"model": "m", "prompt": prefix, "suffix": suffix, "max_tokens": 50}
chat = f"<contextBeforeCursor>\n{prefix}<cursorPosition>\n<contextAfterCursor>\n{suffix}"
messages = {"model": "m", "messages": [{"role": "user", "content": chat}]}
local = ollama.Client(host=address)
asked = {"model": "m", "prompt": prefix, "suffix": suffix}
print(json.dumps({
    "models": [model.id for model in client.models.list()],
    "completion": client.completions.create(**fill).choices[0].text,
    "streamed": "".join(part.choices[0].text for part in client.completions.create(stream=True, **fill)),
    "chat": client.chat.completions.create(**messages).choices[0].message.content,
    "streamed_chat": "".join(
        part.choices[0].delta.content or "" for part in client.chat.completions.create(stream=True, **messages)
    ),
    "ollama_models": [model.model for model in local.list().models],
    "ollama": local.generate(**asked).response,
    "streamed_ollama": "".join(part.response for part in local.generate(stream=True, **asked)),
}))
"#;

#[test]
fn official_clients_understand_the_answers() {
    let Some(python) = component("api-clients") else { return };
    let project = project();
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    let door = FrontDoor::open(&project, &["--scripted", &rules]);
    let (prefix, suffix) = around();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, &door.url(""), prefix, suffix]).env("NO_PROXY", "*");
    let ended = RunningProcess::start(command).wait().expect_code(0);
    let answers: Value = serde_json::from_str(&ended.stdout).expect("it prints JSON");
    let models = json!(["scripted"]);
    let expected = json!({
        "models": models, "completion": SUGGESTION, "streamed": SUGGESTION, "chat": SUGGESTION,
        "streamed_chat": SUGGESTION, "ollama_models": models, "ollama": SUGGESTION, "streamed_ollama": SUGGESTION
    });
    assert_eq!(answers, expected);
}
