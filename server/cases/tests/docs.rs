//! Compares `docs/formats.md` with the types: all fields and words are documented, no others are, and the examples are valid
//! rows.

use std::collections::{BTreeMap, BTreeSet};

use cases::{
    AcceptedPart, AnswerForm, ArmAnswer, ArmRole, AssignmentUnit, BlockCut, BlockKind, BodyCut,
    BundleConsent, CallScope, CandidateFunction, Case, CaseCopies, CaseTests, ChangeKind, CompletionTask,
    ContextComments, ContextItem, Cost, CrossFileContext, Datasheet, Decision, DecisionKind, EngineConfig,
    EngineIdentity, Exposure, FindFunction, Finish, Judgement, LossReason, Machine, Metric, MetricValue,
    MissingTail, OfferOutcome, Opportunity, OpportunityCursor, Origin, OriginKind, OutcomeKind, Prediction,
    PredictionTimings, Price, PrivacyLevel, PromptSymptom, Provenance, ProvenanceSpan, Recorded, Rename, Run,
    Scenario, SchemaVersion, Score, Span, SpanSource, Status, Survival, SurvivalAge, SurvivalKind, Task,
    TaskKind, TestRunnerKind, TestVerdict, TokenCounts, TrialArm, TrialDefinition, TrialMode, Trigger, Truth,
    TruthStage, TypingRhythm, WatchedChange, WatchedEngine, WatchedFailure, WatchedNight, WatchedShift,
    WorkspaceState, WriteFunction, parse_document, parse_line, to_document, to_line,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../docs/formats.md");

#[test]
fn case_fields_are_documented() {
    check_fields("Case", &full_case(), &["tags"]);
    let example: Case = check_example("case");
    assert_eq!(example.id, example.compute_id(), "the example's id");
}

#[test]
fn prediction_fields_are_documented() {
    check_fields("Prediction", &full_prediction(), &[]);
    check_example::<Prediction>("prediction");
}

#[test]
fn score_fields_are_documented() {
    check_fields("Score", &full_score(), &["metrics"]);
    check_example::<Score>("score");
}

#[test]
fn judgement_fields_are_documented() {
    let judgement = Judgement {
        schema: SchemaVersion::CURRENT,
        case: full_case().id,
        engine: "builtin".to_owned(),
        repetition: 0,
        patch: "5b1c".to_owned(),
        verdict: TestVerdict::Failed,
        not_passed: BTreeSet::from(["t.py::a".to_owned()]),
        seconds: 0.5,
        output: "1 failed".to_owned(),
    };
    check_fields("Judgement", &judgement, &[]);
    check_words("Judgement", "verdict", TestVerdict::ALL);
    check_words("Case", "tests.runner", TestRunnerKind::ALL);
    check_example::<Judgement>("judgement");
}

#[test]
fn run_fields_are_documented() {
    check_fields("Run", &full_run(), &["engines.settings"]);
    let example = example("json", "run");
    let run: Run = parse_document(example).expect("the example is a run");
    assert_eq!(to_document(&run), example, "the example of a run, printed again");
}

#[test]
fn watched_night_fields_are_documented() {
    let shift = WatchedShift { before: 0.5, after: 0.25, p: 1e-6 };
    let change = WatchedChange { kind: ChangeKind::Answers, first: 1, score: Some(shift), text: Some(shift) };
    let night = WatchedNight {
        schema: SchemaVersion::CURRENT,
        run: "1".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        suite: "52e1".to_owned(),
        metric: Metric::ExactMatch,
        tree_hash: Some("52e1".to_owned()),
        engines: vec![WatchedEngine {
            name: "e".to_owned(),
            fingerprint: "52e1".to_owned(),
            answers: 2,
            failed: 1,
            failures: vec![WatchedFailure {
                status: Status::Error,
                reason: Some("refused".to_owned()),
                count: 1,
            }],
            value: Some(0.5),
            since: 0,
            change: Some(change),
        }],
    };
    check_fields("Watched night", &night, &[]);
    check_words("Watched night", "engines.change.kind", ChangeKind::ALL);
}

#[test]
fn trial_fields_are_documented() {
    let arm = TrialArm {
        requests_per_minute: Some(6),
        requests_per_day: Some(5),
        budget_per_day: Some(1.5),
        ..TrialArm::new("a".to_owned())
    };
    let definition = TrialDefinition {
        schema: SchemaVersion::CURRENT,
        name: "t".to_owned(),
        mode: TrialMode::Shadow,
        arms: vec![arm],
        holdout: 0.1,
        unit: AssignmentUnit::Session,
        salt: "s".to_owned(),
        primary: Metric::ExactMatch,
        margin: 0.01,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        stopped_at: Some("2026-01-02T00:00:00Z".to_owned()),
    };
    check_fields("Trial", &definition, &[]);
    check_words("Trial", "mode", TrialMode::ALL);
    check_words("Trial", "unit", AssignmentUnit::ALL);
    let example = example("json", "trial");
    let trial: TrialDefinition = parse_document(example).expect("the example is a trial");
    assert_eq!(to_document(&trial), example, "the example of a trial, printed again");
}

#[test]
fn opportunity_fields_are_documented() {
    check_fields("Opportunity", &full_opportunity(), &["answers.metrics"]);
    check_words("Opportunity", "mode", TrialMode::ALL);
    check_words("Opportunity", "trigger", Trigger::ALL);
    check_words("Opportunity", "privacy", PrivacyLevel::ALL);
    check_words("Opportunity", "decisions.kind", DecisionKind::ALL);
    check_words("Opportunity", "answers.role", ArmRole::ALL);
    check_words("Opportunity", "outcome.kind", OutcomeKind::ALL);
    check_words("Opportunity", "outcome.parts", AcceptedPart::ALL);
    check_words("Opportunity", "outcome.survival.age", SurvivalAge::ALL);
    check_words("Opportunity", "outcome.survival.kind", SurvivalKind::ALL);
    check_words("Opportunity", "exposure", Exposure::ALL);
    check_words("Opportunity", "truths.stage", TruthStage::ALL);
    check_words("Opportunity", "truths.provenance.provenance", Provenance::ALL);
    check_words("Opportunity", "lost", LossReason::ALL);
}

#[test]
fn datasheet_fields_are_documented() {
    let consent = BundleConsent {
        given_at: "2026-01-01T00:00:00Z".to_owned(),
        opportunities: 1,
        statement: "yes".to_owned(),
    };
    let mut sheet = Datasheet::new(&[], vec!["MIT License".to_owned()], vec![consent]);
    (sheet.first, sheet.last) = (Some(String::new()), Some(String::new()));
    check_fields("Datasheet", &sheet, &["levels", "languages", "engines"]);
    check_example::<Datasheet>("datasheet");
}

#[test]
fn question_fields_are_documented() {
    let text = String::new;
    let find = FindFunction {
        description: text(),
        name: text(),
        candidates: vec![CandidateFunction { name: text(), code: text() }],
        depth: 0.5,
        size: 1,
        tokens_before: 0,
        tokens_of_function: 0,
        tokens_after: 0,
        tokenizer: text(),
        comments: ContextComments::Kept,
    };
    check_fields("Find function", &find, &[]);
    let write = WriteFunction { name: text(), signature: text(), documentation: text(), header: text() };
    check_fields("Write function", &write, &[]);
}

#[test]
fn every_enum_value_is_documented() {
    check_words("Case", "task", TaskKind::ALL);
    check_words("Case", "scenario", Scenario::ALL);
    let variants = [
        names(BlockCut::ALL),
        names(BodyCut::ALL),
        names(MissingTail::ALL),
        names(CrossFileContext::ALL),
        names(CallScope::ALL),
    ];
    check_words("Case", "variant", &variants.concat());
    check_words("Find function", "comments", ContextComments::ALL);
    check_words("Prediction", "form", AnswerForm::ALL);
    check_words("Case", "block_kind", BlockKind::ALL);
    check_words("Case", "origin.kind", OriginKind::ALL);
    check_words("Case", "origin.exposure", Exposure::ALL);
    check_words("Prediction", "status", Status::ALL);
    check_words("Prediction", "finish", Finish::ALL);
    check_words("Prediction", "recorded", Recorded::ALL);
    check_words("Prediction", "symptoms", PromptSymptom::ALL);
    check_words("Prediction", "spans.from", SpanSource::ALL);
}

fn names<W: ToString>(words: &[W]) -> Vec<String> {
    words.iter().map(W::to_string).collect()
}

/// Checks that the table of the section lists exactly the fields of a complete row. Objects in `open` may have any keys.
#[track_caller]
fn check_fields(section: &str, row: &impl Serialize, open: &[&str]) {
    let mut fields = BTreeSet::new();
    collect_fields(&serde_json::to_value(row).expect("rows are JSON"), "", open, &mut fields);
    let documented: BTreeSet<_> = documented_fields(section).into_keys().collect();
    assert_eq!(documented, fields, "fields of section {section} (left) and of the type (right)");
}

fn collect_fields(value: &Value, path: &str, open: &[&str], fields: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, path, open, fields)),
        Value::Object(object) if !open.contains(&path) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect_fields(value, &path, open, fields);
                fields.insert(path);
            }
        }
        _ => {}
    }
}

