//! The images of the documents, from real programs: a terminal, a report in a browser, and both editors.
//!
//! Every test run looks at them; `cargo xtask docs --images` also writes them into `docs/images`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use tests::{Browser, Neovim, PageView, Project, Terminal, VsCode, check_out_history, component};

/// Variable with the folder for the images; without it nothing is written.
const FOLDER: &str = "GHOSTBENCH_IMAGES";

/// Lines of the terminal of an editor.
const EDITOR_LINES: u32 = 30;

/// Returns the file of an image, if images are wanted.
fn image(name: &str) -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(|folder| Path::new(&folder).join(name))
}

/// Draws a terminal, if images are wanted.
#[track_caller]
fn draw(terminal: &Terminal, name: &str, title: &str, lines: usize) {
    let Some(path) = image(name) else { return };
    let python = component("rich-python").expect("`cargo xtask docs --images` installs it");
    terminal.draw(&python, &path, title, lines);
}

/// A small shop, in which the next line is easy to guess.
const SHOP: &str = "//- /shop/orders.py
def total_price(orders, limit):
    \"\"\"Sum the prices of the orders below the limit.\"\"\"
    total = 0
    for order in orders:
        if order.price < limit:
            total += order.price
    return total


def total_weight(orders, limit):
    \"\"\"Sum the weights of the orders below the limit.\"\"\"
    total = 0
    for order in orders:
        if order.weight < limit:
            total += order.weight
    return total


def total_tax(orders, limit):
    total = 0
";

/// The text typed below it. The suggestion that follows has several lines.
const TYPED: &str = "    for order in";

/// Time between two keys of the recorded session, as a person types.
const KEY_INTERVAL: Duration = Duration::from_millis(70);

/// Time in ms for which the last screen stays before the picture begins again.
const LAST_SCREEN_MS: &str = "6000";

#[test]
fn recorded_session() {
    let project = Project::new("");
    let (Some(asciinema), Some(termtosvg)) = (component("asciinema"), component("termtosvg")) else { return };
    let Some(click) = check_out_history(&project.root(), "click") else { return };
    let folder = click.parent().expect("a folder");
    let Some(terminal) = Terminal::open(&project, folder, 100, EDITOR_LINES) else { return };
    let session = image("try.cast").unwrap_or_else(|| project.sibling_path("try.cast"));
    let shell = "env PS1='$ ' bash --norc --noprofile";
    terminal.enter(&format!(
        "clear; {} rec -q --overwrite -c \"{shell}\" {}",
        asciinema.display(),
        session.display()
    ));
    terminal.wait_until("only the shell of the recording is shown", |text| text.trim() == "$");
    for key in "ghostbench try click".chars() {
        terminal.type_text(&key.to_string());
        thread::sleep(KEY_INTERVAL);
    }
    terminal.press(&["Enter"]);
    terminal.wait_for("Report: ");
    terminal.enter("exit");
    terminal.wait_until("the recording is over", |text| text.trim_end().ends_with("exit\n$"));
    let recorded = fs::read_to_string(&session).expect("a recording");
    let recorded = recorded.replace(&project.home().display().to_string(), "~");
    fs::write(&session, &recorded).expect("a recording");
    assert!(recorded.starts_with("{\"version\": 2") && recorded.contains("400 cases"), "{recorded}");
    let picture = image("session.svg").unwrap_or_else(|| project.sibling_path("session.svg"));
    let mut draw = Command::new(termtosvg);
    draw.arg("render").args([&session, &picture]).args([
        "--template",
        "window_frame",
        "--loop-delay",
        LAST_SCREEN_MS,
    ]);
    assert!(draw.status().expect("termtosvg starts").success(), "{draw:?}");
    let picture = fs::read_to_string(picture).expect("a picture");
    assert!(picture.contains("@keyframes") && picture.contains("builtin"), "the picture moves");
}

#[test]
fn report_of_a_run() {
    let project = Project::new("");
    let Some(chromium) = component("chromium") else { return };
    if check_out_history(&project.root(), "click").is_none() {
        return;
    }
    project.run("try click --cases 200 --engine builtin --engine nearest-line --out ../run").expect_code(0);
    let url = format!("file://{}", project.sibling_path("run").join("report.html").display());
    let mut browser = Browser::start(&chromium);
    let view = PageView { width: 1000, height: 900, is_dark: false };
    browser.open(&url, view, "document.querySelector('.board tbody tr') !== null");
    assert_eq!(browser.take_errors(), [""; 0]);
    if let Some(path) = image("report.png") {
        browser.screenshot(&path, view.height);
    }
}

#[test]
fn ghost_text_and_lens_in_neovim() {
    let project = Project::new(SHOP);
    let Some(editor) = Neovim::open(&project, "shop/orders.py", &[]) else { return };
    editor.press(":call cursor(4, 5)<CR>:Ghostbench record<CR>");
    editor.wait_until("#Test.lenses() == 1");
    editor.press(":Ghostbench replay<CR>");
    editor.wait_until("(Test.lenses()[1].title or ''):find('builtin', 1, true)");
    let Some(terminal) = Terminal::open(&project, &project.root(), 84, EDITOR_LINES) else { return };
    let (program, socket) = editor.address();
    terminal.enter(&format!(
        "clear; exec '{}' --server '{}' --remote-ui",
        program.display(),
        socket.display()
    ));
    terminal.wait_for("total_tax");
    // Neovim indents the line.
    let typed = TYPED.trim_start();
    editor.press(&format!("<Esc>G$:set laststatus=2 | echo ''<CR>o{typed}"));
    let ghost = editor.wait_for_ghost_text();
    terminal.wait_for(&format!("    {typed}{}", ghost.lines().next().expect("a line")));
    draw(&terminal, "neovim.svg", "Neovim", EDITOR_LINES as usize);
}

#[test]
fn ghost_text_in_vs_code() {
    let project = Project::new(SHOP);
    let Some(editor) = VsCode::open(&project, "shop/orders.py", &[]) else { return };
    editor.press("Control+End");
    editor.type_text(TYPED);
    editor.wait_for_ghost_text();
    if let Some(path) = image("vscode.png") {
        editor.screenshot(&path);
    }
}

#[test]
fn replayed_case_in_vs_code() {
    let project = Project::new(SHOP);
    let Some(editor) = VsCode::open(&project, "shop/orders.py", &[]) else { return };
    editor.go_to(6, 13);
    editor.run("Ghostbench: Record Case at Cursor");
    editor.wait_until("Eyes.lenses().some((lens) => lens.includes('not replayed yet'))");
    editor.click(".codelens-decoration > a");
    editor.wait_until("Eyes.lenses().some((lens) => lens.includes('builtin'))");
    if let Some(path) = image("vscode-case.png") {
        editor.screenshot(&path);
    }
}
