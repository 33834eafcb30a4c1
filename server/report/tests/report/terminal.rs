//! The terminal's tables.

use std::collections::BTreeMap;

use cases::{BlockKind, Exposure, Metric, OriginKind, Scenario, SchemaVersion};
use expect_test::{Expect, expect};
use report::terminal::{Style, table};
use scoring::run_summary::{
    CaseGroup, EngineDifference, EngineLine, ReportSection, ScenarioGroup, SelectedCases, Selection,
};
use scoring::verdict::{
    Claim, FrontProperties, PairTest, PairVerdict, Quality, SampleSize, Standing, TestMethod,
};
use scoring::{Interval, IntervalMethod, Latency, MetricCell, PairedDifference, RunSummary, Verdict};

use crate::fixture::{cross_file, fixture};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// Returns a summary of two engines and two scenarios with fixed numbers.
fn small() -> RunSummary {
    let fixture = fixture(0);
    let group = |scenario: Option<ScenarioGroup>, block_kind: Option<BlockKind>, lines: Vec<EngineLine>| {
        CaseGroup { scenario, block_kind, language: None, lines }
    };
    let block = vec![results(0, 40, 0.25), results(1, 40, 0.5)];
    let empty = vec![restraint(0, 12, 0.75), restraint(1, 12, 0.5)];
    let few = vec![results(0, 4, 0.25), results(1, 4, 0.5)];
    let section = ReportSection {
        origin: OriginKind::Mined,
        exposure: Exposure::None,
        verdict: verdict(),
        overall: group(None, None, block.clone()),
        selection: Selection {
            cases: 52,
            scenarios: vec![
                SelectedCases { scenario: Scenario::FullBlock, cases: 40, judged: 0 },
                SelectedCases { scenario: Scenario::InnerBlock, cases: 12, judged: 0 },
            ],
            left_out: Vec::new(),
        },
        controls: 0,
        other_tree: 0,
        scenarios: vec![
            group(Some(ScenarioGroup::FullBlock), None, block.clone()),
            group(Some(ScenarioGroup::FullBlock), Some(BlockKind::Function), few),
            group(Some(ScenarioGroup::FullBlock), Some(BlockKind::Statement), block),
            group(Some(ScenarioGroup::Empty), None, empty.clone()),
            group(Some(ScenarioGroup::Empty), Some(BlockKind::For), empty),
        ],
        block_kinds: Vec::new(),
        languages: Vec::new(),
        contexts: Vec::new(),
        cutoffs: Vec::new(),
        differences: vec![EngineDifference {
            metric: Metric::ExactMatch,
            baseline: 0,
            engine: 1,
            cases: 40,
            difference: PairedDifference {
                better: 12,
                worse: 2,
                other_tree: 0,
                value: Some(0.25),
                interval: Some(Interval {
                    low: -0.02,
                    high: 0.52,
                    method: IntervalMethod::ClusterBootstrap { resamples: 2_000 },
                }),
            },
        }],
    };
    RunSummary {
        schema: SchemaVersion::CURRENT,
        engines: fixture.run.engines.iter().map(|config| config.engine.clone()).collect(),
        run: fixture.run,
        sections: vec![section],
        costs: Vec::new(),
        failures: Vec::new(),
        tests: None,
        notes: fixture.notes,
    }
}

