//! Recorded answers are replayed without the server: the same text, finish reason and token counts, and never a key.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engines::{
    Answer, AnswerListener, AnswersFile, Cassette, CassetteMiss, Engine, EngineDescription, EngineError,
    EngineKind, FimSetting, FinishReason, HttpEngine, HttpSettings, Request, Sampling, Usage, recorded,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mock::{Dialect, MockModel, MockServer, Reply, ReplyStep, TemplateMarks};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::harness::{FIXTURE, Heard, KEY, TRUTH, ask, ask_for, engine, request, settings, with_context};

/// An address where nothing listens.
const NOWHERE: &str = "http://127.0.0.1:1";

/// A cassette file.
struct File {
    _folder: TempDir,
    path: PathBuf,
}

impl File {
    fn new() -> File {
        let folder = TempDir::new().expect("there is room for temporary files");
        File { path: folder.path().join("cassette.jsonl"), _folder: folder }
    }

    fn recording(&self) -> Arc<Cassette> {
        Arc::new(Cassette::recording(&self.path).expect("the file is ours"))
    }

    fn offline(&self) -> Arc<Cassette> {
        Arc::new(Cassette::offline(Some(&self.path)).expect("the file is a cassette"))
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).expect("there is a file")
    }

    /// Number of rows with an answer.
    fn answers(&self) -> usize {
        self.text().lines().filter(|line| line.contains("\"hash\"")).count()
    }
}

fn model() -> MockModel {
    let (before, after) = test_fixture::split_at_cursor(FIXTURE);
    MockModel::new("coder", Some(TemplateMarks::QWEN)).with_answer(before, TRUTH, after)
}

fn all_dialects() -> [(EngineKind, Dialect); 10] {
    [
        (EngineKind::OpenAi, Dialect::open_ai(model(), KEY)),
        (EngineKind::OpenAiChat, Dialect::open_ai(model(), KEY)),
        (EngineKind::Anthropic, Dialect::anthropic(model(), KEY)),
        (EngineKind::LlamaCpp, Dialect::llama_cpp(model()).with_key(KEY)),
        (EngineKind::Ollama, Dialect::ollama(model())),
        (EngineKind::MistralFim, Dialect::mistral(model(), KEY)),
        (EngineKind::DeepSeekFim, Dialect::deepseek(model(), KEY)),
        (EngineKind::Tgi, Dialect::tgi(model())),
        (EngineKind::Vllm, Dialect::vllm(model())),
        (EngineKind::Tabby, Dialect::tabby(model(), KEY)),
    ]
}

/// Settings of an engine at a server; with the model's template if the kind has templates.
fn settings_of(kind: EngineKind, url: &str) -> HttpSettings {
    let fim = match kind {
        EngineKind::Tgi | EngineKind::Vllm => FimSetting::Template("qwen2.5-coder".to_owned()),
        _ => FimSetting::Server,
    };
    HttpSettings { fim, ..settings(kind, url) }
}

fn on(cassette: &Arc<Cassette>, settings: HttpSettings) -> HttpEngine {
    engine(settings).with_cassette(cassette)
}

#[tokio::test]
async fn every_api_replays_its_recorded_answer() {
    for (kind, dialect) in all_dialects() {
        let (file, server) = (File::new(), MockServer::with_dialect(dialect));
        let recording = file.recording();
        let recorder = on(&recording, settings_of(kind, &server.url()));
        let (first, heard) = ask_for(&recorder, with_context(request(FIXTURE))).await;
        let first =
            first.unwrap_or_else(|error| panic!("{kind}: {error}; {:?}", server.log().ignored_fields));
        let asked = server.log().received.len();
        drop((recorder, recording));
        assert!(!file.text().contains(KEY), "{kind}: {}", file.text());
        let offline = file.offline();
        let elsewhere =
            HttpSettings { server: engines::HttpServerConfig::at(NOWHERE), ..settings_of(kind, NOWHERE) };
        let (again, reheard) = ask_for(&on(&offline, elsewhere), with_context(request(FIXTURE))).await;
        let again = again.unwrap_or_else(|error| panic!("{kind}: {error}\n{}", file.text()));
        assert_eq!((again.finish, again.usage, again.timings), (first.finish, first.usage, first.timings));
        assert_eq!((reheard.text, reheard.prompts), (heard.text, heard.prompts), "{kind}");
        assert_eq!(server.log().received.len(), asked, "{kind}: no request was repeated");
        assert_eq!(offline.stats().missed, 0, "{kind}");
    }
}

