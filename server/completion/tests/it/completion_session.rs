//! A user types, an editor sends a request at every key, and an engine is slow. The clock is paused, so the counts are deterministic.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use completion::{
    CompletionRequest, CompletionSession, CompletionSettings, CursorContext, CursorSnapshot, DocumentText,
    InFlightRequest, OutcomeStatus, ResponseTime, SuggestionOutcome, WorkspaceIndex, complete_shared,
};
use engines::{
    Alternative, Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason,
    Request,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use syntax::Language;
use text::{Document as Rope, Edit, EditLog, Revision};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::answer_cache::sample_cache_key;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The typed program: typical handwritten lines.
const PROGRAM: &str = "\
def total(orders, limit):
    price = 0
    for order in orders:
        if order.price < limit:
            price += order.price * order.count
        else:
            print(\"too dear\", order.name)
    return price


def shipping(orders, country):
    weight = sum(order.weight for order in orders)
    if country in FREE_COUNTRIES:
        return 0
    return weight * RATES[country]
";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it is locked")
}

/// Maps the number of a call and its request to the pieces of the answer.
type Says = dyn Fn(usize, &Request) -> Vec<String> + Send + Sync;

/// An engine that streams its pieces after a delay, and counts its calls.
struct Slow {
    description: EngineDescription,
    latency: Duration,
    between: Duration,
    says: Box<Says>,
    /// Alternatives on explicit invocation.
    offers: Vec<&'static str>,
    calls: AtomicUsize,
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
}

struct AtWork<'a>(&'a AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Slow {
    fn new(latency: Duration, says: impl Fn(usize, &Request) -> Vec<String> + Send + Sync + 'static) -> Slow {
        let name = "slow".to_owned();
        Slow {
            description: EngineDescription {
                model: name.clone(),
                name,
                kind: EngineKind::Scripted,
                settings: BTreeMap::new(),
            },
            latency,
            between: Duration::ZERO,
            says: Box::new(says),
            offers: Vec::new(),
            calls: AtomicUsize::new(0),
            at_work: AtomicUsize::new(0),
            most_at_work: AtomicUsize::new(0),
        }
    }

    /// Creates an engine that streams these pieces, one each `between`.
    fn saying(latency: Duration, between: Duration, pieces: &[&str]) -> Slow {
        let pieces: Vec<String> = pieces.iter().map(|&piece| piece.to_owned()).collect();
        Slow { between, ..Slow::new(latency, move |_, _| pieces.clone()) }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn is_free(&self) -> bool {
        self.at_work.load(Ordering::SeqCst) == 0
    }
}

impl Engine for Slow {
    fn description(&self) -> &EngineDescription {
        &self.description
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
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            let at_work = self.at_work.fetch_add(1, Ordering::SeqCst) + 1;
            let _at_work = AtWork(&self.at_work);
            self.most_at_work.fetch_max(at_work, Ordering::SeqCst);
            sleep(self.latency).await;
            for piece in (self.says)(call, &request) {
                if sink.text(&piece) == ControlFlow::Break(()) {
                    return Ok(Answer::with_finish(FinishReason::Complete));
                }
                sleep(self.between).await;
            }
            let alternative =
                |text: &&str| Alternative { text: (*text).to_owned(), ..Alternative::default() };
            let alternatives = self.offers.iter().map(alternative).collect();
            Ok(Answer { alternatives, ..Answer::with_finish(FinishReason::Stop) })
        }
        .boxed()
    }
}

/// An editor with one document, in which only the newest request is pending.
struct Editor {
    live: CompletionSession,
    engine: Arc<Slow>,
    response: Arc<Mutex<ResponseTime>>,
    rope: Rope,
    log: EditLog,
    revision: u64,
    cursor: usize,
    /// Number of requests so far.
    arrival: u64,
    asking: Option<JoinHandle<SuggestionOutcome>>,
    is_metered: bool,
}

impl Editor {
    fn new(text: &str, engine: Slow) -> Editor {
        let engine = Arc::new(engine);
        let (live, response) = (CompletionSession::new(0), Arc::default());
        Editor {
            live,
            engine,
            response,
            rope: Rope::new(text),
            log: EditLog::new(0),
            revision: 0,
            cursor: text.len(),
            arrival: 0,
            asking: None,
            is_metered: false,
        }
    }

