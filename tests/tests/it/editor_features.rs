//! The table of both editors' features: every command of either has a row, and every row names commands that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::Value;
use tests::{Neovim, Project};

use crate::neovim_commands::subcommands;

/// Folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the names in code spans of a column of docs/editor-features.md that a pattern captures.
fn in_column(column: usize, pattern: &str) -> BTreeSet<String> {
    let page =
        fs::read_to_string(Path::new(ROOT).join("docs/editor-features.md")).expect("the page is there");
    let name = Regex::new(pattern).expect("a pattern");
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.split(" | ").nth(column).expect("a row has three cells").to_owned());
    cells
        .flat_map(|cell| name.captures_iter(&cell).map(|found| found[1].to_owned()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn every_command_of_vs_code_has_a_row() {
    let manifest =
        fs::read_to_string(Path::new(ROOT).join("vscode-extension/package.json")).expect("it is there");
    let manifest: Value = serde_json::from_str(&manifest).expect("it is JSON");
    let commands = manifest["contributes"]["commands"].as_array().expect("a list");
    let commands: BTreeSet<String> =
        commands.iter().map(|command| command["command"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(in_column(1, r"`(ghostbench\.\w+)`"), commands);
}

#[test]
fn every_subcommand_of_neovim_has_a_row() {
    let project = Project::new("//- /a.py\n");
    let Some(editor) = Neovim::open(&project, "a.py", &[]) else { return };
    assert_eq!(in_column(2, r"`:Ghostbench (\w+)`"), subcommands(&editor));
}
