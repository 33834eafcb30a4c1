//! Six real models on cassettes: their recorded answers to recorded prompts, through the regular pipeline.
//!
//! The texts around the hole and the context are extracted from each prompt, and the engine renders them again. If an engine
//! can be configured with the layout, the result must equal the prompt byte for byte; otherwise the recording is not found.

use std::collections::BTreeMap;
use std::sync::Arc;

use completion::{
    CompletionSettings, DocumentText, Outcome, OutcomeStatus, Snippet, TimingSource, WorkspaceIndex, complete,
};
use engines::{
    AnswersFile, Cassette, EngineKind, FimSetting, HttpEngine, HttpServerConfig, HttpSettings, Sampling,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::real_answers::{RealAnswers, language, text};

/// An address without a server.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Text before the files in two of the project's layouts; not part of any model's own layout.
const PREFACE: &str = "Please keep response concise and scope of response limited. If no good completion exists, do not answer:\n";

/// Special tokens of a model's family.
struct Marks {
    prefix: &'static str,
    suffix: &'static str,
    middle: &'static str,
    file: &'static str,
    family: &'static str,
}

const QWEN: Marks = Marks {
    prefix: "<|fim_prefix|>",
    suffix: "<|fim_suffix|>",
    middle: "<|fim_middle|>",
    file: "<|file_sep|>",
    family: "qwen2.5-coder",
};

const GRANITE: Marks = Marks {
    prefix: "<fim_prefix>",
    suffix: "<fim_suffix>",
    middle: "<fim_middle>",
    file: "<filename>",
    family: "granite-3",
};

fn marks(model: &str) -> &'static Marks {
    if model.contains("Qwen") { &QWEN } else { &GRANITE }
}

/// The parts of a prompt.
#[derive(Clone, Default)]
struct PromptParts {
    context: Vec<(String, String)>,
    prefix: String,
    suffix: String,
}

/// Returns the prompt's text before `<fim_prefix>`, between that and the hole, and after the hole.
fn parts<'a>(prompt: &'a str, marks: &Marks) -> [&'a str; 3] {
    let (head, rest) = prompt.split_once(marks.prefix).expect("a prompt has a prefix");
    let (prefix, rest) = rest.split_once(marks.suffix).expect("a prompt has a suffix");
    [head, prefix, rest.strip_suffix(marks.middle).expect("a prompt ends with its middle")]
}

/// Parses context in comments before the text, each piece after its path, and the text after its own path.
fn from_comments(text: &str, path: &str, sign: &str) -> PromptParts {
    let own = format!("{sign} {path}\n");
    let (above, prefix) = text.split_once(&own).expect("the text follows its path");
    let head = format!("{sign} Path: ");
    let pieces = above.split(&head).skip(1).map(|piece| {
        let (path, lines) = piece.split_once('\n').expect("a path has a line of its own");
        let lines = lines.lines().map(|line| line.strip_prefix(sign).and_then(|line| line.strip_prefix(' ')));
        let lines: Vec<&str> = lines.map(|line| line.expect("a comment")).collect();
        (path.to_owned(), lines.join("\n"))
    });
    PromptParts { context: pieces.collect(), prefix: prefix.to_owned(), suffix: String::new() }
}

/// Parses context as files before the text, whose own path comes last.
fn from_files(head: &str, marks: &Marks) -> Vec<(String, String)> {
    let mut files: Vec<&str> = head.split(marks.file).skip(1).collect();
    files.pop();
    files
        .into_iter()
        .map(|file| {
            let (path, text) = file.split_once('\n').expect("a path has a line of its own");
            (path.to_owned(), text.to_owned())
        })
        .collect()
}

/// Returns the template as configured and the parts of the prompt; `None` for a layout that engines cannot be configured with.
fn parse_prompt(answer: &Value, path: &str) -> Option<(String, PromptParts)> {
    let (prompt, marks) = (text(answer, "prompt"), marks(text(answer, "model")));
    let [head, prefix, suffix] = parts(prompt, marks);
    let Marks { prefix: p, suffix: s, middle, file, family } = marks;
    let own = |prefix: &str| PromptParts { prefix: prefix.to_owned(), ..PromptParts::default() };
    let (fim, question) = match text(answer, "template") {
        "no_snippets" => {
            let head = format!("{file}{path}\n");
            (format!("{p}{file}{{path}}\n{{prefix}}{s}{{suffix}}{middle}"), own(prefix.strip_prefix(&head)?))
        }
        "comment" => {
            let sign = if text(answer, "language") == "python" { "#" } else { "//" };
            (format!("{p}{{prefix}}{s}{{suffix}}{middle}"), from_comments(prefix, path, sign))
        }
        "outside" => {
            let context = from_files(head.strip_prefix(PREFACE)?, marks);
            ((*family).to_owned(), PromptParts { context, ..own(prefix) })
        }
        // Whole files within the prefix, after a text that no model was trained on.
        _ => return None,
    };
    Some((fim, PromptParts { suffix: suffix.to_owned(), ..question }))
}

