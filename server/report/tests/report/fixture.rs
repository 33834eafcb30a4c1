//! A made-up run: 60 mined cases from 15 files in three languages, two live ones, two engines, some hostile text.

use std::collections::BTreeMap;

use cases::{
    BlockCut, BlockKind, BodyCut, Case, CompletionTask, ContextItem, Cost, CrossFileContext, EngineConfig,
    EngineIdentity, Exposure, Finish, Judgement, Machine, Metric, MetricValue, MissingTail, NO_COPIES_SUFFIX,
    Origin, OriginKind, Prediction, PredictionTimings, Price, Run, SchemaVersion, Score, Status, Tags, Task,
    TokenCounts, WorkspaceState,
};
use scoring::run_summary::RunNote;
use scoring::{ComparedRuns, RunRows, RunSummary};

/// Text that must be displayed without effects: it would end the element around it, open a comment, or reorder a line.
pub(crate) const HOSTILE: &str =
    "const bad = \"</script><script>document.title='taken'</script><!--\"; // \u{202e}drow\u{2028}\n";

/// Owned rows of a run.
pub(crate) struct Fixture {
    pub(crate) run: Run,
    pub(crate) cases: Vec<Case>,
    pub(crate) predictions: Vec<Prediction>,
    pub(crate) scores: Vec<Score>,
    pub(crate) judgements: Vec<Judgement>,
    pub(crate) notes: Vec<RunNote>,
}

impl Fixture {
    pub(crate) fn report(&self) -> RunRows<'_> {
        RunRows {
            run: &self.run,
            cases: &self.cases,
            predictions: &self.predictions,
            scores: &self.scores,
            judgements: &self.judgements,
            notes: &self.notes,
        }
    }

    /// Returns the page of the run.
    pub(crate) fn html(&self) -> String {
        self.html_of(&self.report().summary())
    }

    /// Returns the page of the run with other numbers.
    pub(crate) fn html_of(&self, summary: &RunSummary) -> String {
        let rows = self.report();
        report::html(&rows, &ComparedRuns::new(&[rows]), summary, &[])
    }
}

/// Returns a run with `mined` mined cases. It is the same on every call.
pub(crate) fn fixture(mined: usize) -> Fixture {
    let mut cases: Vec<Case> = (0..mined).map(mined_case).collect();
    cases.push(live_case(mined, Exposure::None));
    cases.push(live_case(mined + 1, Exposure::Shown));
    let engines = [
        engine("builtin", "builtin", "workspace n-grams"),
        engine("qwen", "llama-cpp", "qwen2.5-coder-1.5b"),
    ];
    let mut fixture = Fixture {
        run: run(&engines),
        cases: Vec::new(),
        predictions: Vec::new(),
        scores: Vec::new(),
        judgements: Vec::new(),
        notes: vec![RunNote::NewerCases(3)],
    };
    for (number, case) in cases.iter().enumerate() {
        for (skill, engine) in engines.iter().enumerate() {
            let prediction = prediction(case, number, skill, engine);
            fixture.scores.push(score(case, &prediction));
            fixture.predictions.push(prediction);
        }
    }
    fixture.cases = cases;
    fixture
}

/// Returns a run over `holes` holes of `cross_file`, each with three kinds of context; every fourth name is unresolved. The first
/// engine was the judge: without context it is always wrong.
pub(crate) fn cross_file(holes: usize) -> Fixture {
    let mut fixture = fixture(0);
    let engines: Vec<EngineIdentity> =
        fixture.run.engines.iter().map(|config| config.engine.clone()).collect();
    (fixture.cases, fixture.predictions, fixture.scores) = Default::default();
    for number in 0..holes {
        for (rank, variant) in
            [CrossFileContext::InFile, CrossFileContext::Retrieval, CrossFileContext::Oracle]
                .into_iter()
                .enumerate()
        {
            let case = cross_file_case(number, variant);
            for (skill, engine) in engines.iter().enumerate() {
                let knows =
                    if rank == 0 { skill * (number % 2) } else { rank * (number % 2) + skill * (number % 3) };
                let text = if knows > 0 { case.truth.clone() } else { mistaken(&case.truth, number) };
                let prediction =
                    Prediction { status: Status::Ok, text, ..prediction(&case, number, skill, engine) };
                fixture.scores.push(score(&case, &prediction));
                fixture.predictions.push(prediction);
            }
            fixture.cases.push(case);
        }
    }
    fixture
}