#[track_caller]
fn check_words<W: ToString>(section: &str, field: &str, words: &[W]) {
    let described = documented_fields(section).remove(field).expect("the field is documented");
    let documented: Vec<_> = described.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(documented, names(words), "words of {section}.{field}");
}

/// Checks that the example row parses and prints to the same bytes.
#[track_caller]
fn check_example<T: Serialize + DeserializeOwned>(name: &str) -> T {
    let example = example("jsonl", name);
    let row: T = parse_line(example, 1).expect("the example is a row");
    assert_eq!(to_line(&row), example, "the example of a {name}, printed again");
    row
}

/// Returns the text between the fences of an example.
#[track_caller]
fn example(language: &str, name: &str) -> &'static str {
    let fence = format!("```{language} {name}\n");
    let (_, rest) = DOCUMENT.split_once(&fence).expect("the section has an example");
    rest.split("```").next().unwrap_or_default()
}

/// Returns the rows ``| `field` | type | meaning |`` of a section: the type of each field.
fn documented_fields(section: &str) -> BTreeMap<String, String> {
    let (_, rest) = DOCUMENT.split_once(&format!("\n## {section}\n")).expect("the document has the section");
    let section = rest.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    rows.map(|(field, rest)| (field.to_owned(), rest.split(" | ").next().unwrap_or_default().to_owned()))
        .collect()
}

