//! Parses files, with the line and column of every part. Reports all syntax errors at once and keeps the rest.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{RawEntry, RawNode, RawValue};
use crate::environment::Environment;
use crate::key::KeySpec;
use crate::problem::Problem;
use crate::setting_location::SettingLocation;
use crate::value::Value;
use crate::value_type::ValidationContext;

/// Returns the entries of a file in order, and its syntax errors. Values on lines with errors are removed.
pub(crate) fn entries(path: &Arc<Path>, text: &str) -> (Vec<RawEntry>, Vec<Problem>) {
    let file = TomlFile { path, text, lines: line_starts(text) };
    if let Some(offset) = too_deep(text) {
        let (line, column) = file.position(offset);
        let place = SettingLocation::File { path: Arc::clone(path), line, column };
        let message =
            format!("invalid TOML: a key with more than {MAX_KEY_PARTS} parts; no setting has so many");
        return (Vec::new(), vec![Problem::error(place, message)]);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut broken = BTreeSet::new();
    let mut problems = Vec::new();
    for error in &errors {
        let (line, column) = file.position(error.span().map_or(0, |span| span.start));
        // Further errors on the same line are mostly consequences.
        if broken.insert(line) {
            let place = SettingLocation::File { path: Arc::clone(path), line, column };
            problems
                .push(Problem::error(place, format!("invalid TOML: {}", parser_message(error.message()))));
        }
    }
    problems.sort_by_key(|problem| problem.location.position());
    let mut entries = file.table(table.get_ref(), 0);
    remove_lines(&mut entries, &broken);
    (entries, problems)
}

/// Parts of a dotted key. The parser makes a table of each without a limit, and frees them by recursion.
const MAX_KEY_PARTS: usize = 8;
/// Tables and lists inside each other, where settings need four.
const MAX_DEPTH: usize = 64;

/// Where a key begins to have more than [`MAX_KEY_PARTS`] parts.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut parts, mut is_in_part) = (0, 1, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'.' if is_in_part => (parts, is_in_part) = (parts + 1, false),
            b' ' | b'\t' => {}
            b'"' | b'\'' => {
                at += quoted_length(&bytes[at..]) - 1;
                is_in_part = true;
            }
            b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => is_in_part = true,
            _ => (parts, is_in_part) = (1, false),
        }
        if parts > MAX_KEY_PARTS {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Length of the string that `bytes` begin with; up to the end of its line where it does not end there.
fn quoted_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' if bytes[0] == b'"' => at += 2,
            _ if byte == bytes[0] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the parser's message, unless it takes a word without quotes for the beginning of `nan`, `inf` or `true`.
fn parser_message(message: &str) -> &str {
    let is_guess = ["`nan`", "`inf`", "`true`", "`false`"].iter().any(|word| message.ends_with(word));
    if is_guess { "text must be in quotes" } else { message }
}

/// Reports a file that is not text.
pub(crate) fn not_text(path: &Arc<Path>, valid: &[u8]) -> Problem {
    let valid = String::from_utf8_lossy(valid);
    let file = TomlFile { path, text: &valid, lines: line_starts(&valid) };
    let (line, column) = file.position(valid.len());
    Problem::error(
        SettingLocation::File { path: Arc::clone(path), line, column },
        "invalid UTF-8; save the file in UTF-8",
    )
}

struct TomlFile<'a> {
    path: &'a Arc<Path>,
    text: &'a str,
    /// Byte offsets of line starts.
    lines: Vec<usize>,
}

impl TomlFile<'_> {
    fn table(&self, table: &DeTable<'_>, depth: usize) -> Vec<RawEntry> {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| RawEntry {
            key: <std::borrow::Cow<'_, str> as AsRef<str>>::as_ref(key.get_ref()).to_owned(),
            location: self.place(key.span()),
            node: self.node(value, depth),
        };
        let mut entries: Vec<RawEntry> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.location.position());
        entries
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, depth: usize) -> RawNode {
        let raw = match value.get_ref() {
            DeValue::String(text) => RawValue::Text(text.clone().into_owned()),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .map_or(RawValue::Unsupported("a number too large"), RawValue::Integer),
            DeValue::Float(number) => {
                number.as_str().parse().map_or(RawValue::Unsupported("a number too large"), RawValue::Number)
            }
            DeValue::Boolean(value) => RawValue::Boolean(*value),
            DeValue::Datetime(_) => RawValue::Unsupported("a date"),
            DeValue::Array(_) | DeValue::Table(_) if depth == MAX_DEPTH => {
                RawValue::Unsupported("nested too deeply")
            }
            DeValue::Array(values) => {
                RawValue::List(values.iter().map(|value| self.node(value, depth + 1)).collect())
            }
            DeValue::Table(table) => RawValue::Table(self.table(table, depth + 1)),
        };
        RawNode { raw, location: self.place(value.span()) }
    }

    fn place(&self, span: Range<usize>) -> SettingLocation {
        let (line, column) = self.position(span.start);
        SettingLocation::File { path: Arc::clone(self.path), line, column }
    }

    /// Returns the 1-based line and column of an offset, the column in characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        // Editors do not count a byte order mark as a character.
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let after = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

/// Removes values that begin on one of these lines; tables lose only the entries on them.
fn remove_lines(entries: &mut Vec<RawEntry>, lines: &BTreeSet<usize>) {
    let is_whole = |node: &RawNode| !lines.contains(&node.location.position().0);
    entries.retain_mut(|entry| match &mut entry.node.raw {
        RawValue::Table(entries) => {
            remove_lines(entries, lines);
            true
        }
        RawValue::List(nodes) if nodes.iter().all(|node| matches!(node.raw, RawValue::Table(_))) => {
            for node in nodes {
                if let RawValue::Table(entries) = &mut node.raw {
                    remove_lines(entries, lines);
                }
            }
            true
        }
        _ => is_whole(&entry.node),
    });
}

/// Parses the default of a key, which is written as in a file. An invalid default is `None`; a test parses all of them.
pub(crate) fn default_value(key: &KeySpec) -> Option<Value> {
    let path: Arc<Path> = Path::new("").into();
    let (entries, problems) = entries(&path, &format!("default = {}", key.default?));
    let entry = entries.first().filter(|_| problems.is_empty())?;
    let variables = Environment::default();
    let around = ValidationContext { folder: None, is_shared: false, variables: &variables };
    key.takes.validate(&entry.node.raw, around).ok()
}
