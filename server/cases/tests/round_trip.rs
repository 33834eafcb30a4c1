//! Printing and parsing returns the same value, for any row.

use std::collections::BTreeMap;

use cases::{
    AnswerForm, BlockCut, BlockKind, BodyCut, CallScope, CandidateFunction, Case, CompletionTask,
    ContextComments, ContextItem, Cost, CrossFileContext, EngineIdentity, Exposure, FindFunction, Finish,
    FunctionQuestion, Metric, MetricValue, MissingTail, Origin, OriginKind, ParsedLines, Prediction,
    PredictionTimings, PromptSymptom, Recorded, Rename, SchemaVersion, Score, Span, SpanSource, Status, Task,
    TokenCounts, WriteFunction, parse_line, parse_lines, suite_hash, to_line,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("rows hold finite numbers", |x| x.is_finite()),
        (0u32..1000).prop_map(f64::from)
    ]
}

prop_compose! {
    fn context_item()(path in ".{0,12}", start_line in 0u32..999, text in "(.|\n|\r){0,40}", score in finite()) -> ContextItem {
        ContextItem { path, start_line, end_line: start_line + 3, text, strategy: "functions".to_owned(), score }
    }
}

prop_compose! {
    fn origin()(
        kind in select(OriginKind::ALL), benchmark in option::of(".{0,9}"), commit in option::of("[0-9a-f]{8}"),
        dirty in any::<Option<bool>>(), recorded_at in option::of("[0-9T:Z-]{0,20}"),
        exposure in select(Exposure::ALL), probability in option::of(finite()),
    ) -> Origin {
        Origin {
            kind, benchmark_id: benchmark.clone(), repository: benchmark.clone(), exposed_arm: benchmark.clone(), benchmark, commit,
            dirty, tree_hash: "t".to_owned(), recorded_at, exposure, probability,
        }
    }
}

/// Returns every task.
fn tasks() -> Vec<Task> {
    let completions = [
        BlockCut::ALL.iter().copied().map(CompletionTask::FullBlock).collect::<Vec<_>>(),
        BodyCut::ALL.iter().copied().map(CompletionTask::InnerBlock).collect(),
        MissingTail::ALL.iter().copied().map(CompletionTask::IncompleteSuffix).collect(),
        vec![CompletionTask::Rag],
        CrossFileContext::ALL.iter().copied().map(CompletionTask::CrossFile).collect(),
    ];
    let scopes = CallScope::ALL.iter().copied().map(Some).chain([None]);
    let others = scopes.map(Task::WriteFunction).chain([Task::FindFunction]);
    completions.concat().into_iter().map(Task::Complete).chain(others).collect()
}

/// Returns a question of the task's kind.
fn question(task: Task, text: &str, depth: f64) -> Option<Box<FunctionQuestion>> {
    let (name, code) = (text.to_owned(), text.to_owned());
    let question = match task {
        Task::Complete(_) => return None,
        Task::FindFunction => FunctionQuestion::Find(FindFunction {
            description: text.to_owned(),
            name: name.clone(),
            candidates: vec![CandidateFunction { name, code }],
            depth,
            size: 16_384,
            tokens_before: 1,
            tokens_of_function: 2,
            tokens_after: 3,
            tokenizer: "estimate".to_owned(),
            comments: ContextComments::Padded,
        }),
        Task::WriteFunction(_) => FunctionQuestion::Write(WriteFunction {
            name,
            signature: text.to_owned(),
            documentation: text.to_owned(),
            header: text.to_owned(),
        }),
    };
    Some(Box::new(question))
}

