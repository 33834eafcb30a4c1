//! The HTML report in a browser: code is shown, never run.

use std::process::Command;

use tests::{Project, RunningProcess, component};

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