    fn edit(&mut self, edit: Edit) {
        self.rope.apply(&edit).expect("the edit fits");
        self.revision += 1;
        self.cursor = edit.range.start + edit.text.len();
        let time = Instant::now().into_std();
        self.log.push(Revision { number: self.revision, time, edits: vec![edit] });
        self.live.follow_edits(&self.log, &self.rope);
    }

    fn press(&mut self, text: &str) {
        self.edit(Edit { range: self.cursor..self.cursor, text: text.to_owned() });
    }

    fn delete(&mut self, bytes: usize) {
        self.edit(Edit { range: self.cursor - bytes..self.cursor, text: String::new() });
    }

    fn completion_request(&self, is_invoked: bool, wants_choice: bool) -> CompletionRequest {
        let text: Arc<str> = self.rope.text().into();
        let stands = CursorContext::at(Language::Python, &text[..self.cursor]);
        CompletionRequest {
            cursor: CursorSnapshot { text, offset: self.cursor, cache_key: sample_cache_key() },
            revision: self.revision,
            arrival: self.arrival,
            is_invoked,
            is_metered: self.is_metered,
            wants_alternatives: wants_choice,
            is_on_screen: true,
            cursor_context: stands,
            response_time: lock(&self.response).estimate(),
            debounce: None,
        }
    }

    /// Cancels the pending request and sends another one.
    fn ask(&mut self) {
        self.send_request(false, false);
    }

    /// Sends a request with the key for alternatives.
    fn request_alternatives(&mut self) {
        self.send_request(true, true);
    }

    fn send_request(&mut self, is_invoked: bool, wants_choice: bool) {
        self.cancel();
        self.arrival += 1;
        let (live, engine, response) =
            (self.live.clone(), Arc::clone(&self.engine), Arc::clone(&self.response));
        let question = self.completion_request(is_invoked, wants_choice);
        let CursorSnapshot { text, offset, .. } = question.cursor.clone();
        self.asking = Some(tokio::spawn(async move {
            let document = DocumentText { path: "main.py".into(), language: Language::Python, text };
            let snapshot = WorkspaceIndex::empty().snapshot(document);
            let write = |generation: Arc<InFlightRequest>| async move {
                let settings = CompletionSettings { invoked: is_invoked, ..CompletionSettings::for_editor() };
                let (start, cancel) = (Instant::now(), CancellationToken::new());
                let outcome =
                    complete_shared(&snapshot, offset, &*engine, &settings, &cancel, Some(&*generation))
                        .await;
                lock(&response).record_answer(start.elapsed());
                outcome
            };
            live.suggest(&question, write).await
        }));
    }

    fn cancel(&mut self) {
        if let Some(asking) = self.asking.take() {
            asking.abort();
        }
    }

    /// Waits for the answer to the pending request.
    async fn answer(&mut self) -> SuggestionOutcome {
        self.asking.take().expect("something was asked").await.expect("nothing panics")
    }

    /// Returns the answer if it is available without waiting.
    async fn answer_by_now(&mut self) -> Option<SuggestionOutcome> {
        if self.asking.as_ref()?.is_finished() { Some(self.answer().await) } else { None }
    }
}

#[track_caller]
fn assert_text(suggested: SuggestionOutcome, expected: &str, reused: bool) {
    match suggested {
        SuggestionOutcome::Suggestion { text, is_reused, .. } => {
            assert_eq!((&*text, is_reused), (expected, reused))
        }
        other => panic!("no text: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn typing_along_the_answer_costs_one_call() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(10), &["tot", "al_", "price", "\n"]));
    editor.ask();
    for key in ["t", "o", "t", "a"] {
        sleep(ms(40)).await;
        editor.press(key);
        sleep(ms(10)).await;
        editor.ask();
    }
    assert_text(editor.answer().await, "l_price", true);
    assert_eq!(editor.engine.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn late_older_request_does_not_cancel_the_newest() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(0), &["total\n"]));
    let mut late = editor.completion_request(false, false);
    late.cursor.offset = 0;
    editor.ask();
    sleep(ms(50)).await;
    assert!(!editor.engine.is_free());
    let suggesting = editor.live.suggest(&late, |_| std::future::pending());
    let suggested = tokio::time::timeout(ms(1_000), suggesting).await;
    assert!(matches!(suggested, Ok(SuggestionOutcome::Superseded)), "{suggested:?}");
    assert_text(editor.answer().await, "total", false);
}

#[tokio::test(start_paused = true)]
async fn deleting_back_to_the_request_offset_costs_no_call() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(0), &["total\n"]));
    editor.ask();
    sleep(ms(50)).await;
    editor.press("z");
    editor.ask();
    sleep(ms(50)).await;
    editor.delete(1);
    editor.ask();
    assert_text(editor.answer().await, "total", true);
    assert_eq!(editor.engine.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn key_that_contradicts_the_stream_frees_the_engine() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(100), ms(1000), &["tot", "al", "\n"]));
    editor.ask();
    sleep(ms(150)).await;
    editor.press("t");
    tokio::task::yield_now().await;
    sleep(ms(1)).await;
    assert!(!editor.engine.is_free(), "it was streamed");
    editor.press("x");
    sleep(ms(1)).await;
    assert!(editor.engine.is_free());
    assert!(matches!(editor.answer().await, SuggestionOutcome::Superseded));
    editor.ask();
    sleep(ms(1)).await;
    assert_eq!(editor.engine.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn piece_that_contradicts_typed_text_frees_the_engine() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(1000), &["tot", "al", "\n"]));
    editor.ask();
    sleep(ms(100)).await;
    editor.press("y");
    sleep(ms(99)).await;
    assert!(!editor.engine.is_free(), "nothing was streamed yet");
    sleep(ms(2)).await;
    assert!(editor.engine.is_free());
}

