//! Results of gates in the terminal, for pull requests and as JUnit's XML.

use expect_test::expect;
use report::terminal::Style;
use scoring::gate::{CaseChange, GateCheck, GateReport, MeasuredValue, PairChanges, ValueUnit};

use crate::fixture::fixture;

fn report() -> GateReport {
    let value = |unit, value| MeasuredValue { measure: "m".to_owned(), unit, value, cases: 60 };
    let check = |rule: &str, engine: Option<&str>, has_passed, values| GateCheck {
        rule: rule.to_owned(),
        engine: engine.map(str::to_owned),
        has_passed,
        values,
        pair: None,
    };
    let verdict = fixture(60).report().summary().sections.remove(0).verdict;
    let non_inferior = GateCheck {
        pair: verdict.pairs.first().cloned(),
        ..check("not 1pt worse than the baseline", Some("qwen"), false, Vec::new())
    };
    let change = CaseChange {
        case: "c".to_owned(),
        path: "src/a|b\u{7}.py".to_owned(),
        line: 41,
        scenario: cases::Scenario::FullBlock,
        language: "python".to_owned(),
        before: 1.0,
        after: 0.0,
    };
    GateReport {
        checks: vec![
            check(
                "m<40%",
                Some("a<b>&\"\u{1b}[0m\u{0}\u{ffff}\nc"),
                true,
                vec![value(ValueUnit::Share, Some(0.45))],
            ),
            check("p95 > 1s", None, false, vec![value(ValueUnit::Milliseconds, Some(f64::INFINITY))]),
            check("cost > 1", Some("b"), false, vec![value(ValueUnit::Cost, None)]),
            non_inferior,
        ],
        changes: vec![PairChanges {
            engine: "a".to_owned(),
            baseline: "b".to_owned(),
            worse: 1,
            better: 0,
            cases: vec![change],
        }],
    }
}

#[test]
fn terminal_lists_every_check_with_its_numbers() {
    let style = Style { color: false, width: 100, unicode: true };
    expect![[r#"
        gates
          passed: a<b>&"[U+001B][0m[U+0000]￿[U+000A]c: m<40%: m is 45.0 % of 60 cases
          FAILED: p95 > 1s: m is a timeout
          FAILED: b: cost > 1: there is nothing to measure for m
          FAILED: qwen: not 1pt worse than the baseline: +12.8 points (-8 to +33), 10 better, 4 worse of
            47 cases; undecided (power 22 %, N/N* 0.24); about 150 more cases

        a - b: 1 worse, 0 better
          100.0 to 0.0 %: src/a|b[U+0007].py:42, full_block
    "#]]
    .assert_eq(&report::gates_table(&report(), style));
    assert_eq!(report::gates_table(&GateReport::default(), style), "");
}

#[test]
fn markdown_begins_with_the_failures() {
    expect![[r###"
        ## Gates: 3 of 4 failed

        - **failed**: p95 \> 1s: m is a timeout
        - **failed**: b: cost \> 1: there is nothing to measure for m
        - **failed**: qwen: not 1pt worse than the baseline: +12.8 points (-8 to +33), 10 better, 4 worse of 47 cases; undecided (power 22 %, N/N\* 0.24); about 150 more cases
        - passed: a\<b\>&"\[U+001B\]\[0m\[U+0000\]￿ c: m\<40%: m is 45.0 % of 60 cases

        <details open><summary>a - b: 1 worse, 0 better</summary>

        | case | scenario | language | before | after |
        |---|---|---|--:|--:|
        | src/a\|b\[U+0007\].py:42 | full\_block | python | 100.0 | 0.0 |

        </details>

    "###]].assert_eq(&report::gates_markdown(&report()));
}

#[test]
fn junit_has_no_character_that_xml_forbids() {
    let xml = report::gates_junit(&report(), "run <1>");
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites tests="4" failures="3" errors="0">
        <testsuite name="run &lt;1&gt;" tests="4" failures="3" errors="0">
        <testcase classname="a&lt;b&gt;&amp;&quot;[U+001B][0m[U+0000]�[U+000A]c" name="m&lt;40%"/>
        <testcase classname="run" name="p95 &gt; 1s"><failure message="p95 &gt; 1s: m is a timeout"/></testcase>
        <testcase classname="b" name="cost &gt; 1"><failure message="b: cost &gt; 1: there is nothing to measure for m"/></testcase>
        <testcase classname="qwen" name="not 1pt worse than the baseline"><failure message="qwen: not 1pt worse than the baseline: +12.8 points (-8 to +33), 10 better, 4 worse of 47 cases; undecided (power 22 %, N/N* 0.24); about 150 more cases"/></testcase>
        </testsuite>
        </testsuites>
    "#]].assert_eq(&xml);
    let is_allowed =
        |c: char| matches!(c, '\n' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(is_allowed));
}