/// Returns a run with this many engines of different skill, latency and price; every fourth is a second run of the one before it,
/// without near-copies.
pub(crate) fn many_engines(mined: usize, count: usize) -> Fixture {
    let mut fixture = fixture(mined);
    let base: Vec<EngineIdentity> = (0..count).map(numbered_engine).collect();
    fixture.run = run(&base);
    for (number, config) in fixture.run.engines.iter_mut().enumerate() {
        if number % 4 == 3 {
            config.settings.insert("hide_near_duplicates".into(), "true".into());
        }
        config.price = (number % 4 != 3).then_some(Price { input: 0.1 * number as f64, output: 0.4 });
    }
    (fixture.predictions, fixture.scores) = Default::default();
    for (number, case) in fixture.cases.iter().enumerate() {
        for (rank, engine) in base.iter().enumerate() {
            let prediction = graded_prediction(case, number, rank, engine);
            fixture.scores.push(score(case, &prediction));
            fixture.predictions.push(prediction);
        }
    }
    fixture
}

fn numbered_engine(number: usize) -> EngineIdentity {
    const MODELS: [&str; 5] =
        ["qwen2.5-coder", "deepseek-coder-v2", "starcoder2", "granite-code", "codestral"];
    // A copy has the name of the engine before it.
    let base = if number % 4 == 3 { number - 1 } else { number };
    let name = format!("{}-{}b", MODELS[base % MODELS.len()], base + 1);
    let suffix = if number % 4 == 3 { NO_COPIES_SUFFIX } else { "" };
    engine(&format!("{name}{suffix}"), "llama-cpp", &format!("{name}-instruct-q4"))
}

/// Answers get better and slower with the rank of the engine, in steps of five engines.
fn graded_prediction(case: &Case, number: usize, rank: usize, engine: &EngineIdentity) -> Prediction {
    let skill = 20 + 12 * (rank / 5) + rank % 5;
    // Half of the luck is the case's, so that engines agree more often than by chance.
    let roll = (scatter(number, 100, 100) + scatter(number, 200 + rank, 100)) / 2;
    let is_right = roll < skill;
    let failure = scatter(number, 300 + rank, 100);
    let (status, text, reason) = match failure {
        0 => (Status::Timeout, String::new(), Some("no text within 5000 ms")),
        1 => (Status::Error, String::new(), Some("connection refused")),
        2..5 => (Status::Silent, String::new(), None),
        _ if is_right && case.truth.is_empty() => (Status::Silent, String::new(), None),
        _ if is_right => (Status::Ok, case.truth.clone(), None),
        _ => (Status::Ok, mistaken(&case.truth, number + rank % 4), None),
    };
    let total = 8.0 * 1.35_f64.powi(rank as i32) * (1.0 + roll as f64 / 40.0);
    Prediction {
        status,
        raw: text.clone(),
        text,
        reason: reason.map(str::to_owned),
        cost: (rank % 4 != 3).then(|| Cost { amount: 0.0001 * (rank + 1) as f64, is_estimated: false }),
        ms: PredictionTimings { gather: 1.5, first: Some(total * 0.4), total },
        ..prediction(case, number, rank % 2, engine)
    }
}

fn cross_file_case(number: usize, shown: CrossFileContext) -> Case {
    let resolved = if number % 4 == 3 { "no" } else { "yes" };
    let tags = [("entity", "amount"), ("resolved", resolved), ("judge", "builtin")];
    finished(Case {
        task: Task::Complete(CompletionTask::CrossFile(shown)),
        block_kind: None,
        truth: TRUTHS[0].to_owned(),
        context: if shown == CrossFileContext::InFile { Vec::new() } else { context(number) },
        tags: tags.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..mined_case(number)
    })
}

fn engine(name: &str, kind: &str, model: &str) -> EngineIdentity {
    EngineIdentity {
        name: name.into(),
        kind: kind.into(),
        model: model.into(),
        fingerprint: format!("{name}-fingerprint"),
    }
}

fn run(engines: &[EngineIdentity]) -> Run {
    let config = |engine: &EngineIdentity| EngineConfig {
        engine: engine.clone(),
        price: None,
        cutoff: None,
        settings: BTreeMap::new(),
    };
    Run {
        schema: SchemaVersion::CURRENT,
        tool: "0.0.0".into(),
        name: "payments-service".into(),
        suite: "4bf92f3577b34da6a3ce929d0e0e4736".into(),
        seed: 7,
        repeat: 1,
        engines: engines.iter().map(config).collect(),
        workspace: Some(WorkspaceState {
            commit: Some("d1f3b7c9a0e2d4f6b8a1c3e5f7092b4d6f8a0c1e".into()),
            dirty: Some(true),
            tree_hash: "9a1f0c2b7d3e4f50".into(),
            files: 412,
            lines: 61_873,
        }),
        copies: Vec::new(),
        machine: Machine { os: "linux x86_64".into(), cpu: "Example CPU".into(), cores: 8 },
    }
}