prop_compose! {
    fn case()(
        hole in ".{0,9}", task in select(tasks()),
        block_kind in option::of(select(BlockKind::ALL)), texts in proptest::array::uniform3("(.|\n|\r){0,60}"), at in 0usize..9999,
        context in proptest::collection::vec(context_item(), 0..3), origin in origin(),
        tags in proptest::collection::btree_map(".{0,5}", ".{0,5}", 0..3),
    ) -> Case {
        let function = question(task, &texts[0], 0.5);
        let [prefix, suffix, truth] = texts;
        let mut case = Case {
            schema: SchemaVersion::CURRENT, id: String::new(), hole, task, language: "python".to_owned(), block_kind,
            path: "a/b.py".to_owned(), byte_range: at..at + truth.len(), line: 3, character: 4, prefix, suffix, truth, context,
            function, tests: None, origin, tags,
        };
        case.id = case.compute_id();
        case
    }
}

prop_compose! {
    fn span()(
        from in select(SpanSource::ALL), path in ".{0,9}", place in option::of((0u32..99, 0u32..99)), same in 0usize..99,
        probability in finite(), renamed in proptest::collection::vec((".{0,4}", ".{0,4}"), 0..2),
    ) -> Span {
        let renamed = renamed.into_iter().map(|(there, here)| Rename { there, here }).collect();
        let (line, character) = place.unzip();
        Span { range: same..same + 2, from, path, line, character, same, alike: same + 1, probability, renamed }
    }
}

prop_compose! {
    fn prediction()(
        status in select(Status::ALL), finish in select(Finish::ALL), raw in "(.|\n){0,60}", reason in option::of(".{0,9}"),
        cached in any::<Option<u64>>(), first in option::of(finite()), total in finite(), repetition in any::<u32>(),
        spans in proptest::collection::vec(span(), 0..3),
    ) -> Prediction {
        let name = |text: &str| text.to_owned();
        Prediction {
            schema: SchemaVersion::CURRENT, case: name("c"), repetition, status, reason, text: raw.trim().to_owned(), raw, finish,
            attempt: repetition / 2, late: repetition % 2 == 1, reused: repetition % 3 == 1,
            symptoms: first.map(|_| PromptSymptom::ALL.to_vec()).unwrap_or_default(),
            engine: EngineIdentity { name: name("b"), kind: name("builtin"), model: name("m"), fingerprint: name("f") },
            tokens: cached.map(|_| TokenCounts { input: 1, output: 2, cached }),
            cost: first.map(|amount| Cost { amount, is_estimated: cached.is_none() }), ms: PredictionTimings { gather: 0.5, first, total },
            recorded: first.map(|_| Recorded::Timed), spans, form: first.map(|_| AnswerForm::Chat),
        }
    }
}

fn metric() -> impl Strategy<Value = MetricValue> {
    prop_oneof![
        finite().prop_map(MetricValue::Value),
        (finite(), finite()).prop_map(|(num, den)| MetricValue::Ratio { num, den })
    ]
}

