//! Documents: the binary accepts every command that they show, their settings are valid, their links lead somewhere, and the book of
//! `docs/` can be built.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use tests::{Project, RunningProcess, component};

use crate::engines::{llama_cpp, open_ai};
use crate::run_rows;
use crate::settings::user_file;

/// Folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Documents outside of `docs/`.
const OTHER_DOCUMENTS: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "editors/neovim/README.md",
    "vscode-extension/README.md",
];

/// How documents start the binary.
const PROGRAMS: [&str; 4] = ["ghostbench ", "uvx ghostbench ", "npx ghostbench ", "cargo run --release -- "];

/// Time of commits, after every date in the guides.
const COMMIT_DATE: &str = "2026-07-01T12:00:00Z";

/// Words of a shell that end a command.
const SEPARATORS: [&str; 7] = ["|", ">", ">>", "&&", "||", ";", "<"];

/// Paths of all documents, relative to the repository.
fn documents() -> Vec<String> {
    let pages = fs::read_dir(Path::new(ROOT).join("docs")).expect("the folder is there");
    let pages = pages.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let pages = pages.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    OTHER_DOCUMENTS.map(str::to_owned).into_iter().chain(pages).collect()
}

fn read(path: &str) -> String {
    run_rows::text(&Path::new(ROOT).join(path))
}

/// A fenced block of a document.
struct Block {
    language: String,
    text: String,
}

/// Returns the fenced blocks of a document, also those in lists.
fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let text = lines.by_ref().take_while(|line| line.trim_start() != "```");
        let text = text.map(|line| line.to_owned() + "\n").collect();
        blocks.push(Block { language: language.trim().to_owned(), text });
    }
    blocks
}

/// Returns the arguments of all commands in a document that start the binary: in blocks for a shell, in listings that are indented,
/// and in code spans.
fn commands(document: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for block in blocks(document) {
        for line in block.text.lines() {
            let typed = match block.language.as_str() {
                "sh" => Some(line),
                "console" => line.trim_start().strip_prefix("$ "),
                _ => None,
            };
            found.extend(typed.and_then(arguments));
        }
    }
    let listing = document.lines().filter(|line| line.starts_with("    ghostbench "));
    found.extend(listing.filter_map(arguments));
    let spans = Regex::new("`(ghostbench [^`]+)`").expect("a pattern");
    // A span may be broken between two words.
    let text = document.replace('\n', " ");
    let spans = spans.captures_iter(&text).map(|span| span[1].to_owned());
    found.extend(
        spans
            .filter(|span| !span.contains("...") && !span.contains(" FORMAT "))
            .filter_map(|span| arguments(&span)),
    );
    found
}

/// Splits a line as a shell does, if it starts the binary; comments and the part behind a pipe are left out.
fn arguments(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let rest = PROGRAMS.iter().find_map(|program| line.strip_prefix(program))?;
    let word = Regex::new(r#"'([^']*)'|"([^"]*)"|(\S+)"#).expect("a pattern");
    let mut words = Vec::new();
    for found in word.captures_iter(rest) {
        if found.get(3).is_some_and(|bare| bare.as_str() == "#" || SEPARATORS.contains(&bare.as_str())) {
            break;
        }
        let part = (1..=3).find_map(|group| found.get(group)).expect("one of them matched");
        words.push(part.as_str().to_owned());
    }
    Some(words)
}

/// Has the binary read arguments without running anything: help is printed once all options before it are understood.
fn check_arguments(project: &Project, document: &str, arguments: &[String]) -> Result<(), String> {
    let mut command = project.ghostbench("");
    command.args(arguments.iter().filter(|argument| *argument != "--version")).arg("--help");
    let outcome = RunningProcess::start(command).wait();
    let shown = arguments.join(" ");
    let subcommand = arguments.first().cloned().unwrap_or_default();
    let is_option = subcommand.starts_with('-');
    if outcome.code() == Some(0)
        && (is_option || outcome.stdout.contains(&format!("Usage: ghostbench {subcommand}")))
    {
        return Ok(());
    }
    Err(format!("{document}: ghostbench {shown}\n{}", outcome.stderr))
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let project = Project::new("");
    let mut checked = BTreeSet::new();
    let mut wrong = Vec::new();
    for document in documents() {
        for arguments in commands(&read(&document)) {
            if checked.insert(arguments.clone()) {
                wrong.extend(check_arguments(&project, &document, &arguments).err());
            }
        }
    }
    assert!(checked.len() > 80, "{} commands", checked.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), checked.len(), wrong.join("\n"));
}

#[test]
fn unknown_option_in_a_document_is_found() {
    let project = Project::new("");
    let document = "Text.\n\n```sh\nghostbench try . --no-such-option | less\ngit status\n```\n";
    let found = commands(document);
    assert_eq!(found, [["try", ".", "--no-such-option"]]);
    let error = check_arguments(&project, "a.md", &found[0]).expect_err("there is no such option");
    assert!(error.contains("--no-such-option"), "{error}");
    assert!(check_arguments(&project, "a.md", &["no-such-command".to_owned()]).is_err());
    assert_eq!(
        arguments("ghostbench report 'a b' # text"),
        Some(vec!["report".to_owned(), "a b".to_owned()])
    );
}