/// Returns small integers without a visible pattern.
fn scatter(number: usize, salt: usize, below: usize) -> usize {
    let mixed = (number as u64 * 2_654_435_761 + salt as u64 * 40_503 + 12_345)
        .wrapping_mul(6_364_136_223_846_793_005);
    (mixed >> 33) as usize % below
}

const LANGUAGES: [(&str, &str, &str); 3] =
    [("python", "py", "#"), ("typescript", "ts", "//"), ("rust", "rs", "//")];

const TRUTHS: [&str; 6] = [
    "    for invoice in invoices:\n        if invoice.is_overdue(today):\n            total += invoice.amount * rate\n    return total\n",
    "return round(amount * (1 + tax_rate), 2)",
    "    if (account === undefined) {\n      throw new NotFoundError(`account ${id}`);\n    }\n    return account.balance;\n  }\n",
    "match event {\n        Event::Settled { amount, .. } => ledger.credit(amount),\n        Event::Refused(reason) => log.warn(reason),\n    }\n",
    "except ConnectionError as error:\n        self.retries += 1\n        logger.warning(\"gateway lost: %s\", error)\n        raise GatewayLost(self.endpoint) from error\n",
    "while let Some(entry) = queue.pop() {\n        apply(entry)?;\n    }\n",
];

fn mined_case(number: usize) -> Case {
    let file = number % 15;
    let (language, extension, comment) = LANGUAGES[file % 3];
    let task = [
        CompletionTask::FullBlock(BlockCut::BlockStart),
        CompletionTask::FullBlock(BlockCut::HeaderEnd),
        CompletionTask::InnerBlock(BodyCut::RestOfBlock),
        CompletionTask::InnerBlock(BodyCut::Empty),
        CompletionTask::IncompleteSuffix(MissingTail::FunctionTail),
    ][scatter(number, 1, 5)];
    let truth = match (number, task) {
        (4, _) => HOSTILE.to_owned(),
        (_, CompletionTask::InnerBlock(BodyCut::Empty)) => String::new(),
        _ => TRUTHS[scatter(number, 2, TRUTHS.len())].to_owned(),
    };
    let line = 30 + scatter(number, 3, 200);
    let prefix: String = (0..line).map(|line| code_line(line, comment)).collect();
    let suffix: String = (0..scatter(number, 4, 90)).map(|after| code_line(line + after, comment)).collect();
    let path = format!(
        "src/{}/{}_{file}.{extension}",
        ["billing", "gateway", "ledger"][file % 3],
        ["invoice", "client"][file % 2]
    );
    finished(Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: format!("hole-{number}"),
        task: Task::Complete(task),
        language: language.into(),
        block_kind: Some(BlockKind::ALL[scatter(number, 5, 4) * 2]),
        path,
        byte_range: prefix.len()..prefix.len() + truth.len(),
        line: line as u32,
        character: 4,
        prefix: prefix + "    ",
        suffix: format!("\n{suffix}"),
        truth,
        context: context(number),
        function: None,
        tests: None,
        origin: origin(OriginKind::Mined, Exposure::None),
        tags: Tags::from([("last_changed".to_owned(), "2026-03-02".to_owned())]),
    })
}

fn live_case(number: usize, exposure: Exposure) -> Case {
    let mut case = mined_case(number);
    case.origin = origin(OriginKind::Live, exposure);
    finished(case)
}

fn finished(mut case: Case) -> Case {
    case.id = case.compute_id();
    case
}

fn code_line(line: usize, comment: &str) -> String {
    match line % 7 {
        0 => "\n".to_owned(),
        1 => format!("{comment} Settles what was booked on line {line}.\n"),
        2 => format!("def settle_{line}(account, amount, currency=\"EUR\"):\n"),
        3 => format!("    entry_{line} = ledger.entry(account, amount)\n"),
        4 => format!("    if entry_{line}.currency != currency:\n"),
        5 => "        raise CurrencyMismatch(currency)\n".to_owned(),
        _ => format!("    return entry_{line}\n"),
    }
}

