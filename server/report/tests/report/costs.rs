//! Costs of engines in every form of a report; they are absent if no engine has prices.

use cases::{Cost, Price};
use expect_test::expect;
use report::terminal::Style;

use crate::fixture::{Fixture, fixture};

#[test]
fn costs_are_shown_in_every_format_for_priced_engines() {
    let mut fixture = fixture(20);
    let plain = Style { color: false, width: 100, unicode: true };
    let texts = |fixture: &Fixture| {
        let summary = fixture.report().summary();
        [
            report::terminal::table(&summary, &[], plain, &[]),
            report::markdown(&summary),
            fixture.html_of(&summary),
        ]
    };
    for text in texts(&fixture) {
        assert!(!text.contains("per 1,000"));
    }
    assert!(!report::json(&fixture.report().summary()).contains("\"costs\""));

    fixture.run.engines[1].price = Some(Price { input: 0.15, output: 3.0 });
    let priced = fixture.run.engines[1].engine.fingerprint.clone();
    let rows = fixture.predictions.iter_mut().filter(|row| row.engine.fingerprint == priced);
    for (place, row) in rows.enumerate().skip(1) {
        row.cost = Some(Cost { amount: 0.000_25, is_estimated: place % 2 == 0 });
    }
    let [terminal, markdown, html] = texts(&fixture);
    let costs = terminal.split("\n\n").find(|part| part.starts_with("cost\n")).expect("the table is there");
    expect![[r#"
        cost
          engine  answers      cost  per 1,000  estimated  unknown
          qwen         21  0.005250     0.2500         10        1"#]]
    .assert_eq(costs);
    assert!(markdown.contains("| 0.005250 | 0.2500 |"), "{markdown}");
    assert!(html.contains("<td class=\"num\">0.005250</td>"));
    assert_eq!(fixture.report().summary().costs.len(), 1, "the other engine has no price");
}
