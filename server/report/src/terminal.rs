//! The summary as a table for the terminal.
//!
//! Every line fits the width it is given: columns are dropped, names are cut, nothing wraps in the middle of a number.
//! The caller knows the terminal and prints; escape codes appear only when asked for.

mod columns;

use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::format::{self, Alphabet};
use crate::summary::{Group, Line, Section, Summary};
use columns::{Column, Sheet};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to write escape codes for colours.
    pub color: bool,
    /// Columns available.
    pub width: usize,
    /// Whether characters beyond ASCII can be shown.
    pub unicode: bool,
}

impl Style {
    fn alphabet(self) -> Alphabet {
        if self.unicode { Alphabet::Unicode } else { Alphabet::Ascii }
    }

    fn painted(self, text: &str, code: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn title(self, text: &str) -> String {
        self.painted(text, BOLD)
    }

    fn dim(self, text: &str) -> String {
        self.painted(text, DIM)
    }
}

/// Escape codes ("select graphic rendition"), of ECMA-48.
const BOLD: &str = "1";
const DIM: &str = "2";
/// One colour per engine, so that an engine is found again from row to row: cyan, yellow, magenta, green.
const ENGINE_COLORS: [&str; 4] = ["36", "33", "35", "32"];

/// The tables of a run, what their columns mean, remarks, and what to do `next`, one line each.
pub fn table(summary: &Summary, style: Style, next: &[String]) -> String {
    let mut parts: Vec<String> =
        summary.sections.iter().map(|section| section_text(summary, section, style)).collect();
    if parts.is_empty() {
        parts.push("No answers yet.".to_owned());
    } else {
        parts.push(legend(style));
    }
    parts.extend(list("Notes", &summary.notes, style));
    parts.extend(list("Next", next, style));
    parts.join("\n\n") + "\n"
}

fn section_text(summary: &Summary, section: &Section, style: Style) -> String {
    let mut parts = vec![heading(section, style)];
    for scenario in section.scenarios.chunk_by(|left, right| left.scenario == right.scenario) {
        parts.push(scenario_text(summary, scenario, style));
    }
    if section.languages.len() > 1 {
        let rows =
            section.languages.iter().map(|group| (group.language.as_deref().unwrap_or_default(), group));
        parts.push(titled("languages", &sheet(summary, "language", rows, columns::RESULTS, style), style));
    }
    let rows = std::iter::once(("all", &section.overall));
    parts.push(titled("overall", &sheet(summary, "", rows, columns::OVERALL, style), style));
    parts.join("\n\n")
}

fn heading(section: &Section, style: Style) -> String {
    let most = section.overall.lines.iter().max_by_key(|line| line.cases);
    let counts = most.map_or_else(String::new, |line| {
        format!(
            " {} {} from {}",
            style.alphabet().dot(),
            format::count_of(line.cases, "case"),
            format::count_of(line.files, "file")
        )
    });
    format!("{}{counts}", style.title(&format::section_title(section)))
}

fn scenario_text(summary: &Summary, groups: &[Group], style: Style) -> String {
    let scenario = groups.first().and_then(|group| group.scenario.as_deref()).unwrap_or_default();
    // A single kind is the total; the total would only repeat it.
    let groups = if let [_, only] = groups { std::slice::from_ref(only) } else { groups };
    let rows = groups.iter().map(|group| (group.block_kind.as_deref().unwrap_or("all"), group));
    let columns = if format::is_empty_scenario(scenario) { columns::RESTRAINT } else { columns::RESULTS };
    titled(scenario, &sheet(summary, "block kind", rows, columns, style), style)
}

fn titled(title: &str, body: &str, style: Style) -> String {
    format!("{}\n{body}", style.title(title))
}

/// The widest set of columns that fits.
fn sheet<'a>(
    summary: &Summary,
    label: &str,
    rows: impl Iterator<Item = (&'a str, &'a Group)>,
    candidates: &[&[Column]],
    style: Style,
) -> String {
    let rows: Vec<(&str, &Line)> = rows.flat_map(|(name, group)| with_lines(name, group)).collect();
    let sheet = Sheet { engines: &summary.engines, label, rows: &rows, alphabet: style.alphabet() };
    let mut rendered = candidates.iter().map(|columns| render(&sheet, columns, style));
    let narrowest = || candidates.last().map(|columns| render(&sheet, columns, style));
    let fitting = rendered.find(|(_, width)| *width <= style.width).or_else(narrowest);
    fitting.map(|(text, _)| text).unwrap_or_default()
}

/// The group's name stands before its first line only.
fn with_lines<'a>(name: &'a str, group: &'a Group) -> impl Iterator<Item = (&'a str, &'a Line)> {
    group.lines.iter().enumerate().map(move |(index, line)| (if index == 0 { name } else { "" }, line))
}

/// The text and the width of its widest line.
fn render(sheet: &Sheet<'_>, columns: &[Column], style: Style) -> (String, usize) {
    let mut table = Table::new();
    table.load_style(comfy_table::TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| sheet.header(*column)));
    for (name, line) in sheet.rows {
        table.add_row(columns.iter().map(|column| sheet.cell(*column, name, line)));
    }
    for (index, column) in columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(index) {
            drawn.set_padding((2, 0));
            drawn.set_cell_alignment(if column.is_text() {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let header = lines.iter().take(1).map(|line| style.dim(line));
    let body = lines.iter().skip(1).zip(sheet.rows).map(|(line, (_, row))| {
        if sheet.engines.len() < 2 {
            return line.clone();
        }
        style.painted(line, ENGINE_COLORS[row.engine % ENGINE_COLORS.len()])
    });
    (header.chain(body).collect::<Vec<_>>().join("\n"), width)
}

fn legend(style: Style) -> String {
    let [low, high] = ["39", "51"];
    let to = style.alphabet().to();
    let text = format!(
        "Percent, then its 95 % interval ({low}{to}{high}), resampled over files because cases of one file are alike; \
         Wilson's where there are too few files. Cells under {} cases show counts only (sum/cases). \
         quiet: answers silent+gated+failed. ms: median/90th percentile, a timeout counting as longest.",
        scoring::summary::MIN_CASES
    );
    style.dim(&wrapped(&text, style.width, ""))
}

fn list(title: &str, lines: &[String], style: Style) -> Option<String> {
    let items =
        lines.iter().map(|line| format!("\n  {}", wrapped(line, style.width.saturating_sub(2), "  ")));
    (!lines.is_empty()).then(|| format!("{}{}", style.title(title), items.collect::<String>()))
}

/// Breaks `text` between words so that lines stay within `width` where words allow it.
fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join(&format!("\n{indent}"))
}