/// Returns a verdict on two engines that are not told apart.
fn verdict() -> Verdict {
    let quality = |deadline, value: f64| Quality {
        deadline,
        cases: 40,
        num: value * 40.0,
        den: 40.0,
        value: Some(value),
    };
    let standing = |engine: usize, value: f64| Standing {
        engine,
        quality: quality(None, value),
        exact_within: vec![
            quality(Some(300.0), value / 2.0),
            quality(Some(1_000.0), value),
            quality(None, value),
        ],
        latency: line(engine, 40, &[]).latency,
        cost_per_thousand: (engine == 1).then_some(0.25),
        answers: 40,
        failed: engine,
        time_limit: None,
        is_on_front: true,
    };
    let pair = PairVerdict {
        engine: 1,
        baseline: 0,
        cases: 40,
        files: 20,
        ties: 26,
        difference: PairedDifference {
            better: 12,
            worse: 2,
            other_tree: 0,
            value: Some(0.25),
            interval: Some(Interval {
                low: -0.02,
                high: 0.52,
                method: IntervalMethod::Student { degrees: 19.0 },
            }),
        },
        claim: Claim::Undecided,
        test: Some(PairTest {
            method: TestMethod::SignFlip { resamples: None },
            p: 0.0617,
            mid_p: None,
            corrected_p: 0.0617,
            pairs: 1,
        }),
        sample_size: Some(SampleSize {
            detectable: 0.37,
            power: 0.46,
            needed: Some(91),
            resolution: Some(0.44),
            more_cases: Some(51),
        }),
        files_needed: 6,
        margin: None,
    };
    Verdict {
        metric: Metric::ExactMatch,
        deadline: None,
        baseline: None,
        cases: 40,
        files: 20,
        without_code: 4,
        is_on_shared_cases: true,
        standings: vec![standing(1, 0.5), standing(0, 0.25)],
        groups: vec![vec![1, 0]],
        unranked: Vec::new(),
        pairs: vec![pair],
        copies: Vec::new(),
        front: FrontProperties { latency: true, cost: false },
    }
}

fn cell(cases: usize, value: f64) -> MetricCell {
    let has_enough = cases >= scoring::metric_table::MIN_CASES;
    MetricCell {
        cases,
        clusters: cases,
        num: value * cases as f64,
        den: cases as f64,
        value: has_enough.then_some(value),
        interval: has_enough.then_some(Interval {
            low: value - 0.1,
            high: value + 0.1,
            method: IntervalMethod::ClopperPearson { effective_cases: 1.0 },
        }),
    }
}

fn line(engine: usize, cases: usize, metrics: &[(Metric, MetricCell)]) -> EngineLine {
    let metrics: BTreeMap<_, _> = metrics.iter().copied().collect();
    let latency = Latency {
        count: cases,
        timeouts: 1,
        p50: 8.25 + engine as f64 * 400.0,
        p95: 12_345.0,
        p99: f64::INFINITY,
    };
    EngineLine {
        engine,
        cases,
        files: cases / 2,
        is_selected_against: false,
        metrics,
        latency: Some(latency),
    }
}

fn results(engine: usize, cases: usize, value: f64) -> EngineLine {
    let share = cell(cases, value);
    let status = |count: f64| MetricCell { num: count, ..share };
    let metrics = [
        (Metric::ExactMatch, share),
        (Metric::TokenExact, share),
        (Metric::EditSimilarity, cell(cases, value + 0.2)),
        (Metric::Silent, status(2.0)),
        (Metric::Gated, status(1.0)),
        (Metric::Failed, status(0.0)),
    ];
    line(engine, cases, &metrics)
}

fn restraint(engine: usize, cases: usize, value: f64) -> EngineLine {
    line(
        engine,
        cases,
        &[
            (Metric::Restraint, cell(cases, value)),
            (Metric::Silent, MetricCell { num: 9.0, ..cell(cases, value) }),
        ],
    )
}

#[track_caller]
fn check(style: Style, expected: Expect) {
    expected.assert_eq(&table(&small(), &[], style, &["ghostbench report RUN".to_owned()]));
}

