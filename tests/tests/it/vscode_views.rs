//! The views of the extension in a real VS Code: menu, pages, Testing view, differences, first use. `GHOSTBENCH_SCREENSHOTS` names a
//! folder for images of them.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Project, VsCode, WindowOptions, wait_until};

/// Variable with the folder for the images; without it nothing is written.
const FOLDER: &str = "GHOSTBENCH_SCREENSHOTS";

/// A function with a block to record.
const FUNCTION: &str = "//- /a.py
def total(orders):
    result = 0
    for order in orders:
        result += order.price
    return result
";

/// What the scripted engine answers: it is wrong.
const WRONG: &str = "result += order.weight";

/// The script that reads a page.
const TEXT: &str = "document.body.innerText";

/// The text of a page whose background is that of the editor.
const TEXT_WITH_THEME: &str = "getComputedStyle(document.body).backgroundColor === (() => {
    const probe = document.createElement('i');
    probe.style.color = 'var(--vscode-editor-background)';
    document.body.append(probe);
    const color = getComputedStyle(probe).color;
    probe.remove();
    return color;
})() ? document.body.innerText : null";

/// Opens a function with the scripted engine and another one.
#[track_caller]
fn open(project: &Project, settings: Value) -> Option<VsCode> {
    let rules = json!([{"path": "", "text": WRONG}]).to_string();
    let mut all = json!({
        "ghostbench.server.arguments": ["--scripted", rules, "--engine", "nearest-line"],
        "workbench.colorTheme": "Default Dark Modern",
    });
    all.as_object_mut().expect("an object").extend(settings.as_object().cloned().unwrap_or_default());
    let opening = WindowOptions { settings: all, server: None, is_trusted: true };
    let editor = VsCode::start(project, "a.py", opening)?;
    editor.wait_until_served();
    Some(editor)
}

fn take_picture(editor: &VsCode, name: &str) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        editor.screenshot(&Path::new(&folder).join(format!("{name}.png")));
    }
}

/// Runs a command that shows a page, and waits until the page has these words in the colours of the theme. A window that is busy
/// while it opens a page can leave it without colours until it is shown again.
#[track_caller]
fn show_page(editor: &VsCode, command: &str, words: &str) {
    let is_shown = |page: &Value| page.as_str().is_some_and(|text| text.contains(words));
    editor.repeat_until(
        &format!("{command} shows {words:?} in the editor's colours"),
        || editor.run(command),
        || editor.pages(TEXT_WITH_THEME).iter().any(is_shown),
    );
}

#[test]
fn cases_are_tests_with_differences_and_reports() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open(&project, json!({})) else { return };
    editor.go_to(4, 9);
    editor.run("Ghostbench: Record Case at Cursor");
    editor.wait_for_message("Ghostbench: recorded the whole statement, line 4");
    editor.run("Testing: Focus on Test Explorer View");
    editor.wait_until("Eyes.tests().some((row) => row.includes('Recorded cases'))");
    editor.run("Test: Run All Tests");
    for (row, child) in [("Recorded cases", "a.py:4"), ("a.py:4", "scripted")] {
        let is_listed = format!("Eyes.tests().some((row) => row.startsWith('{child}'))");
        editor.repeat_until(
            &format!("{row} is unfolded"),
            || {
                editor.click(&format!(".test-explorer .monaco-list-row:has-text('{row}')"));
                editor.press("ArrowRight");
            },
            || editor.evaluate(&is_listed) == true,
        );
    }
    editor.wait_until("/scripted.*% similar/.test(Eyes.tests().join('\\n'))");
    wait_until("the suite is replayed", || {
        editor.requests("ghostbench/replay").iter().any(|(_, a)| a.is_some())
    });
    let (replayed, answer) = editor.requests("ghostbench/replay").pop().expect("it was waited for");
    assert_eq!(replayed["params"]["target"], "suite");
    assert_eq!(answer.expect("it was answered")["result"]["requests"], 2);
    // A failure is shown with its difference, beside the code or below it.
    // A window that is busy while it opens the view leaves it empty until it is opened again.
    editor.repeat_until(
        "the difference is shown",
        || {
            editor.press("Escape");
            editor.run("Test: Peek Output");
        },
        || {
            editor.evaluate("Eyes.lines().filter((line) => line.startsWith('def total')).length === 3")
                == true
        },
    );
    take_picture(&editor, "testing");
    editor.press("Escape");
    editor.open_file("a.py");
    editor.go_to(4, 9);
    editor.run("Ghostbench: Compare Answers to Case");
    let shows = |text: &str| format!("Eyes.lines().some((line) => line.includes({}))", Value::from(text));
    editor.wait_until(&shows("result += order.price"));
    editor.wait_until(&shows(WRONG));
    editor.wait_until("document.querySelectorAll('.multiDiffEntry').length === 2");
    take_picture(&editor, "compare");

    show_page(&editor, "Ghostbench: Show Scoreboard", "scripted");
    take_picture(&editor, "scoreboard-dark");
    show_page(&editor, "Ghostbench: Show Report", "nearest-line");
    // The page's own script runs, and nothing else does.
    editor.wait_for("the cases are listed", || {
        editor
            .pages("document.querySelectorAll('#case-list [role=option], #case-list tr').length > 0")
            .contains(&json!(true))
    });
    take_picture(&editor, "report-dark");
    let inline = "(() => { const button = document.createElement('button'); button.setAttribute('onclick', 'window.ran = true'); \
        document.body.append(button); button.click(); button.remove(); return window.ran === true; })()";
    assert!(!editor.pages(inline).contains(&json!(true)), "the policy forbids inline handlers");
}

