//! The scenario `cross_file`: comparison of kinds of context, separate numbers of the judge, and the effect of context.

use std::collections::BTreeMap;

use cases::{CrossFileContext, Task};
use expect_test::expect;
use report::terminal::{Style, table};
use scoring::run_summary::{RunNote, ScenarioGroup};

use crate::fixture::{Fixture, cross_file, fixture};

#[test]
fn cross_file_table_lists_context_kinds_and_unresolved_names() {
    let style = Style { color: false, width: 100, unicode: true };
    let text = table(&cross_file(60).report().summary(), &[], style, &[]);
    let (tables, _) = text.split_once("Notes").unwrap();
    let (tables, _) = tables.split_once("Percent,").unwrap();
    expect![[r#"
        mined cases · 60 cases from 15 files (and 120 in no total)

        verdict: exact match
        Not ranked: builtin (cases that it solves from the file alone were left out).
          rank  engine  exact  in 300 ms  in 1 s        ms  failed
          1     qwen     83.3       28.3    65.0  490/1563    0/60
        In 300 ms, in 1 s: exact match of the answers that were complete by then.

        All 180 cases, 120 of which are in no total.

        cross_file
          kind                   engine    n  exact  95 %    tokens  95 %     edit  95 %    quiet        ms
          in_file*               builtin  45    0.0  0–22       0.0  0–22     65.8  48–81   0+0+0     15/27
                                 qwen     45   33.3  20–50     33.3  20–50    78.5  61–91   0+0+0  507/1594
          retrieval              builtin  45   33.3  20–50     33.3  20–50    78.5  61–91   0+0+0     15/27
                                 qwen     45   77.8  49–93     77.8  49–93    91.0  72–99   0+0+0  507/1594
          oracle                 builtin  45   33.3  20–50     33.3  20–50    78.5  61–91   0+0+0     15/27
                                 qwen     45   77.8  49–93     77.8  49–93    91.0  72–99   0+0+0  507/1594
          in_file, unresolved*   builtin  15    0.0  0–22       0.0  0–22     70.5  42–91   0+0+0     16/28
                                 qwen     15  100.0  78–100   100.0  78–100  100.0  78–100  0+0+0  458/1563
          retrieval, unresolved  builtin  15  100.0  78–100   100.0  78–100  100.0  78–100  0+0+0     16/28
                                 qwen     15  100.0  78–100   100.0  78–100  100.0  78–100  0+0+0  458/1563
          oracle, unresolved     builtin  15  100.0  78–100   100.0  78–100  100.0  78–100  0+0+0     16/28
                                 qwen     15  100.0  78–100   100.0  78–100  100.0  78–100  0+0+0  458/1563

        by language
          language               engine    n  exact  95 %    tokens  95 %     edit  95 %    quiet        ms
          python                 builtin  20   50.0  23–77     50.0  23–77    79.8  46–97   0+0+0     16/26
                                 qwen     20   50.0  23–77     50.0  23–77    79.8  46–97   0+0+0  541/1563
          rust                   builtin  20   50.0  23–77     50.0  23–77    80.1  47–97   0+0+0     14/25
                                 qwen     20  100.0  47–100   100.0  47–100  100.0  47–100  0+0+0  398/1323
          typescript             builtin  20   50.0  23–77     50.0  23–77    91.8  60–100  0+0+0     14/28
                                 qwen     20  100.0  47–100   100.0  47–100  100.0  47–100  0+0+0  594/1658
        In totals: 60 cases: cross_file 60 (60 selected by a judge). In no total: cross_file 120 (the same
        holes with other context).

        In totals: 60 cases: cross_file 60 (60 selected by a judge). In no total: cross_file 120 (the same
        holes with other context).

        overall
          engine    n  exact  95 %   tokens  95 %   edit  95 %    restraint  95 %  quiet        ms
          builtin  60   50.0  36–64    50.0  36–64  83.9  69–94           –        0+0+0     15/27
          qwen     60   83.3  60–95    83.3  60–95  93.3  77–100          –        0+0+0  490/1563

        cross_file: effect of context, on the same holes
          with - without                    engine    n   exact         95 %   +/-   edit        95 %   +/-
          retrieval - in_file*              builtin  45   +33.3   +18 to +49  15/0  +12.7   +7 to +19  15/0
          oracle - in_file*                 builtin  45   +33.3   +18 to +49  15/0  +12.7   +7 to +19  15/0
          retrieval - in_file*, unresolved  builtin  15  +100.0  +59 to +100  15/0  +29.5  +13 to +46  15/0
          oracle - in_file*, unresolved     builtin  15  +100.0  +59 to +100  15/0  +29.5  +13 to +46  15/0
          retrieval - in_file               qwen     45   +44.4   +26 to +63  20/0  +12.5   +4 to +21  20/0
          oracle - in_file                  qwen     45   +44.4   +26 to +63  20/0  +12.5   +4 to +21  20/0
          retrieval - in_file, unresolved   qwen     15    +0.0   -21 to +21   0/0   +0.0  -21 to +21   0/0
          oracle - in_file, unresolved      qwen     15    +0.0   -21 to +21   0/0   +0.0  -21 to +21   0/0
        +/-: holes in which it makes the answer better, and worse. Only holes of cross_file that were asked
        both with and without context.

    "#]]
    .assert_eq(tables);
}

#[test]
fn totals_count_each_hole_once() {
    let summary = cross_file(20).report().summary();
    let section = &summary.sections[0];
    assert!(section.overall.lines.iter().all(|line| line.cases == 20), "{:?}", section.overall);
    assert_eq!(section.controls, 40, "two more at each hole");
    assert!(section.differences.iter().all(|difference| difference.cases == 20));
    let scenarios: BTreeMap<String, usize> = section
        .scenarios
        .iter()
        .map(|group| (group.scenario.unwrap().to_string(), group.lines[0].cases))
        .collect();
    assert_eq!(scenarios["cross_file/in_file"], 15);
    assert_eq!(scenarios["cross_file/oracle/unresolved"], 5);
}

#[test]
fn suite_with_one_context_kind_is_counted_in_totals() {
    let Fixture { run, mut cases, mut predictions, scores, judgements, notes } = cross_file(20);
    cases.retain(|case| case.task == Task::IN_FILE);
    predictions.retain(|prediction| cases.iter().any(|case| case.id == prediction.case));
    let summary = Fixture { run, cases, predictions, scores, judgements, notes }.report().summary();
    assert_eq!(summary.sections[0].overall.lines[0].cases, 20);
    assert_eq!(summary.sections[0].contexts, []);
    assert_eq!(summary.sections[0].controls, 0);
}

#[test]
fn judge_is_marked_only_in_rows_without_context() {
    let summary = cross_file(20).report().summary();
    let section = &summary.sections[0];
    for group in &section.scenarios {
        let is_in_file =
            matches!(group.scenario, Some(ScenarioGroup::CrossFile(_, CrossFileContext::InFile)));
        let marks: Vec<bool> = group.lines.iter().map(|line| line.is_selected_against).collect();
        assert_eq!(marks, [is_in_file, false], "{:?}", group.scenario);
    }
    assert!(section.contexts.iter().all(|effect| effect.is_selected_against == (effect.engine == 0)));
    assert!(summary.notes.contains(&RunNote::Judges), "{:?}", summary.notes);
}

#[test]
fn html_and_markdown_show_the_effect_of_context() {
    let fixture = cross_file(40);
    let summary = fixture.report().summary();
    let page = fixture.html_of(&summary);
    assert!(page.contains("effect of context") && page.contains("retrieval - in_file*"), "{page}");
    assert!(report::markdown(&summary).contains("oracle - in\\_file, unresolved"));
}

#[test]
fn runs_without_cross_file_cases_omit_its_tables() {
    let fixture = fixture(20);
    let summary = fixture.report().summary();
    assert!(summary.sections.iter().all(|section| section.contexts.is_empty()));
    assert!(!fixture.html_of(&summary).contains("effect of context"));
    assert!(!(summary.notes.contains(&RunNote::Controls) || summary.notes.contains(&RunNote::Judges)));
}
