//! Replies of model servers, over a connection.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engines::{
    AnswerListener, Engine, EngineKind, FimSetting, HttpEngine, HttpLimits, HttpServerConfig, HttpSettings,
    PromptInput, Proxy, Request, Sampling,
};
use mock::{MockServer, Reply};
use syntax::Language;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::first;

/// Kinds of engines that read different formats.
const KINDS: [EngineKind; 6] = [
    EngineKind::LlamaCpp,
    EngineKind::OpenAi,
    EngineKind::Ollama,
    EngineKind::Tgi,
    EngineKind::Anthropic,
    EngineKind::Tabby,
];

/// Requests after which there is a new server: it remembers them.
const MOST_REQUESTS: usize = 5_000;

/// Bytes of an answer beyond those of the reply: escapes and replaced bytes take more.
const LONGER: usize = 4;

/// The server and the next reply.
struct Setup {
    runtime: Runtime,
    server: MockServer,
    reply: Arc<Mutex<Vec<u8>>>,
    requests: usize,
}

thread_local! {
    static SETUP: RefCell<Option<Setup>> = const { RefCell::new(None) };
}

/// The first byte is the kind of the engine, the second the type of the reply; the rest is its body, or for one type all of it.
pub(crate) fn run(input: &[u8]) {
    SETUP.with_borrow_mut(|setup| {
        if setup.as_ref().is_some_and(|setup| setup.requests > MOST_REQUESTS) {
            *setup = None;
        }
        ask(setup.get_or_insert_with(Setup::new), input);
    });
}

impl Setup {
    fn new() -> Setup {
        let reply = Arc::new(Mutex::new(Vec::new()));
        let next = Arc::clone(&reply);
        let server = MockServer::scripted(move |_| {
            let bytes = next.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (form, body) = first(&bytes);
            match form % 4 {
                0 => Reply::whole(200, "application/json", body),
                1 => Reply::raw(body),
                form => {
                    let content_type = if form == 2 { "text/event-stream" } else { "application/x-ndjson" };
                    let half = body.len() / 2;
                    Reply::stream(content_type).chunk(&body[..half]).chunk(&body[half..]).end()
                }
            }
        });
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Setup { runtime, server, reply, requests: 0 }
    }
}

struct Received(usize);

impl AnswerListener for Received {
    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        self.0 += piece.len();
        ControlFlow::Continue(())
    }
}

fn ask(setup: &mut Setup, input: &[u8]) {
    setup.requests += 1;
    let (kind, reply) = first(input);
    reply.clone_into(&mut setup.reply.lock().unwrap_or_else(PoisonError::into_inner));
    let limit = Duration::from_millis(200);
    let settings = HttpSettings {
        name: "fuzzed".to_owned(),
        kind: KINDS[kind as usize % KINDS.len()],
        server: HttpServerConfig {
            proxy: Proxy::Direct,
            limits: HttpLimits { first_byte: limit, idle: limit, ..HttpLimits::DEFAULT },
            ..HttpServerConfig::at(&setup.server.url())
        },
        model: Some("model".to_owned()),
        fim: FimSetting::Server,
        sampling: Sampling::greedy(64),
        extra: serde_json::Map::new(),
        context_window: Some(2048),
        timeout: None,
    };
    let Ok(engine) = HttpEngine::new(settings) else { return };
    let request = Request::new(PromptInput {
        path: "a.py".into(),
        language: Language::Python,
        text: "x = \n".into(),
        cursor: 4,
        context: Arc::default(),
    });
    let mut received = Received(0);
    let answer = setup.runtime.block_on(engine.complete(request, &mut received, &CancellationToken::new()));
    assert!(received.0 <= LONGER * reply.len(), "{} bytes of {}", received.0, reply.len());
    if let Err(error) = answer {
        assert!(!error.to_string().is_empty());
    }
}