#[test]
fn pages_follow_a_light_theme() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open(&project, json!({"workbench.colorTheme": "Default Light Modern"})) else {
        return;
    };
    editor.go_to(4, 9);
    editor.run("Ghostbench: Record Case at Cursor");
    editor.wait_for_message("Ghostbench: recorded");
    editor.run("Ghostbench: Replay Recorded Cases");
    editor.answer("All recorded cases");
    editor.wait_for_message("Ghostbench: replayed 2 of 2 requests");
    editor.run("Notifications: Clear All Notifications");
    show_page(&editor, "Ghostbench: Show Report", "nearest-line");
    take_picture(&editor, "report-light");
    show_page(&editor, "Ghostbench: Show Scoreboard", "Replay all recorded cases");
    take_picture(&editor, "scoreboard-light");
    editor.run("Ghostbench: Get Started");
    editor.wait_until("document.body.innerText.includes('Let engines compete')");
    take_picture(&editor, "walkthrough");
    editor.run("Ghostbench: Run Doctor");
    editor.wait_until("Eyes.tabs().includes('Ghostbench Doctor')");
    editor.wait_until("Eyes.lines().some((line) => line.includes('doctor'))");
    take_picture(&editor, "doctor");
}

#[test]
fn the_menu_steers_engine_trial_and_recording() {
    let project = Project::new(FUNCTION);
    let Some(editor) = open(&project, json!({"editor.quickSuggestions": "off"})) else { return };
    let menu = "#ghostbench\\.ghostbench\\.ghostbench\\.status a";
    let open_menu = |entry: &str| {
        editor.repeat_until(
            "the menu is shown",
            || editor.click(menu),
            || editor.evaluate("Eyes.focus() === 'question'") == true,
        );
        editor
            .wait_until(&format!("Eyes.choices().some((choice) => choice.endsWith({}))", Value::from(entry)));
    };
    open_menu("Run the doctor");
    take_picture(&editor, "menu");
    editor.press("Escape");
    editor.focus_text();
    assert!(editor.evaluate("Eyes.status()").as_str().is_some_and(|status| status.contains("scripted")));

    let choose_engine = |name: &str| {
        let choose = || {
            editor.run("Ghostbench: Choose Engine");
            editor.answer(name);
        };
        let is_chosen = format!("Eyes.status()?.includes({}) ?? false", Value::from(name));
        // A list loses its answer if a busy window moves the focus meanwhile.
        editor.repeat_until(&format!("{name} is chosen"), choose, || editor.evaluate(&is_chosen) == true);
    };
    choose_engine("nearest-line");
    choose_engine("scripted");

    editor.run("Ghostbench: Start Trial");
    editor.answer("Record one engine");
    editor.answer("scripted");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    editor.focus_text();
    editor.go_to(5, 18);
    editor.press("Enter");
    editor.wait_for_this_ghost_text(WRONG);
    editor.wait_until("/scripted, \\d+ ms$/.test(Eyes.status() ?? '')");
    editor.run("Ghostbench: Show What Was Sent");
    editor.wait_until("Eyes.tabs().includes('What Was Sent')");
    editor.wait_until("Eyes.lines().some((line) => line === '- engine: scripted')");
    editor.wait_until("Eyes.lines().some((line) => line.includes('order.weight'))");
    take_picture(&editor, "sent");

    editor.run("Ghostbench: Pause Recording for an Hour");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: paused')");
    editor.run("Ghostbench: Resume Recording");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    show_page(&editor, "Ghostbench: Show Report of Trial", "1 opportunity");
    take_picture(&editor, "trial-report");
    editor.run("Ghostbench: Forget the Last Hour");
    editor.wait_until("document.querySelector('.monaco-dialog-box') !== null");
    take_picture(&editor, "forget");
    let is_forgotten = "Eyes.messages().some((text) => text.includes('opportunities deleted: 1'))";
    // A page that is just shown may take the focus from a dialog, and its keys.
    let confirm = || {
        if editor.evaluate("document.querySelector('.monaco-dialog-box') !== null") == true {
            editor.click(".monaco-dialog-box .monaco-button:has-text('Delete')");
        }
    };
    editor.repeat_until("the last hour is forgotten", confirm, || editor.evaluate(is_forgotten) == true);
    let rows = editor.pages(TEXT);
    assert!(!rows.is_empty(), "the page is still shown");
}

