//! Cases from commits until and after the training cut-offs of engines.

use cases::{DATE_TAG, Exposure, OriginKind};
use report::terminal::Style;

use crate::fixture::{Fixture, fixture};

/// A run over cases from commits, of which a third was written in each of three months.
fn history() -> Fixture {
    let mut fixture = fixture(60);
    for (number, case) in fixture.cases.iter_mut().enumerate() {
        case.origin.kind = OriginKind::History;
        case.origin.exposure = Exposure::None;
        let date = ["2025-05-31", "2025-06-30", "2025-07-01"][number % 3];
        case.tags.insert(DATE_TAG.to_owned(), date.to_owned());
    }
    fixture
}

#[test]
fn cases_are_divided_at_the_cutoffs_of_engines() {
    let mut fixture = history();
    fixture.run.engines[0].cutoff = Some("2025-06".to_owned());
    fixture.run.engines[1].cutoff = Some("2025-05-31".to_owned());
    let summary = fixture.report().summary();
    let [section] = &*summary.sections else { panic!("one section") };
    let all = section.overall.lines[0].cases;
    let [early, late] = &*section.cutoffs else { panic!("two cut-offs: {:?}", section.cutoffs) };
    assert_eq!(
        (&*early.cutoff, &*early.engines, &*late.cutoff, &*late.engines),
        ("2025-05-31", &[1][..], "2025-06", &[0][..])
    );
    for slice in [early, late] {
        assert_eq!(slice.until.lines.len(), section.overall.lines.len(), "all engines are on both sides");
        assert_eq!(slice.until.lines[0].cases + slice.after.lines[0].cases, all);
    }
    assert!(late.until.lines[0].cases > early.until.lines[0].cases, "a month includes its last day");

    let style = Style { color: false, width: 100, unicode: true };
    for text in [report::terminal::table(&summary, &[], style, &[]), report::markdown(&summary)] {
        let name = &summary.engines[0].name;
        assert!(text.contains(&format!("training cut-off 2025-06 of {name}")), "{text}");
        let is_row =
            |side: &str| text.lines().any(|line| line.trim_start_matches([' ', '|']).starts_with(side));
        assert!(is_row("until") && is_row("after"), "both sides have names: {text}");
    }
    let page = fixture.html_of(&summary);
    for side in ["until", "after"] {
        assert!(page.contains(&format!(">{side}</th>")), "{side}");
    }
}

#[test]
fn runs_without_cutoffs_or_dates_have_no_slices() {
    let mut undated = fixture(20);
    undated.run.engines[0].cutoff = Some("2025-06".to_owned());
    for mut fixture in [history(), undated] {
        assert!(fixture.report().summary().sections.iter().all(|section| section.cutoffs.is_empty()));
        fixture.run.engines[0].cutoff = Some("1999-01".to_owned());
        assert!(
            fixture.report().summary().sections.iter().all(|section| section.cutoffs.is_empty()),
            "one side is empty"
        );
    }
}