#[tokio::test(start_paused = true)]
async fn edit_elsewhere_frees_the_engine() {
    for edit in [Edit { range: 0..1, text: "y".to_owned() }, Edit { range: 3..4, text: String::new() }] {
        let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(0), &["total\n"]));
        editor.ask();
        sleep(ms(10)).await;
        editor.edit(edit);
        sleep(ms(1)).await;
        assert!(editor.engine.is_free());
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_request_can_be_joined_for_a_short_time() {
    for (pause, calls, is_reused) in [(50, 1, true), (60, 2, false)] {
        let mut editor = Editor::new("x = ", Slow::saying(ms(2000), ms(0), &["total\n"]));
        editor.ask();
        sleep(ms(20)).await;
        editor.cancel();
        sleep(ms(pause)).await;
        assert_eq!(editor.engine.is_free(), !is_reused, "after {pause} ms");
        editor.ask();
        assert_text(editor.answer().await, "total", is_reused);
        assert_eq!(editor.engine.calls(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn metered_engine_is_freed_with_its_request() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(2000), ms(0), &["total\n"]));
    editor.is_metered = true;
    editor.ask();
    sleep(ms(20)).await;
    editor.cancel();
    sleep(ms(1)).await;
    assert!(editor.engine.is_free());
}

#[tokio::test(start_paused = true)]
async fn slow_successors_leave_no_answer_in_flight() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(2000), ms(0), &["total\n"]));
    for count in 0..5 {
        editor.ask();
        sleep(ms(20)).await;
        editor.cancel();
        sleep(ms(1)).await;
        // The session knows the editor after three requests that came too late.
        assert_eq!(editor.engine.is_free(), count >= 3, "request {count}");
        sleep(ms(200)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn quick_successors_shorten_the_time_of_an_answer_without_a_request() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(2000), ms(0), &["total\n"]));
    for _ in 0..4 {
        editor.ask();
        sleep(ms(20)).await;
        editor.cancel();
        sleep(ms(1)).await;
    }
    assert_eq!(editor.engine.calls(), 1, "the request that was cancelled last is continued");
    editor.edit(Edit { range: 0..0, text: "y\n".to_owned() });
    editor.ask();
    sleep(ms(20)).await;
    editor.cancel();
    sleep(ms(5)).await;
    assert!(!editor.engine.is_free());
    sleep(ms(6)).await;
    assert!(editor.engine.is_free());
}

#[tokio::test(start_paused = true)]
async fn cancelled_requests_in_a_storm_share_one_call_and_leave_nothing() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(60_000), ms(0), &["total\n"]));
    for _ in 0..500 {
        editor.ask();
        sleep(ms(1)).await;
        editor.cancel();
    }
    assert_eq!(editor.engine.calls(), 1);
    sleep(ms(60)).await;
    assert!(editor.engine.is_free());
}

