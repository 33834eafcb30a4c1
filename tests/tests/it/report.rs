//! The HTML pages in a browser: code is shown, never run; the layout fits windows of any width.

#[expect(dead_code, reason = "the report's own tests use the rest")]
#[path = "../../../server/report/tests/report/fixture.rs"]
mod fixture;

use std::path::Path;
use std::process::Command;

use cases::{
    ChangeKind, Metric, SchemaVersion, Status, WatchedChange, WatchedEngine, WatchedFailure, WatchedNight,
};
use scoring::run_comparison::{ComparisonSettings, NamedRun, compared_runs};
use scoring::{RunComparison, VerdictSettings};
use serde_json::json;
use tests::{Browser, PageView, Project, RunningProcess, ScrollStep, component, scroll_cases};

use crate::run_rows;

/// A workspace whose code tries to escape from the report's script and markup.
const HOSTILE: &str = "//- /hostile.py
def escape(value):
    if value == \"</script><script>document.title = 'run'</script>\":
        print(\"<img src=x onerror=\\\"document.title = 'run'\\\">\")
        print(\"<!-- <script>\")
    for part in value:
        print(\"{{ 7 * 7 }} ${7 * 7} &lt;\")
        print(part)
    return value


def again(value):
    if value == \"</script><script>document.title = 'run'</script>\":
        print(\"<img src=x onerror=\\\"document.title = 'run'\\\">\")
        print(\"<!-- <script>\")
    for part in value:
        print(\"{{ 7 * 7 }} ${7 * 7} &lt;\")
        print(part)
    return value
";

#[test]
fn browser_shows_the_report_without_running_workspace_code() {
    let Some(chromium) = component("chromium") else { return };
    let project = Project::new(HOSTILE);
    project.run("try . --cases 12 --out ../run").expect_code(0);
    let mut browser = Command::new(chromium);
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]);
    browser.args(["--dump-dom", "--virtual-time-budget=2000"]);
    browser.arg(format!("--user-data-dir={}", project.sibling_path("browser").display()));
    browser.arg(format!("file://{}", project.sibling_path("run").join("report.html").display()));
    let outcome = RunningProcess::start(browser).wait().expect_code(0);
    assert!(!outcome.stderr.contains("Uncaught"), "an error in the report's script: {}", outcome.stderr);
    let dom = outcome.stdout;
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let (title, _) = title.expect("the report has a title");
    assert_ne!(title, "run", "code of the workspace ran");
    assert!(!dom.contains("<img src=\"x\""), "markup of the workspace became an element");
    assert!(dom.contains("hostile.py"), "the report shows the cases");
    assert!(dom.contains("Copied from one file, in "), "the report shows where an answer comes from");
    assert!(dom.contains("class=\"from\" title=\"hostile.py:"), "each part of an answer tells its place");
}

#[test]
fn report_loads_no_external_resources() {
    let project = Project::new(HOSTILE);
    project.run("try . --cases 12 --out ../run").expect_code(0);
    let html = run_rows::text(&project.sibling_path("run").join("report.html"));
    for reference in ["src=\"http", "href=\"http", "url(http", "@import", "src=\"//"] {
        assert!(!html.contains(reference), "the report has {reference}");
    }
}

/// Engines of the made-up run; every fourth is the copy of another one.
const ENGINES: usize = 22;
const SHOWN_ENGINES: usize = 17;

/// Whether the cases are displayed.
const IS_READY: &str = "document.querySelector('#case-detail h3') !== null";

/// Folder for images of the report in each window; none are written if it is unset.
const SCREENSHOTS: &str = "GHOSTBENCH_SCREENSHOTS";

/// Height of the images: more than a reader looks at.
const IMAGE_HEIGHT: u32 = 12_000;

/// Writes the report of a made-up run and returns its address.
fn made_up_report(folder: &Path, cases: usize, engines: usize) -> String {
    let fixture = fixture::many_engines(cases, engines);
    let path = folder.join("report.html");
    std::fs::write(&path, fixture.html()).expect("the report is written");
    format!("file://{}", path.display())
}

/// Opens a page in windows of all sizes, light and dark, and checks what holds for every page; `check` checks the rest. Writes images named
/// after the page.
pub(crate) fn check_every_window(
    page: &str,
    url: &str,
    is_ready: &str,
    check: impl Fn(&mut Browser, PageView),
) {
    let Some(chromium) = component("chromium") else { return };
    let images = std::env::var_os(SCREENSHOTS);
    let mut browser = Browser::start(&chromium);
    for (width, height) in [(1400, 1000), (800, 1000), (390, 844)] {
        for is_dark in [false, true] {
            let view = PageView { width, height, is_dark };
            browser.open(url, view, is_ready);
            assert_eq!(browser.take_errors(), [""; 0], "{view:?}");
            let sizes = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]");
            assert_eq!(sizes, json!([width, width]), "{view:?}: the page scrolls sideways");
            let background = browser.evaluate("getComputedStyle(document.body).backgroundColor");
            let lightest =
                background.as_str().and_then(|color| color.split(['(', ',']).nth(1)?.parse::<u8>().ok());
            assert_eq!(lightest.map(|value| value < 128), Some(is_dark), "{background}");
            check(&mut browser, view);
            if let Some(folder) = &images {
                let theme = if is_dark { "dark" } else { "light" };
                browser
                    .screenshot(&Path::new(folder).join(format!("{page}-{width}-{theme}.png")), IMAGE_HEIGHT);
            }
        }
    }
}

#[test]
fn report_fits_every_window_with_many_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 120, ENGINES);
    check_every_window("report", &url, IS_READY, |browser, view| {
        let is_visible =
            "(row => row.getBoundingClientRect().height > 20)(document.querySelector('.board tbody tr'))";
        assert_eq!(browser.evaluate(is_visible), true, "{view:?}: the first row is visible");
        let rows =
            "document.querySelectorAll('[aria-label^=\"Scoreboard, mined\"] tbody tr:not([hidden])').length";
        assert_eq!(browser.evaluate(rows), SHOWN_ENGINES, "{view:?}: copies are folded");
    });
}

/// Writes the page of a comparison of two made-up runs of the same engines, and returns its address.
fn made_up_comparison(folder: &Path, cases: usize, engines: usize) -> String {
    let (before, after) = (fixture::many_engines(cases, engines), fixture::many_engines(cases - 10, engines));
    let runs =
        [("before", &before), ("after", &after)].map(|(name, of)| NamedRun { name, rows: of.report() });
    let settings = ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None };
    let compared = compared_runs(&runs);
    let comparison = RunComparison::new(&runs, &compared, &settings).expect("the same cases");
    let path = folder.join("comparison.html");
    let page = report::comparison_html(&comparison, &runs, &compared);
    std::fs::write(&path, page).expect("the comparison is written");
    format!("file://{}", path.display())
}

