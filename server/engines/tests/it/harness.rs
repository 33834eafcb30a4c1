//! Sends requests to an engine as a completion does.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Secret;
use engines::{
    Answer, AnswerListener, Engine, EngineError, EngineKind, FimSetting, HttpEngine, HttpLimits,
    HttpServerConfig, HttpSettings, PromptInput, Proxy, Request, Sampling, ServerError,
};
use syntax::Language;
use text::Snippet;
use tokio_util::sync::CancellationToken;

/// A secret that no message may contain.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// The document of the tests, with its cursor.
pub(crate) const FIXTURE: &str = "def area(width, height):\n    return $0\n\nprint(area(2, 3))\n";

/// The expected completion.
pub(crate) const TRUTH: &str = "width * height";

/// A request with the cursor at `$0`.
pub(crate) fn request(fixture: &str) -> Request {
    let (text, cursor) = test_fixture::take_cursor(fixture);
    let deadline = Some(tokio::time::Instant::now() + Duration::from_secs(20));
    let input = PromptInput {
        path: "src/area.py".into(),
        language: Language::Python,
        text: text.into(),
        cursor,
        context: Arc::default(),
    };
    Request { deadline, ..Request::new(input) }
}

/// The request with context from other files, nearest first.
pub(crate) fn with_context(request: Request) -> Request {
    let context = [
        Snippet::new("src/near.py", "def near():\n    pass\n"),
        Snippet::new("src/far.py", "def far():\n    pass\n"),
    ];
    Request { input: PromptInput { context: context.into(), ..request.input }, ..request }
}

/// Minimal settings; tests set the rest.
pub(crate) fn settings(kind: EngineKind, url: &str) -> HttpSettings {
    HttpSettings {
        name: "tested".to_owned(),
        kind,
        server: HttpServerConfig {
            key: Some(Secret::new(KEY)),
            proxy: Proxy::Direct,
            ..HttpServerConfig::at(url)
        },
        model: Some("coder".to_owned()),
        fim: FimSetting::Server,
        sampling: Sampling::greedy(64),
        extra: serde_json::Map::new(),
        context_window: Some(2048),
        timeout: None,
    }
}

/// The same with short timeouts.
pub(crate) fn impatient(kind: EngineKind, url: &str) -> HttpSettings {
    let settings = settings(kind, url);
    let limit = Duration::from_millis(200);
    let limits = HttpLimits { first_byte: limit, idle: limit, ..HttpLimits::DEFAULT };
    HttpSettings { server: HttpServerConfig { limits, ..settings.server }, ..settings }
}

pub(crate) fn engine(settings: HttpSettings) -> HttpEngine {
    HttpEngine::new(settings).expect("the test's settings are right")
}

/// Everything received from an engine.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) prompts: Vec<String>,
    pub(crate) first: Option<Instant>,
    /// Stops after this number of bytes.
    pub(crate) enough: Option<usize>,
}

impl AnswerListener for Heard {
    fn prompt(&mut self, prompt: &str) {
        self.prompts.push(prompt.to_owned());
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        self.first.get_or_insert_with(Instant::now);
        self.text.push_str(piece);
        match self.enough {
            Some(enough) if self.text.len() >= enough => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

pub(crate) async fn ask_for(engine: &dyn Engine, request: Request) -> (Result<Answer, EngineError>, Heard) {
    let mut heard = Heard::default();
    let answer = engine.complete(request, &mut heard, &CancellationToken::new()).await;
    (answer, heard)
}

pub(crate) async fn ask(engine: &dyn Engine) -> (Result<Answer, EngineError>, Heard) {
    ask_for(engine, request(FIXTURE)).await
}

/// The error of a request; checks that none of its forms contains the key.
#[track_caller]
pub(crate) fn fault(answer: Result<Answer, EngineError>) -> ServerError {
    let error = answer.expect_err("the test expects no answer");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    match error {
        EngineError::Server { fault, .. } => fault,
        other => panic!("no fault of the server: {other}"),
    }
}
