//! Comparisons of runs in the terminal, in Markdown and as a page.

use cases::Status;
use expect_test::expect;
use report::terminal::Style;
use scoring::run_comparison::{ComparisonError, ComparisonSettings, NamedRun, compared_runs};
use scoring::{RunComparison, VerdictSettings};

use crate::fixture::{Fixture, fixture, many_engines};

const STYLE: Style = Style { color: false, width: 100, unicode: true };

fn compare(runs: &[(&str, &Fixture)], baseline: Option<&str>) -> Result<RunComparison, ComparisonError> {
    let runs: Vec<NamedRun<'_>> =
        runs.iter().map(|&(name, fixture)| NamedRun { name, rows: fixture.report() }).collect();
    let settings =
        ComparisonSettings { verdict: VerdictSettings::new(1), baseline: baseline.map(str::to_owned) };
    RunComparison::new(&runs, &compared_runs(&runs), &settings)
}

/// Returns a run of one engine only.
fn of_engine(name: &str, cases: usize) -> Fixture {
    let mut fixture = fixture(cases);
    fixture.run.engines.retain(|config| config.engine.name == name);
    fixture.predictions.retain(|row| row.engine.name == name);
    fixture.scores.retain(|row| row.engine == name);
    fixture
}

#[test]
fn engines_of_different_runs_are_compared_as_those_of_one_run() {
    let (one, other, both) = (of_engine("builtin", 60), of_engine("qwen", 60), fixture(60));
    let apart = compare(&[("one", &one), ("other", &other)], None).expect("the same cases");
    let together = both.report().summary();
    assert_eq!(apart.sections[0].verdict.pairs, together.sections[0].verdict.pairs);
    assert_eq!(apart.engines.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["builtin", "qwen"]);
}

#[test]
fn runs_without_a_shared_case_are_refused_by_name() {
    let (one, mut other) = (fixture(20), fixture(20));
    for case in &mut other.cases {
        case.id.insert(0, 'x');
    }
    let error = compare(&[("mon", &one), ("tue", &other)], None).expect_err("no shared case").to_string();
    assert!(error.starts_with("mon shares no case with tue; compare runs of the same suite"), "{error}");
    let error = compare(&[("mon", &one), ("tue", &one)], Some("builtin")).expect_err("two of them");
    expect!["there is no single engine `builtin` to compare the others with; the engines are builtin @ mon, qwen @ mon, builtin @ tue, qwen @ tue"]
        .assert_eq(&error.to_string());
}