#[test]
fn comparison_fits_every_window_and_folds_copies() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_comparison(folder.path(), 120, 8);
    check_every_window("comparison", &url, IS_READY, |browser, view| {
        let rows =
            "document.querySelectorAll('[aria-label^=\"Ranking, mined\"] tbody tr:not([hidden])').length";
        assert_eq!(browser.evaluate(rows), 12, "{view:?}: six engines of each run");
        let failures =
            "document.querySelectorAll('[aria-label=\"Failed requests by reason\"] tbody tr').length";
        assert_eq!(browser.evaluate(failures), 28, "{view:?}: failures by reason");
    });
}

/// Returns the history of three engines, of which one failed often in the last night and one changed.
fn made_up_nights(count: usize) -> Vec<WatchedNight> {
    let engine = |night: usize, number: usize| WatchedEngine {
        name: format!("hosted model {number}"),
        fingerprint: "f".to_owned(),
        answers: 120,
        failed: if number == 1 { 7 } else { 0 },
        failures: if number == 1 {
            vec![WatchedFailure {
                status: Status::Error,
                reason: Some("HTTP 429: quota exceeded".to_owned()),
                count: 7,
            }]
        } else {
            Vec::new()
        },
        value: Some(0.4 + 0.05 * number as f64 + 0.01 * (night * 7 % 5) as f64),
        since: 0,
        change: (number == 2 && night == count / 2).then_some(WatchedChange {
            kind: ChangeKind::Answers,
            first: night,
            score: None,
            text: None,
        }),
    };
    (0..count)
        .map(|night| WatchedNight {
            schema: SchemaVersion::CURRENT,
            run: (night + 1).to_string(),
            time: format!("2026-{:02}-{:02}T03:00:00Z", 1 + night / 28, 1 + night % 28),
            suite: "s".to_owned(),
            metric: Metric::ExactMatch,
            tree_hash: None,
            engines: (0..3).map(|number| engine(night, number)).collect(),
        })
        .collect()
}

