//! Parses files, with the line and column of every part. Reports all syntax errors at once and keeps the rest.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, Node, Raw};
use crate::key::Key;
use crate::place::Place;
use crate::problem::Problem;
use crate::types::Surroundings;
use crate::value::Value;
use crate::variables::Variables;

/// Returns the entries of a file in order, and its syntax errors. Values on lines with errors are removed.
pub(crate) fn entries(path: &Arc<Path>, text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let file = File { path, text, lines: line_starts(text) };
    if let Some(offset) = too_deep(text) {
        let (line, column) = file.position(offset);
        let place = Place::File { path: Arc::clone(path), line, column };
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
            let place = Place::File { path: Arc::clone(path), line, column };
            problems.push(Problem::error(place, format!("invalid TOML: {}", words(error.message()))));
        }
    }
    problems.sort_by_key(|problem| problem.place.position());
    let mut entries = file.table(table.get_ref(), 0);
    prune(&mut entries, &broken);
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
fn words(message: &str) -> &str {
    let is_guess = ["`nan`", "`inf`", "`true`", "`false`"].iter().any(|word| message.ends_with(word));
    if is_guess { "text must be in quotes" } else { message }
}

/// Reports a file that is not text.
pub(crate) fn not_text(path: &Arc<Path>, valid: &[u8]) -> Problem {
    let valid = String::from_utf8_lossy(valid);
    let file = File { path, text: &valid, lines: line_starts(&valid) };
    let (line, column) = file.position(valid.len());
    Problem::error(
        Place::File { path: Arc::clone(path), line, column },
        "invalid UTF-8; save the file in UTF-8",
    )
}

struct File<'a> {
    path: &'a Arc<Path>,
    text: &'a str,
    /// Byte offsets of line starts.
    lines: Vec<usize>,
}

impl File<'_> {
    fn table(&self, table: &DeTable<'_>, depth: usize) -> Vec<Entry> {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| Entry {
            key: <std::borrow::Cow<'_, str> as AsRef<str>>::as_ref(key.get_ref()).to_owned(),
            place: self.place(key.span()),
            node: self.node(value, depth),
        };
        let mut entries: Vec<Entry> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.place.position());
        entries
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, depth: usize) -> Node {
        let raw = match value.get_ref() {
            DeValue::String(text) => Raw::Text(text.clone().into_owned()),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .map_or(Raw::Strange("a number too large"), Raw::Integer),
            DeValue::Float(number) => {
                number.as_str().parse().map_or(Raw::Strange("a number too large"), Raw::Number)
            }
            DeValue::Boolean(value) => Raw::Boolean(*value),
            DeValue::Datetime(_) => Raw::Strange("a date"),
            DeValue::Array(_) | DeValue::Table(_) if depth == MAX_DEPTH => Raw::Strange("nested too deeply"),
            DeValue::Array(values) => {
                Raw::List(values.iter().map(|value| self.node(value, depth + 1)).collect())
            }
            DeValue::Table(table) => Raw::Table(self.table(table, depth + 1)),
        };
        Node { raw, place: self.place(value.span()) }
    }

    fn place(&self, span: Range<usize>) -> Place {
        let (line, column) = self.position(span.start);
        Place::File { path: Arc::clone(self.path), line, column }
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
fn prune(entries: &mut Vec<Entry>, lines: &BTreeSet<usize>) {
    let is_whole = |node: &Node| !lines.contains(&node.place.position().0);
    entries.retain_mut(|entry| match &mut entry.node.raw {
        Raw::Table(entries) => {
            prune(entries, lines);
            true
        }
        Raw::List(nodes) if nodes.iter().all(|node| matches!(node.raw, Raw::Table(_))) => {
            for node in nodes {
                if let Raw::Table(entries) = &mut node.raw {
                    prune(entries, lines);
                }
            }
            true
        }
        _ => is_whole(&entry.node),
    });
}

/// Parses the default of a key, which is written as in a file. An invalid default is `None`; a test parses all of them.
pub(crate) fn default_value(key: &Key) -> Option<Value> {
    let path: Arc<Path> = Path::new("").into();
    let (entries, problems) = entries(&path, &format!("default = {}", key.default?));
    let entry = entries.first().filter(|_| problems.is_empty())?;
    let variables = Variables::default();
    let around = Surroundings { folder: None, is_shared: false, variables: &variables };
    key.takes.check(&entry.node.raw, around).ok()
}
