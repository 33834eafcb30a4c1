//! Every status of a completion, and text that an engine must never receive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use builtin::BuiltinSettings;
use completion::{
    CompletionSettings, ContextShare, DocumentSnapshot, DocumentText, EditorContext, Gate, Outcome,
    OutcomeStatus, PathGate, RequestSize, SharedContext, Snippet, WorkspaceIndex, complete,
};
use engines::{
    Answer, AnswerListener, BuiltinEngine, Engine, EngineDescription, EngineError, FinishReason, Request,
    Script, ScriptedEngine, ScriptedReply,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use index::{FileIndex, Index, Strategy};
use syntax::{Language, SourceFile};
use text::Edit;
use tokio_util::sync::CancellationToken;

/// Returns the document and cursor of `fixture`, in a workspace without other files.
pub(crate) fn at_cursor(fixture: &str) -> (DocumentSnapshot, usize) {
    in_workspace(&WorkspaceIndex::empty(), "main.py", fixture)
}

pub(crate) fn in_workspace(world: &WorkspaceIndex, path: &str, fixture: &str) -> (DocumentSnapshot, usize) {
    let (text, cursor) = test_fixture::take_cursor(fixture);
    let language = Language::from_path(path).expect("a fixture has a known ending");
    (world.snapshot(DocumentText { path: path.into(), language, text: text.into() }), cursor)
}

fn engine_with_pieces(pieces: &[&str]) -> ScriptedEngine {
    let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
    ScriptedEngine::new("scripted", Script { pieces, ..Script::default() })
}

fn engine_with_delay(delay: Duration) -> ScriptedEngine {
    ScriptedEngine::new("waiting", Script { delay, pieces: vec!["late".to_owned()], failure: None })
}

async fn ask(fixture: &str, engine: &dyn Engine, settings: &CompletionSettings) -> Outcome {
    let (snapshot, offset) = at_cursor(fixture);
    complete(&snapshot, offset, engine, settings, &CancellationToken::new()).await
}

#[tokio::test]
async fn pieces_are_joined_and_cuts_are_traced() {
    let engine = engine_with_pieces(&["a +", " b\nprint(total, file=out)\n", "more\n"]);
    let outcome =
        ask("total = $0\nprint(total, file=out)\n", &engine, &CompletionSettings::for_replay()).await;
    assert!(matches!(outcome.status, OutcomeStatus::Ok), "{:?}", outcome.status);
    assert_eq!(outcome.text, "a + b");
    assert_eq!(outcome.trace.received, "a + b\nprint(total, file=out)\n");
    assert_eq!(outcome.trace.cuts.len(), 1);
    assert_eq!(outcome.trace.cuts[0].filter, "suffix_overlap");
    assert_eq!(outcome.trace.request_size, RequestSize { prefix: 8, suffix: 24, context: 0 });
    assert_eq!(outcome.trace.finish, Some(FinishReason::Complete), "nothing more is read");
    let timings = outcome.trace.timings;
    assert!(timings.gather <= timings.first.unwrap() && timings.first.unwrap() <= timings.total);
}

#[tokio::test]
async fn empty_and_blank_answers_are_silent() {
    let settings = CompletionSettings::for_replay();
    let nothing = ask("x = $0", &engine_with_pieces(&[]), &settings).await;
    assert!(matches!(nothing.status, OutcomeStatus::Silent("nothing to suggest")), "{:?}", nothing.status);
    let blanks = ask("x = $0", &engine_with_pieces(&["  \n"]), &settings).await;
    assert!(matches!(blanks.status, OutcomeStatus::Silent("nothing new to suggest")), "{:?}", blanks.status);
}

#[tokio::test(start_paused = true)]
async fn deadline_frees_the_engine() {
    let engine = engine_with_delay(Duration::from_secs(60));
    let outcome = ask(
        "x = $0",
        &engine,
        &CompletionSettings { deadline: Duration::from_secs(1), ..CompletionSettings::for_replay() },
    )
    .await;
    assert!(matches!(outcome.status, OutcomeStatus::Timeout), "{:?}", outcome.status);
    assert!(outcome.trace.is_late);
    assert_eq!(engine.busy(), 0);
}

/// Streams some text and then blocks.
struct Stuck(EngineDescription);

impl Engine for Stuck {
    fn description(&self) -> &EngineDescription {
        &self.0
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        false
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let left = request.deadline.expect("requests have a deadline") - tokio::time::Instant::now();
            sink.prompt("the prompt");
            assert!(sink.text(&format!("{} s left\n    half a li", left.as_secs())).is_continue());
            std::future::pending().await
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn whole_lines_received_before_the_deadline_are_kept() {
    let description = ScriptedEngine::new("stuck", Script::default()).description().clone();
    let settings =
        CompletionSettings { deadline: Duration::from_secs(3), ..CompletionSettings::for_replay() };
    let outcome = ask("def f():\n    $0", &Stuck(description), &settings).await;
    assert!(matches!(outcome.status, OutcomeStatus::Ok), "{:?}", outcome.status);
    assert_eq!((&*outcome.text, outcome.trace.finish, outcome.trace.is_late), ("3 s left", None, true));
    assert_eq!(outcome.trace.received, "3 s left\n    half a li");
    assert_eq!(outcome.trace.prompt.as_deref(), Some("the prompt"));
}

/// Streams some text and edits another place as well.
struct NextEdit(EngineDescription);

impl Engine for NextEdit {
    fn description(&self) -> &EngineDescription {
        &self.0
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        false
    }

    fn complete<'a>(
        &'a self,
        _request: Request,
        sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        let edits = vec![Edit { range: 0..1, text: "y".to_owned() }];
        let _ = sink.text("y + 1");
        std::future::ready(Ok(Answer { edits, ..Answer::with_finish(FinishReason::Stop) })).boxed()
    }
}

#[tokio::test]
async fn an_answer_that_edits_another_place_is_withheld_as_a_whole_and_counted() {
    let description = ScriptedEngine::new("next edit", Script::default()).description().clone();
    let outcome = ask("x = $0", &NextEdit(description), &CompletionSettings::for_replay()).await;
    assert!(matches!(outcome.status, OutcomeStatus::Gated(Gate::EditsElsewhere)), "{:?}", outcome.status);
    assert_eq!((&*outcome.text, &*outcome.trace.received, outcome.trace.edits.len()), ("", "y + 1", 1));
}

#[tokio::test(start_paused = true)]
async fn cancelling_frees_the_engine() {
    let engine = engine_with_delay(Duration::from_secs(20));
    let (snapshot, offset) = at_cursor("x = $0");
    let cancel = CancellationToken::new();
    let settings = CompletionSettings::for_replay();
    let request = complete(&snapshot, offset, &engine, &settings, &cancel);
    let canceller = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(engine.busy(), 1);
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(request, canceller);
    assert!(matches!(outcome.status, OutcomeStatus::Cancelled), "{:?}", outcome.status);
    assert_eq!(engine.busy(), 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_request_frees_the_engine() {
    let engine = engine_with_delay(Duration::from_secs(20));
    let (snapshot, offset) = at_cursor("x = $0");
    let (settings, cancel) = (CompletionSettings::for_replay(), CancellationToken::new());
    let request = complete(&snapshot, offset, &engine, &settings, &cancel);
    assert!(tokio::time::timeout(Duration::from_secs(1), request).await.is_err());
    assert_eq!(engine.busy(), 0);
}

#[tokio::test]
async fn engine_failure_is_reported_in_the_outcome() {
    let script = Script { failure: Some("it broke".to_owned()), ..Script::default() };
    let outcome =
        ask("x = $0", &ScriptedEngine::new("broken", script), &CompletionSettings::for_replay()).await;
    let OutcomeStatus::Failed(error) = outcome.status else { panic!("{:?}", outcome.status) };
    assert_eq!(error.to_string(), "engine `broken` failed: it broke");
}

#[tokio::test(start_paused = true)]
async fn endless_answer_is_stopped_early() {
    let engine = engine_with_pieces(&vec!["x = 1234567\n"; 100_000]);
    let outcome = ask("$0", &engine, &CompletionSettings::for_replay()).await;
    assert_eq!(outcome.trace.finish, Some(FinishReason::Complete));
    assert!(outcome.trace.received.len() < 70_000);
}

/// Checking for completeness must not take quadratic time.
#[tokio::test]
async fn endless_statement_is_read_up_to_the_size_limit() {
    let mut pieces = vec!["("];
    pieces.resize(70_000, ";");
    let outcome = ask("x = $0", &engine_with_pieces(&pieces), &CompletionSettings::for_replay()).await;
    assert_eq!(outcome.trace.finish, Some(FinishReason::Complete));
    assert!((65_000..70_000).contains(&outcome.trace.received.len()));
}

#[tokio::test]
async fn gated_request_does_not_reach_the_engine() {
    let engine = engine_with_delay(Duration::from_secs(3600));
    let settings = CompletionSettings::for_replay();
    let inside = ask("na$0me = 1", &engine, &settings).await;
    assert!(matches!(inside.status, OutcomeStatus::Gated(Gate::InsideWord)), "{:?}", inside.status);
    let (snapshot, _) = at_cursor("größe$0");
    for no_place in [3, 99] {
        let outcome = complete(&snapshot, no_place, &engine, &settings, &CancellationToken::new()).await;
        assert!(matches!(outcome.status, OutcomeStatus::Gated(Gate::InvalidOffset)), "{:?}", outcome.status);
    }
    let large = ask(&format!("{}$0", "x = 1\n".repeat(1 << 20)), &engine, &settings).await;
    assert!(matches!(large.status, OutcomeStatus::Gated(Gate::DocumentTooLarge)), "{:?}", large.status);
}

/// Records every request.
struct Spy {
    description: EngineDescription,
    seen_text: Mutex<String>,
}

impl Engine for Spy {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        true
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        let context: String =
            request.input.context.iter().map(|item| format!("{} {}\n", item.path, item.text)).collect();
        let seen = format!(
            "{}\n{}\n{}\n{context}",
            request.input.path,
            request.input.prefix(),
            request.input.suffix()
        );
        self.seen_text.lock().expect("no test panics while holding it").push_str(&seen);
        assert!(sink.text("seen").is_continue(), "one word is never too much");
        async { Ok(Answer::with_finish(FinishReason::Stop)) }.boxed()
    }
}

const CANARY: &str = "xyzzy_canary_quux";

/// A file with the canary many times in its hole, and other files that make the model likely to produce it.
fn world_with_canary() -> WorkspaceIndex {
    let truth = format!("    {CANARY} = load({CANARY})\n    return {CANARY}\n");
    let file = |path: &str, text: String| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    };
    let twin = "def read(path):\n    data = load(path)\n    return data\n\n\n".repeat(3);
    WorkspaceIndex::new(
        vec![
            file("a.py", format!("def fetch(path):\n{truth}\n\ndef other({CANARY}):\n    return {CANARY}\n")),
            file("b.py", twin),
        ]
        .into(),
    )
}

#[tokio::test]
async fn removed_text_is_hidden_from_engines() {
    let world = world_with_canary();
    let context: Arc<[Snippet]> = [Snippet::new("b.py", "def read(path):\n    return load(path)\n")].into();
    for fixture in
        ["def fetch(path):\n    $0", "def fetch(path):\n    $0\n\n\ndef other():\n    return 1\n", "$0"]
    {
        let (snapshot, offset) = in_workspace(&world, "a.py", fixture);
        let snapshot = snapshot.with_context(context.clone());
        let description = engine_with_pieces(&[]).description().clone();
        let spy = Spy { description, seen_text: Mutex::default() };
        let cancel = CancellationToken::new();
        complete(&snapshot, offset, &spy, &CompletionSettings::for_replay(), &cancel).await;
        let seen_text = spy.seen_text.into_inner().expect("no test panics while holding it");
        assert!(seen_text.contains("a.py") && seen_text.contains("load(path)"), "{seen_text}");
        assert!(!seen_text.contains(CANARY), "{seen_text}");
        for settings in [
            CompletionSettings::for_replay(),
            CompletionSettings { hide_near_duplicates: true, ..CompletionSettings::for_replay() },
        ] {
            let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
            let outcome = complete(&snapshot, offset, &engine, &settings, &cancel).await;
            assert!(!format!("{outcome:?}").contains(CANARY), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn files_with_the_removed_text_are_hidden_from_engines() {
    let text = format!("def fetch(path):\n    {CANARY} = load(path)\n    return {CANARY}\n");
    let renamed = SourceFile { path: "renamed.py".into(), language: Language::Python, text: text.into() };
    let world = WorkspaceIndex::new(vec![renamed].into());
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
    let (snapshot, offset) = in_workspace(&world, "a.py", "def fetch(path):\n    $0");
    let settings = CompletionSettings::for_replay();
    let cancel = CancellationToken::new();
    let seen = complete(&snapshot, offset, &engine, &settings, &cancel).await;
    assert!(seen.text.contains(CANARY), "the canary is there to be found: {seen:?}");
    let snapshot = snapshot.without_files(
        world
            .files()
            .iter()
            .filter(|file| file.text.contains(CANARY))
            .map(|file| Arc::clone(&file.path))
            .collect(),
    );
    let hidden = complete(&snapshot, offset, &engine, &settings, &cancel).await;
    assert!(!format!("{hidden:?}").contains(CANARY), "{hidden:?}");
}

#[tokio::test]
async fn context_from_near_duplicates_is_hidden() {
    let lines = |from: usize| {
        (from..from + 40).map(|i| format!("value_{i} = compute({i}, offset)\n")).collect::<String>()
    };
    let file = |path: &str, text: String| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    };
    let files = vec![file("a.py", lines(0)), file("copy.py", lines(2)), file("other.py", lines(900))];
    let context = ["copy.py", "other.py"].map(|path| Snippet::new(path, "hint"));
    let (snapshot, offset) = in_workspace(&WorkspaceIndex::new(files.into()), "a.py", "x = $0\n");
    let snapshot = snapshot.with_context(context.into()).with_copies(vec!["copy.py".into()]);
    for (hide_near_duplicates, seen) in [(false, vec!["copy.py", "other.py"]), (true, vec!["other.py"])] {
        let settings = CompletionSettings { hide_near_duplicates, ..CompletionSettings::for_replay() };
        let outcome =
            complete(&snapshot, offset, &engine_with_pieces(&["1"]), &settings, &CancellationToken::new())
                .await;
        let paths: Vec<&str> = outcome.trace.context.iter().map(|item| &*item.path).collect();
        assert_eq!(paths, seen);
    }
}

#[tokio::test]
async fn builtin_engine_completes_from_the_workspace() {
    let line = "    logger.info(\"stored %s\", key)\n";
    let other = format!("def put(key):\n{line}\n\ndef drop(key):\n{line}");
    let files = vec![SourceFile { path: "b.py".into(), language: Language::Python, text: other.into() }];
    let (snapshot, offset) =
        in_workspace(&WorkspaceIndex::new(files.into()), "a.py", "def add(key):\n    logger.$0\n");
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
    let outcome =
        complete(&snapshot, offset, &engine, &CompletionSettings::for_replay(), &CancellationToken::new())
            .await;
    assert_eq!(outcome.text, "info(\"stored %s\", key)", "{outcome:?}");
    assert!(outcome.trace.confidence.is_some_and(|confidence| confidence > 0.0 && confidence <= 1.0));
    let unsure = CompletionSettings { min_confidence: Some(1.01), ..CompletionSettings::for_replay() };
    let gated = complete(&snapshot, offset, &engine, &unsure, &CancellationToken::new()).await;
    assert!(matches!(gated.status, OutcomeStatus::Gated(Gate::Unsure(_))), "{:?}", gated.status);
    assert_eq!(gated.text, "");
}

/// Returns the built-in engine's proposal after `logger.` in a function without copies.
async fn complete_after_logger(world: &WorkspaceIndex, documents: Vec<SourceFile>) -> String {
    let documents = documents.into_iter().map(|file| Arc::new(FileIndex::new(file))).collect();
    let (snapshot, offset) = in_workspace(world, "lib/a.py", "def add(key):\n    logger.$0\n");
    let snapshot = snapshot.with_editor_context(EditorContext { documents, ..EditorContext::default() });
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
    complete(&snapshot, offset, &engine, &CompletionSettings::for_replay(), &CancellationToken::new())
        .await
        .text
}

/// A file with one logging style.
fn logging_file(path: &str, how: &str) -> SourceFile {
    let line = format!("    logger.{how}(key)\n");
    let text = format!("def put(key):\n{line}\n\ndef drop(key):\n{line}").into();
    SourceFile { path: path.into(), language: Language::Python, text }
}

#[tokio::test]
async fn unsaved_document_replaces_its_file() {
    let world = WorkspaceIndex::new([logging_file("b.py", "info")].into());
    assert_eq!(complete_after_logger(&world, vec![]).await, "info(key)");
    assert_eq!(complete_after_logger(&world, vec![logging_file("b.py", "debug")]).await, "debug(key)");
    assert_eq!(
        complete_after_logger(&world, vec![logging_file("b.py", "debug"), logging_file("c.py", "debug")])
            .await,
        "debug(key)"
    );
    assert_eq!(complete_after_logger(&world, vec![]).await, "info(key)", "the saved text is unchanged");
    let own = logging_file("lib/a.py", "debug");
    assert_eq!(
        complete_after_logger(&world, vec![own]).await,
        "info(key)",
        "the document's own text is completed"
    );
}

#[tokio::test]
async fn builtin_tokens_follow_file_changes() {
    let files = |list: &[SourceFile]| -> Arc<[SourceFile]> { list.into() };
    let (old, new) = (logging_file("b.py", "info"), logging_file("b.py", "debug"));
    let follow = |world: &WorkspaceIndex, list: &[SourceFile]| {
        let files = files(list);
        let world = world.with_index(Arc::clone(&files), Index::build(&files), Arc::default());
        world.with_current_tokens().unwrap_or(world)
    };
    let first = WorkspaceIndex::new(files(std::slice::from_ref(&old)));
    let changed = follow(&first, std::slice::from_ref(&new));
    assert!(changed.with_current_tokens().is_none(), "they are current");
    assert_eq!(complete_after_logger(&changed, vec![]).await, "debug(key)");
    let moved = follow(&changed, &[SourceFile { path: "c.py".into(), ..new }]);
    assert_eq!(complete_after_logger(&moved, vec![]).await, "debug(key)");
    assert_eq!(complete_after_logger(&follow(&moved, &[]), vec![]).await, "");
    // Tokens merged while files change must be those of the current files.
    assert_eq!(complete_after_logger(&moved.with_tokens_of(&first), vec![]).await, "debug(key)");
    assert!(
        follow(&WorkspaceIndex::empty(), &[old]).tokens().is_none(),
        "without a reader there are no tokens"
    );
}

#[tokio::test]
async fn explicit_invocation_shows_low_confidence_text() {
    let calls = "a = f(1)\na = g(2)\na = h(3)\na = k(4)\n";
    let file = SourceFile { path: "b.py".into(), language: Language::Python, text: calls.into() };
    let (snapshot, offset) = in_workspace(&WorkspaceIndex::new(vec![file].into()), "a.py", "a = $0\n");
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_editor());
    let cancel = CancellationToken::new();
    let typed = complete(&snapshot, offset, &engine, &CompletionSettings::for_editor(), &cancel).await;
    assert!(matches!(typed.status, OutcomeStatus::Silent("the rest is unlikely")), "{:?}", typed.status);
    let invoked =
        complete(&snapshot, offset, &engine, &CompletionSettings::for_editor().invoked(), &cancel).await;
    assert!(matches!(invoked.status, OutcomeStatus::Ok), "{:?}", invoked.status);
}

#[tokio::test]
async fn concurrent_requests_share_one_workspace_index() {
    let world = world_with_canary();
    let engine = Arc::new(BuiltinEngine::new("builtin", BuiltinSettings::for_replay()));
    let requests = (0..8).map(|_| {
        let (world, engine) = (world.clone(), Arc::clone(&engine));
        tokio::spawn(async move {
            let (snapshot, offset) = in_workspace(&world, "c.py", "def read(path):\n    $0");
            complete(
                &snapshot,
                offset,
                &*engine,
                &CompletionSettings::for_replay(),
                &CancellationToken::new(),
            )
            .await
            .text
        })
    });
    let texts = futures_util::future::try_join_all(requests).await.expect("no request panics");
    assert!(texts.iter().all(|text| *text == texts[0] && !text.is_empty()), "{texts:?}");
}

/// Returns the outcome with the context's files, in a workspace where `is_admitted` is the path gate.
async fn guarded_context(is_admitted: fn(&str) -> bool) -> Outcome {
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    };
    let files: Arc<[SourceFile]> = [
        file("gadgets.py", "def make_gadget(size):\n    return make_widget(size)\n"),
        file("widgets.py", "def make_widget(size):\n    return size\n"),
    ]
    .into();
    let world = WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
    let fixture = "gadget = make_gadget(1)\nwidget = make_widget$0";
    let (snapshot, offset) = in_workspace(&world, "main.py", fixture);
    let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
    let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
    let settings =
        CompletionSettings { deadline: Duration::from_secs(600), ..CompletionSettings::for_editor() };
    let snapshot =
        snapshot.guarded(PathGate::new(move |paths| paths.iter().map(|path| is_admitted(path)).collect()));
    complete(&snapshot, offset, &engine, &settings, &CancellationToken::new()).await
}

#[tokio::test]
async fn files_excluded_after_indexing_are_not_sent() {
    let all = guarded_context(|_| true).await;
    assert_eq!(all.text, "context=gadgets.py widgets.py");
    let without = guarded_context(|path| path != "gadgets.py").await;
    assert_eq!(without.text, "context=widgets.py");
    assert!(without.trace.context.iter().all(|item| *item.path == *"widgets.py"));
    for is_admitted in [|path: &str| path != "main.py", |_: &str| panic!("the disk is gone")] {
        let refused = guarded_context(is_admitted).await;
        assert!(matches!(refused.status, OutcomeStatus::Gated(Gate::LeftOut)), "{:?}", refused.status);
        assert!(refused.trace.context.is_empty() && refused.trace.received.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn kept_context_is_checked_again_unless_that_was_just_done() {
    let text = "def make_widget(size):\n    return size\n";
    let files: Arc<[SourceFile]> =
        [SourceFile { path: "widgets.py".into(), language: Language::Python, text: text.into() }].into();
    let world = WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
    let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
    let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
    let (settings, shared) = (CompletionSettings::for_editor(), SharedContext::default());
    let checks = Arc::new(AtomicUsize::new(0));
    let leader = ContextShare::Leader(shared.clone());
    let follower = ContextShare::Follower(shared);
    for (share, waited, expected) in [(leader, 0, 1), (follower.clone(), 0, 1), (follower, 100, 2)] {
        tokio::time::advance(Duration::from_millis(waited)).await;
        let (snapshot, offset) = in_workspace(&world, "main.py", "widget = make_widget$0");
        let counted = Arc::clone(&checks);
        let gate = PathGate::new(move |paths| {
            counted.fetch_add(1, Ordering::Relaxed);
            vec![true; paths.len()]
        });
        let snapshot = snapshot.guarded(gate).with_context_share(share);
        let outcome = complete(&snapshot, offset, &engine, &settings, &CancellationToken::new()).await;
        assert_eq!((&*outcome.text, checks.load(Ordering::Relaxed)), ("context=widgets.py", expected));
    }
}

#[tokio::test(start_paused = true)]
async fn own_file_is_checked_again_unless_that_was_just_done() {
    for (strategy, waited, is_sent) in
        [(Strategy::None, 0, true), (Strategy::None, 100, false), (Strategy::Hybrid, 0, false)]
    {
        let text: Arc<str> = "def make_widget(size):\n    return size\n".into();
        let files: Arc<[SourceFile]> =
            [SourceFile { path: "widgets.py".into(), language: Language::Python, text: text.into() }].into();
        let world = WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
        let (snapshot, offset) = in_workspace(&world, "main.py", "widget = make_widget$0");
        let gate = PathGate::new(|paths| vec![false; paths.len()])
            .with_own_file_admitted(tokio::time::Instant::now());
        tokio::time::advance(Duration::from_millis(waited)).await;
        let engine = ScriptedEngine::with_rules(
            "answers",
            vec![ScriptedReply {
                pieces: vec!["(1)".to_owned()],
                context: strategy != Strategy::None,
                ..ScriptedReply::default()
            }],
        );
        let settings = CompletionSettings { strategy, ..CompletionSettings::for_editor() };
        let outcome =
            complete(&snapshot.guarded(gate), offset, &engine, &settings, &CancellationToken::new()).await;
        let is_left_out = matches!(outcome.status, OutcomeStatus::Gated(Gate::LeftOut));
        assert_eq!(!is_left_out, is_sent, "{strategy:?} {waited} {:?}", outcome.status);
    }
}