#[test]
fn watched_engines_fit_every_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("watch.html");
    std::fs::write(&path, report::watch_html(&made_up_nights(90), &[])).expect("the page is written");
    let is_ready = "document.querySelectorAll('svg.over-nights').length === 3";
    check_every_window("watch", &format!("file://{}", path.display()), is_ready, |browser, view| {
        let listed =
            browser.evaluate("document.querySelector('[aria-label=\"Failed requests\"]').textContent");
        assert!(listed.as_str().is_some_and(|text| text.contains("quota exceeded")), "{view:?}: {listed}");
    });
}

/// Cases of a large report, and bytes that its page may have.
const MANY_CASES: usize = 10_000;
const MAX_BYTES: usize = 15_000_000;
/// Largest number of rows in the list: those of a window, with some above and below it.
const MAX_ROWS: u64 = 80;
/// Largest number of visible rows.
const MAX_VISIBLE_ROWS: u64 = 24;

/// The work of scrolling is counted; the times are printed, because they depend on the machine.
#[test]
fn page_of_ten_thousand_cases_is_small_and_draws_visible_rows_only() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for (cases, engines) in [(MANY_CASES, 8), (500, 20)] {
        let url = made_up_report(folder.path(), cases, engines);
        let bytes = std::fs::metadata(folder.path().join("report.html")).expect("the page").len();
        assert!(bytes < MAX_BYTES as u64, "{bytes} bytes");
        let mut browser = Browser::start(&chromium);
        let view = PageView { width: 1400, height: 1000, is_dark: false };
        browser.open(&url, view, IS_READY);
        let ready =
            browser.evaluate("Math.round(performance.getEntriesByType('navigation')[0].domInteractive)");
        println!("{cases} cases, {engines} engines: {bytes} bytes, read in {ready} ms");
        // A step of a wheel's size adds the rows that come into view, and a leap the visible ones.
        for (step, most_added) in [(ScrollStep::Wheel, 4), (ScrollStep::Leap, MAX_VISIBLE_ROWS)] {
            let scrolled = scroll_cases(&mut browser, step);
            println!("{step:?}: {scrolled:?}");
            assert!((1..=MAX_ROWS).contains(&scrolled.rows), "{} rows of {cases} cases", scrolled.rows);
            assert!((1..=most_added).contains(&scrolled.added), "{} rows in a frame", scrolled.added);
            // The mark of the chosen row, and its name for screen readers.
            assert!(scrolled.changed <= 2, "{} attributes in a frame", scrolled.changed);
        }
        let last = "document.querySelector('#case-list [aria-posinset=\"' + document.querySelector('#case-list [role=option]').getAttribute('aria-setsize') + '\"]') !== null";
        tests::wait_until("the last case is drawn", || browser.evaluate(last) == true);
        assert_eq!(browser.take_errors(), [""; 0]);
    }
}

#[test]
fn engines_are_hidden_and_shown_in_every_table_and_plot() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 60, 8);
    let mut browser = Browser::start(&chromium);
    let view = PageView { width: 1400, height: 1000, is_dark: false };
    browser.open(&format!("{url}#shown=0.2.5"), view, IS_READY);
    let shown = "[...new Set([...document.querySelectorAll('main [data-engine]:not([hidden])')].map(node => node.dataset.engine))].sort().join()";
    assert_eq!(browser.evaluate(shown), "0,2,5");
    assert_eq!(
        browser.evaluate("document.querySelector('#case-list [role=option] .chips').children.length"),
        3
    );
    browser.evaluate("document.querySelector('button.fold[value=\"2\"]').click()");
    assert_eq!(browser.evaluate(shown), "0,2,3,5", "the copy of an engine");
    browser.evaluate("document.querySelector('[data-arms=all]').click()");
    assert_eq!(browser.evaluate(shown), "0,1,2,3,4,5,6,7");
    assert_eq!(browser.take_errors(), [""; 0]);
}

#[test]
fn tables_are_sorted_by_a_click_on_a_title() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 60, 8);
    let mut browser = Browser::start(&chromium);
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    let times = "[...document.querySelectorAll('[aria-label^=\"Scoreboard, mined\"] tbody tr:not(.copy)')].map(row => parseFloat(row.cells[row.cells.length - 1].textContent))";
    let click =
        "document.querySelector('[aria-label^=\"Scoreboard, mined\"] thead th:last-child button').click()";
    for is_descending in [true, false] {
        browser.evaluate(click);
        let times: Vec<f64> = serde_json::from_value(browser.evaluate(times)).expect("numbers");
        assert_eq!(times.len(), 6);
        assert!(
            times.is_sorted_by(|one, next| if is_descending { one >= next } else { one <= next }),
            "{times:?}"
        );
    }
    assert_eq!(browser.take_errors(), [""; 0]);
}