proptest! {
    #[test]
    fn cases_round_trip(case in case()) {
        prop_assert_eq!(parse_line::<Case>(&to_line(&case), 1).unwrap(), case);
    }

    #[test]
    fn predictions_round_trip(prediction in prediction()) {
        prop_assert_eq!(parse_line::<Prediction>(&to_line(&prediction), 1).unwrap(), prediction);
    }

    #[test]
    fn scores_round_trip(metrics in proptest::collection::btree_map(select(Metric::ALL), metric(), 0..4), scorer in option::of(0u32..9)) {
        let score = Score {
            schema: SchemaVersion::CURRENT, case: "c".to_owned(), engine: "e".to_owned(), fingerprint: "f".to_owned(),
            repetition: 0, scorer, metrics,
        };
        prop_assert_eq!(parse_line::<Score>(&to_line(&score), 1).unwrap(), score);
    }

    #[test]
    fn truncated_file_keeps_its_complete_rows(cases in proptest::collection::vec(case(), 1..4), cut in any::<prop::sample::Index>()) {
        let text: String = cases.iter().map(to_line).collect();
        let cut = (0..=cut.index(text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let ParsedLines { rows, complete_bytes } = parse_lines::<Case>(&text[..cut]).unwrap();
        prop_assert!(cut - complete_bytes <= text.lines().map(str::len).max().unwrap());
        prop_assert_eq!(&rows[..], &cases[..rows.len()]);
        prop_assert!(rows.len() + 1 >= text[..cut].matches('\n').count());
    }

    #[test]
    fn case_id_ignores_origin_and_location(case in case(), origin in origin()) {
        let moved = Case { origin, tags: BTreeMap::new(), byte_range: 0..1, line: 9, ..case.clone() };
        prop_assert_eq!(moved.compute_id(), case.id);
    }

    #[test]
    fn case_id_depends_on_field_boundaries(case in case()) {
        let shifted = Case { prefix: format!("{}x", case.prefix), ..case.clone() };
        let other = Case { suffix: format!("x{}", case.suffix), ..case.clone() };
        prop_assert_ne!(shifted.compute_id(), other.compute_id());
    }
}

#[test]
fn rows_without_the_question_of_their_task_are_refused() {
    let row = |task: &str, scenario: &str, question: &str| {
        let text = format!(
            r#"{{"schema":"1.7","id":"","hole":"","task":"{task}","scenario":"{scenario}","language":"c","path":"a.c","byte_range":{{"start":0,"end":0}},"line":0,"character":0,"prefix":"","suffix":"","truth":""{question},"origin":{{"kind":"imported","tree_hash":"","exposure":"none"}}}}"#
        );
        parse_line::<Case>(&text, 1).expect_err("an error").message
    };
    let write = r#","write":{"name":"f","signature":"","documentation":"","header":""}"#;
    assert!(row("write_function", "write_function", "").contains("needs `write`"));
    assert!(row("complete", "rag", write).contains("has neither `find` nor `write`"));
    assert!(row("complete", "write_function", write).contains("belongs to the task `write_function`"));
    let find = r#","find":{"description":"","name":"f","candidates":[],"depth":0.5,"size":1,"tokens_before":0,"tokens_of_function":0,"tokens_after":0,"tokenizer":"estimate","comments":"kept"}"#;
    assert!(row("find_function", "find_function", find).contains("`f` is not among the `candidates`"));
}

#[test]
fn a_newer_major_schema_is_refused_with_a_remedy() {
    let line = r#"{"schema":"2.0","case":"c","fingerprint":"f","repetition":0,"metrics":{}}"#;
    let error = parse_line::<Score>(line, 7).unwrap_err();
    assert_eq!(error.line, 7);
    assert_eq!(
        error.message,
        "unsupported schema 2.0: this version of ghostbench reads schema 1.8; install a newer version"
    );
}

#[test]
fn older_prediction_without_spans_round_trips() {
    let line = r#"{"schema":"1.1","case":"c","engine":{"name":"b","kind":"builtin","model":"m","fingerprint":"f"},"repetition":0,"status":"ok","raw":"x","text":"x","finish":"stop","ms":{"gather":0.5,"total":2.0}}"#;
    let prediction: Prediction = parse_line(line, 1).unwrap();
    assert_eq!(prediction.spans, []);
    assert_eq!(to_line(&prediction).trim_end(), line);
}

#[test]
fn a_newer_minor_schema_with_an_unknown_field_is_read() {
    let line = r#"{"schema":"1.9","case":"c","fingerprint":"f","repetition":0,"metrics":{"exact_match":1},"new":true}"#;
    let score: Score = parse_line(line, 1).unwrap();
    assert_eq!(score.metrics[&Metric::ExactMatch], MetricValue::Value(1.0));
    assert!(to_line(&score).contains(r#""schema":"1.9""#));
}

/// Ids of cases that older versions wrote, by their words.
#[test]
fn words_and_ids_of_tasks_are_those_of_older_suites() {
    let row = |words: &str, id: &str| {
        format!(
            concat!(
                r#"{{"schema":"1.4","id":"{id}","hole":"h","task":"complete",{words},"language":"go","path":"p","byte_range":{{"#,
                r#""start":0,"end":1}},"line":0,"character":0,"prefix":"","suffix":"","truth":"x","#,
                r#""origin":{{"kind":"mined","tree_hash":"t","exposure":"none"}}}}"#
            ),
            id = id,
            words = words
        )
    };
    for (words, id) in [
        (r#""scenario":"full_block","variant":"header_end""#, "b417c8fc7d4bc6b195a4c8c6e0a32cba"),
        (r#""scenario":"inner_block","variant":"empty""#, "51e6289fdca21f5f37ed133924cd276c"),
        (r#""scenario":"incomplete_suffix","variant":"file_tail""#, "be2b4eacf12bce70f15d5ffb20a164c2"),
        (r#""scenario":"rag""#, "908db9e92ea5c47c96bfb43117bef566"),
        (r#""scenario":"cross_file","variant":"oracle""#, "b5a98a09f07155601dd5af2986baa24e"),
    ] {
        let line = row(words, id) + "\n";
        let case: Case = parse_line(&line, 1).unwrap();
        assert_eq!(case.compute_id(), id, "{words}");
        assert_eq!(to_line(&case), line);
    }
    let refused = |words: &str| parse_line::<Case>(&row(words, ""), 3).unwrap_err().message;
    assert_eq!(
        refused(r#""scenario":"inner_block","variant":"header_end""#),
        "scenario `inner_block` has no variant `header_end`; its variants are `rest_of_block`, `empty`"
    );
    assert_eq!(
        refused(r#""scenario":"cross_file""#),
        "scenario `cross_file` needs a variant; its variants are `in_file`, `retrieval`, `oracle`"
    );
    assert_eq!(
        refused(r#""scenario":"rag","variant":"empty""#),
        "scenario `rag` has no variants; remove `empty`"
    );
}

#[test]
fn malformed_line_is_reported_with_line_and_column() {
    let good = r#"{"schema":"1.0","case":"c","fingerprint":"f","repetition":0,"metrics":{}}"#;
    let error = parse_lines::<Score>(&format!("{good}\n\nnot json\n{good}\n")).unwrap_err();
    assert_eq!((error.line, error.column), (3, 2));
}

#[test]
fn the_suite_hash_depends_on_the_order() {
    let ids = ["a", "b"].map(|id| {
        let line = format!(
            r#"{{"schema":"1.0","id":"{id}","hole":"h","task":"complete","scenario":"full_block","variant":"block_start","language":"rust","path":"p",
            "byte_range":{{"start":0,"end":1}},"line":0,"character":0,"prefix":"","suffix":"","truth":"x",
            "origin":{{"kind":"mined","tree_hash":"t","exposure":"none"}}}}"#
        );
        parse_line::<Case>(&line.replace('\n', ""), 1).unwrap()
    });
    let [a, b] = ids;
    assert_ne!(suite_hash(&[a.clone(), b.clone()]), suite_hash(&[b, a]));
}

#[test]
fn deeply_nested_rows_are_refused_on_a_small_stack() {
    /// The smallest stack of any of our threads.
    const STACK_BYTES: usize = 512 << 10;
    const DEEP: usize = 100_000;
    let read = || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for value in [open.repeat(DEEP), format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP))] {
                for row in
                    [value.clone(), format!("{{\"context\":{value}}}"), format!("{{\"unknown\":{value}}}")]
                {
                    assert!(cases::parse_line::<Case>(&row, 1).is_err());
                    assert!(cases::parse_line::<Prediction>(&row, 1).is_err());
                    assert!(cases::parse_lines::<Case>(&format!("{row}\n{row}\n")).is_err());
                    assert!(cases::parse_document::<cases::Run>(&row).is_err());
                }
            }
        }
    };
    let running = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read);
    running.expect("a thread can be started").join().expect("it ends well");
}