/// Two rows of a public benchmark, whose completions the engine gets right and wrong.
fn public_rows() -> String {
    let row = |number: usize, file: &str| {
        json!({
            "prompt": "def total(orders):\n    result = 0\n    for order in orders:\n        ",
            "groundtruth": RIGHT,
            "right_context": "\n    return result\n",
            "metadata": {"task_id": format!("project_cc_python/{number}"), "repository": "shop", "file": file},
        })
    };
    format!("{}\n{}\n", row(1, "right.py"), row(2, "wrong.py"))
}

/// The truth of the public rows.
const RIGHT: &str = "result += order.price";

#[test]
fn an_imported_suite_is_browsed_replayed_and_scored() {
    let project = Project::new("//- /a.py\npass\n");
    project.write("line_completion.jsonl", public_rows());
    project.run("import crosscodeeval line_completion.jsonl --out suite.jsonl").expect_code(0);
    let rules = json!([{"path": "right.py", "text": RIGHT}, {"path": "wrong.py", "text": WRONG}]).to_string();
    let settings = json!({
        "ghostbench.server.arguments": ["--scripted", rules],
        "workbench.colorTheme": "Default Dark Modern",
    });
    let opening = WindowOptions { settings, server: None, is_trusted: true };
    let Some(editor) = VsCode::start(&project, "a.py", opening) else { return };
    editor.wait_until_served();
    let shows = |text: &str| format!("Eyes.lines().some((line) => line.includes({}))", Value::from(text));

    editor.run("Ghostbench: Open Suite");
    editor.answer("suite.jsonl");
    editor.wait_for_message("Ghostbench: opened 2 cases");
    editor.wait_until("Eyes.tab() === 'right.py'");
    editor.wait_until(&shows("⟪hole⟫"));
    assert_eq!(editor.evaluate(&shows(RIGHT)), json!(false), "the truth is not shown");
    editor.run("Ghostbench: Replay Case of Suite");
    editor.wait_for_message("exact");
    editor.run("Ghostbench: Show Answers to Case of Suite");
    editor.wait_until(&shows("## scripted exact"));
    take_picture(&editor, "suite-answers");

    editor.run("Ghostbench: Show Next Case of Suite");
    editor.wait_until("Eyes.tab() === 'wrong.py'");
    editor.run("Ghostbench: Show Answers to Case of Suite");
    editor.wait_until(&shows("Not replayed yet."));
    editor.run("Ghostbench: Replay Case of Suite");
    // The document of the answers follows.
    editor.wait_until(&shows(WRONG));
    take_picture(&editor, "suite-wrong");
    editor.run("Ghostbench: Show Next Case of Suite");
    editor.wait_for_message("Ghostbench: this is the last case");
}