#[test]
fn a_difference_leads_to_its_cases_and_compares_the_two_answers() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 120, 6);
    let mut browser = Browser::start(&chromium);
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    let link = "[...document.querySelectorAll('[aria-label^=Ranking] tbody a')].find(link => Number(link.textContent) > 3)";
    let wanted = browser.evaluate(&format!("{link}.textContent"));
    let wanted = wanted.as_str().expect("a number");
    browser.evaluate(&format!("{link}.click()"));
    let is_listed = format!("document.getElementById('case-count').textContent.startsWith('{wanted} of ')");
    tests::wait_until("the cases are listed", || browser.evaluate(&is_listed) == true);
    let panels =
        "[...document.querySelectorAll('#case-detail h4')].map(title => title.textContent).join('|')";
    tests::wait_until("the two answers are shown", || {
        browser.evaluate(panels).as_str().is_some_and(|titles| titles.contains("The two answers"))
    });
    assert_eq!(browser.take_errors(), [""; 0]);
}

/// Outcomes in the list as percentages of the shown engines, by case: 100 if exact, else the similarity, 0 without text.
const LISTED_OUTCOMES: &str = "[...document.querySelectorAll('#case-list [role=option]')].sort((a, b) => a.dataset.index - b.dataset.index)\
    .map(row => [...row.querySelectorAll('.chip')].map(chip => chip.textContent === '\\u2713' ? 100 : Number(chip.textContent) || 0))";

#[test]
fn pair_of_a_comparison_leads_to_its_cases_by_gap_and_to_all_differences() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_comparison(folder.path(), 120, 6);
    let mut browser = Browser::start(&chromium);
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    for relation in ["better", "worse"] {
        let link = format!(
            "[...document.querySelectorAll('[aria-label^=Ranking] tbody a[href*=\"pair={relation}\"]')].find(link => Number(link.textContent) > 3)"
        );
        let wanted = browser.evaluate(&format!("{link}.textContent"));
        let wanted = wanted.as_str().expect("a number").to_owned();
        // Only the two engines, so that the list shows a chip of each.
        let shown = format!(
            "(of => location.hash = of.href.split('#')[1] + '&shown=' + ['engine', 'other'].map(name => new URLSearchParams(of.href.split('#')[1]).get(name)).join('.'))({link})"
        );
        browser.evaluate(&shown);
        let is_listed = format!(
            "document.getElementById('case-count').textContent.startsWith('{wanted} of ') && document.getElementById('filter-pair').value === '{relation}'"
        );
        tests::wait_until("the cases of the pair are listed", || browser.evaluate(&is_listed) == true);
        assert_eq!(browser.evaluate("document.getElementById('filter-sort').value"), "gap");
        let listed: Vec<[f64; 2]> =
            serde_json::from_value(browser.evaluate(LISTED_OUTCOMES)).expect("two engines in each row");
        assert!(listed.len() > 3, "{listed:?}");
        // The letters of engines are in the order of the runs; one of the pair is right in every case, the other in none.
        let right = (0..2).find(|&engine| listed[0][engine] == 100.0).expect("one is right");
        assert!(listed.iter().all(|of| of[right] == 100.0 && of[1 - right] < 100.0), "{listed:?}");
        let gaps = listed.iter().map(|of| (of[0] - of[1]).abs());
        assert!(gaps.is_sorted_by(|one, next| one >= next), "the largest gap first: {listed:?}");
        check_compared_answers(&mut browser);
    }
    assert_eq!(browser.take_errors(), [""; 0]);
}

/// Checks that the open case shows the two answers of the chosen pair next to each other, and each next to the truth.
#[track_caller]
fn check_compared_answers(browser: &mut Browser) {
    let answers = "document.querySelectorAll('#case-detail section.answer').length";
    tests::wait_until("both answers are shown", || {
        // Equal outcomes and texts share a panel; here one answer is right and the other is not.
        browser.evaluate(answers) == 2
    });
    let sides = |browser: &mut Browser, panel: &str| {
        browser.evaluate(&format!(
            "[...document.querySelectorAll('#case-detail {panel} .pair h5')].map(side => side.textContent.slice(0, 6))"
        ))
    };
    assert_eq!(sides(browser, "[aria-label=\"The two answers\"]"), json!(["Answer", "Answer"]));
    let wrong = "section.answer:has(.verdict:not(.exact))";
    assert_eq!(sides(browser, wrong), json!(["Truth", "Answer"]));
    for panel in ["[aria-label=\"The two answers\"]", wrong] {
        let marks = format!("document.querySelectorAll('#case-detail {panel} :is(del, ins)').length");
        assert!(browser.evaluate(&marks).as_u64() > Some(0), "{panel}: the difference is marked");
    }
}

