//! Renders the origin of a suggestion for the terminal: its parts numbered in the text, and a row for each below it.

use std::ops::Range;

use report::format::{self, Alphabet};
use report::terminal::{Style, TextTable, dim_note, wrapped};

/// Origin of a suggestion.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplanationView {
    /// Its parts, in order.
    pub(crate) parts: Vec<CopiedPart>,
    /// Other remarks, one per line.
    pub(crate) remarks: Vec<String>,
}

/// A part of a suggestion that is copied from one location.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopiedPart {
    /// In bytes of the suggestion.
    pub(crate) range: Range<usize>,
    /// Location, in a format that editors open.
    pub(crate) place: String,
    /// Relation of the location to the request, in one word.
    pub(crate) from: &'static str,
    /// Number of preceding tokens that are equal at both locations.
    pub(crate) same: usize,
    /// Number of preceding tokens that are alike.
    pub(crate) alike: usize,
    /// The lowest probability of its tokens.
    pub(crate) probability: f64,
    /// Names at the location, with their replacements.
    pub(crate) renamed: Vec<(String, String)>,
}

const COLUMNS: [&str; 7] = ["", "text", "taken from", "", "same", "alike", "sure"];
/// Columns that are dropped first if there is no room: the relation, and the wider of the two matches.
const DISPENSABLE: [usize; 2] = [3, 5];
/// Indentation, also of tables.
const INDENT: &str = "  ";
/// Longer texts are cut, characters.
const TEXT_WIDTH: usize = 32;

const COLUMNS_MEAN: &str = "same: tokens before the part that are equal at both places. alike: the same, ignoring names, strings and \
    numbers. sure: probability of the least likely token.";

/// Returns the suggestion with a mark at the beginning of each of its parts, if there are several.
pub(crate) fn numbered(text: &str, explained: &ExplanationView, style: Style) -> String {
    if explained.parts.len() < 2 {
        return text.to_owned();
    }
    let mut signed = String::with_capacity(text.len());
    let mut end = 0;
    for (index, part) in explained.parts.iter().enumerate() {
        signed.push_str(&text[end..part.range.start]);
        signed.push_str(&sign(index, style.alphabet()));
        end = part.range.start;
    }
    signed + &text[end..]
}

/// Renders a row for each part, the replaced names, and the remarks.
pub(crate) fn explanation_table(text: &str, explained: &ExplanationView, style: Style) -> String {
    let mut blocks = Vec::new();
    if !explained.parts.is_empty() {
        let rows = explained.parts.iter().enumerate().map(|(index, part)| row(index, text, part, style));
        let sheet = TextTable { header: &COLUMNS, words: 4, dispensable: &DISPENSABLE, rows: rows.collect() };
        blocks.push(sheet.draw(style));
        let renamed: Vec<String> = explained.parts.iter().flat_map(|part| renamed(part, style)).collect();
        if !renamed.is_empty() {
            blocks.push(format!("{INDENT}renamed: {}", renamed.join(", ")));
        }
    }
    blocks.extend(explained.remarks.iter().map(|remark| {
        let width = style.width.saturating_sub(INDENT.len());
        format!("{INDENT}{}", wrapped(&format::on_one_line(remark), width, INDENT))
    }));
    if !explained.parts.is_empty() {
        blocks.push(dim_note(COLUMNS_MEAN, style));
    }
    blocks.iter().map(|block| format!("{block}\n")).collect()
}

/// Renders a row for each alternative text.
pub(crate) fn alternatives(alternatives: &[(String, Option<String>)], style: Style) -> String {
    let are_explained = alternatives.iter().any(|(_, places)| places.is_some());
    let header = if are_explained { &["instead", "taken from"][..] } else { &["instead"] };
    let rows = alternatives
        .iter()
        .map(|(text, places)| {
            let places = are_explained.then(|| format::on_one_line(places.as_deref().unwrap_or_default()));
            std::iter::once(excerpt(text, style.alphabet())).chain(places).collect()
        })
        .collect();
    TextTable { header, words: header.len(), dispensable: &[], rows }.draw(style) + "\n"
}

fn row(index: usize, text: &str, part: &CopiedPart, style: Style) -> Vec<String> {
    vec![
        sign(index, style.alphabet()),
        excerpt(&text[part.range.clone()], style.alphabet()),
        format::on_one_line(&part.place),
        part.from.to_owned(),
        part.same.to_string(),
        part.alike.to_string(),
        format::percent(part.probability) + " %",
    ]
}

/// Returns the first line, and the number of further lines.
fn excerpt(text: &str, alphabet: Alphabet) -> String {
    let (first, rest) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let first = format::clipped(&format::on_one_line(first.trim_end()), TEXT_WIDTH, alphabet);
    rest.map_or_else(
        || first.clone(),
        |rest| format!("{first} +{}", format::count_of(rest.lines().count(), "line")),
    )
}

fn renamed(part: &CopiedPart, style: Style) -> Vec<String> {
    let arrow = if style.unicode { "→" } else { "->" };
    part.renamed
        .iter()
        .map(|(there, here)| format!("{} {arrow} {}", format::on_one_line(there), format::on_one_line(here)))
        .collect()
}

/// Returns the number of a part, as one character if there is one.
fn sign(index: usize, alphabet: Alphabet) -> String {
    /// `①` to `⑳`.
    const CIRCLED: Range<u32> = 0x2460..0x2474;
    let circled =
        u32::try_from(index).ok().map(|index| CIRCLED.start + index).filter(|code| CIRCLED.contains(code));
    match circled.and_then(char::from_u32) {
        Some(circled) if alphabet == Alphabet::Unicode => circled.to_string(),
        _ => format!("[{}]", index + 1),
    }
}