#[test]
fn renders_the_shared_cases_and_every_pair_with_the_baseline() {
    let (before, after) = (of_engine("qwen", 60), of_engine("qwen", 50));
    let comparison = compare(&[("before", &before), ("after", &after)], Some("qwen @ before"));
    let comparison = comparison.expect("shared cases");
    expect![[r#"
        comparison · 52 cases shared by all runs

          before: 62 cases, 10 only here
          after: 52 cases, all shared

        mined cases, 58 cases

        verdict: exact match
          qwen @ before = qwen @ after
        >: each engine before it is proven to be better than each one after it (5 % chance of error). =: not
        proven.
          rank  engine          exact  in 300 ms  in 1 s        ms  failed
          1=    qwen @ before*   35.9       15.4    30.8  541/1594    1/58
          1=    qwen @ after*    35.9       15.4    30.8  541/1501    1/50
        On the 39 cases from 15 files that all of them answered. In 300 ms, in 1 s: exact match of the
        answers that were complete by then. *: no other engine is at least as good in quality and median
        latency, and better in one of them.

        pairs, the second engine subtracted
          qwen @ after - qwen @ before: +0.0 points (-24 to +24), p = 1.000; 0 better, 0 worse, 39 equal
            of 39; undecided

        live cases, suggestion shown, 2 cases

        verdict: exact match
          rank  engine         exact  in 300 ms  in 1 s       ms  failed
          1     qwen @ before    1/1        0/1     1/1  318/490     0/2
        In 300 ms, in 1 s: exact match of the answers that were complete by then.

        live cases, 2 cases

        verdict: exact match
          qwen @ before = qwen @ after
        >: each engine before it is proven to be better than each one after it (5 % chance of error). =: not
        proven.
          rank  engine          exact  in 300 ms  in 1 s       ms  failed
          1=    qwen @ before*    0/1        0/1     0/1  90/1381     0/2
          1=    qwen @ after*     0/1        0/1     0/1    90/90     0/1
        On all cases of each engine: they share too few. In 300 ms, in 1 s: exact match of the answers that
        were complete by then. *: no other engine is at least as good in quality and median latency, and
        better in one of them.

        pairs, the second engine subtracted
          qwen @ after - qwen @ before: 0 better, 0 worse, 1 equal of 1; too few cases

        Failed requests
          qwen @ before: 1 of 59: connection refused (first at src/gateway/client_7.ts:156)
          qwen @ after: 1 of 49: connection refused (first at src/gateway/client_7.ts:156)
    "#]]
    .assert_eq(&report::comparison_table(&comparison, STYLE));
    let markdown = report::comparison_markdown(&comparison);
    assert!(markdown.contains("- before: 62 cases, 10 only here"), "{markdown}");
    assert!(markdown.contains("| qwen @ after - qwen @ before |"), "{markdown}");
}

/// Twenty engines of each run, of which five are without near-copies: thirty ranks, and the neighbours' differences in place of all 435
/// pairs.
#[test]
fn comparison_of_twenty_engines_fits_the_terminal_and_lists_neighbours_only() {
    let (one, other) = (many_engines(120, 20), many_engines(110, 20));
    let comparison = compare(&[("monday", &one), ("tuesday", &other)], None).expect("shared cases");
    assert_eq!((comparison.engines.len(), comparison.shared_cases), (40, 112));
    let verdict = &comparison.sections[0].verdict;
    assert_eq!((verdict.standings.len(), verdict.pairs.len(), verdict.copies.len()), (30, 435, 10));
    let text = report::comparison_table(&comparison, STYLE);
    let widest = text.lines().max_by_key(|line| line.chars().count()).expect("lines");
    assert!(widest.chars().count() <= STYLE.width, "{widest}");
    let (mined, _) = text.split_once("live cases").expect("the next section");
    let (ranking, pairs) = mined.split_once("pairs, the second engine subtracted").expect("pairs");
    // Names are cut here, and a number before each tells them apart.
    let ranks = ranking.lines().filter(|line| line.trim_start().starts_with("1=")).count();
    assert_eq!(ranks, 30, "{ranking}");
    let lines = pairs.lines().filter(|line| line.contains(" points (")).count();
    // 29 pairs of neighbours and ten of copies.
    assert_eq!(lines, 39, "{pairs}");
}

/// Returns the page of runs, and their comparison.
fn page(runs: &[(&str, &Fixture)]) -> String {
    let runs: Vec<NamedRun<'_>> =
        runs.iter().map(|&(name, fixture)| NamedRun { name, rows: fixture.report() }).collect();
    let settings = ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None };
    let compared = compared_runs(&runs);
    let comparison = RunComparison::new(&runs, &compared, &settings).expect("the same cases");
    report::comparison_html(&comparison, &runs, &compared)
}

#[test]
fn page_ranks_the_engines_of_all_runs_and_leads_to_the_cases() {
    let (one, other) = (of_engine("builtin", 60), of_engine("qwen", 60));
    let page = page(&[("</style><script>alert(1)</script>", &one), ("other", &other)]);
    assert_eq!(
        page.matches(r#"<tr data-engine="0"><th scope="row">"#).count(),
        3,
        "ranking, trade-offs, failures"
    );
    assert_eq!(page.matches(r#"<tr data-engine="1"><th scope="row">"#).count(), 3);
    assert!(page.contains("62 cases, all shared"), "{page}");
    assert!(page.contains("href=\"#origin=mined&amp;engine=1&amp;other=0&amp;pair=better&amp;sort=gap\""));
    assert!(page.contains("id=\"arms\"") && page.contains("class=\"board sortable\""));
    assert_eq!(page.matches("<script").count(), 3, "the index, one block, and the page's own");
    let (policy, _) = page.split_once("</head>").expect("a head");
    assert!(
        policy.contains("default-src 'none'; style-src 'nonce-") && policy.contains("script-src 'nonce-")
    );
}

#[test]
fn page_embeds_each_case_of_the_runs_once_with_the_answers_of_all_engines() {
    let (one, other) = (of_engine("qwen", 60), of_engine("qwen", 50));
    let cases = crate::page::embedded_cases(&page(&[("before", &one), ("after", &other)]));
    assert_eq!(cases.len(), 62);
    let engines_of = |case: &serde_json::Value| -> Vec<u64> {
        let answers = case["answers"].as_array().expect("a list");
        answers.iter().filter_map(|answer| answer["engine"].as_u64()).collect()
    };
    assert_eq!(cases.iter().filter(|case| engines_of(case) == [0, 1]).count(), 52);
    assert_eq!(cases.iter().filter(|case| engines_of(case) == [0]).count(), 10);
}

#[test]
fn time_limits_are_told_where_they_differ() {
    let (mut one, mut other) = (of_engine("builtin", 60), of_engine("qwen", 60));
    for (fixture, limit) in [(&mut one, "30000"), (&mut other, "5000")] {
        fixture.run.engines[0].settings.insert("deadline_ms".to_owned(), limit.to_owned());
    }
    let reported =
        "requests were given up after 5 s (qwen) or 30 s (builtin), whatever the editor's deadline_ms is";
    let comparison = compare(&[("a", &one), ("b", &other)], None).expect("the same cases");
    let text = report::comparison_table(&comparison, Style { width: 1_000, ..STYLE });
    assert!(text.contains(reported), "{text}");
    let page = page(&[("a", &one), ("b", &other)]);
    assert!(page.contains(&reported.replace('\'', "&#x27;")), "{page}");
}

#[test]
fn failed_requests_are_listed_by_reason_in_every_format() {
    let (one, mut other) = (of_engine("qwen", 60), of_engine("qwen", 60));
    other.predictions[3].status = Status::Error;
    other.predictions[3].reason = Some("engine `qwen`: busy | again".to_owned());
    let comparison = compare(&[("before", &one), ("after", &other)], None).expect("the same cases");
    let text = report::comparison_table(&comparison, STYLE);
    assert!(text.contains("qwen @ after: 1 of 59: busy | again (first at src/"), "{text}");
    let markdown = report::comparison_markdown(&comparison);
    assert!(markdown.contains("| qwen @ after | 1 | 59 | busy \\| again | src/"), "{markdown}");
    let page = page(&[("before", &one), ("after", &other)]);
    assert!(page.contains("<a href=\"#engine=1&amp;outcome=failed\">1</a>"), "{page}");
}