fn engine(model: &str, fim: &str) -> HttpEngine {
    let settings = HttpSettings {
        name: model.to_owned(),
        kind: EngineKind::OpenAi,
        server: HttpServerConfig::at(NOWHERE),
        model: Some(model.to_owned()),
        fim: FimSetting::Template(fim.to_owned()),
        sampling: Sampling::greedy(64),
        extra: serde_json::Map::new(),
        context_window: Some(8192),
        timeout: None,
    };
    HttpEngine::new(settings).expect("the settings are right")
}

/// Engines that replay a cassette; each is created once.
struct CassetteEngines {
    folder: TempDir,
    prompts: AnswersFile,
    engines: BTreeMap<(String, String), (Arc<Cassette>, HttpEngine)>,
}

impl CassetteEngines {
    fn new(real: &RealAnswers) -> CassetteEngines {
        let rows: Vec<String> = real.answers.iter().map(Value::to_string).collect();
        CassetteEngines {
            folder: TempDir::new().expect("there is room for temporary files"),
            prompts: AnswersFile::parse(&rows.join("\n")).expect("the rows have prompts and answers"),
            engines: BTreeMap::new(),
        }
    }

    fn engine(&mut self, model: &str, fim: &str) -> &HttpEngine {
        let path = self.folder.path().join(format!("{}.jsonl", self.engines.len()));
        let made = || {
            let recorded = engine(model, fim);
            self.prompts
                .write_cassette(std::slice::from_ref(&recorded), &path)
                .expect("the engine sends prompts");
            let cassette = Arc::new(Cassette::offline(Some(&path)).expect("it was just made"));
            (Arc::clone(&cassette), recorded.with_cassette(&cassette))
        };
        &self.engines.entry((model.to_owned(), fim.to_owned())).or_insert_with(made).1
    }
}

async fn completed(question: &PromptParts, path: &str, answer: &Value, engine: &HttpEngine) -> Outcome {
    let whole = [question.prefix.as_str(), question.suffix.as_str()].concat();
    let document = DocumentText { path: path.into(), language: language(answer), text: whole.into() };
    let snapshot = WorkspaceIndex::empty().snapshot(document).with_context(
        question.context.iter().map(|(path, text)| Snippet::new(path.as_str(), text.as_str())).collect(),
    );
    complete(
        &snapshot,
        question.prefix.len(),
        engine,
        &CompletionSettings::for_replay(),
        &CancellationToken::new(),
    )
    .await
}

/// Number of prompts of a layout, and of those that we render byte for byte.
#[derive(Debug, Default)]
struct LayoutCounts {
    all: usize,
    same: usize,
}

#[tokio::test]
async fn golden_recorded_prompts_and_answers_are_reproduced() {
    let Some(real) = RealAnswers::read("real models on cassettes") else { return };
    let mut replayed = CassetteEngines::new(&real);
    let mut layouts: BTreeMap<(&str, &str), LayoutCounts> = BTreeMap::new();
    for answer in &real.answers {
        let (model, layout) = (text(answer, "model"), text(answer, "template"));
        let path = text(&real.task(answer)["metadata"], "file");
        let rendered = layouts.entry((layout, marks(model).family)).or_default();
        rendered.all += 1;
        let Some((fim, question)) = parse_prompt(answer, path) else { continue };
        let outcome = completed(&question, path, answer, replayed.engine(model, &fim)).await;
        rendered.same += usize::from(check(answer, &question, &outcome));
    }
    eprintln!("prompts by layout and family: {layouts:?}");
    for (layout, LayoutCounts { all, same }) in layouts {
        assert_eq!(same > 0, layout.0 != "inside", "{layout:?}: {same} of {all}");
    }
    assert!(replayed.engines.values().all(|(cassette, _)| cassette.stats().repeated == 0));
}

/// Whether the prompt was rendered byte for byte, with the model's answer. Known exceptions: a blank piece of context, which
/// we omit, and the preface, whose answer is not recorded for a prompt without it.
#[track_caller]
fn check(answer: &Value, question: &PromptParts, Outcome { status, trace, .. }: &Outcome) -> bool {
    let (prompt, output, task) = (text(answer, "prompt"), text(answer, "output"), text(answer, "task_id"));
    let ours = trace.prompt.as_deref().expect("an engine reports its prompt before the request");
    let has_blank_piece = question.context.iter().any(|(_, text)| text.trim().is_empty());
    if has_blank_piece || prompt.starts_with(PREFACE) {
        assert!(
            matches!(status, OutcomeStatus::Failed(engines::EngineError::NotRecorded { .. })),
            "{task}: {status:?}"
        );
        assert!(
            has_blank_piece || prompt.strip_prefix(PREFACE) == Some(ours),
            "{task}\n{prompt}\n---\n{ours}"
        );
        return !has_blank_piece;
    }
    assert_eq!(ours, prompt, "{task}");
    assert!(matches!(status, OutcomeStatus::Ok | OutcomeStatus::Silent(_)), "{task}: {status:?}");
    assert_eq!(
        (trace.timings.clock, trace.timings.first),
        (TimingSource::Unknown, None),
        "{task}: no time is known"
    );
    // Reading ends when the text is complete, so the recorded output may be longer.
    assert!(output.starts_with(&trace.received), "{task}: {output:?}, and not {:?}", trace.received);
    assert!(!trace.received.trim().is_empty() || output.trim().is_empty(), "{task}: {output:?}");
    true
}
