//! The HTML report in a browser: code is shown, never run.

use std::process::Command;

use tests::{Project, Running, component};

/// A workspace whose code tries to leave the report's script and markup.
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
fn a_browser_shows_the_report_and_runs_no_code_of_the_workspace() {
    let Some(chromium) = component("chromium") else { return };
    let project = Project::new(HOSTILE);
    project.run("try . --cases 12 --out ../run").expect_code(0);
    let report = project.beside("run").join("report.html");
    let mut browser = Command::new(chromium);
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=2000"]);
    browser.arg(format!("--user-data-dir={}", project.beside("browser").display()));
    browser.arg(format!("file://{}", report.display()));
    let dom = Running::start(browser).wait().expect_code(0).stdout;
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let (title, _) = title.expect("the report has a title");
    assert!(!title.contains("run\n") && title != "run", "the title was changed to {title}");
    assert!(!dom.contains("<img src=\"x\""), "markup of the workspace became an element");
    assert!(dom.contains("hostile.py"), "the report shows the cases");
}
