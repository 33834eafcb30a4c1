//! Tasks without a cursor.

use std::time::Duration;

use completion::{CompletionSettings, FunctionRequest, OutcomeStatus};
use engines::{Script, ScriptedEngine, TaskForm};
use syntax::Language;
use tokio_util::sync::CancellationToken;

/// Asks an engine that answers after some seconds to continue code of some bytes.
async fn ask_slow_engine(seconds: u64, bytes: usize) -> (TaskForm, OutcomeStatus) {
    let script =
        Script { delay: Duration::from_secs(seconds), pieces: vec!["code".to_owned()], failure: None };
    let task = FunctionRequest {
        path: "a.py".into(),
        language: Language::Python,
        prompt: "Find it.".into(),
        code: "#".repeat(bytes).into(),
        context: [].into(),
        search: None,
    };
    let (settings, cancel) = (CompletionSettings::for_replay(), CancellationToken::new());
    let engine = ScriptedEngine::new("slow", script);
    let (form, outcome) = completion::ask(&task, &engine, &settings, &cancel).await;
    (form, outcome.status)
}

#[tokio::test(start_paused = true)]
async fn long_prompts_get_more_time_than_completions() {
    let settings = CompletionSettings::for_replay();
    let (deadline, limit) = (settings.deadline.as_secs(), settings.function_deadline(100).as_secs());
    assert!(limit >= 5 * deadline, "{limit} s");
    assert!(matches!(ask_slow_engine(limit - 1, 100).await, (TaskForm::FillIn, OutcomeStatus::Ok)));
    assert!(matches!(ask_slow_engine(limit + 1, 100).await, (_, OutcomeStatus::Timeout)));
    // 128 k tokens.
    assert_eq!(settings.function_deadline(512 << 10).as_secs(), 4 * limit);
    assert!(matches!(ask_slow_engine(4 * limit - 1, 512 << 10).await, (_, OutcomeStatus::Ok)));
    assert!(matches!(ask_slow_engine(4 * limit + 1, 512 << 10).await, (_, OutcomeStatus::Timeout)));
}
