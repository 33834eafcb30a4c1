//! Comparisons of runs in the terminal, in Markdown and as a page.

use expect_test::expect;
use report::terminal::Style;
use scoring::run_comparison::{ComparisonError, ComparisonSettings, NamedRun};
use scoring::{RunComparison, VerdictSettings};

use crate::fixture::{Fixture, fixture};

const STYLE: Style = Style { color: false, width: 100, unicode: true };

fn compare(runs: &[(&str, &Fixture)], baseline: Option<&str>) -> Result<RunComparison, ComparisonError> {
    let runs: Vec<NamedRun<'_>> =
        runs.iter().map(|&(name, fixture)| NamedRun { name, rows: fixture.report() }).collect();
    let settings =
        ComparisonSettings { verdict: VerdictSettings::new(1), baseline: baseline.map(str::to_owned) };
    RunComparison::new(&runs, &settings)
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
    "#]]
    .assert_eq(&report::comparison_table(&comparison, STYLE));
    let markdown = report::comparison_markdown(&comparison);
    assert!(markdown.contains("- before: 62 cases, 10 only here"), "{markdown}");
    assert!(markdown.contains("| qwen @ after - qwen @ before |"), "{markdown}");
}

#[test]
fn page_ranks_the_engines_of_all_runs_without_a_script_or_links_to_missing_cases() {
    let (one, other) = (of_engine("builtin", 60), of_engine("qwen", 60));
    let hostile = "</style><script>alert(1)</script>";
    let runs: Vec<NamedRun<'_>> = [(hostile, &one), ("other", &other)]
        .map(|(name, fixture)| NamedRun { name, rows: fixture.report() })
        .to_vec();
    let settings = ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None };
    let comparison = RunComparison::new(&runs, &settings).expect("the same cases");
    let page = report::comparison_html(&comparison, &runs);
    assert_eq!(page.matches(r#"<tr data-engine="0"><th scope="row">"#).count(), 2, "ranking and trade-offs");
    assert_eq!(page.matches(r#"<tr data-engine="1"><th scope="row">"#).count(), 2);
    assert!(page.contains("62 cases, all shared"), "{page}");
    for missing in ["<script", "href=\"#origin", "href=\"none"] {
        assert!(!page.contains(missing), "{missing}");
    }
    let (policy, _) = page.split_once("</head>").expect("a head");
    assert!(policy.contains("default-src 'none'; style-src 'nonce-") && !policy.contains("script-src"));
}