#[tokio::test(start_paused = true)]
async fn matching_keys_keep_an_abandoned_answer_in_flight() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(1000), ms(0), &["total_price\n"]));
    editor.ask();
    sleep(ms(20)).await;
    editor.cancel();
    for key in ["t", "o", "t", "a"] {
        sleep(ms(50)).await;
        editor.press(key);
    }
    sleep(ms(50)).await;
    editor.ask();
    assert_text(editor.answer().await, "l_price", true);
    assert_eq!(editor.engine.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn answer_of_a_cancelled_request_is_cached() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(50), ms(0), &["total\n"]));
    editor.ask();
    sleep(ms(20)).await;
    editor.cancel();
    sleep(ms(60_000)).await;
    editor.ask();
    assert_text(editor.answer().await, "total", true);
}

#[tokio::test(start_paused = true)]
async fn silence_is_shared_only_for_an_identical_request() {
    let mut editor = Editor::new("x = ", Slow::saying(ms(200), ms(0), &[]));
    editor.ask();
    sleep(ms(20)).await;
    editor.ask();
    let SuggestionOutcome::Nothing(outcome) = editor.answer().await else { panic!("it is silent") };
    assert!(matches!(outcome.status, OutcomeStatus::Silent(_)));
    assert_eq!(editor.engine.calls(), 1);
    editor.ask();
    sleep(ms(20)).await;
    editor.press("t");
    editor.ask();
    assert!(matches!(editor.answer().await, SuggestionOutcome::Nothing(_)));
    assert_eq!(editor.engine.calls(), 3);
    editor.ask();
    sleep(ms(20)).await;
    editor.send_request(true, false);
    assert!(matches!(editor.answer().await, SuggestionOutcome::Nothing(_)));
    assert_eq!(editor.engine.calls(), 5);
}

#[tokio::test(start_paused = true)]
async fn panic_is_reported_and_next_request_succeeds() {
    let mut editor = Editor::new(
        "x = ",
        Slow::new(ms(10), |call, _| {
            assert!(call > 0, "the first call panics on purpose");
            vec!["total\n".to_owned()]
        }),
    );
    editor.ask();
    assert!(matches!(editor.answer().await, SuggestionOutcome::Panicked));
    editor.ask();
    assert_text(editor.answer().await, "total", false);
}

#[tokio::test(start_paused = true)]
async fn debounced_request_is_not_sent_if_a_key_follows() {
    let mut editor = Editor::new("", Slow::new(ms(200), |call, _| vec![format!("noise{call}\n")]));
    for key in "abcdefgh".chars() {
        editor.press(&key.to_string());
        editor.ask();
        sleep(ms(120)).await;
    }
    let calls = editor.engine.calls();
    // After a pause, exactly one request is made.
    let suggested = editor.answer().await;
    assert!(matches!(suggested, SuggestionOutcome::Suggestion { is_reused: false, .. }), "{suggested:?}");
    assert_eq!(editor.engine.calls(), calls + 1);
}

#[track_caller]
fn assert_alternatives(suggested: SuggestionOutcome, expected: &[&str], reused: bool) {
    match suggested {
        SuggestionOutcome::Suggestion { text, others, is_reused } => {
            let choice: Vec<String> = std::iter::once(text).chain(others).collect();
            assert_eq!((choice, is_reused), (expected.iter().map(|&text| text.to_owned()).collect(), reused));
        }
        other => panic!("no text: {other:?}"),
    }
}

/// Creates an engine with this first text, and the others as alternatives on explicit invocation.
fn offering(texts: &'static [&'static str]) -> Slow {
    Slow { offers: texts[1..].to_vec(), ..Slow::saying(ms(20), ms(0), &[texts[0]]) }
}