#[test]
fn settings_in_the_guides_are_valid() {
    let project = Project::new("");
    let mut checked = 0;
    for document in documents() {
        for block in blocks(&read(&document)).iter().filter(|block| block.language == "toml") {
            let file = project.sibling_path("settings.toml");
            fs::write(&file, &block.text).expect("the folder is ours");
            let outcome = project.run("doctor . --config ../settings.toml");
            // A key of an API that is not set in this environment is no error of the document.
            let problems: Vec<_> =
                outcome.stdout.lines().filter(|line| line.contains("settings.toml:")).collect();
            let is_wrong =
                |line: &&&str| line.trim_start().starts_with("error") || line.contains("unknown key");
            assert_eq!(
                problems.iter().filter(is_wrong).count(),
                0,
                "{document}:\n{}\n{}",
                block.text,
                outcome.stdout
            );
            checked += 1;
        }
    }
    assert!(checked > 8, "{checked} blocks");
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("a pattern");
    let mut broken = Vec::new();
    for document in documents() {
        let text = read(&document);
        for target in link.captures_iter(&text).map(|link| link[1].to_owned()) {
            if !target.contains("://") && !leads_somewhere(&document, &target) {
                broken.push(format!("{document}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn leads_somewhere(document: &str, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let document = Path::new(ROOT).join(document);
    let file = if path.is_empty() { document } else { document.with_file_name("").join(path) };
    if heading.is_empty() || file.extension().is_none_or(|extension| extension != "md") {
        return file.exists();
    }
    file.is_file() && headings(&run_rows::text(&file)).contains(heading)
}

/// The anchors of the headings of a document, as GitHub and mdBook make them.
fn headings(document: &str) -> BTreeSet<String> {
    let titles =
        document.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |title: &str| {
        let kept = title.to_lowercase().replace(' ', "-");
        kept.chars().filter(|character| character.is_alphanumeric() || "-_".contains(*character)).collect()
    };
    titles.map(anchor).collect()
}

#[test]
fn book_is_built_and_all_its_links_lead_to_pages_and_anchors() {
    let Some(mdbook) = component("mdbook") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut build = Command::new(mdbook);
    build.args(["build", ROOT, "--dest-dir"]).arg(folder.path());
    let outcome = RunningProcess::start(build).wait().expect_code(0);
    assert!(!outcome.stderr.contains("WARN") && !outcome.stderr.contains("ERROR"), "{}", outcome.stderr);
    let pages = html_pages(folder.path());
    for document in documents().iter().filter_map(|document| document.strip_prefix("docs/")) {
        let page = folder.path().join(document).with_extension("html");
        let is_listed = document == "SUMMARY.md" || pages.contains(&page);
        assert!(is_listed, "{document} is missing in docs/SUMMARY.md");
    }
    let link = Regex::new(r#"(?:href|src)="([^"]*)""#).expect("a pattern");
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in pages
        .iter()
        .filter(|page| !["404.html", "print.html", "toc.html"].iter().any(|name| page.ends_with(name)))
    {
        for target in link.captures_iter(&run_rows::text(page)).map(|link| link[1].to_owned()) {
            let is_outside = target.contains(':') || target.starts_with("//") || target.is_empty();
            if !is_outside {
                checked += 1;
                if !leads_to_anchor(page, &target) {
                    broken.push(format!("{}: {target}", page.display()));
                }
            }
        }
    }
    assert!(checked > 200, "{checked} links");
    assert!(broken.is_empty(), "{broken:#?}");
}

fn html_pages(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the book is there").map(|entry| entry.expect("an entry").path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "html")).collect()
}

fn leads_to_anchor(page: &Path, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.to_owned() } else { page.with_file_name("").join(path) };
    file.is_file() && (anchor.is_empty() || run_rows::text(&file).contains(&format!("id=\"{anchor}\"")))
}

/// Runs the commands of a guide in their order, in a repository with these engines. Returns the exit codes with the commands.
#[track_caller]
fn run_guide(project: &Project, document: &str) -> Vec<(Option<i32>, String)> {
    let run = |arguments: Vec<String>| {
        let mut command = project.ghostbench("");
        command.args(&arguments);
        let outcome = RunningProcess::start(command).wait();
        assert!(!outcome.stderr.contains("panicked"), "{arguments:?}: {}", outcome.stderr);
        (outcome.code(), format!("{}\n{}", arguments.join(" "), outcome.stderr))
    };
    let shell = blocks(&read(document)).into_iter().filter(|block| block.language == "sh");
    let lines: Vec<_> =
        shell.flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().filter_map(|line| arguments(line)).map(run).collect()
}

#[test]
fn guide_for_choosing_an_engine_works_as_written() {
    let project = Project::generated(6);
    let (_small, small) = llama_cpp();
    let (_large, large) = open_ai();
    project.write("ghostbench.toml", small.replace("\"mock\"", "\"small\""));
    // Its key may not be in the workspace.
    user_file(&project, &large.replace("\"mock\"", "\"large\""));
    // The guide mines the commits since June 2026.
    let git = |arguments: &str| {
        let mut command = project.command(Path::new("git"), "-c user.name=Ann -c user.email=ann@example.org");
        command
            .args(arguments.split(' '))
            .env("GIT_AUTHOR_DATE", COMMIT_DATE)
            .env("GIT_COMMITTER_DATE", COMMIT_DATE);
        RunningProcess::start(command).wait().expect_code(0);
    };
    git("init --quiet");
    git("add .");
    git("commit --quiet --message=Start");
    project.write("shop/new.py", "def total(orders):\n    result = 0\n    for order in orders:\n        result += order.price\n    return result\n");
    git("add .");
    git("commit --quiet --message=Total");
    for (code, command) in run_guide(&project, "docs/choose-an-engine.md") {
        // The engines of the test are no real models, and nothing was typed yet.
        let is_found = command.starts_with("engines check") && code == Some(1);
        let is_empty =
            command.starts_with("trial scoreboard") && command.contains("no recorded opportunities");
        let is_expected = code == Some(0) || is_found || is_empty;
        assert!(is_expected, "exit code {code:?}: ghostbench {command}");
    }
    assert!(project.root().join("run/report.html").is_file(), "the guide makes a report");
}
