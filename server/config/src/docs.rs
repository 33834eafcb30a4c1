//! Generates `docs/configuration.md` from the table. The prose around its tables is in `docs/before.md` and `docs/after.md` next to
//! this file.

use std::fmt::Write;

use crate::engine_kind::EngineKind;
use crate::key::{KeySpec, Section, WorkspaceAccess};
use crate::suggest::backquoted_list;
use crate::table::{ENGINE, SECTIONS};

/// Returns the document.
pub fn documentation() -> String {
    let mut text = include_str!("docs/before.md").to_owned();
    for section in SECTIONS {
        section_table(&mut text, section);
    }
    engines(&mut text);
    text.push('\n');
    text.push_str(include_str!("docs/after.md"));
    text
}

/// Writing to a string does not fail.
macro_rules! line {
    ($text:expr, $($format:tt)+) => {
        let _ = writeln!($text, $($format)+);
    };
}

fn section_table(text: &mut String, section: &Section) {
    line!(text, "\n### `[{}]`\n\n{}\n", section.name, section.doc);
    line!(text, "| key | takes | default | meaning | variable |");
    line!(text, "|---|---|---|---|---|");
    for key in section.keys {
        let variable = key.variable().unwrap_or_default();
        let mark = if key.workspace == WorkspaceAccess::Trusted { " *" } else { "" };
        line!(
            text,
            "| `{}`{mark} | {} | {} | {} | `{variable}` |",
            key.name,
            accepted_values(key),
            default(key),
            key.doc
        );
    }
}

fn engines(text: &mut String) {
    line!(text, "\n### `[[engine]]`\n\n{}\n", ENGINE.doc);
    line!(text, "| kind | engine | required, besides `name` and `kind` |");
    line!(text, "|---|---|---|");
    for kind in EngineKind::ALL {
        let needs = backquoted_list(kind.required_keys().iter().copied());
        let url = kind.default_url().map(|url| format!("`url` is `{url}` by default"));
        let both: Vec<String> =
            [needs, url.unwrap_or_default()].into_iter().filter(|part| !part.is_empty()).collect();
        line!(text, "| `{kind}` | {} | {} |", kind.doc(), both.join("; "));
    }
    line!(text, "\n| key | takes | default | meaning | kinds |");
    line!(text, "|---|---|---|---|---|");
    for key in ENGINE.keys {
        line!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            key.name,
            accepted_values(key),
            default(key),
            key.doc,
            kinds(key)
        );
    }
}

fn accepted_values(key: &KeySpec) -> String {
    // Kinds have their own table.
    if key.name == "kind" { "a kind".to_owned() } else { key.takes.describe().replace('|', "\\|") }
}

fn default(key: &KeySpec) -> String {
    key.default.map(|default| format!("`{default}`")).unwrap_or_default()
}

/// Lists the kinds that have a key, or those that do not if they are fewer.
fn kinds(key: &KeySpec) -> String {
    let others: Vec<_> = EngineKind::ALL.into_iter().filter(|&kind| !(key.is_for)(kind)).collect();
    if others.is_empty() {
        return "all".to_owned();
    }
    if others.len() < key.kinds().count() {
        return format!("all but {}", backquoted_list(others.into_iter().map(EngineKind::name)));
    }
    backquoted_list(key.kinds().map(EngineKind::name))
}
