//! Renders the scoreboard of a live trial: terminal, Markdown, JSON and a self-contained HTML page.
//!
//! All outputs share the sentences in `sentences` and the tables in `tables`. Computes no numbers.

mod html;
mod sentences;
mod tables;

use scoring::TrialScoreboard;

use crate::format::{self, Alphabet};
use crate::markdown::escaped;
use crate::terminal::{Style, TextTable, dim_note, with_title, wrapped};

pub use html::html;
pub use sentences::{verdict_sentence, verdict_sentences};

/// One table of a scoreboard.
struct TrialTable {
    title: &'static str,
    caption: &'static str,
    header: Vec<&'static str>,
    /// Number of leading columns that contain words.
    words: usize,
    /// Columns that are dropped if there is no room, the first one first.
    dispensable: &'static [usize],
    rows: Vec<Vec<String>>,
}

/// Renders the scoreboard for the terminal, the verdict first.
pub fn table(board: &TrialScoreboard, style: Style) -> String {
    let width = style.width.saturating_sub(2);
    let lines = |texts: Vec<String>| {
        texts.iter().map(|text| format!("  {}", wrapped(text, width, "  "))).collect::<Vec<_>>().join("\n")
    };
    let mut parts = vec![with_title(&sentences::title(board), &lines(verdict_sentences(board)), style)];
    for table in tables::tables(board, style.alphabet()) {
        let header: Vec<&str> = table.header.clone();
        let drawn = TextTable {
            header: &header,
            words: table.words,
            dispensable: table.dispensable,
            rows: table.rows,
        };
        let mut text = drawn.draw(style);
        if !table.caption.is_empty() {
            text += &format!("\n{}", dim_note(table.caption, style));
        }
        parts.push(with_title(table.title, &text, style));
    }
    let notes = sentences::health(board);
    if !notes.is_empty() {
        parts.push(with_title("health", &lines(notes), style));
    }
    parts.join("\n\n") + "\n"
}

/// Renders the scoreboard as Markdown, the verdict first.
pub fn markdown(board: &TrialScoreboard) -> String {
    let mut parts = vec![format!("# {}", escaped(&sentences::title(board)))];
    let items = |texts: Vec<String>| {
        texts.iter().map(|text| format!("- {}", escaped(text))).collect::<Vec<_>>().join("\n")
    };
    parts.push(items(verdict_sentences(board)));
    for table in tables::tables(board, Alphabet::Unicode) {
        parts.push(format!("## {}", escaped(table.title)));
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![row(table.header.iter().map(|title| escaped(title)).collect())];
        let rules = (0..table.header.len()).map(|column| if column < table.words { "---" } else { "--:" });
        lines.push(format!("|{}|", rules.collect::<Vec<_>>().join("|")));
        lines.extend(table.rows.iter().map(|cells| row(cells.iter().map(|cell| escaped(cell)).collect())));
        parts.push(lines.join("\n"));
        parts.extend((!table.caption.is_empty()).then(|| escaped(table.caption)));
    }
    let notes = sentences::health(board);
    parts.extend((!notes.is_empty()).then(|| format!("## health\n\n{}", items(notes))));
    parts.join("\n\n") + "\n"
}

/// Returns the scoreboard as JSON, indented and ending in a line end, with the sentences of its verdict.
pub fn json(board: &TrialScoreboard) -> String {
    let mut value = serde_json::to_value(board).expect("a scoreboard has string keys");
    value["sentences"] = verdict_sentences(board).into();
    format!("{value:#}\n")
}

/// Returns the name of an arm on one line.
fn arm_name(board: &TrialScoreboard, arm: usize) -> String {
    board.arms.get(arm).map_or_else(String::new, |name| format::on_one_line(name))
}