#[tokio::test]
async fn changed_request_misses_the_cassette() {
    let (file, server) = (File::new(), MockServer::with_dialect(Dialect::llama_cpp(model())));
    let original = || settings_of(EngineKind::LlamaCpp, &server.url());
    let (answer, _) = ask(&on(&file.recording(), original())).await;
    answer.expect("the server answers");
    let template =
        HttpSettings { fim: FimSetting::Template("{prefix}<|fim_middle|>{suffix}".to_owned()), ..original() };
    let longer = HttpSettings { sampling: Sampling::greedy(65), ..original() };
    let renamed = HttpSettings { name: "other".to_owned(), ..original() };
    let mut extended = original();
    extended.extra.insert("min_p".to_owned(), 0.5.into());
    for changed in [template, longer, renamed, extended] {
        let (cassette, name) = (file.offline(), changed.name.clone());
        let (answer, _) = ask(&on(&cassette, changed)).await;
        let error = answer.expect_err("nothing is recorded for it");
        let EngineError::NotRecorded { engine, miss: CassetteMiss::NotRecorded { cassette: path } } = &error
        else {
            panic!("another error: {error}")
        };
        assert_eq!((engine, path), (&name, &file.path));
        let message = error.to_string();
        for word in [name.as_str(), "cassette.jsonl", "--offline", "record"] {
            assert!(message.contains(word), "no {word} in {message}");
        }
        assert_eq!((error.cause(), cassette.stats().missed), ("not_recorded", 1));
    }
    let context = ask_for(&on(&file.offline(), original()), with_context(request(FIXTURE))).await;
    assert!(matches!(context.0, Err(EngineError::NotRecorded { .. })), "another context is another question");
    assert_eq!(server.log().received.len(), 1);
}

#[tokio::test]
async fn offline_without_cassette_sends_no_request() {
    let server = MockServer::with_dialect(Dialect::llama_cpp(model()));
    let nothing = Arc::new(Cassette::offline(None).unwrap());
    let (answer, _) = ask(&on(&nothing, settings_of(EngineKind::LlamaCpp, &server.url()))).await;
    let message = answer.unwrap_err().to_string();
    assert!(message.contains("`tested`") && message.contains("--cassette"), "{message}");
    assert!(server.log().received.is_empty());
}

const PIECE: &str = "data: {\"content\": \"piece \", \"stop\": false}\n\n";

async fn complete_until(engine: &dyn Engine, enough: usize) -> (Result<Answer, EngineError>, String) {
    let mut heard = Heard { enough: Some(enough), ..Heard::default() };
    let answer = engine.complete(request(FIXTURE), &mut heard, &CancellationToken::new()).await;
    (answer, heard.text)
}

