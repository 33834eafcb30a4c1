//! The whole pipeline for a file: mining, indexing, completing, cleaning, scoring.

use std::sync::{Arc, OnceLock};

use cases::{Origin, OriginKind};
use completion::{CompletionSettings, DocumentText, WorkspaceIndex, complete};
use engines::{BuiltinEngine, Engine, Script, ScriptedEngine};
use index::{Index, RemovedCode};
use mining::{HoleCandidates, MiningInput, MiningOptions, Mix, SCENARIOS};
use scoring::ScoringInput;
use syntax::{Language, Projects, SourceFile};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

/// The smallest stack of any of our threads.
pub(crate) const STACK_BYTES: usize = 512 << 10;
/// Cases mined from a text.
const CASES: usize = 30;
/// Maximum bytes that are read of an engine's answer.
const MAX_ANSWER: usize = 8 << 10;
/// Maximum bytes of scored texts: the time for similarity grows with the product of two lengths.
const MAX_SCORED: usize = 4 << 10;

/// Runs `work` on threads with small stacks.
pub(crate) fn on_small_stacks<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK_BYTES).build();
    pool.expect("threads can be started").install(work)
}

/// Runs the whole pipeline on `text`. It must not panic, overflow a stack or run forever.
pub(crate) fn run_pipeline(language: Language, text: &str) {
    let half = text.floor_char_boundary(text.len() / 2);
    let file = |path: &str, text: &str| SourceFile { path: path.into(), language, text: text.into() };
    let files: Arc<[SourceFile]> = [file("one", text), file("two", &text[half..])].into();
    let index = Index::build(&files);
    mine(&files, &index);
    let tree = syntax::parse(language, text);
    for offset in [0, half, text.len()] {
        let origin = Origin::new(OriginKind::Live, "t");
        let _ = mining::case_at_cursor(&files[0], &tree, offset, &origin);
    }
    let (prefix, suffix) = text.split_at(half);
    let answer = &suffix[..suffix.floor_char_boundary(MAX_ANSWER)];
    let world = WorkspaceIndex::new(Arc::clone(&files)).with_index(Arc::clone(&files), index, Arc::default());
    let removed =
        RemovedCode { path: "one", language, prefix, removed: answer, suffix: &suffix[answer.len()..] };
    world.copies(&[removed]);
    ask(&world, language, text, half, answer);
    let scored = |text: &str| text[..text.floor_char_boundary(MAX_SCORED)].to_owned();
    let (truth, response) = (scored(suffix), scored(prefix));
    scoring::score(&ScoringInput { language, prefix, suffix: "", truth: &truth }, &response);
}

fn mine(files: &[SourceFile], index: &Index) {
    let projects = Projects::new(&[]);
    let sources = MiningInput {
        files,
        index,
        projects: &projects,
        copies: &OnceLock::new(),
        candidates: &files.iter().map(HoleCandidates::of).collect::<Vec<_>>(),
    };
    let options = MiningOptions {
        cases: CASES,
        seed: 1,
        scenarios: SCENARIOS.to_vec(),
        mix: Mix::Even,
        first_uses_only: true,
        origin: Origin::new(OriginKind::Mined, "t"),
    };
    mining::mine(&sources, &options, None);
}

/// Runs the built-in engine at the cursor, and one that returns the text there.
fn ask(world: &WorkspaceIndex, language: Language, text: &str, cursor: usize, answer: &str) {
    let script = Script { pieces: vec![answer.to_owned()], ..Script::default() };
    let scripted = ScriptedEngine::new("scripted", script);
    let builtin = BuiltinEngine::new("builtin", builtin::BuiltinSettings::for_editor());
    let engines: [&dyn Engine; 2] = [&scripted, &builtin];
    let runtime = Builder::new_current_thread().enable_time().thread_stack_size(STACK_BYTES).build();
    let runtime = runtime.expect("a runtime of one thread");
    for engine in engines {
        let document = DocumentText { path: "one".into(), language, text: text.into() };
        let snapshot = world.snapshot(document);
        let (settings, cancel) = (CompletionSettings::for_editor(), CancellationToken::new());
        runtime.block_on(complete(&snapshot, cursor, engine, &settings, &cancel));
    }
}