/// Returns a case with all optional fields.
fn full_case() -> Case {
    let mut case = Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: "src/area.py:32".to_owned(),
        task: Task::Complete(CompletionTask::CrossFile(CrossFileContext::Retrieval)),
        language: "python".to_owned(),
        block_kind: Some(BlockKind::Function),
        path: "src/area.py".to_owned(),
        byte_range: 32..50,
        line: 3,
        character: 4,
        prefix: "import math\n\ndef circle(r):\n    ".to_owned(),
        suffix: "\n".to_owned(),
        truth: "return math.pi * r".to_owned(),
        context: vec![ContextItem {
            path: "src/volume.py".to_owned(),
            start_line: 0,
            end_line: 3,
            text: "def ball(r):\n    return 4 / 3 * math.pi * r ** 3\n".to_owned(),
            strategy: "similar_functions".to_owned(),
            score: 7.5,
        }],
        function: None,
        tests: Some(Box::new(CaseTests {
            runner: TestRunnerKind::Pytest,
            folder: "server".to_owned(),
            ids: vec!["tests/test_area.py::test_circle".to_owned()],
            seconds: 0.5,
            must_return: false,
        })),
        origin: Origin {
            kind: OriginKind::Live,
            benchmark: Some("codev-bench".to_owned()),
            benchmark_id: Some("17".to_owned()),
            repository: Some("geometry".to_owned()),
            commit: Some("1f3c9e0".to_owned()),
            dirty: Some(false),
            tree_hash: "9d2f".to_owned(),
            recorded_at: Some("2026-01-02T03:04:05Z".to_owned()),
            exposure: Exposure::None,
            exposed_arm: Some("qwen".to_owned()),
            probability: Some(0.1),
        },
        tags: BTreeMap::from([("last_changed".to_owned(), "2025".to_owned())]),
    };
    case.id = case.compute_id();
    case
}

fn engine() -> EngineIdentity {
    EngineIdentity {
        name: "builtin".to_owned(),
        kind: "builtin".to_owned(),
        model: "builtin".to_owned(),
        fingerprint: "52e1".to_owned(),
    }
}

/// Returns a prediction with all optional fields.
fn full_prediction() -> Prediction {
    Prediction {
        schema: SchemaVersion::CURRENT,
        case: full_case().id,
        engine: engine(),
        repetition: 0,
        attempt: 2,
        status: Status::Ok,
        reason: Some("text after the block was cut".to_owned()),
        raw: "return math.pi * r\n\n".to_owned(),
        text: "return math.pi * r".to_owned(),
        finish: Finish::Complete,
        late: true,
        cost: Some(Cost { amount: 0.0006, is_estimated: true }),
        tokens: Some(TokenCounts { input: 120, output: 8, cached: Some(96) }),
        ms: PredictionTimings { gather: 0.4, first: Some(1.5), total: 2.25 },
        recorded: Some(Recorded::Timed),
        reused: true,
        symptoms: vec![PromptSymptom::Fence],
        spans: vec![Span {
            range: 7..18,
            from: SpanSource::File,
            path: "src/volume.py".to_owned(),
            line: Some(1),
            character: Some(15),
            same: 3,
            alike: 9,
            probability: 0.6,
            renamed: vec![Rename { there: "d".to_owned(), here: "r".to_owned() }],
        }],
        form: Some(AnswerForm::FillIn),
    }
}