fn context(number: usize) -> Vec<ContextItem> {
    let item = |rank: usize| ContextItem {
        path: format!("src/ledger/entry_{rank}.py"),
        start_line: 10 * rank as u32,
        end_line: 10 * rank as u32 + 6,
        text: (0..6).map(|line| code_line(10 * rank + line, "#")).collect(),
        strategy: "bm25".into(),
        score: 12.5 / (rank as f64 + 1.0),
    };
    (0..scatter(number, 6, 4)).map(item).collect()
}

fn origin(kind: OriginKind, exposure: Exposure) -> Origin {
    Origin { repository: Some("payments-service".into()), exposure, ..Origin::new(kind, "9a1f0c2b7d3e4f50") }
}

fn prediction(case: &Case, number: usize, skill: usize, engine: &EngineIdentity) -> Prediction {
    let roll = scatter(number, 10 + skill, 100);
    let (status, text, reason) = if case.truth.is_empty() {
        if roll < 40 + 30 * skill {
            (Status::Silent, String::new(), None)
        } else {
            (Status::Ok, "return None".into(), None)
        }
    } else {
        answer(case, number, skill, roll)
    };
    let total = if skill == 0 { 3.0 + roll as f64 / 4.0 } else { 90.0 + (roll * roll) as f64 / 6.0 };
    let is_asked = status != Status::Gated;
    Prediction {
        schema: SchemaVersion::CURRENT,
        case: case.id.clone(),
        engine: engine.clone(),
        repetition: 0,
        attempt: 1,
        status,
        reason: reason.map(str::to_owned),
        raw: if roll.is_multiple_of(3) { format!("```\n{text}\n```") } else { text.clone() },
        text,
        finish: if is_asked { Finish::Complete } else { Finish::None },
        late: false,
        cost: None,
        tokens: (skill == 1).then_some(TokenCounts { input: 900 + roll as u64, output: 30, cached: None }),
        ms: PredictionTimings { gather: 1.5, first: is_asked.then_some(total * 0.4), total },
        recorded: None,
        reused: false,
        symptoms: Vec::new(),
        spans: Vec::new(),
        form: None,
    }
}

fn answer(case: &Case, number: usize, skill: usize, roll: usize) -> (Status, String, Option<&'static str>) {
    let truth = &case.truth;
    match roll {
        0..10 => (Status::Silent, String::new(), None),
        10..14 => (Status::Gated, String::new(), Some("cursor inside a word")),
        14..16 => (Status::Timeout, String::new(), Some("no text within 5000 ms")),
        16 => (Status::Error, String::new(), Some("connection refused")),
        17..40 => (Status::Ok, truth.clone(), None),
        40..50 if skill == 1 => (Status::Ok, truth.clone(), None),
        _ => (Status::Ok, mistaken(truth, number), None),
    }
}

fn mistaken(truth: &str, number: usize) -> String {
    let renamed = truth.replace("amount", "value").replace("error", "e").replace("account", "user");
    match scatter(number, 7, 3) {
        0 => renamed,
        1 => truth.lines().next().unwrap_or_default().to_owned(),
        _ => format!("{renamed}    logger.debug(\"done\")\n"),
    }
}

/// Returns metrics under the right names; the similarity is simplified to the share of common lines.
fn score(case: &Case, prediction: &Prediction) -> Score {
    let is = |holds: bool| MetricValue::Value(f64::from(u8::from(holds)));
    let is_equal = prediction.text == case.truth;
    let metrics = if case.truth.is_empty() {
        vec![(Metric::Restraint, is(is_equal))]
    } else {
        let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        vec![
            (Metric::ExactMatch, is(is_equal)),
            (Metric::TokenExact, is(letters(&prediction.text) == letters(&case.truth))),
            (Metric::EditSimilarity, MetricValue::Value(similarity(&prediction.text, &case.truth))),
        ]
    };
    Score {
        schema: SchemaVersion::CURRENT,
        case: case.id.clone(),
        engine: prediction.engine.name.clone(),
        fingerprint: prediction.engine.fingerprint.clone(),
        repetition: 0,
        scorer: None,
        metrics: metrics.into_iter().collect(),
    }
}

fn similarity(left: &str, right: &str) -> f64 {
    let shared = left.split_whitespace().filter(|word| right.contains(word)).count();
    let longest = left.split_whitespace().count().max(right.split_whitespace().count());
    if longest == 0 { 1.0 } else { shared as f64 / longest as f64 }
}