#[tokio::test]
async fn truncated_recording_replays_its_part_but_not_more() {
    let (file, stream) = (File::new(), Reply::stream("text/event-stream"));
    let stream = stream.chunk(PIECE.as_bytes()).chunk(PIECE.as_bytes()).with_step(ReplyStep::Hang);
    let server = MockServer::with_replies([stream]);
    let at = || settings(EngineKind::LlamaCpp, &server.url());
    let first = complete_until(&on(&file.recording(), at()), 6).await;
    let again = complete_until(&on(&file.offline(), at()), 6).await;
    assert_eq!(again.0.unwrap().finish, FinishReason::Complete);
    assert_eq!((first.0.unwrap().finish, &first.1), (FinishReason::Complete, &again.1));
    let (more, _) = complete_until(&on(&file.offline(), at()), 1000).await;
    let error = more.expect_err("the rest of the answer is unknown");
    assert!(
        matches!(error, EngineError::NotRecorded { miss: CassetteMiss::Truncated { .. }, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn failures_are_not_recorded() {
    let cut_short = Reply { closes: true, ..Reply::stream("text/event-stream").chunk(PIECE.as_bytes()) };
    let refusal = |status| Reply::json(status, &serde_json::json!({"error": {"message": "no"}}));
    for reply in [cut_short, refusal(401), refusal(500), refusal(503), refusal(429)] {
        let (file, server) = (File::new(), MockServer::with_replies([reply]));
        let mut hurried = settings(EngineKind::LlamaCpp, &server.url());
        hurried.timeout = Some(Duration::from_millis(200));
        let (answer, _) = ask(&on(&file.recording(), hurried)).await;
        answer.expect_err("the server fails");
        assert_eq!(file.answers(), 0, "{}", file.text());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_answer_is_not_recorded() {
    let stream = Reply::stream("text/event-stream").chunk(PIECE.as_bytes()).with_step(ReplyStep::Hang);
    let (file, server) = (File::new(), MockServer::with_replies([stream]));
    let (engine, cancel) =
        (on(&file.recording(), settings(EngineKind::LlamaCpp, &server.url())), CancellationToken::new());
    let mut heard = |_: &str| {
        cancel.cancel();
        ControlFlow::Continue(())
    };
    let answer = engine.complete(request(FIXTURE), &mut heard, &cancel).await;
    assert!(matches!(answer, Err(EngineError::Cancelled)));
    assert_eq!(file.answers(), 0);
}

#[tokio::test]
async fn too_long_prompt_refusal_is_replayed() {
    let response =
        serde_json::json!({"error": {"message": "the request exceeds the available context size"}});
    let (file, server) = (File::new(), MockServer::with_replies([Reply::json(400, &response)]));
    let at = || settings(EngineKind::LlamaCpp, &server.url());
    let (first, _) = ask(&on(&file.recording(), at())).await;
    let (again, _) = ask(&on(&file.offline(), at())).await;
    let (first, again) = (first.unwrap_err(), again.unwrap_err());
    assert_eq!((first.cause(), again.cause()), ("question_too_long", "question_too_long"));
    assert_eq!(first.to_string(), again.to_string());
}

/// A quirk applies to requests in any order: the request that revealed it may come last, or not at all.
#[tokio::test]
async fn recorded_quirks_apply_before_the_first_request() {
    let server = MockServer::with_dialect(Dialect::llama_cpp(MockModel::new("codestral", None)));
    let at = || HttpSettings {
        fim: FimSetting::Auto,
        model: None,
        context_window: None,
        ..settings(EngineKind::LlamaCpp, &server.url())
    };
    let other = || request("def other():\n    return $0\n");
    let file = File::new();
    let response = {
        let engine = on(&file.recording(), at());
        let (first, _) = ask(&engine).await;
        assert_eq!(first.unwrap().refusals, 1);
        ask_for(&engine, other()).await.1.text
    };
    let (offline, asked) = (file.offline(), server.log().received.len());
    let engine = on(&offline, at());
    let (answer, heard) = ask_for(&engine, other()).await;
    answer.expect("it is recorded");
    assert_eq!(heard.text, response);
    ask(&engine).await.0.expect("it is recorded");
    assert_eq!((offline.stats().missed, server.log().received.len()), (0, asked));
}

fn reply_with_text(text: &str) -> Reply {
    Reply::events([
        serde_json::json!({"content": text, "stop": false}).to_string().as_str(),
        r#"{"content": "", "stop": true, "stop_type": "eos"}"#,
    ])
}

#[tokio::test]
async fn repetitions_replay_their_different_answers() {
    let (file, server) =
        (File::new(), MockServer::with_replies([reply_with_text("one"), reply_with_text("two")]));
    let at = || settings(EngineKind::LlamaCpp, &server.url());
    let recording = file.recording();
    let engine = on(&recording, at());
    for text in ["one", "two"] {
        assert_eq!(ask(&engine).await.1.text, text, "each repetition is asked");
    }
    assert_eq!(recording.stats().recorded, 2);
    let offline = file.offline();
    let engine = on(&offline, at());
    for text in ["one", "two", "two"] {
        assert_eq!(ask(&engine).await.1.text, text);
    }
    let tally = offline.stats();
    assert_eq!((tally.replayed, tally.repeated, tally.missed), (3, 1, 0));
}

#[tokio::test]
async fn recorded_answers_are_replayed_and_missing_ones_added() {
    let (file, server) = (File::new(), MockServer::with_dialect(Dialect::llama_cpp(model())));
    let at = || settings_of(EngineKind::LlamaCpp, &server.url());
    for expected in [(0, 1), (1, 0)] {
        let cassette = file.recording();
        ask(&on(&cassette, at())).await.0.expect("there is an answer");
        assert_eq!((cassette.stats().replayed, cassette.stats().recorded), expected);
    }
    assert_eq!(server.log().received.len(), 1);
    let cassette = file.recording();
    ask_for(&on(&cassette, at()), with_context(request(FIXTURE))).await.0.expect("there is an answer");
    assert_eq!((server.log().received.len(), file.answers()), (2, 2));
}

#[tokio::test]
async fn cassette_never_contains_keys() {
    let (half, rest) = KEY.split_at(9);
    let (file, server) = (File::new(), MockServer::with_replies([reply_with_text(&format!("key {KEY}"))]));
    let mut holding = settings(EngineKind::LlamaCpp, &server.url());
    holding.extra.insert("proof".to_owned(), "another-key-0123".into());
    holding.extra.insert("key".to_owned(), KEY.into());
    let (answer, heard) = ask_for(&on(&file.recording(), holding), request(&format!("# {KEY}\n$0\n"))).await;
    answer.expect("the server answers");
    assert!(heard.text.contains(KEY), "the caller gets the original text");
    for key in [KEY, "another-key-0123"] {
        assert!(!file.text().contains(key), "{}", file.text());
    }
    let parted = Reply::stream("text/event-stream")
        .chunk(format!("data: {{\"content\": \"{half}").as_bytes())
        .with_step(ReplyStep::Pause(Duration::from_millis(20)))
        .chunk(format!("{rest}\", \"stop\": true}}\n\n").as_bytes())
        .end();
    let (file, server) = (File::new(), MockServer::with_replies([parted]));
    ask(&on(&file.recording(), settings(EngineKind::LlamaCpp, &server.url())))
        .await
        .0
        .expect("the server answers");
    assert!(!file.text().contains(rest), "{}", file.text());
}

/// Records when pieces arrive.
#[derive(Default)]
struct Times {
    recorded: Vec<Option<Duration>>,
}

impl AnswerListener for Times {
    fn replayed(&mut self, after: Option<Duration>) {
        self.recorded.push(after);
    }

    fn text(&mut self, _: &str) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

async fn times(engine: &dyn Engine) -> Vec<Option<Duration>> {
    let mut times = Times::default();
    let answer = engine.complete(request(FIXTURE), &mut times, &CancellationToken::new()).await;
    answer.expect("there is an answer");
    times.recorded
}

#[tokio::test]
async fn replay_reports_recorded_times_without_delay() {
    const PAUSE: Duration = Duration::from_millis(300);
    let dialect = Dialect::llama_cpp(model()).with_delays(PAUSE, Duration::ZERO);
    let (file, server) = (File::new(), MockServer::with_dialect(dialect));
    let at = || settings_of(EngineKind::LlamaCpp, &server.url());
    assert_eq!(times(&on(&file.recording(), at())).await, [], "now is no recording");
    let start = Instant::now();
    let recorded = times(&on(&file.offline(), at())).await;
    assert!(!recorded.is_empty() && recorded.iter().all(|after| *after >= Some(PAUSE)), "{recorded:?}");
    assert!(start.elapsed() < PAUSE, "a replay has no delay");
}

/// A program that counts its requests.
struct Program {
    description: EngineDescription,
    asked: Arc<AtomicUsize>,
}

impl Program {
    fn counted(model: &str) -> (Arc<dyn Engine>, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let description = EngineDescription {
            name: "program".to_owned(),
            kind: EngineKind::Scripted,
            model: model.to_owned(),
            settings: [("command".to_owned(), "complete".to_owned())].into(),
        };
        (Arc::new(Program { description, asked: Arc::clone(&asked) }), asked)
    }
}

impl Engine for Program {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        _: Request,
        sink: &'a mut dyn AnswerListener,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let usage = Some(Usage { input: 7, output: 2, cached: None });
            for piece in ["one\n", "two\n"] {
                if sink.text(piece).is_break() {
                    return Ok(Answer { usage, ..Answer::with_finish(FinishReason::Complete) });
                }
            }
            Ok(Answer { usage, ..Answer::with_finish(FinishReason::Length) })
        }
        .boxed()
    }
}

#[tokio::test]
async fn recorded_program_is_replayed_without_requests() {
    let file = File::new();
    let ((engine, asked), recording) = (Program::counted("one"), file.recording());
    let (first, heard) = ask(&*recorded(engine, &recording)).await;
    drop(recording);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let (engine, asked) = Program::counted("one");
    let engine = recorded(engine, &file.offline());
    let (again, reheard) = ask(&*engine).await;
    assert_eq!((again.unwrap(), reheard.text), (first.unwrap(), heard.text));
    let (cut, text) = complete_until(&*engine, 1).await;
    assert_eq!((cut.unwrap().finish, text.as_str()), (FinishReason::Complete, "one\n"));
    assert!(matches!(
        ask_for(&*engine, with_context(request(FIXTURE))).await.0,
        Err(EngineError::NotRecorded { .. })
    ));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let (other, _) = Program::counted("two");
    assert!(matches!(ask(&*recorded(other, &file.offline())).await.0, Err(EngineError::NotRecorded { .. })));
}

/// The same prompt from another program matches this engine's request, in every format with prompts.
#[tokio::test]
async fn imported_prompts_and_answers_are_replayed() {
    let prompt = "<|fim_prefix|>def area(width, height):\n    return <|fim_suffix|>\n\nprint(area(2, 3))\n<|fim_middle|>";
    let row = |answer: &str, model: &str, finish: &str| {
        serde_json::json!({"prompt": prompt, "output": answer, "model": model, "stop_reason": finish})
            .to_string()
    };
    let rows = [row("width * height\n", "coder", "length"), row("nothing", "another", "stop:eos")].join("\n");
    for kind in
        [EngineKind::OpenAi, EngineKind::LlamaCpp, EngineKind::Vllm, EngineKind::Tgi, EngineKind::Ollama]
    {
        let file = File::new();
        let at = || HttpSettings {
            fim: FimSetting::Template("qwen2.5-coder".to_owned()),
            ..settings(kind, NOWHERE)
        };
        let made = AnswersFile::parse(&rows).unwrap().write_cassette(&[engine(at())], &file.path).unwrap();
        assert_eq!((made[0].engine.as_str(), made[0].taken, made[0].skipped), ("tested", 1, 1));
        let engine = on(&file.offline(), at());
        let (answer, heard) = ask(&engine).await;
        let answer = answer.unwrap_or_else(|error| panic!("{kind}: {error}\n{}", file.text()));
        assert_eq!(
            (heard.text.as_str(), answer.finish),
            ("width * height\n", FinishReason::Length),
            "{kind}"
        );
        assert_eq!(times(&engine).await, [None], "{kind}: the time is unknown");
    }
}

#[test]
fn invalid_answers_file_is_reported_and_writes_no_file() {
    for (rows, message) in [
        ("", "there are no rows"),
        ("{\"prompt\": \"a\"}", "line 1: there is no text `answer`, `output`, `completion`"),
        ("{\"answer\": \"a\"}", "line 1: there is no text `prompt`"),
        ("\n[1]", "line 2: invalid type"),
    ] {
        let error = AnswersFile::parse(rows).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let (file, prompts) =
        (File::new(), AnswersFile::parse(r#"{"prompt": "a", "answer": "b", "model": "x"}"#).unwrap());
    let rendered = HttpSettings {
        fim: FimSetting::Template("starcoder2".to_owned()),
        ..settings(EngineKind::OpenAi, NOWHERE)
    };
    let error = prompts.write_cassette(&[engine(rendered.clone())], &file.path).unwrap_err().to_string();
    assert!(error.contains("`coder`") && error.ends_with("there are x"), "{error}");
    let hole = HttpSettings { model: None, ..settings(EngineKind::LlamaCpp, NOWHERE) };
    let error = prompts.write_cassette(&[engine(hole)], &file.path).unwrap_err().to_string();
    assert!(error.contains("`tested`") && error.contains("`fim`"), "{error}");
    assert!(!file.path.exists());
    fs::write(&file.path, "mine").unwrap();
    let of_any = HttpSettings { model: None, ..rendered };
    prompts.write_cassette(&[engine(of_any)], &file.path).expect_err("there is a file already");
    assert_eq!(file.text(), "mine");
}
