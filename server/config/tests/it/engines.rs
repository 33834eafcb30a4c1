//! Engines in several layers: merging, requirements and results.

use std::path::Path;
use std::time::Duration;

use config::EngineKind;
use expect_test::expect;

use crate::fixture::{check, config};

#[test]
fn engines_merge_by_name() {
    check(
        r#"
//- user
[[engine]]
name = "qwen"
kind = "llama-cpp"
url = "http://127.0.0.1:8012"
temperature = 0
[[engine]]
name = "mine"
kind = "builtin"
//- workspace
[[engine]]
name = "other"
kind = "command"
command = ["./run.sh", "--fast"]
[[engine]]
name = "qwen"
temperature = 0.5
fim = "qwen2.5-coder"
//- --config
[[engine]]
name = "qwen"
url = "http://gpu:8012"
"#,
        expect![[r#"
            [qwen] llama-cpp: ready
              url = "http://gpu:8012" (--config /ci/bench.toml:3:1)
              fim = "qwen2.5-coder" (workspace file /shop/ghostbench.toml:8:1)
              temperature = 0.5 (workspace file /shop/ghostbench.toml:7:1)
            [mine] builtin: ready
            [other] command: ready
              command = ["/shop/run.sh", "--fast"] (workspace file /shop/ghostbench.toml:4:1)
        "#]],
    );
}

#[test]
fn missing_engine_requirements_are_reported() {
    check(
        r#"
//- user
[[engine]]
name = "a"
[[engine]]
name = "b"
kind = "openai-chat"
[[engine]]
name = "c"
kind = "opanai"
[[engine]]
name = "d"
kind = "tgi"
url = "nowhere"
[[engine]]
name = "e"
kind = "anthropic"
model = "claude"
api_key_env = "ANTHROPIC_API_KEY"
headers = {A = "$ONE-${TWO}", B = "plain"}
[[engine]]
name = "f"
kind = "ollama"
model = "qwen2.5-coder:1.5b"
gguf = "/m.gguf"
[[engine]]
name = "f"
kind = "builtin"
//- environment
ONE=1
ANTHROPIC_API_KEY=
"#,
        expect![[r#"
            [a] ?: it has no `kind`
            [b] openai-chat: it needs `url`; it needs `model`
            [c] ?: it has no `kind`
            [d] tgi: it needs `url`
            [e] anthropic: it needs the environment variable ANTHROPIC_API_KEY, which is not set; it needs the environment variable TWO, which is not set
              model = "claude" (user file /home/you/.config/ghostbench/config.toml:16:1)
              api_key_env = $ANTHROPIC_API_KEY (user file /home/you/.config/ghostbench/config.toml:17:1)
              headers = A: $ONE…$TWO, B: … (user file /home/you/.config/ghostbench/config.toml:18:1)
            [f] ollama: two engines are called `f`, at /home/you/.config/ghostbench/config.toml:19:1 and at /home/you/.config/ghostbench/config.toml:24:1; rename one
              model = "qwen2.5-coder:1.5b" (user file /home/you/.config/ghostbench/config.toml:22:1)
              gguf = "/m.gguf" (user file /home/you/.config/ghostbench/config.toml:23:1)
            Error /home/you/.config/ghostbench/config.toml:1:1: engine `a` has no `kind`; give it one
            Error /home/you/.config/ghostbench/config.toml:3:1: engine `b` of kind `openai-chat` needs `url`
            Error /home/you/.config/ghostbench/config.toml:3:1: engine `b` of kind `openai-chat` needs `model`
            Error /home/you/.config/ghostbench/config.toml:8:8: `kind` cannot be `opanai`; did you mean `openai`?
            Error /home/you/.config/ghostbench/config.toml:12:7: `url` must be an address like "http://127.0.0.1:8080"
            Warning /home/you/.config/ghostbench/config.toml:17:1: engine `e` needs the environment variable ANTHROPIC_API_KEY, which is not set
            Warning /home/you/.config/ghostbench/config.toml:18:1: engine `e` needs the environment variable TWO, which is not set
            Warning /home/you/.config/ghostbench/config.toml:23:1: `gguf` does not apply to engines of kind `ollama`, only to `llama-server`
            Error /home/you/.config/ghostbench/config.toml:24:1: an engine `f` already exists at /home/you/.config/ghostbench/config.toml:19:1; rename one of them
        "#]],
    );
}

#[test]
fn engine_settings_hold_all_configured_values() {
    let config = config(
        r#"
//- user
[[engine]]
name = "all"
kind = "openai"
url = "https://api.example/v1"
model = "m"
fim = "<PRE>{prefix}<SUF>{suffix}<MID>"
api_key_env = "EXAMPLE_KEY"
headers = {Authorization = "Bearer $EXAMPLE_KEY", X-Org = "us"}
extra_body = {stop = ["\n\n"], nested = {a = 1, b = 2.5, c = true}}
proxy = "http://$PROXY_USER@proxy:3128"
tls_roots = "certs/ca.pem"
temperature = 1
max_tokens = 64
context_window = 4096
connect_timeout_ms = 100
first_byte_timeout_ms = 2000
idle_timeout_ms = 300
concurrency = 2
price_in = 0.15
price_out = 3
cutoff = "2025-06"
//- environment
EXAMPLE_KEY=sk-secret
PROXY_USER=me:pw
"#,
    );
    assert_eq!(config.problems, []);
    let engine = config.engines[0].settings.as_ref().expect("nothing is missing");
    assert_eq!((engine.name.as_str(), engine.kind), ("all", EngineKind::OpenAi));
    assert_eq!(engine.url.as_deref(), Some("https://api.example/v1"));
    assert_eq!(engine.model.as_deref(), Some("m"));
    assert_eq!(engine.fim.as_deref(), Some("<PRE>{prefix}<SUF>{suffix}<MID>"));
    assert_eq!(engine.api_key.as_ref().map(|key| key.expose()), Some("sk-secret"));
    let headers: Vec<_> =
        engine.headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(headers, [("Authorization", "Bearer sk-secret"), ("X-Org", "us")]);
    let body = serde_json::to_string(&engine.extra_body).unwrap();
    assert_eq!(body, r#"{"nested":{"a":1,"b":2.5,"c":true},"stop":["\n\n"]}"#);
    assert_eq!(engine.proxy.as_ref().map(|proxy| proxy.expose()), Some("http://me:pw@proxy:3128"));
    assert_eq!(engine.tls_roots.as_deref(), Some(Path::new("/home/you/.config/ghostbench/certs/ca.pem")));
    assert_eq!(engine.temperature, Some(1.0));
    assert_eq!((engine.max_tokens, engine.context_window), (64, Some(4096)));
    let limits = [engine.connect_timeout, engine.first_byte_timeout, engine.idle_timeout];
    assert_eq!(limits, [100, 2000, 300].map(Duration::from_millis));
    assert_eq!(engine.concurrency, Some(2));
    assert_eq!((engine.price_in, engine.price_out), (Some(0.15), Some(3.0)));
    assert_eq!(engine.cutoff.as_deref(), Some("2025-06"));
    let everything = format!("{config:?}");
    assert!(!everything.contains("sk-secret") && !everything.contains("me:pw"), "{everything}");
}

#[test]
fn engine_gets_default_url_of_its_kind_and_table_defaults() {
    let config = config("//- user\n[[engine]]\nname = \"o\"\nkind = \"ollama\"\nmodel = \"m\"\n");
    let engine = config.engines[0].settings.as_ref().expect("nothing is missing");
    assert_eq!(engine.url.as_deref(), Some("http://127.0.0.1:11434"));
    assert_eq!((engine.max_tokens, engine.method.name()), (512, "hybrid"));
    assert_eq!(engine.connect_timeout, Duration::from_secs(5));
    let rows: Vec<_> = config.engines[0].values().iter().map(|row| row.key.name).collect();
    let limits = ["connect_timeout_ms", "first_byte_timeout_ms", "idle_timeout_ms"];
    assert_eq!(rows, [&["name", "kind", "url", "model", "max_tokens"][..], &limits].concat());
}

#[test]
fn passwords_in_urls_and_headers_are_not_shown() {
    check(
        r#"
//- user
[[engine]]
name = "a"
kind = "openai"
url = "https://me:do-not-show@h:1/v1?key=do-not-show"
proxy = "http://me:do-not-show@proxy"
headers = {A = "do-not-show"}
extra_body = {api_key = "do-not-show"}
"#,
        expect![[r#"
            [a] openai: ready
              url = "https://h:1/v1?…" (user file /home/you/.config/ghostbench/config.toml:4:1)
              headers = A: … (user file /home/you/.config/ghostbench/config.toml:6:1)
              extra_body = api_key: … (user file /home/you/.config/ghostbench/config.toml:7:1)
              proxy = … (user file /home/you/.config/ghostbench/config.toml:5:1)
        "#]],
    );
}

#[test]
fn relative_paths_are_resolved_against_the_config_file() {
    check(
        r#"
//- user
[[engine]]
name = "a"
kind = "llama-server"
gguf = "~/models/m.gguf"
command = ["bin/llama-server", "-v"]
[[engine]]
name = "b"
kind = "lsp"
command = ["copilot-language-server", "--stdio"]
//- editor
{"engine": [{"name": "c", "kind": "llama-server", "gguf": "m.gguf"}, {"name": "d", "kind": "llama-server", "gguf": "~/m.gguf"}]}
//- environment
HOME=/home/you
"#,
        expect![[r#"
            [a] llama-server: ready
              gguf = "/home/you/models/m.gguf" (user file /home/you/.config/ghostbench/config.toml:4:1)
              command = ["/home/you/.config/ghostbench/bin/llama-server", "-v"] (user file /home/you/.config/ghostbench/config.toml:5:1)
            [b] lsp: ready
              command = ["copilot-language-server", "--stdio"] (user file /home/you/.config/ghostbench/config.toml:9:1)
            [c] llama-server: it needs `gguf`
            [d] llama-server: ready
              gguf = "/home/you/m.gguf" (setting ghostbench.engine[1].gguf)
            Error setting ghostbench.engine[0].gguf: `gguf` must be an absolute path here, or begin with ~/
        "#]],
    );
}

#[test]
fn env_and_folder_apply_to_engine_programs() {
    let text = r#"
//- user
[[engine]]
name = "p"
kind = "command"
command = ["./program"]
env = {LEVEL = "3", TOKEN = "$OURS"}
folder = "tools"
start_timeout_ms = 5
[[engine]]
name = "q"
kind = "ollama"
model = "m"
env = {A = "b"}
//- workspace
[[engine]]
name = "r"
kind = "command"
command = ["program"]
env = {API_TOKEN = "do-not-show"}
[[engine]]
name = "s"
kind = "command"
command = ["program"]
env = {"A=B" = "do-not-show", C = 1}
//- environment
OURS=sk-secret
"#;
    let config = config(text);
    let engine = config.engines[0].settings.as_ref().expect("nothing is missing");
    let env: Vec<_> = engine.env.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(env, [("LEVEL", "3"), ("TOKEN", "sk-secret")]);
    assert_eq!(engine.folder.as_deref(), Some(Path::new("/home/you/.config/ghostbench/tools")));
    check(
        text,
        expect![[r#"
        [p] command: ready
          command = ["/home/you/.config/ghostbench/program"] (user file /home/you/.config/ghostbench/config.toml:4:1)
          env = LEVEL: …, TOKEN: $OURS (user file /home/you/.config/ghostbench/config.toml:5:1)
          folder = "/home/you/.config/ghostbench/tools" (user file /home/you/.config/ghostbench/config.toml:6:1)
          start_timeout_ms = 5 (user file /home/you/.config/ghostbench/config.toml:7:1)
        [q] ollama: ready
          model = "m" (user file /home/you/.config/ghostbench/config.toml:11:1)
          env = A: … (user file /home/you/.config/ghostbench/config.toml:12:1)
        [r] command: ready
          command = ["program"] (workspace file /shop/ghostbench.toml:4:1)
        [s] command: ready
          command = ["program"] (workspace file /shop/ghostbench.toml:9:1)
        Error /shop/ghostbench.toml:5:7: `env` has a value for `API_TOKEN`, but keys are not allowed in a workspace; write $NAME for an environment variable
        Error /shop/ghostbench.toml:10:7: `env` has a variable whose name has characters that no variable has
        Warning /home/you/.config/ghostbench/config.toml:12:1: `env` does not apply to engines of kind `ollama`, only to `llama-server`, `command`, `lsp`
    "#]],
    );
}