fn full_score() -> Score {
    Score {
        schema: SchemaVersion::CURRENT,
        case: full_case().id,
        engine: engine().name,
        fingerprint: engine().fingerprint,
        repetition: 0,
        scorer: Some(1),
        metrics: BTreeMap::from([
            (Metric::TokenExact, MetricValue::Value(1.0)),
            (Metric::IdentifierRecall, MetricValue::Ratio { num: 3.0, den: 3.0 }),
        ]),
    }
}

/// Returns an opportunity with all optional fields.
fn full_opportunity() -> Opportunity {
    let ms = Some(1.0);
    let case = full_case();
    let answer = ArmAnswer {
        reason: Some("reason".to_owned()),
        raw: "raw".to_owned(),
        text: "text".to_owned(),
        ms: PredictionTimings { gather: 0.4, first: ms, total: 2.25 },
        confidence: ms,
        tokens: full_prediction().tokens,
        cost: full_prediction().cost,
        cached: true,
        metrics: full_score().metrics,
        ..ArmAnswer::empty("a".to_owned(), engine(), ArmRole::Shown, Status::Ok)
    };
    let survival = Survival { age: SurvivalAge::Commit, kind: SurvivalKind::Kept, retained_chars: 4 };
    let arm = Some("a".to_owned());
    let truth = Truth {
        stage: TruthStage::Settled,
        at: 1.0,
        text: "text".to_owned(),
        region: "text".to_owned(),
        deleted: "old".to_owned(),
        deleted_before: "old".to_owned(),
        provenance: vec![ProvenanceSpan { range: 0..4, provenance: Provenance::Accepted, arm: arm.clone() }],
        reversals: 1,
        distance: Some(1),
    };
    Opportunity {
        trial: Some("t".to_owned()),
        secrets: 1,
        commit: Some("1f3c9e0".to_owned()),
        tree_hash: "9d2f".to_owned(),
        context: case.context.clone(),
        similar_functions: case.context,
        rhythm: TypingRhythm { since_last_key: ms, between_keys: ms, until_next_key: ms },
        decisions: vec![Decision {
            kind: DecisionKind::Holdout,
            value: "shown".to_owned(),
            probability: 0.9,
        }],
        answers: vec![answer],
        outcome: OfferOutcome {
            kind: OutcomeKind::Accepted,
            is_inferred: true,
            shown_at: ms,
            visible: ms,
            item: Some(0),
            arm,
            parts: vec![AcceptedPart::Full],
            accepted_at: ms,
            accepted_chars: 4,
            typed_chars: 1,
            survival: vec![survival],
            survival_lost: Some(LossReason::Interrupted),
        },
        task: Some(case.task),
        block_kind: case.block_kind,
        truths: vec![truth],
        lost: Some(LossReason::External),
        ..Opportunity::new("0".repeat(32), Trigger::Automatic, OpportunityCursor::at_start("python", "a.py"))
    }
}

/// Returns a run with all optional fields.
fn full_run() -> Run {
    Run {
        schema: SchemaVersion::CURRENT,
        tool: "0.1.0".to_owned(),
        name: "geometry".to_owned(),
        suite: "c0ffee".to_owned(),
        seed: 1,
        repeat: 1,
        engines: vec![EngineConfig {
            engine: engine(),
            price: Some(Price { input: 0.15, output: 3.0 }),
            cutoff: Some("2025-06".to_owned()),
            settings: BTreeMap::from([("max_tokens".to_owned(), "256".to_owned())]),
        }],
        workspace: Some(WorkspaceState {
            commit: Some("1f3c9e0".to_owned()),
            dirty: Some(false),
            tree_hash: "9d2f".to_owned(),
            files: 2,
            lines: 6,
        }),
        copies: vec![CaseCopies { case: "4cdf".to_owned(), files: vec!["lib/area.py".to_owned()] }],
        machine: Machine { os: "linux x86_64".to_owned(), cpu: "Intel Xeon".to_owned(), cores: 2 },
    }
}