#[tokio::test(start_paused = true)]
async fn alternatives_are_requested_despite_a_cached_answer() {
    let mut editor = Editor::new("x = ", offering(&["total", "price", "tax"]));
    editor.ask();
    assert_alternatives(editor.answer().await, &["total"], false);
    editor.request_alternatives();
    assert_alternatives(editor.answer().await, &["total", "price", "tax"], false);
    editor.request_alternatives();
    assert_alternatives(editor.answer().await, &["total", "price", "tax"], true);
    assert_eq!(editor.engine.calls(), 2);
    // While it is typed, the matching alternatives stay, without a request.
    editor.press("t");
    editor.ask();
    assert_alternatives(editor.answer().await, &["otal", "ax"], true);
    editor.press("a");
    editor.ask();
    assert_alternatives(editor.answer().await, &["x"], true);
    assert_eq!(editor.engine.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn displayed_text_is_kept_without_alternatives() {
    let mut editor = Editor::new(
        "x = ",
        Slow::new(ms(20), |call, _| if call == 0 { vec!["total\n".to_owned()] } else { Vec::new() }),
    );
    editor.ask();
    assert_alternatives(editor.answer().await, &["total"], false);
    editor.request_alternatives();
    assert_alternatives(editor.answer().await, &["total"], true);
    assert_eq!(editor.engine.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn alternatives_wait_for_the_answer_in_flight() {
    let mut editor = Editor::new("x = ", offering(&["total", "price"]));
    editor.ask();
    sleep(ms(10)).await;
    editor.request_alternatives();
    assert_alternatives(editor.answer().await, &["total", "price"], false);
    assert_eq!((editor.engine.calls(), editor.engine.most_at_work.load(Ordering::SeqCst)), (2, 1));
}

/// Returns the keys that type a text in an editor with automatic indentation.
fn keys(mut text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    while let Some(first) = text.chars().next() {
        let line_end = &text[1..];
        let blanks = if first == '\n' { line_end.len() - line_end.trim_start_matches(' ').len() } else { 0 };
        let (key, rest) = text.split_at(first.len_utf8() + blanks);
        keys.push(key);
        text = rest;
    }
    keys
}

/// Result of typing a program.
#[derive(Debug, Default)]
struct Typed {
    keys: usize,
    calls: usize,
    /// Number of keys after which a text was displayed before the next key.
    shown: usize,
}

/// Types the program, a key every `rhythm`, with a request after each. The displayed text must be the engine's: accepting it must give
/// a document that an answer made. `is_right` decides whether a call is answered with the true next line or with noise.
async fn type_program(
    rhythm: Duration,
    latency: Duration,
    is_right: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> Typed {
    let meant: Arc<Mutex<Vec<String>>> = Arc::default();
    let means = Arc::clone(&meant);
    let says = move |call: usize, request: &Request| {
        let rest = PROGRAM.strip_prefix(request.input.prefix()).unwrap_or_default();
        let line = rest.trim_start_matches('\n').split('\n').next().unwrap_or_default();
        let blank = &rest[..rest.len() - rest.trim_start_matches('\n').len()];
        let text = if is_right(call) { format!("{blank}{line}") } else { format!("~noise_{call} = 0") };
        lock(&means).push([request.input.prefix(), &text, request.input.suffix()].concat());
        vec![text]
    };
    let mut editor = Editor::new("", Slow::new(latency, says));
    let mut typed = Typed::default();
    for key in keys(PROGRAM) {
        editor.press(key);
        editor.ask();
        sleep(rhythm).await;
        typed.keys += 1;
        let Some(SuggestionOutcome::Suggestion { text, .. }) = editor.answer_by_now().await else { continue };
        typed.shown += 1;
        let now = editor.rope.text();
        let accepted = [&now[..editor.cursor], &text, &now[editor.cursor..]].concat();
        let meant = lock(&meant);
        assert!(meant.iter().any(|meant| meant.trim_end() == accepted), "`{text}` at {now:?} of {meant:?}");
    }
    typed.calls = editor.engine.calls();
    assert_eq!(
        editor.engine.most_at_work.load(Ordering::SeqCst),
        1,
        "an engine is asked one thing at a time"
    );
    typed
}

/// Selects half of the calls in irregular order.
fn half(call: usize) -> bool {
    blake3::hash(&call.to_le_bytes()).as_bytes()[0] & 1 == 0
}

#[tokio::test(start_paused = true)]
async fn half_right_engine_is_called_less_than_once_in_four_keys() {
    let typed = type_program(ms(120), ms(200), half).await;
    assert!(typed.calls * 4 < typed.keys, "{typed:?}");
    assert!(typed.shown * 2 > typed.keys, "{typed:?}");
}

#[tokio::test(start_paused = true)]
async fn wrong_engine_is_called_less_than_once_in_three_keys() {
    let typed = type_program(ms(120), ms(200), |_| false).await;
    assert!(typed.calls * 3 < typed.keys, "{typed:?}");
}

#[tokio::test(start_paused = true)]
async fn fast_engine_is_called_at_every_diverging_key() {
    let typed = type_program(ms(120), ms(5), |_| false).await;
    assert_eq!((typed.calls, typed.shown), (typed.keys, typed.keys));
    let right = type_program(ms(120), ms(5), |_| true).await;
    assert!(right.shown * 10 > right.keys * 9, "{right:?}");
}