#[test]
fn cell_of_all_pairs_leads_to_the_cases_of_its_pair() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_comparison(folder.path(), 120, 6);
    let mut browser = Browser::start(&chromium);
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    let cell = "document.querySelector('[aria-label^=\"All pairs\"] tbody a')";
    let pair = format!(
        "['engine', 'other'].map(name => new URLSearchParams({cell}.href.split('#')[1]).get(name)).join()"
    );
    let pair = browser.evaluate(&pair);
    browser.evaluate(&format!("{cell}.click()"));
    let chosen = "['engine', 'other'].map(name => document.getElementById('filter-' + name).value).join()";
    tests::wait_until("its pair is chosen", || browser.evaluate(chosen) == pair);
    assert_eq!(browser.take_errors(), [""; 0]);
}

/// A tooltip's text, or null if none is displayed.
const TITLE: &str = "(box => box.hidden ? null : box.textContent)(document.getElementById('title-box'))";

#[test]
fn terms_are_explained_to_the_keyboard_and_to_a_finger() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 60, 8);
    let mut browser = Browser::start(&chromium);
    let term = "[aria-label^=\"Scoreboard, mined\"] thead abbr";
    let explanation = "no text if the truth is empty";
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    // From the heading before it: the next stop of the keyboard is the term's.
    browser.evaluate(&format!(
        "document.querySelector('{term}').closest('th').previousElementSibling.querySelector('button').focus()"
    ));
    browser.press("Tab");
    assert_eq!(browser.evaluate(TITLE), explanation);
    let described = "document.activeElement.getAttribute('aria-describedby')";
    assert_eq!(browser.evaluate(described), "title-box", "screen readers read it, too");
    browser.press("Escape");
    assert_eq!(browser.evaluate(TITLE), json!(null));
    browser.open(&url, PageView { width: 390, height: 844, is_dark: false }, IS_READY);
    browser.tap(term);
    tests::wait_until("the tapped term is explained", || browser.evaluate(TITLE) == explanation);
    let edges = "(box => [box.left >= 0, box.right <= innerWidth, box.bottom <= innerHeight])(document.getElementById('title-box').getBoundingClientRect())";
    assert_eq!(browser.evaluate(edges), json!([true, true, true]), "it is inside of the window");
    browser.tap("h1");
    tests::wait_until("a tap elsewhere hides it", || browser.evaluate(TITLE) == json!(null));
    assert_eq!(browser.take_errors(), [""; 0]);
}

/// Every term with an explanation is a stop of the keyboard, or inside of one.
#[test]
fn every_explained_term_is_reachable_by_the_keyboard() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 60, 8);
    let mut browser = Browser::start(&chromium);
    browser.open(&url, PageView { width: 1400, height: 1000, is_dark: false }, IS_READY);
    let counts = "(terms => [terms.length, terms.filter(term => term.tabIndex !== 0 && !term.closest('button')).length])([...document.querySelectorAll('abbr[title]')])";
    let counts = browser.evaluate(counts);
    assert!(counts[0].as_u64() > Some(2), "{counts}");
    assert_eq!(counts[1], 0);
}

#[test]
fn text_in_any_block_of_cases_is_found() {
    let Some(chromium) = component("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_report(folder.path(), 400, 2);
    let mut browser = Browser::start(&chromium);
    let view = PageView { width: 1400, height: 1000, is_dark: false };
    // The text of one truth; the list is complete when no search is running.
    browser.open(
        &format!("{url}#q=document.title"),
        view,
        "document.getElementById('case-count').textContent.includes('of')",
    );
    let count = "document.getElementById('case-count').textContent";
    tests::wait_until("the search ends", || {
        browser.evaluate(count).as_str().is_some_and(|count| !count.contains("searching"))
    });
    assert_eq!(browser.evaluate(count), "1 of 402 cases");
    assert_eq!(browser.evaluate("document.querySelectorAll('#case-list [role=option]').length"), 1);
    assert_eq!(browser.take_errors(), [""; 0]);
}
