//! Servers of llama.cpp that fail to start, played by shell scripts. The end-to-end tests use real ones.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use config::Secret;
use engines::{Engine, EngineError, EngineKind, LlamaServerEngine, LlamaServerSettings, Program};
use tempfile::TempDir;

use crate::harness::{KEY, ask, settings};

struct Tested {
    engine: LlamaServerEngine,
    folder: TempDir,
}

fn server_settings(folder: &TempDir, script: &str) -> LlamaServerSettings {
    let gguf = folder.path().join("tiny-coder.gguf");
    fs::write(&gguf, "GGUF and more").expect("the temporary folder is ours");
    let mut http = settings(EngineKind::LlamaServer, "http://127.0.0.1:0");
    http.model = None;
    LlamaServerSettings {
        // Arguments after the script are `$0`, `$1` and so on.
        program: Program {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            env: [("OTHER_KEY".to_owned(), Secret::new(KEY))].into(),
            folder: Some(folder.path().to_owned()),
        },
        gguf,
        log: Some(folder.path().join("logs").join("tested.log")),
        start_timeout: Duration::from_millis(300),
        http,
        cassette: None,
    }
}

fn server(script: &str) -> Tested {
    let folder = TempDir::new().expect("there is room for temporary files");
    let engine = LlamaServerEngine::new(server_settings(&folder, script)).expect("the settings are right");
    Tested { engine, folder }
}

/// The error message, without the folder's name and the key.
async fn message(tested: &Tested) -> String {
    let error = ask(&tested.engine).await.0.expect_err("it does not come up");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(matches!(error, EngineError::Program { .. }), "{error:?}");
    error.to_string().replace(&tested.folder.path().display().to_string(), "FOLDER")
}

#[tokio::test]
async fn exit_while_loading_is_reported_with_stderr_and_log() {
    let tested = server("echo started >> starts; echo \"no memory for $OTHER_KEY\" >&2; exit 1");
    for _ in 0..4 {
        assert_eq!(
            message(&tested).await,
            "engine `tested`: `sh` ended with exit code 1: no memory for (the key); its log is FOLDER/logs/tested.log"
        );
    }
    let starts = fs::read_to_string(tested.folder.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 2, "once, and once again");
}

#[tokio::test]
async fn server_that_is_never_ready_times_out() {
    let tested = server("echo loading >&2; sleep 600");
    assert_eq!(
        message(&tested).await,
        "engine `tested`: `sh` was not ready within 300ms; it said last: loading; its log is FOLDER/logs/tested.log"
    );
}

#[tokio::test]
async fn model_is_passed_as_argument_and_key_in_environment() {
    let tested = server("echo \"$0 $@\" > arguments; echo \"$LLAMA_API_KEY\" > key; exit 1");
    message(&tested).await;
    let file = |name: &str| fs::read_to_string(tested.folder.path().join(name)).unwrap();
    let (arguments, key) = (file("arguments"), file("key"));
    let folder = tested.folder.path().display();
    assert!(arguments.starts_with("--host 127.0.0.1 --port "), "{arguments}");
    let rest =
        format!(" --model {folder}/tiny-coder.gguf --ctx-size 2048 --log-file {folder}/logs/tested.log\n");
    assert!(arguments.ends_with(&rest), "{arguments}");
    assert!(key.trim().len() == 32 && !arguments.contains(key.trim()), "{key}");
    assert!(tested.folder.path().join("logs").is_dir(), "there is a folder for its log");
}

#[test]
fn invalid_gguf_or_program_is_reported_before_the_start() {
    let folder = TempDir::new().expect("there is room for temporary files");
    let refused = |settings: LlamaServerSettings| {
        let error = LlamaServerEngine::new(settings).err().expect("it is refused").to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER")
    };
    let missing =
        LlamaServerSettings { gguf: PathBuf::from("/no/model.gguf"), ..server_settings(&folder, "") };
    assert!(refused(missing).starts_with("cannot read the `gguf` /no/model.gguf: No such file"));
    let other = folder.path().join("model.safetensors");
    fs::write(&other, "GG").unwrap();
    let other = LlamaServerSettings { gguf: other, ..server_settings(&folder, "") };
    assert_eq!(
        refused(other),
        "FOLDER/model.safetensors is not a GGUF file; convert the model with llama.cpp's scripts, or correct `gguf`"
    );
    let program = Program { command: vec!["no-llama-server".to_owned()], ..Program::default() };
    let nobody = LlamaServerSettings { program, ..server_settings(&folder, "") };
    assert_eq!(refused(nobody), "there is no program `no-llama-server`; install it, or correct `command`");
}

#[test]
fn description_names_the_model_without_its_folder() {
    let tested = server("exit 1");
    let description = tested.engine.description();
    assert_eq!((description.kind, description.model.as_str()), (EngineKind::LlamaServer, "tiny-coder"));
    assert_eq!(description.settings["command"], "sh -c exit 1");
    assert!(!format!("{description:?}").contains(&tested.folder.path().display().to_string()));
}