#[test]
fn renders_a_run_at_80_columns() {
    check(
        PLAIN,
        expect![[r#"
            mined cases · 40 cases from 20 files

            verdict: exact match
              qwen = builtin
            >: each engine before it is proven to be better than each one after it (5 %
            chance of error). =: not proven.
              rank  engine    exact  in 300 ms  in 1 s         ms  per 1,000  failed
              1=    qwen*      50.0       25.0    50.0  408/12.3s     0.2500    1/40
              1=    builtin*   25.0       12.5    25.0  8.2/12.3s          –    0/40
            On the 40 cases from 20 files that all of them answered. In 4 of them the right
            answer is nothing: silent engines are right there. In 300 ms, in 1 s: exact
            match of the answers that were complete by then. *: no other engine is at least
            as good in quality and median latency, and better in one of them.

            pairs, the second engine subtracted
              qwen - builtin: +25.0 points (-2 to +52), p = 0.062; 12 better, 2 worse, 26
                equal of 40; undecided (power 46 %, N/N* 0.44); about 51 more cases

            All 52 cases.

            full_block
              kind       engine    n  exact  95 %   tokens   edit  95 %   quiet         ms
              all        builtin  40   25.0  15–35    25.0   45.0  35–55  2+1+0  8.2/12.3s
                         qwen     40   50.0  40–60    50.0   70.0  60–80  2+1+0  408/12.3s
              function   builtin   4    1/4            1/4  1.8/4         2+1+0  8.2/12.3s
                         qwen      4    2/4            2/4  2.8/4         2+1+0  408/12.3s
              statement  builtin  40   25.0  15–35    25.0   45.0  35–55  2+1+0  8.2/12.3s
                         qwen     40   50.0  40–60    50.0   70.0  60–80  2+1+0  408/12.3s

            inner_block/empty
              kind  engine    n  restraint  95 %   silent  gated  failed         ms
              for   builtin  12       75.0  65–85       9      0       0  8.2/12.3s
                    qwen     12       50.0  40–60       9      0       0  408/12.3s

            In totals: 52 cases: full_block 40, inner_block 12.

            overall
              engine    n  exact  95 %   tokens  edit  95 %   restraint  quiet         ms
              builtin  40   25.0  15–35    25.0  45.0  35–55          –  2+1+0  8.2/12.3s
              qwen     40   50.0  40–60    50.0  70.0  60–80          –  2+1+0  408/12.3s

            Percent, then the 95 % interval over files, because cases of one file are alike:
            Wilson's or Hall's, exact if few files are informative, Student's or Tango's for
            differences. Cells under 10 cases show counts only (sum/cases). quiet: answers
            silent+gated+failed. ms: median/95th percentile, a timeout counting as longest.

            Notes
              Cases recorded since then, not in these numbers: 3.

            Next
              ghostbench report RUN
        "#]],
    );
}

#[test]
fn renders_a_run_at_120_columns_in_ascii() {
    check(
        Style { width: 120, unicode: false, ..PLAIN },
        expect![[r#"
            mined cases - 40 cases from 20 files

            verdict: exact match
              qwen = builtin
            >: each engine before it is proven to be better than each one after it (5 % chance of error). =: not proven.
              rank  engine    exact  in 300 ms  in 1 s         ms  per 1,000  failed
              1=    qwen*      50.0       25.0    50.0  408/12.3s     0.2500    1/40
              1=    builtin*   25.0       12.5    25.0  8.2/12.3s          -    0/40
            On the 40 cases from 20 files that all of them answered. In 4 of them the right answer is nothing: silent engines are
            right there. In 300 ms, in 1 s: exact match of the answers that were complete by then. *: no other engine is at least as
            good in quality and median latency, and better in one of them.

            pairs, the second engine subtracted
              qwen - builtin: +25.0 points (-2 to +52), p = 0.062; 12 better, 2 worse, 26 equal of 40; undecided (power 46 %, N/N*
                0.44); about 51 more cases

            All 52 cases.

            full_block
              kind       engine    n  exact  95 %   tokens  95 %    edit  95 %   silent  gated  failed         ms
              all        builtin  40   25.0  15-35    25.0  15-35   45.0  35-55       2      1       0  8.2/12.3s
                         qwen     40   50.0  40-60    50.0  40-60   70.0  60-80       2      1       0  408/12.3s
              function   builtin   4    1/4            1/4         1.8/4              2      1       0  8.2/12.3s
                         qwen      4    2/4            2/4         2.8/4              2      1       0  408/12.3s
              statement  builtin  40   25.0  15-35    25.0  15-35   45.0  35-55       2      1       0  8.2/12.3s
                         qwen     40   50.0  40-60    50.0  40-60   70.0  60-80       2      1       0  408/12.3s

            inner_block/empty
              kind  engine    n  restraint  95 %   silent  gated  failed         ms
              for   builtin  12       75.0  65-85       9      0       0  8.2/12.3s
                    qwen     12       50.0  40-60       9      0       0  408/12.3s

            In totals: 52 cases: full_block 40, inner_block 12.

            overall
              engine    n  exact  95 %   tokens  95 %   edit  95 %   restraint  95 %  quiet         ms
              builtin  40   25.0  15-35    25.0  15-35  45.0  35-55          -        2+1+0  8.2/12.3s
              qwen     40   50.0  40-60    50.0  40-60  70.0  60-80          -        2+1+0  408/12.3s

            Percent, then the 95 % interval over files, because cases of one file are alike: Wilson's or Hall's, exact if few files
            are informative, Student's or Tango's for differences. Cells under 10 cases show counts only (sum/cases). quiet: answers
            silent+gated+failed. ms: median/95th percentile, a timeout counting as longest.

            Notes
              Cases recorded since then, not in these numbers: 3.

            Next
              ghostbench report RUN
        "#]],
    );
}

#[test]
fn renders_essential_columns_at_40_columns() {
    check(
        Style { width: 40, ..PLAIN },
        expect![[r#"
            mined cases · 40 cases from 20 files

            verdict: exact match
              qwen = builtin
            >: each engine before it is proven to be
            better than each one after it (5 %
            chance of error). =: not proven.
              rank  engine    exact         ms  failed
              1=    qwen*      50.0  408/12.3s    1/40
              1=    builtin*   25.0  8.2/12.3s    0/40
            On the 40 cases from 20 files that all
            of them answered. In 4 of them the right
            answer is nothing: silent engines are
            right there. In 300 ms, in 1 s: exact
            match of the answers that were complete
            by then. *: no other engine is at least
            as good in quality and median latency,
            and better in one of them.

            pairs, the second engine subtracted
              qwen - builtin: +25.0 points (-2 to
                +52), p = 0.062; 12 better, 2 worse,
                26 equal of 40; undecided (power 46
                %, N/N* 0.44); about 51 more cases

            All 52 cases.

            full_block
              kind       engine    n  exact   edit
              all        builtin  40   25.0   45.0
                         qwen     40   50.0   70.0
              function   builtin   4    1/4  1.8/4
                         qwen      4    2/4  2.8/4
              statement  builtin  40   25.0   45.0
                         qwen     40   50.0   70.0

            inner_block/empty
              kind  engine    n  restraint  quiet
              for   builtin  12       75.0  9+0+0
                    qwen     12       50.0  9+0+0

            In totals: 52 cases: full_block 40,
            inner_block 12.

            overall
              engine    n  exact  edit
              builtin  40   25.0  45.0
              qwen     40   50.0  70.0

            Percent, then the 95 % interval over
            files, because cases of one file are
            alike: Wilson's or Hall's, exact if few
            files are informative, Student's or
            Tango's for differences. Cells under 10
            cases show counts only (sum/cases).
            quiet: answers silent+gated+failed. ms:
            median/95th percentile, a timeout
            counting as longest.

            Notes
              Cases recorded since then, not in
              these numbers: 3.

            Next
              ghostbench report RUN
        "#]],
    );
}

#[test]
fn engine_column_is_omitted_for_a_single_engine() {
    let mut fixture = fixture(20);
    fixture.cases.truncate(20);
    fixture.run.engines.truncate(1);
    fixture.predictions.retain(|prediction| prediction.engine.name == "builtin");
    let text = table(&fixture.report().summary(), &[], PLAIN, &[]);
    let headers: Vec<&str> =
        text.lines().filter(|line| line.contains(" n ") && line.contains("ms")).collect();
    let (last, others) = headers.split_last().expect("tables");
    assert!(last.contains("engine"), "the overall table names the engine: {last}");
    assert!(others.iter().all(|header| !header.contains("engine")), "{text}");
    assert!(!text.contains("on the same cases"));
}

#[test]
fn lines_fit_the_terminal_width() {
    for summary in [fixture(60).report().summary(), cross_file(60).report().summary()] {
        for width in [80, 100, 120] {
            for line in table(&summary, &[], Style { width, ..PLAIN }, &[]).lines() {
                assert!(line.chars().count() <= width, "{} > {width}: {line}", line.chars().count());
            }
        }
    }
}

#[test]
fn ascii_style_emits_only_ascii() {
    let text = table(&fixture(60).report().summary(), &[], Style { unicode: false, ..PLAIN }, &[]);
    assert!(text.is_ascii(), "{:?}", text.chars().find(|character| !character.is_ascii()));
}

#[test]
fn colors_are_optional_and_do_not_change_the_text() {
    let summary = fixture(60).report().summary();
    let plain = table(&summary, &[], PLAIN, &[]);
    let mut painted = table(&summary, &[], Style { color: true, ..PLAIN }, &[]);
    assert!(!plain.contains('\u{1b}'));
    assert!(painted.contains('\u{1b}'));
    for code in ["0", "1", "2", "32", "33", "35", "36"] {
        painted = painted.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(plain, painted);
}

#[test]
fn origins_and_exposures_have_separate_tables() {
    let text = table(&fixture(60).report().summary(), &[], PLAIN, &[]);
    let headings: Vec<&str> =
        text.lines().filter(|line| line.contains(" cases") && line.contains(" · ")).collect();
    expect![[r#"
        mined cases · 60 cases from 15 files
        live cases · 1 case from 1 file
        live cases, suggestion shown · 1 case from 1 file"#]]
    .assert_eq(&headings.join("\n"));
}

#[test]
fn empty_run_says_no_answers_yet() {
    let mut fixture = fixture(0);
    fixture.cases.clear();
    fixture.predictions.clear();
    fixture.notes.clear();
    expect![[r#"
        No answers yet.

        Next
          ghostbench replay SUITE --resume
    "#]]
    .assert_eq(&table(
        &fixture.report().summary(),
        &[],
        PLAIN,
        &["ghostbench replay SUITE --resume".to_owned()],
    ));
}

#[test]
fn verdict_names_the_proven_order_and_the_deadline() {
    let mut summary = small();
    let verdict = &mut summary.sections[0].verdict;
    verdict.groups = vec![vec![1], vec![0]];
    verdict.pairs[0].claim = Claim::Better;
    verdict.deadline = Some(300.0);
    summary.engines[0].name = "a\nb|c>".to_owned();
    let text = table(&summary, &[], PLAIN, &[]);
    assert!(text.contains("verdict: exact match within 300 ms\n  qwen > a[U+000A]b|c>\n"), "{text}");
    assert!(text.contains("  1     qwen*") && text.contains("  2     a[U+000A]b|c>*"), "{text}");
    assert!(!text.contains("undecided"), "{text}");
    let markdown = report::markdown(&summary);
    assert!(markdown.contains("within 300 ms: qwen > a b\\|c\\>**"), "{markdown}");
    assert!(markdown.contains("| better |\n"), "{markdown}");
}

#[test]
fn truncated_engine_names_stay_distinct() {
    let mut summary = small();
    for (engine, name) in summary.engines.iter_mut().zip(["qwen2.5-coder-base-1.5b", "qwen2.5-coder-base-7b"])
    {
        engine.name = name.to_owned();
    }
    let text = table(&summary, &[], PLAIN, &[]);
    assert!(text.contains("1 qwen2.5-coder-b…") && text.contains("2 qwen2.5-coder-b…"), "{text}");
}

#[test]
fn no_copies_variant_appears_only_in_totals() {
    let mut fixture = fixture(60);
    let [first, second] = &mut fixture.run.engines[..] else { panic!("the fixture has two engines") };
    second.engine.name = format!("{} no-copies", first.engine.name);
    for row in fixture.predictions.iter_mut().filter(|row| row.engine.name == "qwen") {
        row.engine.name.clone_from(&second.engine.name);
    }
    for (config, hides) in [(first, "false"), (second, "true")] {
        config.settings.insert("hide_near_duplicates".to_owned(), hides.to_owned());
    }
    let name = fixture.run.engines[1].engine.name.clone();
    let text = table(&fixture.report().summary(), &[], PLAIN, &[]);
    let mined = text.split("live cases").next().unwrap();
    let (verdict, rest) = mined.split_once("\n\nAll ").unwrap();
    assert!(verdict.contains("effect of copies") && !verdict.contains('>'), "{verdict}");
    let (details, totals) = rest.split_once("\noverall\n").unwrap();
    assert!(!details.contains(&name) && !details.contains("engine"), "{details}");
    assert!(totals.contains(&name), "{totals}");
}
